// Browser-only properties on the context of a page fetched over HTTP: a handler that uses one needs a browser.
import type { CheerioAPI } from 'cheerio';
import { PageWanted } from '../navigate/adaptive.js';
import { extend } from '../page/page-context.js';
import type { Visit } from '../run/attempt.js';

const PAGE_ONLY = [
  'page',
  'browserController',
  'infiniteScroll',
  'blockRequests',
  'saveSnapshot',
  'injectFile',
  'injectJQuery',
  'closeCookieModals',
  'enqueueLinksByClickingElements',
  'listDownloads',
];

export function addPageWishes(visit: Visit): void {
  const wanted = Object.fromEntries(
    PAGE_ONLY.map((name) => [
      name,
      {
        configurable: true,
        enumerable: false,
        get() {
          throw new PageWanted(`the handler asked for "${name}"`);
        },
      },
    ]),
  );
  Object.defineProperties(visit.context, wanted);
  const context = visit.context as unknown as FetchedContext;
  const { parseWithCheerio } = context;
  /** What the bytes do not have, scripts may make. */
  async function parsed(selector?: string): Promise<CheerioAPI> {
    const $ = await parseWithCheerio();
    if (selector !== undefined && $(selector).length === 0) throw new PageWanted(`"${selector}" is not in the HTML`);
    return $;
  }
  extend(visit.context, {
    renderingType: 'static',
    parseWithCheerio: parsed,
    waitForSelector: async (selector: string) => void (await parsed(selector)),
    querySelector: async (selector: string) => (await parsed(selector))(selector),
  });
}

interface FetchedContext {
  parseWithCheerio(selector?: string): Promise<CheerioAPI>;
}
