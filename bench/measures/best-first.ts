// Pages fetched until 90 % of those about a query are there: breadth first and best first; and what a crawl with
// `enough` fetches and finds. Three topics of one site.
import * as library from '../../dist/index.js';
import { crawlInOrder, type OrderedCrawl, type OrderFigures, topicSite } from '../../test/support/crawl-order.js';
import type { Figure } from '../measure.js';

const PAGES = 3_000;
const TOPICS = [0, 3, 7];

export async function measure(): Promise<Figure[]> {
  const web = await library.Simweb.start(topicSite(PAGES, 7));
  const all: Record<string, OrderFigures[]> = { bfs: [], best: [], enough: [] };
  const run = (crawl: OrderedCrawl): Promise<OrderFigures> => crawlInOrder(library as never, web as never, crawl);
  try {
    for (const topic of TOPICS) {
      all.bfs!.push(await run({ order: 'bfs', topic }));
      all.best!.push(await run({ order: 'best-first', topic }));
      all.enough!.push(await run({ order: 'best-first', topic, enough: true }));
      console.log(
        `  topic ${topic}:`,
        JSON.stringify(Object.fromEntries(Object.entries(all).map(([k, v]) => [k, v.at(-1)]))),
      );
    }
  } finally {
    await web.close();
  }
  const list = (figures: readonly number[]): string => figures.join(', ');
  const pages = (kind: string): number[] => all[kind]!.map(({ pagesTo90 }) => pagesTo90);
  const shares = pages('best').map((count, i) => count / pages('bfs')[i]!);
  return [
    { what: 'pages about each query', measured: list(all.bfs!.map(({ relevant }) => relevant)), goal: `of ${PAGES}` },
    { what: 'pages until 90 % of them, breadth first', measured: list(pages('bfs')), goal: 'to compare' },
    { what: 'pages until 90 % of them, best first', measured: list(pages('best')), goal: '≤ 1/3 of breadth first' },
    {
      what: 'best first as a share of breadth first',
      measured: list(shares.map((share) => Number(share.toFixed(2)))),
      goal: '≤ 0.33 each',
    },
    {
      what: 'pages fetched with `enough`, and the share of the relevant ones among them',
      measured: all.enough!.map(({ fetched, recall }) => `${fetched} (${Math.round(100 * recall)} %)`).join(', '),
      goal: 'most of them, for a fraction of the pages',
    },
  ];
}
