// How many pages each order of a crawl fetches until it has most of the pages about a query: for the test and for
// `npm run measure -- best-first`, which gives the built package.
import type * as Library from '../../src/index.js';

type Needed = Pick<typeof Library, 'Configuration' | 'HttpCrawler' | 'Log' | 'LogLevel' | 'Simweb'>;

export interface OrderFigures {
  /** Pages about the query. */
  readonly relevant: number;
  /** Pages fetched until 90 % of them were there; Infinity if never. */
  readonly pagesTo90: number;
  readonly fetched: number;
  /** Share of the relevant pages that were fetched; a crawl without `enough` ends with 90 %. */
  readonly recall: number;
}

export interface OrderedCrawl {
  readonly order: 'bfs' | 'dfs' | 'best-first';
  readonly topic: number;
  readonly enough?: boolean;
}

/** A site whose pages have topics. */
export const topicSite = (pagesPerHost: number, seed: number) => ({
  seed,
  hosts: 1,
  pagesPerHost,
  topics: 16,
  pageBytes: 6_000,
  linksPerPage: [10, 25] as const,
  linkNoise: { duplicates: 0.05, fragments: 0.05 },
});

export async function crawlInOrder(library: Needed, web: Library.Simweb, crawl: OrderedCrawl): Promise<OrderFigures> {
  const { Configuration, HttpCrawler, Log, LogLevel } = library;
  const about = new Set<string>();
  for (const { url, topic } of web.map()) if (topic === crawl.topic) about.add(url);
  const wanted = Math.ceil(about.size * 0.9);
  let fetched = 0;
  let found = 0;
  let pagesTo90 = Infinity;
  const crawler: Library.HttpCrawler = new HttpCrawler(
    {
      order: crawl.order,
      ...(crawl.order === 'best-first' && { query: web.topics[crawl.topic] }),
      ...(crawl.enough && { enough: true }),
      maxConcurrency: 8,
      allowPrivateAddresses: true,
      useSessionPool: false,
      log: new Log({ level: LogLevel.OFF }),
      async requestHandler({ request, enqueueLinks }) {
        fetched++;
        if (about.has(request.loadedUrl) && ++found === wanted) {
          pagesTo90 = fetched;
          if (!crawl.enough) crawler.stop();
        }
        await enqueueLinks({ strategy: 'same-hostname' });
      },
    },
    new Configuration({ persistStorage: false }),
  );
  try {
    await crawler.run(web.seeds());
  } finally {
    await crawler.teardown();
  }
  return { relevant: about.size, pagesTo90, fetched, recall: found / about.size };
}
