// What an attempt needs from its run, in small groups: a script, a batch and a pod each provide what they have.
// A group that a placement has no use for is missing; nothing is made up to fill it.
import type { VisitMark } from '../../base/loop-watch/visit-marks.js';
import type { CrawlError, ErrorCode } from '../../errors.js';
import type { Remembering } from '../../fresh/remembering.js';
import type { Landing } from '../../frontier/frontier.js';
import type { RequestQueue } from '../../frontier/queue/request-queue.js';
import type { SkippedRequestCallback, SkipReason } from '../../handle/enqueue-links.js';
import type { Log } from '../../observe/log.js';
import type { Request } from '../../request/request.js';
import type { ProxyInfo } from '../../session/proxy.js';
import type { Session } from '../../session/session.js';
import type { RecordFate } from './report/fate.js';
import type { PackedPage } from '../../store/content/page.js';
import type { LinkOrder } from '../order/order.js';
import type { Navigate } from './attempt.js';
import type { RetryLimits } from './retry.js';
import type { Statistics } from './report/statistics.js';
import type { Transaction } from './transaction.js';
import type { Turn } from './turn.js';
import type { VisitContext } from './visit-context.js';
import type { Time } from '../time.js';

/** What every context has, in any placement. */
export interface BaseContext {
  readonly request: Request;
  readonly log: Log;
}

/** The session and the proxy under which a visit asks. */
export interface Identity {
  readonly session: Session | undefined;
  readonly proxyInfo: ProxyInfo | undefined;
}

export interface IdentityServices {
  /** May be user code: bounded by the attempt. */
  bind(request: Request): Promise<Identity>;
  /** The session is free for another visit. */
  release?(session: Session): void;
}

export interface TurnServices {
  /** The turn of a request that no gate let through. */
  readonly plain: Turn;
  /** Tells the queue that a response has ended. */
  land(landing: Landing): void;
  /** Domains are paced: a second request of one visit needs a turn of its own. */
  readonly isPaced: boolean;
}

/** What becomes of the links a visit finds. */
export interface LinkServices {
  readonly queue: Pick<RequestQueue, 'isKnown' | 'glance' | 'paceBy'>;
  readonly maxCrawlDepth: number | undefined;
  /** How many new requests may still be queued under `maxRequestsPerCrawl`. */
  readonly roomForRequests: () => number;
  /**
   * Why a request that is new to the queue is not to be queued, if so. The one place for rules about URLs (robots.txt at
   * hand, traps, budgets, exclude lists); called once per link, so it must be cheap.
   */
  readonly refuseLink?: (url: string, depth: number) => SkipReason | undefined;
  /** A link that was let in is not queued after all: its visit failed, or another was first. */
  readonly releaseLink?: ((url: string) => void) | undefined;
  readonly onSkipped: SkippedRequestCallback;
  /** Every request is checked by its host's robots.txt before it is sent. */
  readonly obeysRobots?: boolean | undefined;
  /** How what is found is queued; missing for breadth first. */
  readonly order?: LinkOrder | undefined;
}

export interface HandlerServices<Context> {
  readonly timeoutMs: number;
  /** Of the route that a label chooses, if it has one of its own. */
  readonly timeoutMsOf?: ((label: string | undefined) => number | undefined) | undefined;
  readonly request: (context: Context) => unknown;
  readonly error?: ((context: Context, error: Error) => unknown) | undefined;
  readonly failed?: ((context: Context, error: Error) => unknown) | undefined;
  /** A `failed` that throws ends the run, as in Crawlee; otherwise it is logged. */
  readonly isFailedFatal?: boolean | undefined;
}

/** All that an attempt needs. */
export interface VisitServices<Context extends BaseContext = BaseContext> {
  readonly log: Log;
  readonly navigate: Navigate;
  readonly handlers: HandlerServices<Context>;
  readonly identity?: IdentityServices | undefined;
  readonly turn: TurnServices;
  readonly links?: LinkServices | undefined;
  readonly limits: RetryLimits;
  readonly time: Time;
  openContext(request: Request, identity: Identity, transaction: Transaction, mark?: VisitMark): VisitContext<Context>;
  readonly stats?: Pick<Statistics, 'finishJob' | 'failJob' | 'retryJob' | 'countBlockedLoop'> | undefined;
  /** The queue forgets what ended: how a request ended need not be written into it. */
  readonly forgetsEnded?: boolean;
  /** What a handled request's visit stores of its page, where content is stored. */
  readonly pageOf?: ((request: Request) => PackedPage | undefined) | undefined;
  /** What is remembered of pages, where that is wanted. */
  readonly remembering?: Remembering | undefined;
  /** What a visit that failed or was skipped stores, where fates are recorded. */
  readonly fateOf?: RecordFate | undefined;
  /** Told of every attempt that failed, with the status of its response. */
  readonly onFailedAttempt?:
    ((code: ErrorCode, statusCode: number | undefined, isRetried: boolean) => void) | undefined;
  readonly signal: AbortSignal;
  /** The crawl cannot go on. */
  readonly onFatal: (error: CrawlError) => void;
}

/** The services that do not depend on the context. */
export type CommonServices = Omit<VisitServices, 'handlers' | 'openContext'>;

/** What the run gives its attempts itself. */
export type GivenByRun = 'signal' | 'onFatal' | 'turn';

/** Services as a placement gives them, before its run adds what is the run's. */
export type PlacedServices<Context extends BaseContext = BaseContext> = Omit<VisitServices<Context>, GivenByRun> & {
  readonly turn: Omit<TurnServices, 'land'>;
};
