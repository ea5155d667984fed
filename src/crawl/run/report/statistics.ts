// Counts and durations of a crawl's requests, in Crawlee's shape; saved with the crawl so that a resumed
// run continues them.
import { ErrorTracker } from '../../../observe/error-tracker.js';
import { isoNow, systemTime, type Time } from '../../time.js';

/** What a run came to. */
export interface FinalStatistics {
  /** Requests done. */
  requestsFinished: number;
  /** Requests failed for good. */
  requestsFailed: number;
  /** Both together. */
  requestsTotal: number;
  /** How many requests ended after so many retries, by index. */
  retryHistogram: number[];
  /** Done per minute. */
  requestsFinishedPerMinute: number;
  /** Failed per minute. */
  requestsFailedPerMinute: number;
  /** Mean time of those done. */
  requestAvgFinishedDurationMillis: number;
  /** Mean time of those failed. */
  requestAvgFailedDurationMillis: number;
  /** Time of all visits together. */
  requestTotalDurationMillis: number;
  /** How long the run took. */
  crawlerRuntimeMillis: number;
}

/** The state in Crawlee's names. */
export interface StatisticState {
  /** Requests whose handler succeeded. */
  requestsFinished: number;
  /** Requests that failed for good: no retry was left, or none would help. */
  requestsFailed: number;
  /** Attempts that failed and were made again. */
  requestsRetries: number;
  /** Failures for good per minute of runtime. */
  requestsFailedPerMinute: number;
  /** Finished requests per minute of runtime. */
  requestsFinishedPerMinute: number;
  /** Time of the fastest request that finished. */
  requestMinDurationMillis: number;
  /** Time of the slowest request that finished. */
  requestMaxDurationMillis: number;
  /** Time of all failed requests together. */
  requestTotalFailedDurationMillis: number;
  /** Time of all finished requests together; many run at once, so it may be more than the runtime. */
  requestTotalFinishedDurationMillis: number;
  /** When the first run began (ISO 8601); null before it. */
  crawlerStartedAt: string | null;
  /** When the last run ended; null while one is under way. */
  crawlerFinishedAt: string | null;
  /** How long all runs took, without the time between them. */
  crawlerRuntimeMillis: number;
  /** When the state was last saved. */
  statsPersistedAt: string | null;
  /** Failures for good, by error code. */
  errors: Record<string, number>;
  /** Attempts that were repeated, by error code. */
  retryErrors: Record<string, number>;
  /** Responses by status; a request that was retried counts once per response. */
  requestsWithStatusCode: Record<string, number>;
  /** Ours: how often a visit's work blocked the event loop for longer than `blockedLoopSecs`. */
  blockedLoops: number;
}

/** What is saved beside the state. */
export interface StatisticExtras extends Pick<FinalStatistics, 'requestsTotal' | 'requestTotalDurationMillis'> {
  /** How many requests took 0, 1, 2… retries. */
  requestRetryHistogram: number[];
  /** Null: there was none. */
  requestAvgFailedDurationMillis: number | null;
  /** Mean time of a finished request; null before the first. */
  requestAvgFinishedDurationMillis: number | null;
  /** Number of this crawler in its process. */
  statsId: number;
  /** When this process began, in milliseconds since 1970. */
  crawlerLastStartTimestamp: number | null;
}

/** How statistics are logged and saved. */
export interface StatisticsOptions {
  /** For tests. */
  clock?: () => number;
  /** Accepted for Crawlee scripts. */
  logIntervalSecs?: number;
  /** Accepted for Crawlee scripts. */
  logMessage?: string;
  /** Accepted for Crawlee scripts. */
  saveErrorSnapshots?: boolean;
  /** `enable: false`: the counts are not saved, and begin at zero in the next process. */
  persistenceOptions?: { enable?: boolean };
}

/** Attempts beyond this share the histogram's last column, so that endless retries stay cheap. */
const HISTOGRAM_COLUMNS = 100;

/**
 * Statistics of a crawl: `crawler.stats`.
 *
 * @example
 * const { requestsFinished, requestsFailed } = crawler.stats.state;
 */
export class Statistics {
  static #last = 0;
  /** Which of this process's statistics these are. */
  readonly id = Statistics.#last++;
  /** How many requests ended after so many retries: index 0 without any. The last column holds all beyond it. */
  readonly requestRetryHistogram: number[] = [];
  /** Errors of requests that failed for good, by kind. */
  readonly errorTracker = new ErrorTracker();
  /** Errors of attempts that were repeated, by kind. */
  readonly errorTrackerRetry = new ErrorTracker();
  /** The counts so far. They survive a restart of the crawl. */
  state: StatisticState = emptyState();
  readonly #clock: () => number;
  readonly #time: Time;
  #startedAtMs: number | undefined;
  #earlierRuntimeMs = 0;
  #startedAt: number | null = null;

  constructor(options: StatisticsOptions = {}, time = systemTime) {
    this.#clock = options.clock ?? time.monotonicMs;
    this.#time = time;
  }

  /** Starts the clock of the runtime. The crawler calls it. */
  startCapturing(): void {
    this.#startedAtMs = this.#clock();
    this.#startedAt = Date.parse(isoNow(this.#time));
    this.state.crawlerStartedAt ??= isoNow(this.#time);
    this.state.crawlerFinishedAt = null;
  }

  /** Stops the clock of the runtime; a later run adds to it. */
  stopCapturing(): void {
    this.#earlierRuntimeMs = this.#runtimeMs();
    this.#startedAtMs = undefined;
    this.state.crawlerRuntimeMillis = this.#earlierRuntimeMs;
    this.state.crawlerFinishedAt = isoNow(this.#time);
  }

  /** Counts a response by its status. */
  registerStatusCode(code: number): void {
    const counts = this.state.requestsWithStatusCode;
    counts[code] = (counts[code] ?? 0) + 1;
  }

  /** Counts a visit whose work blocked the event loop too long. */
  countBlockedLoop(): void {
    this.state.blockedLoops++;
  }

  /** Counts a request that ended well, with the time it took and its retries. */
  finishJob(durationMs: number, retryCount: number): void {
    this.state.requestsFinished++;
    this.state.requestTotalFinishedDurationMillis += durationMs;
    this.state.requestMinDurationMillis = Math.min(this.state.requestMinDurationMillis, durationMs);
    this.state.requestMaxDurationMillis = Math.max(this.state.requestMaxDurationMillis, durationMs);
    this.#countRetries(retryCount);
  }

  /** Counts a request that failed for good, with its error. */
  failJob(durationMs: number, retryCount: number, code: string, error: Error): void {
    this.errorTracker.add(error);
    this.state.requestsFailed++;
    this.state.requestTotalFailedDurationMillis += durationMs;
    this.state.errors[code] = (this.state.errors[code] ?? 0) + 1;
    this.#countRetries(retryCount);
  }

  /** Counts an attempt that failed and is made again. */
  retryJob(code: string, error: Error): void {
    this.errorTrackerRetry.add(error);
    this.state.requestsRetries++;
    this.state.retryErrors[code] = (this.state.retryErrors[code] ?? 0) + 1;
  }

  /** Everything from zero. */
  reset(): void {
    this.requestRetryHistogram.length = 0;
    this.state = emptyState();
    this.errorTracker.reset();
    this.errorTrackerRetry.reset();
    this.#earlierRuntimeMs = 0;
    if (this.#startedAtMs !== undefined) this.startCapturing();
  }

  /** Means, rates and totals, from the counts of this moment. */
  calculate(): Omit<FinalStatistics, 'requestsFinished' | 'requestsFailed' | 'retryHistogram'> {
    const { requestsFinished, requestsFailed, requestTotalFinishedDurationMillis, requestTotalFailedDurationMillis } =
      this.state;
    const runtimeMs = this.#runtimeMs();
    const perMinute = (count: number) => (runtimeMs > 0 ? Math.round((count / runtimeMs) * 60_000) : 0);
    return {
      requestsTotal: requestsFinished + requestsFailed,
      requestsFinishedPerMinute: perMinute(requestsFinished),
      requestsFailedPerMinute: perMinute(requestsFailed),
      requestAvgFinishedDurationMillis: average(requestTotalFinishedDurationMillis, requestsFinished),
      requestAvgFailedDurationMillis: average(requestTotalFailedDurationMillis, requestsFailed),
      requestTotalDurationMillis: Math.round(requestTotalFinishedDurationMillis + requestTotalFailedDurationMillis),
      crawlerRuntimeMillis: Math.round(runtimeMs),
    };
  }

  /** What `run()` resolves to. */
  final(): FinalStatistics {
    return {
      requestsFinished: this.state.requestsFinished,
      requestsFailed: this.state.requestsFailed,
      retryHistogram: Array.from(this.requestRetryHistogram, (count) => count ?? 0),
      ...this.calculate(),
    };
  }

  /** The state as it is saved. */
  toJSON(): StatisticState & StatisticExtras {
    const { requestAvgFailedDurationMillis, requestAvgFinishedDurationMillis, ...figures } = this.calculate();
    return {
      ...this.state,
      ...figures,
      // Infinity is null in JSON.
      requestAvgFailedDurationMillis: Number.isFinite(requestAvgFailedDurationMillis)
        ? requestAvgFailedDurationMillis
        : null,
      requestAvgFinishedDurationMillis: Number.isFinite(requestAvgFinishedDurationMillis)
        ? requestAvgFinishedDurationMillis
        : null,
      statsId: this.id,
      crawlerLastStartTimestamp: this.#startedAt,
      requestMinDurationMillis: Number.isFinite(this.state.requestMinDurationMillis)
        ? this.state.requestMinDurationMillis
        : 0,
      statsPersistedAt: isoNow(this.#time),
      requestRetryHistogram: Array.from(this.requestRetryHistogram, (count) => count ?? 0),
    };
  }

  /** Continues from what an interrupted run saved; the queue has the exact number of finished requests. */
  restore(saved: unknown, ended: { done: number; failed: number }): void {
    const { requestRetryHistogram, ...fields } = (saved ?? {}) as Partial<ReturnType<Statistics['toJSON']>>;
    const empty = emptyState();
    const state = Object.fromEntries(Object.entries(fields).filter(([name]) => name in empty));
    this.state = { ...empty, ...state, requestsFinished: ended.done, requestsFailed: ended.failed };
    this.#earlierRuntimeMs = this.state.crawlerRuntimeMillis;
    if (Array.isArray(requestRetryHistogram)) this.requestRetryHistogram.splice(0, Infinity, ...requestRetryHistogram);
  }

  #runtimeMs(): number {
    return this.#earlierRuntimeMs + (this.#startedAtMs === undefined ? 0 : this.#clock() - this.#startedAtMs);
  }

  #countRetries(retryCount: number): void {
    const column = Math.min(retryCount, HISTOGRAM_COLUMNS - 1);
    this.requestRetryHistogram[column] = (this.requestRetryHistogram[column] ?? 0) + 1;
  }
}

function average(total: number, count: number): number {
  return count === 0 ? Infinity : Math.round(total / count);
}

function emptyState(): StatisticState {
  return {
    requestsFinished: 0,
    requestsFailed: 0,
    requestsRetries: 0,
    requestsFailedPerMinute: 0,
    requestsFinishedPerMinute: 0,
    requestMinDurationMillis: Infinity,
    requestMaxDurationMillis: 0,
    requestTotalFailedDurationMillis: 0,
    requestTotalFinishedDurationMillis: 0,
    crawlerStartedAt: null,
    crawlerFinishedAt: null,
    crawlerRuntimeMillis: 0,
    statsPersistedAt: null,
    errors: {},
    retryErrors: {},
    requestsWithStatusCode: {},
    blockedLoops: 0,
  };
}
