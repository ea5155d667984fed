// One attempt at one leased request: identity, navigation, handler, and the verdict on what went wrong.
// Whatever user code, the page or the network does, the result is exactly one settlement.
import { setTimeout as delay } from 'node:timers/promises';
import { asCrawlError, CrawlError, type ErrorCode, SessionError } from '../errors.js';
import type { Landing, Lease } from '../frontier/frontier.js';
import type { Ending } from '../politeness/delay.js';
import { entryOf } from '../frontier/entry.js';
import type { CrawlingContext, ErrorHandler } from '../handle/context.js';
import { Request, RequestState } from '../request/request.js';
import type { ProxyConfiguration } from '../session/proxy.js';
import type { SessionPool } from '../session/session-pool.js';
import type { PackedPage } from '../store/content-page.js';
import { type Departure, type Landed, leaseCheck } from './departure.js';
import { placeOf, wantsStacks } from './failure-place.js';
import { judge, type RetryLimits, type Verdict } from './retry.js';
import type { FinishedVisit } from './settler.js';
import type { Statistics } from './statistics.js';
import { withinMs } from './time-limit.js';
import { createTransaction, type Transaction } from './transaction.js';
import { createVisitContext, type Identity, type VisitContext, type VisitHost } from './visit-context.js';

/** Not the host's doing: the request goes back as it was. */
const BROKEN_OFF = new Set<ErrorCode>(['LEASE_LOST', 'ADDRESS_BUSY', 'FETCH_SLOW']);
/** Failures that another session may not meet. */
const RETIRING = new Set<ErrorCode>(['HTTP_BLOCKED', 'PROXY_FAILED']);

/** What a navigation is given: the request, its context and identity, and how to say that the response ended. */
export interface Visit extends VisitContext {
  readonly request: Request;
  readonly identity: Identity;
  readonly signal: AbortSignal;
  /** The request is on its way: from here on the domain's turn is used. */
  depart(): void;
  /** Throws when the lease ran out: for whoever is about to write the request to the wire. */
  checkLease(): void;
  /** The response has ended or failed; what follows for its domain is worked out from how. */
  land(ending?: Ending): void;
  /** The response has ended, and the caller knows what follows for its domain. */
  landWith(landing: Omit<Landing, 'lease'>): void;
  /** The response has ended and the same turn is used again: resolves when the domain has rested. */
  rest(ending: Ending): Promise<void>;
  /** The handler will be called anew: what it added so far is forgotten. */
  restart(): void;
}

/** How a navigation went. All but `handled` end the visit without its work. */
export type Arrival =
  | { readonly kind: 'handled' }
  /** The capture waits under this name for whoever finishes the visit. */
  | { readonly kind: 'handed'; readonly capture: string; readonly bytes: number }
  | { readonly kind: 'requeue'; readonly target: Request }
  /** The page must be asked for once more, in another way: on a turn of its own. */
  | { readonly kind: 'again' }
  | { readonly kind: 'refused'; readonly target: string };

/** Has the page and calls `handle` while it is lent. */
export type Navigate = (visit: Visit, handle: () => Promise<void>) => Promise<Arrival>;

export interface AttemptHost extends VisitHost {
  readonly limits: RetryLimits;
  readonly handlerTimeoutMs: number;
  readonly navigate: Navigate;
  readonly requestHandler: (context: CrawlingContext) => unknown;
  readonly errorHandler: ErrorHandler<CrawlingContext> | undefined;
  readonly failedRequestHandler: ErrorHandler<CrawlingContext> | undefined;
  readonly sessionPool: Pick<SessionPool, 'getSession'> | undefined;
  readonly proxyConfiguration: ProxyConfiguration | undefined;
  readonly stats: Statistics;
  readonly land: (landing: Landing) => void;
  /** How requests depart when no gate gave them a departure. */
  readonly departure: Departure;
  readonly signal: AbortSignal;
  readonly random: () => number;
  /** The queue forgets what ended: how a request ended need not be written into it. */
  readonly forgetsEnded?: boolean;
  /** What a handled request's visit stores of its page, where content is stored. */
  readonly pageOf?: (request: Request) => PackedPage | undefined;
  /** The crawl cannot go on. */
  readonly onFatal: (error: CrawlError) => void;
}

/** Makes the attempt; never throws. */
export async function attempt(
  host: AttemptHost,
  lease: Lease,
  isGood: () => boolean,
  departure = host.departure,
): Promise<FinishedVisit> {
  const startedAtMs = performance.now();
  const request = Request.fromRecord(lease.record, lease.priority);
  const transaction = createTransaction(request.url, host.releaseLink);
  const turn = trackTurn(host, lease.id, isGood, departure);
  let visitContext: VisitContext | undefined;
  let identity: Identity = { session: undefined, proxyInfo: undefined };
  try {
    identity = await bindIdentity(host, request);
    visitContext = createVisitContext(host, request, identity, transaction);
    const { depart, checkLease, land, landWith, rest } = turn;
    const restart = () => transaction.clear();
    const { signal } = host;
    const steps = { depart, checkLease, land, landWith, rest, restart };
    const visit: Visit = { ...visitContext, ...steps, request, identity, signal };
    const { context } = visitContext;
    const arrival = await host.navigate(visit, () => handle(host, context, request));
    return settleArrival(host, lease.id, arrival, request, identity, transaction, startedAtMs);
  } catch (thrown) {
    const error = asCrawlError(thrown, 'HANDLER_FAILED');
    turn.land({ failure: error.code });
    // At once: a handler that still runs must not believe that its items count.
    transaction.close();
    transaction.clear();
    const context = visitContext?.context;
    return await settleFailure(host, lease.id, error, request, identity, context, startedAtMs, turn.advice());
  } finally {
    transaction.close();
  }
}

/** A session, and through it a proxy, before anything leaves the machine. */
function bindIdentity(host: AttemptHost, request: Request): Promise<Identity> {
  const { sessionPool, proxyConfiguration } = host;
  const limitMs = host.handlerTimeoutMs;
  // A createSessionFunction and a newUrlFunction are user code.
  return withinMs(limitMs, bind, () => new CrawlError('HANDLER_TIMEOUT', `no session and proxy in ${limitMs} ms`));

  async function bind(): Promise<Identity> {
    const wanted = request.sessionId === undefined ? undefined : await sessionPool?.getSession(request.sessionId);
    const session = wanted ?? (await sessionPool?.getSession());
    const proxyInfo = await proxyConfiguration?.newProxyInfo(session?.id, { request });
    return { session, proxyInfo };
  }
}

/** Ends a request that may not be asked for, as one that failed for good; never throws. */
export async function refuse(host: AttemptHost, lease: Lease, error: CrawlError): Promise<FinishedVisit> {
  const request = Request.fromRecord(lease.record, lease.priority);
  const nobody: Identity = { session: undefined, proxyInfo: undefined };
  return settleFailure(host, lease.id, error, request, nobody, undefined, performance.now());
}

type Turn = Pick<Visit, 'depart' | 'checkLease' | 'land' | 'landWith' | 'rest'> & {
  /** What the landing told, once there was one. */
  advice(): Landed | undefined;
};

/** Lands a request once if it departed, and not at all if it never did. */
function trackTurn(host: AttemptHost, lease: number, isGood: () => boolean, departure: Departure): Turn {
  let flying = false;
  let advice: Landed | undefined;
  const checkLease = leaseCheck(isGood);
  return {
    advice: () => advice,
    checkLease,
    depart() {
      checkLease();
      flying = true;
      departure.departed();
    },
    land(ending) {
      if (!flying) return;
      flying = false;
      advice = departure.landed(ending);
      host.land({ lease, ...advice.landing });
    },
    landWith(landing) {
      if (!flying) return;
      flying = false;
      host.land({ lease, ...landing });
    },
    async rest(ending) {
      await delay(departure.restMs(ending), undefined, { signal: host.signal });
      departure.departed();
    },
  };
}

async function handle(host: AttemptHost, context: CrawlingContext, request: Request): Promise<void> {
  request.state = RequestState.REQUEST_HANDLER;
  await withinMs(
    host.handlerTimeoutMs,
    () => host.requestHandler(context),
    () => new CrawlError('HANDLER_TIMEOUT', `requestHandler did not end within ${host.handlerTimeoutMs / 1000} s`),
    host.signal,
  );
}

function settleArrival(
  host: AttemptHost,
  lease: number,
  arrival: Arrival,
  request: Request,
  identity: Identity,
  transaction: Transaction,
  startedAtMs: number,
): FinishedVisit {
  const { items, links } = transaction;
  switch (arrival.kind) {
    case 'handled':
      request.state = RequestState.DONE;
      request.handledAt = new Date().toISOString();
      identity.session?.markGood();
      return {
        settlement: { kind: 'done', lease, record: host.forgetsEnded ? undefined : recordOf(host, request), links },
        items,
        page: host.pageOf?.(request),
        onSettled: (held) => {
          if (held) host.stats.finishJob(performance.now() - startedAtMs, request.retryCount);
          else transaction.clear();
        },
      };
    case 'handed': {
      const { capture, bytes } = arrival;
      return {
        settlement: { kind: 'handed', lease, capture, bytes, record: recordOf(host, request) },
        items: [],
        onSettled: (held) => {
          if (held) host.stats.finishJob(performance.now() - startedAtMs, request.retryCount);
        },
      };
    }
    case 'requeue':
      request.state = RequestState.SKIPPED;
      return {
        settlement: {
          kind: 'skipped',
          lease,
          reason: 'redirected',
          record: recordOf(host, request),
          links: [entryOf(arrival.target, true, host.queue.paceBy)],
        },
        items: [],
      };
    case 'again':
      return { settlement: { kind: 'retry', lease, afterMs: 0 }, items: [] };
    case 'refused': {
      request.state = RequestState.SKIPPED;
      const skipped = { url: arrival.target, reason: 'redirect' as const };
      return {
        settlement: { kind: 'skipped', lease, reason: 'redirect', record: recordOf(host, request) },
        items: [],
        onSettled: () => void host.onSkipped(skipped),
      };
    }
    default:
      return arrival satisfies never;
  }
}

/** As {@link judgeFailure}, and whatever user code made of the request and its context: one settlement. */
async function settleFailure(...failure: Parameters<typeof judgeFailure>): Promise<FinishedVisit> {
  try {
    return await judgeFailure(...failure);
  } catch (thrown) {
    const [host, lease, error, request] = failure;
    const because = asCrawlError(thrown, 'HANDLER_FAILED').message;
    host.log.error(`${request.url}: failed (${error.code}), and user code left its request unusable: ${because}`);
    return { settlement: { kind: 'failed', lease, reason: error.code }, items: [] };
  }
}

async function judgeFailure(
  host: AttemptHost,
  lease: number,
  thrown: CrawlError,
  request: Request,
  identity: Identity,
  failedContext: CrawlingContext | undefined,
  startedAtMs: number,
  advice?: Landed,
): Promise<FinishedVisit> {
  // Nothing was sent, or it was we who broke it off: it is as good as never leased.
  if (host.signal.aborted || BROKEN_OFF.has(thrown.code)) {
    return { settlement: { kind: 'untouched', lease }, items: [] };
  }
  const error = advice?.error ?? thrown;
  const { session } = identity;
  if (error instanceof SessionError || RETIRING.has(error.code)) session?.retire();
  else session?.markBad();

  const verdict = judge(error, request, host.limits, host.random, advice);
  if (verdict.kind === 'stop-crawl') {
    host.onFatal(error);
    return { settlement: { kind: 'untouched', lease }, items: [] };
  }
  request.pushErrorMessage(error);
  // A transaction of their own: the handler that failed may still be running, and must not add to it.
  const transaction = createTransaction(request.url);
  const context = succeed(failedContext, createVisitContext(host, request, identity, transaction).context);
  try {
    const again = verdict.kind === 'fail' ? undefined : await prepareRetry(host, verdict, error, context);
    if (again === undefined) {
      request.state = RequestState.ERROR;
      request.handledAt = new Date().toISOString();
      await runUserErrorHandler(host, 'failedRequestHandler', context, error);
    }
    const { items, links } = transaction;
    const record = recordOf(host, request);
    if (again !== undefined) {
      if (!(again >= 0)) throw new CrawlError('REQUEST_INVALID', `its retryCount is ${String(request.retryCount)}`);
      host.stats.retryJob(error.code);
      return { settlement: { kind: 'retry', lease, afterMs: again, record, links }, items };
    }
    return {
      settlement: { kind: 'failed', lease, reason: error.code, record, links },
      items,
      onSettled: (held) => {
        if (held) host.stats.failJob(performance.now() - startedAtMs, request.retryCount, error.code);
      },
    };
  } finally {
    transaction.close();
  }
}

/** The context of the error handlers: all that the failed one had, but its own way to add things. */
function succeed(failed: CrawlingContext | undefined, context: CrawlingContext): CrawlingContext {
  if (!failed) return context;
  const inherited = Object.getOwnPropertyDescriptors(failed) as Record<string, PropertyDescriptor>;
  for (const name of Object.keys(context)) delete inherited[name];
  return Object.defineProperties(context, inherited);
}

/** The request as it is to be stored; undefined (as it was) when user code put something into it that cannot be. */
function recordOf(host: AttemptHost, request: Request): string | undefined {
  try {
    return request.toRecord();
  } catch (error) {
    host.log.error(`${request.url}: its changes cannot be stored: ${(error as Error).message}`);
    return undefined;
  }
}

/** Asks the user's errorHandler, counts the attempt; undefined when the handler forbade another one. */
async function prepareRetry(
  host: AttemptHost,
  verdict: Exclude<Verdict, { kind: 'fail' | 'stop-crawl' }>,
  error: CrawlError,
  context: CrawlingContext,
): Promise<number | undefined> {
  const { request } = context;
  request.state = RequestState.ERROR_HANDLER;
  await runUserErrorHandler(host, 'errorHandler', context, error);
  if (request.noRetry) return undefined;
  request.state = RequestState.UNPROCESSED;
  request.loadedUrl = undefined;
  const left = `${request.url} (${error.code}: ${error.message})`;
  if (verdict.kind === 'rotate-session') {
    request.sessionRotationCount++;
    host.log.debug(`Rotating the session of ${left}`);
    return 0;
  }
  if (verdict.isAppointment) {
    request.appointments++;
    host.log.debug(`Coming back when the host asked to: ${left}`);
    return verdict.afterMs;
  }
  request.retryCount++;
  host.log.warning(`Reclaiming failed request back to the queue: ${left}`, {
    id: request.id,
    retryCount: request.retryCount,
    afterMs: verdict.afterMs,
  });
  return verdict.afterMs;
}

/** The user's code for failures; what it throws is logged and changes nothing. */
async function runUserErrorHandler(
  host: AttemptHost,
  name: 'errorHandler' | 'failedRequestHandler',
  context: CrawlingContext,
  error: CrawlError,
): Promise<void> {
  const userHandler = host[name];
  const { request } = context;
  if (!userHandler) {
    // A host whose every URL fails unasked was told of once.
    if (name === 'failedRequestHandler' && error.code !== 'HOST_DOWN' && error.code !== 'ROBOTS_UNREACHABLE') {
      const isBug = error.code === 'HANDLER_FAILED';
      const what = `${error.code}: ${error.message}${isBug ? placeOf(error) : ''}`;
      const message = `Request failed and reached maximum retries: ${request.url} (${what})`;
      const data = { id: request.id, retryCount: request.retryCount };
      if (isBug && wantsStacks(host.log)) host.log.exception(error, message, data);
      else host.log.error(message, data);
    }
    return;
  }
  try {
    await withinMs(
      host.handlerTimeoutMs,
      // Handlers expect what their code threw, not our wrapping of it.
      () => userHandler(context, error.code === 'HANDLER_FAILED' && error.cause instanceof Error ? error.cause : error),
      () => new CrawlError('HANDLER_TIMEOUT', `${name} did not end within ${host.handlerTimeoutMs / 1000} s`),
    );
  } catch (thrown) {
    host.log.exception(asCrawlError(thrown, 'HANDLER_FAILED'), `${name} threw for ${request.url}`);
  }
}
