// One attempt at one leased request: identity, navigation, handler, and the verdict on what went wrong.
// Whatever user code, the page or the network does, the result is exactly one settlement.
import { asCrawlError, CrawlError } from '../../errors.js';
import type { Capture } from '../../fetch/engine.js';
import { entryOf } from '../../frontier/entry.js';
import type { Lease } from '../../frontier/frontier.js';
import type { SkipReason } from '../../handle/enqueue-links.js';
import type { Ending } from '../../politeness/delay.js';
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
  readonly time: Time;
  /** Resolves when the domain may be asked, where the queue alone does not see to it. */
  readonly ready: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** The request is on its way: from here on the domain's turn is used. */
  beginTurn(): void;
  /** Throws when the lease ran out: for whoever is about to write the request to the wire. */
  readonly checkLease: () => void;
  /** The least time between two requests to its domain; 0 where it is not paced. */
  readonly delayMs: number;
  /** The response has ended: its domain rests, or was not even asked when the capture is the cache's. */
  endTurn(capture?: Capture): void;
  /** The page is to be asked for once more, after this answer. False: that needs a turn of its own. */
  again(capture: Capture | undefined): Promise<boolean>;
}

/** How a navigation went. All but `handled` end the visit without its work. */
export type Arrival =
  | { readonly kind: 'handled' }
  /** The capture waits under this name for whoever finishes the visit. */
  | { readonly kind: 'handed'; readonly capture: string; readonly bytes: number }
  | { readonly kind: 'requeue'; readonly target: Request }
  /** The page must be asked for once more, in a browser: on a turn of its own. */
  | { readonly kind: 'needsBrowser' }
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
  const startedAtMs = services.time.monotonicMs();
  const request = Request.fromRecord(lease.record, lease.priority);
  const transaction = createTransaction(request.url, services.links?.releaseLink);
  const turn = new TrackedTurn(services, lease.id, isGood, ownTurn, transaction);
  let visited: VisitContext<Context> | undefined;
  let identity = NOBODY;
  try {
    identity = await bindIdentity(services, services.handlers.timeoutMs, request);
    visited = services.openContext(request, identity, transaction);
    const { context, setLinkFinder } = visited;
    const { signal, time } = services;
    const visit: Visit = {
      context,
      setLinkFinder,
      request,
      identity,
      signal,
      time,
      ready: ownTurn.ready,
      beginTurn: () => turn.begin(),
      checkLease: turn.checkLease,
      delayMs: lease.delayMs,
      endTurn: (capture) => turn.endWith(capture),
      again: (capture) => turn.again(capture),
    };
    const arrival = await services.navigate(visit, () => handle(services, context, request));
    return settleArrival(services, lease.id, arrival, request, identity, transaction, startedAtMs);
  } catch (thrown) {
    const error = asCrawlError(thrown, 'HANDLER_FAILED');
    turn.end({ failure: error.code });
    // At once: a handler that still runs must not believe that its items count.
    transaction.close();
    transaction.clear();
    return await settleFailure(services, lease.id, error, request, identity, visited?.context, startedAtMs, turn.ended);
  } finally {
    transaction.close();
    ownTurn.release?.();
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

/** Ends a request that may not be asked for, as one that failed for good; never throws. */
export async function refuse<Context extends BaseContext>(
  services: VisitServices<Context>,
  lease: Lease,
  error: CrawlError,
): Promise<FinishedVisit> {
  const request = Request.fromRecord(lease.record, lease.priority);
  return settleFailure(services, lease.id, error, request, NOBODY, undefined, services.time.monotonicMs());
}

/** Ends a turn once if it began, and not at all if it never did. */
class TrackedTurn {
  /** What the end of the turn told, once there was one. */
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
): Promise<void> {
  request.state = RequestState.REQUEST_HANDLER;
  await withinMs(
    time,
    handlers.timeoutMs,
    () => handlers.request(context),
    () => new CrawlError('HANDLER_TIMEOUT', `requestHandler did not end within ${handlers.timeoutMs / 1000} s`),
    signal,
  );
}

function settleArrival(
  services: CommonServices,
  lease: number,
  arrival: Arrival,
  request: Request,
  identity: Identity,
  transaction: Transaction,
  startedAtMs: number,
): FinishedVisit {
  const { items, links } = transaction;
  const { stats, time } = services;
  switch (arrival.kind) {
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
      return settleRedirect(services, lease, request, arrival.target);
    case 'needsBrowser':
      return { settlement: { kind: 'retry', lease, afterMs: 0 }, items: [] };
    case 'refused': {
      const { url, reason } = arrival;
      return skipped(services, lease, request, 'redirect', { url, reason: reason as SkipReason });
    }
    default:
      return arrival satisfies never;
  }
}

/** Where domains are paced, a redirect is a request of its own; one that leads to a page the queue has ends here. */
function settleRedirect(services: CommonServices, lease: number, request: Request, target: Request): FinishedVisit {
  const { links } = services;
  if (links && links.queue.glance(target.fingerprint) !== 'new') {
    return skipped(services, lease, request, 'duplicate', { url: request.url, reason: 'duplicate' });
  }
  request.state = RequestState.SKIPPED;
  const record = recordOf(services, request);
  const next = [entryOf(target, true, links?.queue.paceBy)];
  return { settlement: { kind: 'skipped', lease, reason: 'redirected', record, links: next }, items: [] };
}

function skipped(
  services: CommonServices,
  lease: number,
  request: Request,
  reason: string,
  told: { url: string; reason: SkipReason },
): FinishedVisit {
  request.state = RequestState.SKIPPED;
  return {
    settlement: { kind: 'skipped', lease, reason, record: recordOf(services, request) },
    items: [],
    onSettled: () => void services.links?.onSkipped(told),
  };
}
