// Navigation in a browser: a page is lent, hooks, the navigation, what its status means, hooks again, then the handler.
// The same attempt, landings, redirects and verdicts as over HTTP; only who fetches is another.
import { CrawlError } from '../errors.js';
import type { Capture } from '../fetch/engine.js';
import { createDeadline } from '../fetch/browser/deadline.js';
import { navigate as navigatePage, type NavigationOrder } from '../fetch/browser/navigate.js';
import type { BrowserPool, LentPage } from '../fetch/browser/pool.js';
import type { PlaywrightGotoOptions } from '../handle/browser-context.js';
import { RequestState } from '../request/request.js';
import { staysWithin } from '../request/scope.js';
import type { Session } from '../session/session.js';
import type { Arrival, Navigate, Visit } from './attempt.js';
import { endingOf } from './departure.js';
import { assertStatus, isSamePage, isSeededAddress, landingOf, redirected, runHooks } from './http-visit.js';
import type { ResolvedOptions } from './options.js';
import { dressLivePage, extend, linkLivePage } from './playwright-context.js';
import { urlsByClicking } from './playwright-clicks.js';
import type { ClickElementsOptions } from '../handle/browser-context.js';

export interface BrowserVisitParts {
  readonly pool: BrowserPool;
  readonly options: ResolvedOptions;
  /** The user seeded this URL: its host may be a private address from now on. */
  readonly allowHost: (url: string) => Promise<boolean>;
  readonly onStatus: (statusCode: number) => void;
  /** The session is free for another visit. */
  readonly release: (session: Session) => void;
}

export function createBrowserNavigation(parts: BrowserVisitParts): Navigate {
  const { options, pool } = parts;
  const { launchContext } = options.browser!;
  // A hop to another host must obey that one's rules and wait for its domain's turn.
  const redirects = options.polite ? 'report' : 'follow';
  /** The cookies that a context was last given, so that unchanged ones are not sent again. */
  const given = new WeakMap<object, Map<string, string>>();

  return async function navigate(visit, handle): Promise<Arrival> {
    const { session, proxyInfo } = visit.identity;
    const identity = launchContext.useIncognitoPages ? undefined : session?.id;
    const proxyUrl = proxyInfo?.url ?? launchContext.proxyUrl;
    try {
      return await pool.lend({ identity, proxyUrl }, (lent) => visitPage(visit, lent, handle));
    } finally {
      if (session) parts.release(session);
    }
  };

  async function visitPage(visit: Visit, lent: LentPage, handle: () => Promise<void>): Promise<Arrival> {
    const { request } = visit;
    lent.keepPopups = true;
    const live = dressLivePage(visit, lent, options);
    extend(visit.context, {
      enqueueLinksByClickingElements: async (clicking: ClickElementsOptions) => {
        const urls = await urlsByClicking(lent, clicking);
        const {
          selector: _s,
          waitForPageIdleSecs: _w,
          maxWaitForPageIdleSecs: _m,
          clickOptions: _c,
          ...rest
        } = clicking;
        return visit.context.enqueueLinks({ ...rest, urls });
      },
    });
    const handleHere = () =>
      handle().catch((error: unknown) => {
        if (!lent.isGone || visit.signal.aborted) throw error;
        throw new CrawlError('PAGE_CRASHED', `${request.url}: the page or its browser ended`, { cause: error });
      });
    if (request.skipNavigation) {
      await handleHere();
      return { kind: 'handled' };
    }
    request.state = RequestState.BEFORE_NAV;
    const gotoOptions: PlaywrightGotoOptions = { waitUntil: 'load', timeout: options.navigationTimeoutMs };
    await runHooks(options.preNavigationHooks as never, visit, gotoOptions, options.requestHandlerTimeoutMs);
    await giveCookies(visit, lent);
    if (request.seeded) await allowSeed(visit);
    visit.depart();
    const go = (url: string) => load(visit, lent, url, gotoOptions);
    let loaded = await go(request.url);
    if (loaded.capture.redirectTo && isSamePage(request, loaded.capture.redirectTo)) {
      request.loadedUrl = loaded.capture.redirectTo;
      await visit.rest(endingOf(loaded.capture));
      loaded = await go(loaded.capture.redirectTo);
      if (loaded.capture.redirectTo && isSamePage(request, loaded.capture.redirectTo)) {
        throw new CrawlError('REDIRECT_LIMIT', `${request.url} redirects to itself`);
      }
    }
    const { capture, response } = loaded;
    parts.onStatus(capture.statusCode);
    landingOf(visit, capture, undefined)();
    if (capture.refusedRedirect) return { kind: 'refused', target: capture.refusedRedirect.url };
    if (capture.redirectTo) return redirected(visit, capture, capture.redirectTo, options.maxRedirects, undefined);

    request.loadedUrl = capture.loadedUrl;
    request.state = RequestState.AFTER_NAV;
    extend(visit.context, { response });
    assertStatus(await judged(lent, capture), visit.identity.session, options);
    linkLivePage(visit, lent, capture, options);
    await runHooks(options.postNavigationHooks as never, visit, gotoOptions, options.requestHandlerTimeoutMs);
    await live.takeContent();
    await handleHere();
    await keepCookies(visit, lent);
    return { kind: 'handled' };
  }

  /** Asked beforehand: a navigation that is refused leaves an error page, and costs as much as one that is not. */
  async function allowSeed({ request, identity }: Visit): Promise<void> {
    const proxyUrl = identity.proxyInfo?.url ?? launchContext.proxyUrl;
    await pool.relay?.check(new URL(request.url), proxyUrl).catch((error: unknown) => {
      return isSeededAddress(error, request, parts.allowHost);
    });
  }

  /** Pages of bot protections are told by their HTML, which only `retryOnBlocked` wants to see. */
  async function judged(lent: LentPage, capture: Capture): Promise<Capture> {
    return options.retryOnBlocked ? { ...capture, body: Buffer.from(await lent.page.content()) } : capture;
  }

  async function load(visit: Visit, lent: LentPage, url: string, gotoOptions: PlaywrightGotoOptions) {
    const { request } = visit;
    const limitMs = gotoOptions.timeout || options.navigationTimeoutMs;
    const deadline = createDeadline(limitMs, url, visit.signal);
    const strategy = request.enqueueStrategy;
    const order: NavigationOrder = {
      url,
      method: request.method,
      headers: lowerCased(request.headers ?? {}),
      payload: request.payload,
      beforeSend: visit.checkLease,
      redirects,
      maxRedirects: options.maxRedirects,
      allowRedirect:
        strategy === undefined || strategy === 'all'
          ? undefined
          : (target) => (staysWithin(strategy, request.url, target) ? undefined : 'leaves the strategy of its link'),
    };
    try {
      return await navigatePage(lent, order, gotoOptions, deadline, pool.relay);
    } finally {
      deadline.end();
    }
  }

  async function giveCookies({ identity, request }: Visit, lent: LentPage): Promise<void> {
    if (!identity.session || !options.persistCookiesPerSession) return;
    const { origin } = new URL(request.url);
    const text = identity.session.getCookieString(request.url);
    const known = given.get(lent.context) ?? new Map<string, string>();
    given.set(lent.context, known);
    if (text === '' || known.get(origin) === text) return;
    const cookies = identity.session.getCookies(request.url).map(({ url: _url, ...cookie }) => ({
      ...cookie,
      ...(cookie.domain === undefined ? { url: request.url, path: undefined } : { path: cookie.path ?? '/' }),
    }));
    await lent.context.addCookies(cookies as never);
    known.set(origin, text);
  }

  /** So that `sendRequest`, the next context of the session and the next run have them. */
  async function keepCookies({ identity, request }: Visit, lent: LentPage): Promise<void> {
    const { session } = identity;
    if (!session || !options.persistCookiesPerSession || lent.isGone) return;
    const url = request.loadedUrl ?? request.url;
    const cookies = await lent.context.cookies(url);
    if (cookies.length === 0) return;
    session.setCookies(cookies as never, url);
    given.get(lent.context)?.set(new URL(url).origin, session.getCookieString(url));
  }
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
