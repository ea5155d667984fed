// Navigation over HTTP: hooks, the request, what its status and type mean, hooks again, then the handler.
// Redirects are followed in place, or queued as requests of their own when domains are paced.
import { AddressRefusedError, CrawlError, SessionError } from '../errors.js';
import type { Capture, Engine, FetchOrder } from '../fetch/engine.js';
import type { Landing } from '../frontier/frontier.js';
import type { HttpHookOptions } from '../handle/context.js';
import { Request, RequestState } from '../request/request.js';
import { staysWithin } from '../request/scope.js';
import { normalizeUrl, parseUrl } from '../request/url.js';
import type { Session } from '../session/session.js';
import type { Arrival, Navigate, Visit } from './attempt.js';
import { acceptsType, contentTypeOf } from './content-type.js';
import { endingOf } from './departure.js';
import { createHookOptionsReader } from './hook-options.js';
import type { ResolvedOptions } from './options.js';
import { withinMs } from './time-limit.js';

export interface HttpVisitParts {
  readonly engine: Engine;
  readonly options: ResolvedOptions;
  /** The user seeded this URL: its host may be a private address from now on. False when it was allowed before. */
  readonly allowHost: (url: string) => Promise<boolean>;
  /** Why a URL is not to be visited, whoever leads there. */
  readonly refuseVisit?: (url: string) => string | undefined;
  /** The name under which a URL is asked for. */
  readonly userAgentFor: (url: string) => string;
  /** Adds what this crawler type offers of a page to the context; returns what lets go of it after the handler. */
  readonly dress: (visit: Visit, capture: Capture) => (() => void) | void;
  readonly onStatus: (statusCode: number) => void;
  /** Whether captures have the body as received. */
  readonly received?: FetchOrder['received'];
  /** Hands a usable response on to whoever finishes the visit, instead of finishing it here. */
  readonly handOff?: (request: Request, capture: Capture) => Promise<Arrival>;
  /**
   * How the domain's turn is given back: in place of the usual way, which honours Retry-After. Undefined when
   * nothing left the machine: then the turn goes back unused.
   */
  readonly landing?: (request: Request, capture: Capture) => Omit<Landing, 'lease'> | undefined;
  /** The unique key of the request that a redirect becomes. Default: that of its URL. */
  readonly redirectKey?: (request: Request) => string;
}

export function createHttpNavigation(parts: HttpVisitParts): Navigate {
  const { options, engine } = parts;
  // A hop to another host must obey that one's rules and wait for its domain's turn.
  const redirects = options.polite ? 'report' : 'follow';
  const chosen = createHookOptionsReader();

  return async function navigate(visit, handle): Promise<Arrival> {
    const { request } = visit;
    if (request.skipNavigation) {
      await handle();
      return { kind: 'handled' };
    }
    request.state = RequestState.BEFORE_NAV;
    const given = hookOptionsFor(visit, options, parts.userAgentFor(request.url));
    const hookOptions = { ...given, headers: { ...given.headers } };
    await runHooks(options.preNavigationHooks, visit, hookOptions, options.requestHandlerTimeoutMs);
    followRequest(hookOptions, given, hookOptionsFor(visit, options, parts.userAgentFor(request.url)));
    const { url, timeoutMs } = chosen.read(hookOptions, request.url, (text) => visit.context.log.warning(text));
    const order = {
      ...orderFor(visit, hookOptions, options, redirects, parts.refuseVisit),
      url,
      timeoutMs,
      received: parts.received,
    };
    const arrive = (capture: Capture) => arrived(visit, capture, hookOptions, handle);
    visit.depart();
    const arrival = await engine.visit(order, arrive).catch(async (error: unknown) => {
      if (!(await isSeededAddress(error, request, parts.allowHost))) throw error;
      return engine.visit(order, arrive);
    });
    if (!('itself' in arrival)) return arrival;
    // The same page, perhaps under another spelling (a slash more, a cookie set): the seen set would drop it
    // as known, so it is asked for here, keeping the turn and the delay.
    await visit.rest(endingOf(arrival.itself));
    const again = await engine.visit({ ...order, url: request.loadedUrl! }, arrive);
    if (!('itself' in again)) return again;
    throw new CrawlError('REDIRECT_LIMIT', `${request.url} redirects to itself`);
  };

  async function arrived(
    visit: Visit,
    capture: Capture,
    hookOptions: HttpHookOptions,
    handle: () => Promise<void>,
  ): Promise<Arrival | { readonly itself: Capture }> {
    const { request } = visit;
    parts.onStatus(capture.statusCode);
    if (capture.redirectTo && isSamePage(request, capture.redirectTo)) {
      request.loadedUrl = capture.redirectTo;
      return { itself: capture };
    }
    const land = landingOf(visit, capture, parts.landing);
    if (!capture.stream) land();
    if (capture.refusedRedirect) return { kind: 'refused', target: capture.refusedRedirect.url };
    if (capture.redirectTo) {
      return redirected(visit, capture, capture.redirectTo, options.maxRedirects, parts.redirectKey);
    }

    request.loadedUrl = capture.loadedUrl;
    request.state = RequestState.AFTER_NAV;
    assertUsable(capture, visit.identity.session, options);
    if (parts.handOff) return parts.handOff(request, capture);
    const release = parts.dress(visit, capture);
    await runHooks(options.postNavigationHooks, visit, hookOptions, options.requestHandlerTimeoutMs);
    await handle();
    land();
    release?.();
    return { kind: 'handled' };
  }
}

/** A private address is refused unless the user named it: then its host, and only that, is allowed. */
export async function isSeededAddress(
  error: unknown,
  request: Request,
  allowHost: HttpVisitParts['allowHost'],
): Promise<boolean> {
  if (!request.seeded || !(error instanceof AddressRefusedError)) return false;
  // Where a redirect or the handler's own request led is not what the user named.
  if (parseUrl(request.url)?.host !== error.host) return false;
  return allowHost(request.url);
}

function hookOptionsFor(visit: Visit, options: ResolvedOptions, userAgent: string): HttpHookOptions {
  const { request, identity } = visit;
  return {
    headers: {
      'user-agent': userAgent,
      ...(identity.session?.headerSet ?? DEFAULT_HEADERS),
      ...request.headers,
    },
    method: request.method,
    payload: request.payload,
    proxyUrl: identity.proxyInfo?.url,
    timeoutMs: options.navigationTimeoutMs,
  };
}

/** What hooks changed on the request itself counts too, unless they changed the same in the options. */
function followRequest(chosen: HttpHookOptions, before: HttpHookOptions, after: HttpHookOptions): void {
  if (chosen.method === before.method) chosen.method = after.method;
  if (chosen.payload === before.payload) chosen.payload = after.payload;
  for (const [name, value] of Object.entries(after.headers)) {
    if (chosen.headers[name] === before.headers[name]) chosen.headers[name] = value;
  }
}

/** What the pages of widespread bot protections contain and others hardly do. */
const BLOCK_PAGES = ['src="https://challenges.cloudflare.com', 'id="cf-challenge-running"', 'id="turnstile-wrapper"'];

const DEFAULT_HEADERS = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

export async function runHooks<Options>(
  hooks: readonly ((context: never, options: Options) => unknown)[],
  visit: Visit,
  hookOptions: Options,
  timeoutMs: number,
): Promise<void> {
  for (const hook of hooks) {
    await withinMs(
      timeoutMs,
      () => hook(visit.context as never, hookOptions),
      () => new CrawlError('HANDLER_TIMEOUT', `a navigation hook did not end within ${timeoutMs / 1000} s`),
    );
  }
}

function orderFor(
  visit: Visit,
  hookOptions: HttpHookOptions,
  options: ResolvedOptions,
  redirects: FetchOrder['redirects'],
  refuseVisit: HttpVisitParts['refuseVisit'],
): FetchOrder {
  const { request, identity } = visit;
  const { session } = identity;
  return {
    url: request.url,
    method: hookOptions.method,
    headers: lowerCased(hookOptions.headers),
    payload: hookOptions.payload,
    proxyUrl: hookOptions.proxyUrl,
    cookies: session && options.persistCookiesPerSession ? cookiesOf(session) : undefined,
    redirects,
    maxRedirects: options.maxRedirects,
    allowRedirect: (target) =>
      staysWithin(request.enqueueStrategy, request.url, target)
        ? refuseVisit?.(target)
        : 'leaves the strategy of its link',
    timeoutMs: hookOptions.timeoutMs,
    maxBodyBytes: options.maxBodyBytes,
    stream: options.streamHandler !== undefined,
    ignoreTlsErrors: options.ignoreSslErrors,
    beforeSend: visit.checkLease,
    signal: visit.signal,
    yields: options.streamHandler ? 'until-head' : 'until-end',
  };
}

function lowerCased(headers: Record<string, string>): Record<string, string> {
  const lower: Record<string, string> = {};
  for (const name in headers) if (headers[name] !== undefined) lower[name.toLowerCase()] = headers[name]!;
  return lower;
}

export function cookiesOf(session: Session): FetchOrder['cookies'] {
  return {
    cookieHeader: (url) => session.getCookieString(url),
    store: (url, lines) => {
      for (const line of lines) session.setCookie(line, url);
    },
  };
}

/** How the turn is given back when the response has ended; worked out once, however often it is said. */
export function landingOf(visit: Visit, capture: Capture, own: HttpVisitParts['landing']): () => void {
  if (!own) return () => visit.land(endingOf(capture));
  const landing = own(visit.request, capture);
  return () => {
    if (landing) visit.landWith(landing);
  };
}

export function isSamePage(request: Request, to: string): boolean {
  return normalizeUrl(to, request.keepUrlFragment) === normalizeUrl(request.url, request.keepUrlFragment);
}

/** A reported redirect becomes a request of its own, at the front of its domain's queue. */
export function redirected(
  visit: Visit,
  capture: Capture,
  to: string,
  maxRedirects: number,
  redirectKey: HttpVisitParts['redirectKey'],
): Arrival {
  const { request, identity } = visit;
  if (request.hops >= maxRedirects) {
    throw new CrawlError('REDIRECT_LIMIT', `${request.url} is redirect number ${request.hops + 1} of a chain`);
  }
  if (!staysWithin(request.enqueueStrategy, request.url, to)) return { kind: 'refused', target: to };
  const { userData, crawlDepth, priority, enqueueStrategy, maxRetries, noRetry } = request;
  const isSameOrigin = new URL(to).origin === new URL(request.url).origin;
  const keepsMethod = capture.statusCode === 307 || capture.statusCode === 308 || request.method === 'HEAD';
  const target = new Request({
    url: to,
    uniqueKey: redirectKey?.(request),
    userData,
    crawlDepth,
    priority,
    enqueueStrategy,
    maxRetries,
    noRetry,
    // Headers of the user may be secrets of that site.
    headers: isSameOrigin ? request.headers : undefined,
    method: keepsMethod ? request.method : undefined,
    payload: keepsMethod ? request.payload : undefined,
    sessionId: identity.session?.id,
    hops: request.hops + 1,
  });
  return { kind: 'requeue', target };
}

/** Throws what a status or a content type means: an error, a block, or something no handler can read. */
function assertUsable(capture: Capture, session: Session | undefined, options: ResolvedOptions): void {
  assertStatus(capture, session, options);
  const { type } = contentTypeOf(capture);
  if (!acceptsType(type, options.additionalMimeTypes)) {
    throw new CrawlError(
      'CONTENT_TYPE',
      `${capture.loadedUrl} is ${type}: only HTML, XML and JSON are handled (add others to additionalMimeTypes)`,
    );
  }
}

export function assertStatus(
  { statusCode, headers, body, loadedUrl }: Capture,
  session: Session | undefined,
  options: ResolvedOptions,
): void {
  const where = `${loadedUrl} answered ${statusCode}`;
  if (options.ignoreHttpErrorStatusCodes.includes(statusCode)) return;
  if (session && options.blockedStatusCodes.includes(statusCode)) {
    if (options.retryOnBlocked) throw new SessionError(`${where}: the session is blocked`);
    throw new CrawlError('HTTP_BLOCKED', `${where}: the session is blocked`);
  }
  // "Too many requests" is no page, whoever asked: the host wants to be asked again.
  if (statusCode === 429 && (options.polite || headers['retry-after'] !== undefined)) {
    throw new CrawlError('HTTP_BLOCKED', where);
  }
  if (options.retryOnBlocked && BLOCK_PAGES.some((mark) => body.includes(mark))) {
    throw new SessionError(`${loadedUrl} shows the page of a bot protection`);
  }
  if (statusCode >= 500 || options.additionalHttpErrorStatusCodes.includes(statusCode)) {
    throw new CrawlError('HTTP_STATUS', where);
  }
}
