// Counts and durations of a crawl's requests, in Crawlee's shape; saved with the crawl so that a resumed
// run goes on counting.
import { isoNow, systemTime, type Time } from '../time.js';

/** What a run came to. */
export interface FinalStatistics {
  requestsFinished: number;
  requestsFailed: number;
  requestsTotal: number;
  retryHistogram: number[];
  requestsFinishedPerMinute: number;
  requestsFailedPerMinute: number;
  requestAvgFinishedDurationMillis: number;
  requestAvgFailedDurationMillis: number;
  requestTotalDurationMillis: number;
  crawlerRuntimeMillis: number;
}

/** The state in Crawlee's names. */
export interface StatisticState {
  requestsFinished: number;
  requestsFailed: number;
  requestsRetries: number;
  requestsFailedPerMinute: number;
  requestsFinishedPerMinute: number;
  requestMinDurationMillis: number;
  requestMaxDurationMillis: number;
  requestTotalFailedDurationMillis: number;
  requestTotalFinishedDurationMillis: number;
  crawlerStartedAt: string | null;
  crawlerFinishedAt: string | null;
  crawlerRuntimeMillis: number;
  statsPersistedAt: string | null;
  errors: Record<string, number>;
  retryErrors: Record<string, number>;
  requestsWithStatusCode: Record<string, number>;
}

/** How statistics are logged and saved. */
export interface StatisticsOptions {
  /** For tests. */
  clock?: () => number;
  logIntervalSecs?: number;
  logMessage?: string;
  saveErrorSnapshots?: boolean;
  persistenceOptions?: { enable?: boolean };
}

/** Attempts past this many share the histogram's last column, so that a page that is retried for ever stays cheap. */
const HISTOGRAM_COLUMNS = 100;

/**
 * Statistics of a crawl: `crawler.stats`.
 *
 * @example
 * const { requestsFinished, requestsFailed } = crawler.stats.state;
 */
export class Statistics {
  readonly requestRetryHistogram: number[] = [];
  state: StatisticState = emptyState();
  readonly #clock: () => number;
  readonly #time: Time;
  #startedAtMs: number | undefined;
  #earlierRuntimeMs = 0;

  constructor(options: StatisticsOptions = {}, time = systemTime) {
    this.#clock = options.clock ?? time.monotonicMs;
    this.#time = time;
  }

  startCapturing(): void {
    this.#startedAtMs = this.#clock();
    this.state.crawlerStartedAt ??= isoNow(this.#time);
    this.state.crawlerFinishedAt = null;
  }

  stopCapturing(): void {
    this.#earlierRuntimeMs = this.#runtimeMs();
    this.#startedAtMs = undefined;
    this.state.crawlerRuntimeMillis = this.#earlierRuntimeMs;
    this.state.crawlerFinishedAt = isoNow(this.#time);
  }

  registerStatusCode(code: number): void {
    const counts = this.state.requestsWithStatusCode;
    counts[code] = (counts[code] ?? 0) + 1;
  }

  finishJob(durationMs: number, retryCount: number): void {
    this.state.requestsFinished++;
    this.state.requestTotalFinishedDurationMillis += durationMs;
    this.state.requestMinDurationMillis = Math.min(this.state.requestMinDurationMillis, durationMs);
    this.state.requestMaxDurationMillis = Math.max(this.state.requestMaxDurationMillis, durationMs);
    this.#countRetries(retryCount);
  }

  failJob(durationMs: number, retryCount: number, code: string): void {
    this.state.requestsFailed++;
    this.state.requestTotalFailedDurationMillis += durationMs;
    this.state.errors[code] = (this.state.errors[code] ?? 0) + 1;
    this.#countRetries(retryCount);
  }

  retryJob(code: string): void {
    this.state.requestsRetries++;
    this.state.retryErrors[code] = (this.state.retryErrors[code] ?? 0) + 1;
  }

  /** Everything from zero. */
  reset(): void {
    this.requestRetryHistogram.length = 0;
    this.state = emptyState();
    this.#earlierRuntimeMs = 0;
    if (this.#startedAtMs !== undefined) this.startCapturing();
  }

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

  final(): FinalStatistics {
    return {
      requestsFinished: this.state.requestsFinished,
      requestsFailed: this.state.requestsFailed,
      retryHistogram: Array.from(this.requestRetryHistogram, (count) => count ?? 0),
      ...this.calculate(),
    };
  }

  toJSON(): StatisticState & { requestRetryHistogram: number[] } {
    const { crawlerRuntimeMillis, requestsFinishedPerMinute, requestsFailedPerMinute } = this.calculate();
    return {
      ...this.state,
      crawlerRuntimeMillis,
      requestsFinishedPerMinute,
      requestsFailedPerMinute,
      requestMinDurationMillis: Number.isFinite(this.state.requestMinDurationMillis)
        ? this.state.requestMinDurationMillis
        : 0,
      statsPersistedAt: isoNow(this.#time),
      requestRetryHistogram: Array.from(this.requestRetryHistogram, (count) => count ?? 0),
    };
  }

  /** Goes on from what an interrupted run saved; the queue, which is exact, says how many ended. */
  restore(saved: unknown, ended: { done: number; failed: number }): void {
    const { requestRetryHistogram, ...state } = (saved ?? {}) as Partial<ReturnType<Statistics['toJSON']>>;
    this.state = { ...emptyState(), ...state, requestsFinished: ended.done, requestsFailed: ended.failed };
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
  };
}
