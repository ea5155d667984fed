// What classes derived from Crawlee's PlaywrightCrawler override: the cookies of a page, and how it is loaded.
// Promise: the crawler's own navigation goes through the override, so that its checks, limits and redirects hold.
import type { PlaywrightCrawlerOptions } from '../../crawl/browser/playwright-options.js';
import type { Page, PageResponse } from '../../fetch/browser/playwright-types.js';
import type { PlaywrightGotoOptions } from '../../handle/browser-context.js';
import type { CrawlingContext } from '../../handle/context.js';
import { cookiesIn } from './derived-http.js';

/** Methods of a derived class; undefined where it has none. */
export interface NavigationCalls {
  readonly applyCookies: ((context: object, before: string, after: string) => unknown) | undefined;
  readonly navigate:
    ((context: object, options: PlaywrightGotoOptions) => Promise<PageResponse | null | undefined>) | undefined;
}

type Navigate = NonNullable<NavigationCalls['navigate']>;
type Context = CrawlingContext & { readonly page: Page };
type Goto = Page['goto'];

/** Options whose hooks are followed by these calls. */
export function withNavigationCalls<Options extends Pick<PlaywrightCrawlerOptions<never>, 'preNavigationHooks'>>(
  options: Options,
  { applyCookies, navigate }: NavigationCalls,
): Options {
  if (!applyCookies && !navigate) return options;
  const before = new WeakMap<object, string>();
  const first = ({ request }: Context) => void before.set(request, cookiesIn(request));
  const last = async (context: Context, gotoOptions: PlaywrightGotoOptions) => {
    const { request } = context;
    await applyCookies?.(context, before.get(request) ?? '', cookiesIn(request));
    if (navigate) navigateBy(navigate, context, gotoOptions);
  };
  const preNavigationHooks = [first, ...(options.preNavigationHooks ?? []), last] as never;
  return { ...options, preNavigationHooks };
}

/** The next page that the crawler loads is loaded by the derived class; a second try is made in the same way. */
function navigateBy(
  navigate: Navigate,
  context: Context,
  { headers: _headers, ...options }: PlaywrightGotoOptions,
): void {
  const page = context.page as { goto?: Goto };
  const call: Goto = async (url, given) => {
    delete page.goto;
    // The empty page is how a crawler leaves the one before.
    const isLeaving = url === 'about:blank';
    let isDone = false;
    try {
      const response = await (isLeaving ? context.page.goto(url, given) : navigate(context, options));
      isDone = !isLeaving;
      return response ?? null;
    } finally {
      if (!isDone) page.goto = call;
    }
  };
  page.goto = call;
}

/** From here on the page is the handler's. */
export function endNavigationCall(context: object): void {
  const { page } = context as { page?: { goto?: Goto } };
  if (page && Object.hasOwn(page, 'goto')) delete page.goto;
}
