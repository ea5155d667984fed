// Fetches pages for the API through one WebCrawler of the library, and finishes their documents.
// Promise: a URL from a request is never a seed, so the address guard applies to it; an abandoned request ends its fetch.
import { isPlaywrightThere } from '../../fetch/browser/playwright-there.js';
import { findBrowser } from '../../fetch/browser/find-browser.js';
import { foundAt } from '../../request/found.js';
import { CrawlError } from '../../errors.js';
import { type CrawlResult, SemaphoreDispatcher, WebCrawler } from '../../index.js';
import { ApiError } from '../errors.js';
import { factsOf, type PageFacts } from '../jobs/rows.js';
import { type Document, documentOf, type PageSource } from './document.js';
import { type Abilities, needsBrowser, type PageWish } from './formats.js';
import { finishDocument, type Finishing } from './finish.js';
import { type PlannedPage, planPage } from './run-config.js';

export interface FetcherOptions extends Finishing {
  readonly allowPrivate: readonly string[];
  readonly allowScripts: boolean;
  readonly storageDir: string;
  readonly concurrency: number;
}

export interface FetchedPage {
  readonly index: number;
  readonly url: string;
  readonly document?: Document;
  /** What the document was made of. */
  readonly source?: PageSource;
  readonly facts?: PageFacts;
  readonly error?: { readonly code: string; readonly message: string };
}

export interface Fetcher {
  readonly abilities: Abilities;
  /** One page. Throws what kept it from coming. */
  scrape(url: string, wish: PageWish, how?: ScrapeHow): Promise<Document>;
  /** Many pages, each as it ends, until the signal says stop. */
  scrapeMany(
    urls: AsyncIterable<{ index: number; url: string }>,
    wish: PageWish,
    how: { concurrency: number; signal: AbortSignal; owner: string; respectRobots?: boolean | undefined },
  ): AsyncGenerator<FetchedPage>;
  finish(document: Document, page: PageSource, wish: PageWish, owner: string): Promise<void>;
  close(): Promise<void>;
}

export interface ScrapeHow {
  readonly respectRobots?: boolean;
  readonly engine?: 'auto' | 'http' | 'browser';
  readonly signal?: AbortSignal;
  /** Whose versions changes are tracked against. */
  readonly owner?: string;
}

export async function openFetcher(options: FetcherOptions): Promise<Fetcher> {
  const { allowPrivate, storageDir } = options;
  const browser = hasBrowser();
  const abilities = { browser, scripts: options.allowScripts, model: options.model !== undefined };
  const common = { allowPrivateAddresses: allowPrivate, storageDir };
  const http = await WebCrawler.open(common);
  let browsers: Promise<WebCrawler> | undefined;
  let auto: Promise<WebCrawler> | undefined;
  const inBrowser = (): Promise<WebCrawler> => (browsers ??= WebCrawler.open({ ...common, engine: 'browser' }));
  const adaptive = (): Promise<WebCrawler> => (auto ??= WebCrawler.open({ ...common, engine: 'auto' }));

  function crawlerFor(wish: PageWish, engine: ScrapeHow['engine'] = 'auto'): Promise<WebCrawler> {
    if (needsBrowser(wish) || engine === 'browser') {
      if (!browser)
        throw new ApiError(501, 'No browser was found on this server. Install Chromium.', 'BROWSER_MISSING');
      return inBrowser();
    }
    return browser && engine === 'auto' && !wish.options.fastMode ? adaptive() : Promise.resolve(http);
  }

  async function finished(result: CrawlResult, wish: PageWish, planned: PlannedPage, owner: string) {
    // A page that says "not found" is a page; one that never came is an error.
    if (result.errorCode !== null && (result.errorCode !== 'HTTP_STATUS' || result.statusCode === null)) {
      throw new CrawlError(result.errorCode, result.errorMessage ?? undefined);
    }
    const { minAge = 0 } = wish.options;
    if (minAge > 0 && Date.now() - Date.parse(result.fetchedAt) < minAge) {
      throw new CrawlError('CACHE_MISS', `${result.url} was stored less than ${minAge} ms ago`);
    }
    const source = pageOf(result);
    const document = documentOf(source, wish, planned.taken);
    await finishDocument(document, source, wish, owner, options);
    return { document, source };
  }

  return {
    abilities,
    async scrape(url, wish, { respectRobots = false, engine, signal, owner = '' } = {}) {
      const crawler = await crawlerFor(wish, engine);
      const planned = planPage(wish, respectRobots);
      const results = crawler.runMany(foundAt([url], []), planned.config, new SemaphoreDispatcher({ permits: 1 }));
      const stream = results[Symbol.asyncIterator]();
      const leave = (): void => void stream.return?.();
      signal?.addEventListener('abort', leave, { once: true });
      try {
        const { value } = (await stream.next()) as { value: CrawlResult | undefined };
        if (!value || signal?.aborted) throw new CrawlError('ABORTED', 'the request was given up');
        return (await finished(value, wish, planned, owner)).document;
      } finally {
        signal?.removeEventListener('abort', leave);
        await stream.return?.();
      }
    },
    async *scrapeMany(urls, wish, { concurrency, signal, owner, respectRobots }) {
      const crawler = await crawlerFor(wish);
      const plans = new Map<number, { index: number; planned: PlannedPage }>();
      let pulled = 0;
      const items = (async function* () {
        for await (const { index, url } of urls) {
          const planned = planPage(wish, respectRobots);
          plans.set(pulled++, { index, planned });
          yield { url, config: planned.config };
        }
      })();
      const found = foundAt(items as never, []) as never as typeof items;
      const stream = crawler
        .runMany(found, {}, new SemaphoreDispatcher({ permits: concurrency }))
        [Symbol.asyncIterator]();
      const leave = (): void => void stream.return?.();
      signal.addEventListener('abort', leave, { once: true });
      try {
        for (;;) {
          const { value, done } = (await stream.next()) as IteratorResult<CrawlResult>;
          if (done || signal.aborted) return;
          const { index, planned } = plans.get(value.dispatch.index)!;
          plans.delete(value.dispatch.index);
          yield await finished(value, wish, planned, owner).then(
            ({ document, source }) => ({
              ...{ index, url: value.url, document, source },
              facts: factsOf(document.metadata, costOf(value)),
            }),
            (error: CrawlError) => ({
              index,
              url: value.url,
              facts: costOf(value),
              error: { code: error.code, message: error.message },
            }),
          );
        }
      } finally {
        signal.removeEventListener('abort', leave);
        await stream.return?.();
      }
    },
    finish: (document, page, wish, owner) => finishDocument(document, page, wish, owner, options),
    async close() {
      for (const opened of [browsers, auto]) await (await opened?.catch(() => undefined))?.close();
      await http.close();
    },
  };
}

const costOf = ({ bytes, timings }: CrawlResult): PageFacts => ({ bytes, ms: timings.totalMs });

function pageOf(result: CrawlResult): PageSource {
  return new Proxy(result, {
    get(target, name) {
      if (name === 'error') return target.errorMessage ?? undefined;
      return name === 'compared' ? target.comparedText() : Reflect.get(target, name, target);
    },
  }) as never;
}

/** Whether pages can be loaded in a browser here: the package and a program. */
function hasBrowser(): boolean {
  try {
    findBrowser({ headless: true, hasProfile: false });
    return isPlaywrightThere();
  } catch {
    return false;
  }
}
