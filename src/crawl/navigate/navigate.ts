// The one navigation: hooks, order, turn, redirects, status and type, hooks again, then the handler.
// Scripts, batches and pods all use it, over HTTP and in browsers: an engine lends the page, a side presents it.
import { mergeCookies } from '../../fetch/http/headers.js';
import { AddressRefusedError, CrawlError } from '../../errors.js';
import type { Capture, Engine } from '../../fetch/engine.js';
import { type Request, RequestState } from '../../request/request.js';
import { parseUrl } from '../../request/url.js';
import type { Session } from '../../session/session.js';
import type { Arrival, Navigate, Visit } from '../run/attempt.js';
import type { DocumentFormat } from '../../documents/format.js';
import { acceptsType, contentTypeOf } from './content-type.js';
import { type DocumentWish, readAsDocument, wantedFormat } from './documents.js';
import { withinMs } from '../run/time-limit.js';
import { isComeBack } from './adaptive.js';
import type { CrawlOrder } from './order.js';
import { checkChain, hopOf, redirectRefusal, type RefuseVisit } from './redirect.js';
import { PageResponse } from './response-head.js';
import { checkStatus, type StatusRules } from './status.js';

export interface NavigationRules {
  /** Undefined: the handler gets every status. */
  readonly status: StatusRules | undefined;
  readonly maxRedirects: number;
  readonly navigationTimeoutMs: number;
  readonly hookTimeoutMs: number;
  readonly maxBodyBytes: number;
  readonly ignoreTlsErrors: boolean;
  readonly stream: boolean;
  readonly persistCookiesPerSession: boolean;
  /** `report`: a hop to another host must obey that one's rules and wait for its domain's turn. */
  readonly redirects: 'follow' | 'report';
  /** Beside HTML, XML and JSON. */
  readonly additionalMimeTypes: readonly string[];
}

/** A page that was added to a visit's context. */
export interface AddedPage {
  /** The page is not to be handled: how the visit ends instead. */
  refusal?(): Arrival | undefined;
  /** Before the handler, after the hooks. */
  beforeHandler?(): Promise<void>;
  /** The handler has ended well. */
  afterHandler?(): Promise<void> | void;
}

/** How the pages of one engine look to hooks and handlers. */
export interface Side<Live extends object> {
  /** Makes the order, with hooks; `live` is what the engine lends before anything is sent. */
  prepare(visit: Visit, live: Live): Promise<{ order: CrawlOrder<Live>; hookOptions: object }>;
  /** Adds what the engine lends to the context of a request that is not to be navigated. */
  open?(visit: Visit, live: Live): void;
  /** Adds the page that came to the context. */
  add(visit: Visit, capture: Capture, live: Live): AddedPage | void;
  readonly postNavigationHooks: readonly Hook[];
  /** Whether types are checked that no handler reads. */
  readonly checksType: boolean;
  /** Which responses are read as documents. */
  readonly documents?: ((visit: Visit) => DocumentWish) | undefined;
}

export type Hook = (context: never, options: never) => unknown;

export interface NavigationParts<Live extends object> {
  readonly engine: Engine<Live, CrawlOrder<Live>>;
  readonly rules: NavigationRules;
  /** The side of what was lent. */
  readonly sideOf: (live: Live | undefined) => Side<Live>;
  /** The engine lends something before the request is sent: what it must know then. */
  readonly early?: (visit: Visit) => CrawlOrder<Live>;
  /** The user seeded this URL: its host may be a private address from now on. False when that changes nothing. */
  readonly allowHost: (url: string) => Promise<boolean>;
  readonly refuseVisit?: RefuseVisit | undefined;
  readonly onStatus?: (statusCode: number) => void;
  /** How a 304 for a remembered page is handled; undefined: like any other page. */
  readonly notModified?: ((request: Request, capture: Capture) => Arrival | undefined) | undefined;
  /** Passes a usable response to the process that finishes the visit, instead of finishing it here. */
  readonly handOff?: ((request: Request, capture: Capture) => Promise<Arrival>) | undefined;
}

const HANDLED: Arrival = Object.freeze({ kind: 'handled' });

export function createNavigation<Live extends object>(parts: NavigationParts<Live>): Navigate {
  const { engine, rules, sideOf, early } = parts;

  return async function navigate(visit, handle): Promise<Arrival> {
    const { request } = visit;
    if (request.skipNavigation && !early) {
      await handle();
      return HANDLED;
    }
    let hookOptions: object = {};
    let prepared: { readonly live: Live; readonly order: CrawlOrder<Live> } | undefined;
    const prepare = async (live: Live): Promise<CrawlOrder<Live>> => {
      // Asked a second time for the same: hooks run once.
      if (prepared && prepared.live === live) return prepared.order;
      const side = sideOf(live);
      if (request.skipNavigation) {
        side.open?.(visit, live);
        return early!(visit);
      }
      request.state = RequestState.BEFORE_NAV;
      const made = await side.prepare(visit, live);
      ({ hookOptions } = made);
      visit.beginTurn();
      prepared = { live, order: made.order };
      return made.order;
    };
    let isOver = false;
    const fail = async (error: unknown): Promise<void> => {
      isOver = visit.hasPage?.() === true;
      if (isOver) await visit.failing?.(error);
    };
    /** What may be asked for once more has not failed yet. */
    const failing = async (error: unknown): Promise<void> => {
      if (!isComeBack(error) && !(request.seeded && error instanceof AddressRefusedError)) await fail(error);
    };
    const use = async (capture: Capture, live: Live): Promise<Arrival> => {
      try {
        return await arrived(visit, capture, live, hookOptions, handle);
      } catch (error) {
        await fail(error);
        throw error;
      }
    };
    if (visit.ready) await visit.ready(visit.signal);
    const order = early ? { ...early(visit), prepare, failing } : await prepare(undefined as never);
    try {
      return await engine.visit(order, use);
    } catch (error) {
      if (isOver) throw error;
      if (isComeBack(error)) return { kind: 'needsBrowser' };
      if (!(await isSeededAddress(error, request, parts.allowHost))) throw error;
      return engine.visit(order, use);
    }
  };

  async function arrived(
    visit: Visit,
    capture: Capture,
    live: Live,
    hookOptions: object,
    handle: () => Promise<void>,
  ): Promise<Arrival> {
    const { request } = visit;
    if (request.skipNavigation) {
      await handle();
      return HANDLED;
    }
    parts.onStatus?.(capture.statusCode);
    visit.answered(capture);
    if (!capture.stream) visit.endTurn(capture);
    if (capture.refusedRedirect) return { kind: 'refused', ...capture.refusedRedirect };
    if (capture.redirectTo !== undefined) return redirected(visit, capture, capture.redirectTo);
    checkChain(capture, rules.maxRedirects);
    request.arrived(capture.loadedUrl, capture.redirectChain);
    request.state = RequestState.AFTER_NAV;
    const known = capture.statusCode === 304 ? parts.notModified?.(request, capture) : undefined;
    if (known) return known;
    const side = sideOf(live);
    try {
      if (rules.status) checkStatus(capture, visit.identity.session, rules.status);
    } catch (error) {
      // The failure's handlers get the response too.
      if (side.checksType) Object.assign(visit.context, { response: new PageResponse(capture) });
      throw error;
    }
    const format = wantedFormat(capture, side.documents?.(visit));
    const isTyped =
      capture.statusCode !== 304 && !rules.status?.ignoreHttpErrorStatusCodes.includes(capture.statusCode);
    if (side.checksType && isTyped && format === undefined) checkType(capture, rules.additionalMimeTypes);
    if (parts.handOff) {
      const { trace } = visit;
      return parts.handOff(request, trace === undefined ? capture : { ...capture, handed: { trace } });
    }
    if (format !== undefined) await readOrFail(visit, capture, live, side, format);
    const added = side.add(visit, capture, live);
    await runHooks(side.postNavigationHooks, visit, hookOptions, rules.hookTimeoutMs);
    const refused = added?.refusal?.();
    if (refused) return refused;
    await added?.beforeHandler?.();
    await handle();
    if (capture.stream) visit.endTurn(capture);
    const done = added?.afterHandler?.();
    if (done) await done;
    return HANDLED;
  }

  /** The page of an unreadable document is added too: it did arrive. */
  async function readOrFail(
    visit: Visit,
    capture: Capture,
    live: Live,
    side: Side<Live>,
    format: DocumentFormat,
  ): Promise<void> {
    try {
      await readAsDocument(capture, format);
    } catch (error) {
      side.add(visit, capture, live);
      throw error;
    }
  }

  /** A reported redirect becomes a request of its own, at the front of its domain's queue. */
  function redirected(visit: Visit, capture: Capture, to: string): Arrival {
    const { request, identity } = visit;
    const target = hopOf(request, capture, rules.maxRedirects, identity.session?.id);
    const reason = redirectRefusal(request, to, parts.refuseVisit);
    return reason === undefined ? { kind: 'requeue', target } : { kind: 'refused', url: to, reason };
  }
}

/** What all orders of a visit have in common, independent of hooks. */
export function orderFor(visit: Visit, rules: NavigationRules, refuseVisit: RefuseVisit | undefined) {
  const { request, identity } = visit;
  const { session } = identity;
  const isFree = refuseVisit === undefined && (request.enqueueStrategy ?? 'all') === 'all';
  return {
    url: request.target,
    seeded: request.seeded && request.target === request.url,
    method: request.method as string,
    proxyUrl: identity.proxyInfo?.url,
    cookies: session && cookiesOf(session, rules.persistCookiesPerSession),
    redirects: rules.redirects,
    maxRedirects: rules.maxRedirects,
    allowRedirect: isFree ? undefined : (target: string) => redirectRefusal(request, target, refuseVisit),
    timeoutMs: rules.navigationTimeoutMs,
    maxBodyBytes: rules.maxBodyBytes,
    stream: rules.stream,
    ignoreTlsErrors: rules.ignoreTlsErrors,
    beforeSend: visit.checkLease,
    repeatAfterMs: visit.delayMs,
    signal: visit.signal,
    yields: rules.stream ? ('until-head' as const) : ('until-end' as const),
  };
}

/** A private address is refused unless the user named it: then its host, and only that, is allowed. */
export async function isSeededAddress(
  error: unknown,
  request: Request,
  allowHost: (url: string) => Promise<boolean>,
): Promise<boolean> {
  if (!request.seeded || !(error instanceof AddressRefusedError)) return false;
  // Where a redirect or the handler's own request led is not what the user named.
  if (parseUrl(request.url)?.host !== error.host) return false;
  return allowHost(request.url);
}

export async function runHooks(
  hooks: readonly Hook[],
  visit: Visit,
  hookOptions: object,
  timeoutMs: number,
): Promise<void> {
  for (const hook of hooks) {
    await withinMs(
      visit.time,
      timeoutMs,
      () => hook(visit.context as never, hookOptions as never),
      () => new CrawlError('HANDLER_TIMEOUT', `a navigation hook did not end within ${timeoutMs / 1000} s`),
    );
  }
}

export function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  const lower: Record<string, string> = {};
  for (const given in headers) {
    const [name, value] = [given.toLowerCase(), headers[given]];
    if (value === undefined) continue;
    // Hooks write `Cookie` beside a request's `cookie`: both are meant.
    lower[name] = name === 'cookie' && lower[name] !== undefined ? mergeCookies(lower[name], value) : value;
  }
  return lower;
}

/** What a session has is sent; what servers set is kept only if wanted. */
export function cookiesOf(session: Session, isKept: boolean): NonNullable<CrawlOrder['cookies']> {
  return {
    cookieHeader: (url) => session.getCookieString(url),
    store: (url, lines) => {
      if (isKept) for (const line of lines) session.setCookie(line, url);
    },
  };
}

function checkType(capture: Capture, additional: readonly string[]): void {
  const { type } = contentTypeOf(capture);
  if (acceptsType(type, additional)) return;
  const { loadedUrl, statusCode } = capture;
  const status = statusCode < 400 ? '' : ` (status ${statusCode})`;
  throw new CrawlError(
    'CONTENT_TYPE',
    `${loadedUrl} is ${type}${status}: only HTML, XML and JSON are handled (documents: true reads PDF and Office files; add others to additionalMimeTypes)`,
  );
}
