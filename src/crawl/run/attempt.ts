// One attempt at one leased request: identity, navigation, handler, and the verdict on failures.
// Whatever user code, the page or the network does, the result is exactly one settlement.
import { markVisit, type VisitMark } from '../../base/loop-watch/visit-marks.js';
import { asCrawlError, CrawlError } from '../../errors.js';
import type { Capture } from '../../fetch/engine.js';
import { entryOf } from '../../frontier/entry.js';
import type { Lease } from '../../frontier/frontier.js';
import type { SkipReason } from '../../handle/enqueue-links.js';
import type { Ending } from '../../politeness/delay.js';
import { isTracing, traceVisit, type VisitTrace } from '../../observe/tracing.js';
import { Request, RequestState } from '../../request/request.js';
import { recordOf, settleFailure } from './failure.js';
import type { BaseContext, CommonServices, Identity, VisitServices } from './services.js';
import type { FinishedVisit } from './settler.js';
import { withinMs } from './time-limit.js';
import { createTransaction, type Transaction } from './transaction.js';
import { endingOf, leaseCheck, type Turn, type TurnEnd } from './turn.js';
import type { VisitContext } from './visit-context.js';
import { isoNow, type Time } from '../time.js';

/** What a navigation is given: the request, its context and identity, and its domain's turn. */
export interface Visit extends VisitContext<BaseContext> {
  readonly request: Request;
  readonly identity: Identity;
  readonly signal: AbortSignal;
  /** Around synchronous work: a visit that blocks the event loop can be named. */
  readonly mark: VisitMark;
  readonly time: Time;
  /** Resolves when the domain may be asked, where the queue alone does not see to it. */
  readonly ready: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** The request is on its way: from here on the domain's turn is used. */
  beginTurn(): void;
  /** Throws if the lease has expired: called right before the request is sent. */
  readonly checkLease: () => void;
  /** The least time between two requests to its domain; 0 where it is not paced. */
  readonly delayMs: number;
  /** Names its trace to the process that finishes it; undefined without one. */
  readonly trace?: string | undefined;
  /** Set with a live page: whether it is still there. */
  hasPage?: () => boolean;
  /** The visit has failed: its handlers of failures run at once, while the page is still there. */
  readonly failing?: (thrown: unknown) => Promise<void>;
  /** A response has come: what is recorded if the visit fails. */
  answered(capture: Capture): void;
  /** The response has ended: its domain rests, or was not even asked when the capture is the cache's. */
  endTurn(capture?: Capture): void;
  /** Whether the page may be requested again after this response. False: that needs a new turn. */
  again(capture: Capture | undefined): Promise<boolean>;
}

/** How a navigation went. All but `handled` end the visit without its work. */
export type Arrival =
  | { readonly kind: 'handled' }
  /** The capture waits under this name for the process that finishes the visit. */
  | { readonly kind: 'handed'; readonly capture: string; readonly bytes: number }
  | { readonly kind: 'requeue'; readonly target: Request }
  /** The page must be requested again, in a browser, on a new turn. */
  | { readonly kind: 'needsBrowser' }
  /** The server's answer is not credible: the full page is requested on a new turn. */
  | { readonly kind: 'askAgain' }
  /** The page is unchanged: nothing to handle. */
  | { readonly kind: 'unchanged' }
  /** The page repeats another one, and such pages are not handled. */
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'refused'; readonly url: string; readonly reason: string };

/** Has the page and calls `handle` while it is lent. */
export type Navigate = (visit: Visit, handle: () => Promise<void>) => Promise<Arrival>;

const NOBODY: Identity = Object.freeze({ session: undefined, proxyInfo: undefined });

/** Makes the attempt; never throws. */
export async function attempt<Context extends BaseContext>(
  services: VisitServices<Context>,
  lease: Lease,
  isGood: () => boolean,
  ownTurn: Turn = services.turn.plain,
): Promise<FinishedVisit> {
  const request = Request.fromRecord(lease.record, lease.priority);
  if (!isTracing) return attemptOnce(services, lease, request, isGood, ownTurn);
  const trace = await traceVisit(request);
  const finished = await attemptOnce(services, lease, request, isGood, ownTurn, trace);
  const { settlement } = finished;
  trace.decided(settlement.kind, 'reason' in settlement ? settlement.reason : undefined);
  return {
    ...finished,
    onSettled(held) {
      trace.settled(held);
      finished.onSettled?.(held);
    },
  };
}

async function attemptOnce<Context extends BaseContext>(
  services: VisitServices<Context>,
  lease: Lease,
  request: Request,
  isGood: () => boolean,
  ownTurn: Turn,
  trace?: VisitTrace,
): Promise<FinishedVisit> {
  const startedAtMs = services.time.monotonicMs();
  const transaction = createTransaction(request.url, services.links?.releaseLink);
  const mark = markVisit(request.url, lease.id);
  const turn = new TrackedTurn(services, lease.id, isGood, ownTurn, transaction);
  let visited: VisitContext<Context> | undefined;
  let identity = NOBODY;
  let answer: Capture | undefined;
  let failed: Promise<FinishedVisit> | undefined;
  const fail = (thrown: unknown): Promise<FinishedVisit> => {
    const error = asCrawlError(thrown, 'HANDLER_FAILED');
    turn.end({ failure: error.code });
    // At once: a handler that still runs must not believe that its items count.
    transaction.close();
    transaction.clear();
    const { ended } = turn;
    const context = visited?.context;
    return settleFailure(services, lease.id, error, request, identity, context, startedAtMs, ended, answer);
  };
  try {
    identity = await bindIdentity(services, services.handlers.timeoutMs, request);
    visited = services.openContext(request, identity, transaction, mark);
    const { context, setLinkFinder } = visited;
    const { signal, time } = services;
    const visit: Visit = {
      context,
      setLinkFinder,
      request,
      identity,
      signal,
      mark,
      time,
      ready: ownTurn.ready,
      beginTurn: () => {
        turn.begin();
        trace?.begin('fetch');
      },
      checkLease: turn.checkLease,
      delayMs: lease.delayMs,
      trace: trace?.context,
      answered(capture) {
        answer = capture;
        if (capture.handed) trace?.follow(capture.handed.trace);
        trace?.answered(capture.statusCode, capture.wireBytes);
      },
      endTurn(capture) {
        trace?.end('fetch');
        turn.endWith(capture);
      },
      again: (capture) => turn.again(capture),
      failing: async (thrown) => void (await (failed = fail(thrown))),
    };
    const arrival = await services.navigate(visit, async () => {
      trace?.begin('handler');
      await handle(services, context, request, mark);
      trace?.end('handler');
    });
    return settleArrival(services, lease.id, arrival, request, identity, transaction, startedAtMs, answer);
  } catch (thrown) {
    return await (failed ?? fail(thrown));
  } finally {
    transaction.close();
    ownTurn.release?.();
    mark.end();
    if (identity.session) services.identity?.release?.(identity.session);
  }
}

/** A session, and through it a proxy, before anything leaves the machine. */
function bindIdentity(
  { identity, time }: CommonServices,
  limitMs: number,
  request: Request,
): Promise<Identity> | Identity {
  if (!identity) return NOBODY;
  // A createSessionFunction and a newUrlFunction are user code.
  return withinMs(
    time,
    limitMs,
    () => identity.bind(request),
    () => new CrawlError('HANDLER_TIMEOUT', `no session and proxy in ${limitMs} ms`),
  );
}

/** Ends a request that must not be sent, as a permanent failure; never throws. */
export async function refuse<Context extends BaseContext>(
  services: VisitServices<Context>,
  lease: Lease,
  error: CrawlError,
): Promise<FinishedVisit> {
  const request = Request.fromRecord(lease.record, lease.priority);
  return settleFailure(services, lease.id, error, request, NOBODY, undefined, services.time.monotonicMs());
}

/** What is recorded of a request that is skipped before anything is sent. */
export function skippedUnasked({ fateOf }: CommonServices, lease: Lease, code: string): FinishedVisit['page'] {
  const request = Request.fromRecord(lease.record, lease.priority);
  return fateOf?.(request, { kind: 'skipped', code, attempts: request.retryCount });
}

/** Ends a turn once, if it began. */
class TrackedTurn {
  /** The result of the turn's end, once there is one. */
  ended: TurnEnd | undefined;
  readonly checkLease: () => void;
  #isUsed = false;
  readonly #services: CommonServices;
  readonly #lease: number;
  readonly #turn: Turn;
  readonly #transaction: Transaction;

  constructor(services: CommonServices, lease: number, isGood: () => boolean, turn: Turn, transaction: Transaction) {
    this.#services = services;
    this.#lease = lease;
    this.checkLease = leaseCheck(isGood);
    this.#turn = turn;
    this.#transaction = transaction;
  }

  begin(): void {
    this.checkLease();
    // Given back already: where nothing is paced, a second request is part of the same visit.
    if (this.ended) return;
    this.#isUsed = true;
    this.#turn.begin();
  }

  end(ending?: Ending): void {
    if (!this.#isUsed) return;
    this.#isUsed = false;
    this.ended = this.#turn.end(ending);
    this.#services.turn.land({ lease: this.#lease, ...this.ended.landing });
  }

  endWith(capture: (Capture & { readonly cacheStatus?: string }) | undefined): void {
    if (capture?.cacheStatus !== 'hit') return this.end(capture && endingOf(capture, this.#services.time));
    // Read from the cache: the domain was not asked, and the turn goes back unused.
    this.#isUsed = false;
    this.#turn.release?.(0);
  }

  async again(capture: (Capture & { readonly cacheStatus?: string }) | undefined): Promise<boolean> {
    this.#transaction.clear();
    const { turn, signal, time } = this.#services;
    if (!this.#isUsed) return !turn.isPaced;
    if (capture?.cacheStatus === 'hit') return true;
    await time.wait(this.#turn.restMs(capture && endingOf(capture, time)), signal);
    this.checkLease();
    this.#turn.begin();
    return true;
  }
}

async function handle<Context extends BaseContext>(
  { handlers, signal, time }: VisitServices<Context>,
  context: Context,
  request: Request,
  mark: VisitMark,
): Promise<void> {
  request.state = RequestState.REQUEST_HANDLER;
  mark.handling(true);
  const timeoutMs = handlers.timeoutMsOf?.(request.label) ?? handlers.timeoutMs;
  try {
    await withinMs(
      time,
      timeoutMs,
      () => mark.work(() => handlers.request(context)),
      () => new CrawlError('HANDLER_TIMEOUT', `requestHandler timed out after ${timeoutMs / 1000} seconds`),
      signal,
    );
  } finally {
    mark.handling(false);
  }
}

function settleArrival(
  services: CommonServices,
  lease: number,
  arrival: Arrival,
  request: Request,
  identity: Identity,
  transaction: Transaction,
  startedAtMs: number,
  answer: Capture | undefined,
): FinishedVisit {
  const { items } = transaction;
  // What goes in front comes out in reverse.
  const links = services.links?.order?.isDepthFirst ? transaction.links.toReversed() : transaction.links;
  const { stats, time } = services;
  const remembered = services.remembering?.visitsOf(request);
  switch (arrival.kind) {
    case 'unchanged':
    case 'handled':
      request.state = RequestState.DONE;
      request.handledAt = isoNow(services.time);
      identity.session?.markGood();
      return {
        settlement: {
          kind: 'done',
          lease,
          record: services.forgetsEnded ? undefined : recordOf(services, request),
          links,
        },
        items,
        page: services.pageOf?.(request),
        remembered,
        onSettled: (held) => {
          if (held) stats?.finishJob(time.monotonicMs() - startedAtMs, request.retryCount);
          else transaction.clear();
        },
      };
    case 'handed': {
      const { capture, bytes } = arrival;
      return {
        settlement: { kind: 'handed', lease, capture, bytes, record: recordOf(services, request) },
        items: [],
        onSettled: (held) => {
          if (held) stats?.finishJob(time.monotonicMs() - startedAtMs, request.retryCount);
        },
      };
    }
    case 'requeue':
      return settleRedirect(services, lease, request, arrival.target, answer);
    case 'duplicate':
      return {
        ...skipped(services, lease, request, 'near duplicate', { url: request.url, reason: 'nearDuplicate' }, answer),
        remembered,
      };
    case 'askAgain':
    case 'needsBrowser':
      return { settlement: { kind: 'retry', lease, afterMs: 0 }, items: [] };
    case 'refused': {
      const { url, reason } = arrival;
      return skipped(services, lease, request, 'redirect', { url, reason: reason as SkipReason }, answer);
    }
    default:
      return arrival satisfies never;
  }
}

/** Where domains are paced, a redirect is a request of its own; one that leads to a page the queue has ends here. */
function settleRedirect(
  services: CommonServices,
  lease: number,
  request: Request,
  target: Request,
  capture: Capture | undefined,
): FinishedVisit {
  const { links } = services;
  if (links && links.queue.glance(target.fingerprint) !== 'new') {
    return skipped(services, lease, request, 'duplicate', { url: request.url, reason: 'duplicate' }, capture);
  }
  request.state = RequestState.SKIPPED;
  const record = recordOf(services, request);
  const next = [entryOf(target, true, links?.queue.paceBy)];
  const message = `redirected to ${target.url}`;
  const page = fateOfSkip(services, request, 'redirected', message, capture);
  return { settlement: { kind: 'skipped', lease, reason: 'redirected', record, links: next }, items: [], page };
}

function skipped(
  services: CommonServices,
  lease: number,
  request: Request,
  reason: string,
  told: { url: string; reason: SkipReason },
  capture: Capture | undefined,
): FinishedVisit {
  request.state = RequestState.SKIPPED;
  const message = `${told.url}: ${told.reason}`;
  return {
    page: fateOfSkip(services, request, reason, message, capture),
    settlement: { kind: 'skipped', lease, reason, record: recordOf(services, request) },
    items: [],
    onSettled: () => void services.links?.onSkipped(told),
  };
}

function fateOfSkip(
  { fateOf }: CommonServices,
  request: Request,
  code: string,
  message: string,
  capture: Capture | undefined,
): FinishedVisit['page'] {
  return fateOf?.(request, { kind: 'skipped', code, message, attempts: request.retryCount + 1, capture });
}
