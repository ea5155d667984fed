// Browser pages as hooks and handlers see them: the live page and its tools, already before the navigation.
// Promise: the session's cookies are set in the page's context, and new ones are saved in the session.
import type { LivePage } from './engine.js';
import type { Download, Page } from '../../fetch/browser/playwright-types.js';
import type { ClickElementsOptions, PlaywrightGotoOptions } from '../../handle/browser-context.js';
import type { CrawlingContext } from '../../handle/context.js';
import type { Visit } from '../run/attempt.js';
import { type Hook, lowerCased, type NavigationRules, orderFor, runHooks, type Side } from '../navigate/navigate.js';
import type { CrawlOrder } from '../navigate/order.js';
import type { RefuseVisit } from '../navigate/redirect.js';
import type { ResolvedOptions } from '../options/options.js';
import type { PageActions } from './page-actions.js';
import { urlsByClicking } from './playwright-clicks.js';
import { extend } from '../page/page-context.js';
import { addLivePage, linkLivePage } from './playwright-context.js';

export interface BrowserSideParts {
  readonly rules: NavigationRules;
  readonly options: ResolvedOptions;
  readonly preNavigationHooks: readonly Hook[];
  readonly postNavigationHooks: readonly Hook[];
  readonly refuseVisit?: RefuseVisit | undefined;
  /** The user agent of a URL's domain, if it has its own. */
  readonly ownUserAgentFor: (url: string) => string | undefined;
}

export function createBrowserSide<Live extends object>(parts: BrowserSideParts): Side<Live | LivePage> {
  const { rules, options } = parts;
  /** The cookies that a context was last given, so that unchanged ones are not sent again. */
  const given = new WeakMap<object, Map<string, string>>();
  const downloadsOf = createDownloadLists();

  function open(visit: Visit, live: LivePage): void {
    const { lent } = live;
    lent.keepPopups = true;
    live.content = addLivePage(visit, lent, options);
    visit.hasPage = () => !lent.isGone;
    extend(visit.context, {
      ...(options.kind === 'adaptive' ? { renderingType: 'browser' } : {}),
      listDownloads: downloadsOf(lent.page),
      async enqueueLinksByClickingElements(clicking: ClickElementsOptions) {
        const urls = await urlsByClicking(lent, clicking);
        const {
          selector: _s,
          waitForPageIdleSecs: _w,
          maxWaitForPageIdleSecs: _m,
          clickOptions: _c,
          ...rest
        } = clicking;
        return (visit.context as CrawlingContext).enqueueLinks({ ...rest, urls });
      },
    });
  }

  async function giveCookies({ identity, request }: Visit, { lent }: LivePage): Promise<void> {
    if (!identity.session || !rules.persistCookiesPerSession) return;
    const url = request.target;
    const { origin } = new URL(url);
    const text = identity.session.getCookieString(url);
    const known = given.get(lent.context) ?? new Map<string, string>();
    given.set(lent.context, known);
    if (text === '' || known.get(origin) === text) return;
    const cookies = identity.session.getCookies(url).map(({ url: _url, ...cookie }) => ({
      ...cookie,
      ...(cookie.domain === undefined ? { url, path: undefined } : { path: cookie.path ?? '/' }),
    }));
    await lent.context.addCookies(cookies as never);
    known.set(origin, text);
  }

  /** So that `sendRequest`, the next context of the session and the next run have them. */
  async function keepCookies({ identity, request }: Visit, { lent }: LivePage): Promise<void> {
    const { session } = identity;
    if (!session || !rules.persistCookiesPerSession || lent.isGone) return;
    const url = request.loadedUrl ?? request.url;
    const cookies = await lent.context.cookies(url);
    if (cookies.length === 0) return;
    session.setCookies(cookies as never, url);
    given.get(lent.context)?.set(new URL(url).origin, session.getCookieString(url));
  }

  const side: Side<LivePage> = {
    // A browser shows what it can, and reports what it cannot.
    checksType: false,
    postNavigationHooks: parts.postNavigationHooks,
    open,
    async prepare(visit, live) {
      open(visit, live);
      const { request } = visit;
      const actions = options.browser!.page;
      const waitUntil = actions.waitUntil ?? 'load';
      const goto: PlaywrightGotoOptions = { waitUntil, timeout: rules.navigationTimeoutMs };
      await runHooks(parts.preNavigationHooks, visit, goto, rules.hookTimeoutMs);
      const { headers: hooked, ...gotoOptions } = goto;
      await giveCookies(visit, live);
      const order: CrawlOrder<LivePage> = {
        ...orderFor(visit, rules, parts.refuseVisit),
        headers: lowerCased({ ...request.headers, ...hooked }),
        payload: request.payload,
        // The browser keeps its own.
        cookies: undefined,
        timeoutMs: goto.timeout || rules.navigationTimeoutMs,
        page: {
          ...actions,
          // Of the adaptive one, only shells that scripts fill come here.
          settles: options.kind === 'adaptive' ? 'always' : undefined,
          goto: gotoOptions,
          userAgent: parts.ownUserAgentFor(request.target),
          // Bot protection pages are recognised by their HTML.
          reads: options.retryOnBlocked ? 'html' : undefined,
        },
      };
      return { order, hookOptions: goto };
    },
    add(visit, capture, live) {
      extend(visit.context, { response: live.response });
      linkLivePage(visit, live.lent, capture, options);
      return {
        beforeHandler: () => live.content!.takeContent(),
        afterHandler: () => keepCookies(visit, live),
      };
    },
  };
  return side as Side<Live | LivePage>;
}

/** Lists of downloads, one per visit: a page that is used again has one listener, and a new list. */
function createDownloadLists(): (page: Page) => () => Promise<Download[]> {
  const current = new WeakMap<Page, Download[]>();
  return (page) => {
    const isKnown = current.has(page);
    const downloads: Download[] = [];
    current.set(page, downloads);
    if (!isKnown) page.on('download', (download) => void current.get(page)!.push(download));
    return () => Promise.resolve(downloads);
  };
}

/** What is known of a visit before its page is lent. */
export function earlyOrder(
  visit: Visit,
  rules: NavigationRules,
  identity: string | undefined,
  proxyUrl: string | undefined,
  actions: PageActions,
): CrawlOrder {
  const { request } = visit;
  return {
    ...orderFor(visit, rules, undefined),
    headers: {},
    proxyUrl: visit.identity.proxyInfo?.url ?? proxyUrl,
    label: request.label,
    key: request.uniqueKey,
    page: { ...actions, identity, skipNavigation: request.skipNavigation },
    again: (capture) => visit.again(capture),
  };
}
