// Crawlee's Statistics as scripts make them by themselves: jobs by id, saved in a key-value store at intervals.
// Crawlers keep their own (src/crawl/run/report), which also counts what a resumed crawl did before.
import { Configuration } from '../configuration.js';
import type { FinalStatistics, StatisticState } from '../crawl/run/report/statistics.js';
import { ErrorTracker } from './error-snapshotter.js';
import { EventType } from '../observe/events.js';
import { log as globalLog, type Log } from '../observe/log.js';
import { KeyValueStore } from '../store/records/key-value.js';
import { eventManagerOf } from './events.js';
import type { PersistenceOptions } from './type-names.js';

/** How statistics are logged and saved. */
export interface StatisticsOptions {
  /** Default 60. */
  logIntervalSecs?: number;
  /** Default `Statistics`. */
  logMessage?: string;
  log?: Log;
  keyValueStore?: KeyValueStore;
  config?: Configuration;
  persistenceOptions?: PersistenceOptions;
  saveErrorSnapshots?: boolean;
  /** Under which they are saved. Default a number. */
  id?: string;
}

type State = Omit<StatisticState, 'blockedLoops'>;

const emptyState = (): State => ({
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
  statsPersistedAt: null,
  crawlerRuntimeMillis: 0,
  requestsWithStatusCode: {},
  errors: {},
  retryErrors: {},
});

/**
 * Counts jobs and how long they took.
 *
 * @example
 * const stats = new Statistics();
 * stats.startJob('a');
 * stats.finishJob('a', 0);
 * stats.calculate().requestsTotal; // 1
 */
export class Statistics {
  /** How many were made. */
  protected static id = 0;
  readonly id: string;
  readonly errorTracker: ErrorTracker;
  readonly errorTrackerRetry = new ErrorTracker();
  readonly requestRetryHistogram: number[] = [];
  state: State = emptyState();
  readonly #options: StatisticsOptions;
  readonly #config: Configuration;
  protected readonly log: Log;
  protected readonly persistStateKey: string;
  readonly #running = new Map<number | string, number>();
  readonly #persist = (): Promise<void> => this.persistState();
  #startedAtMs = Date.now();
  protected keyValueStore: KeyValueStore | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: StatisticsOptions = {}) {
    this.#options = options;
    this.errorTracker = new ErrorTracker({ saveErrorSnapshots: options.saveErrorSnapshots ?? false });
    this.#config = options.config ?? Configuration.getGlobalConfig();
    this.log = (options.log ?? globalLog).child({ prefix: 'Statistics' });
    this.keyValueStore = options.keyValueStore;
    this.id = options.id ?? String(Statistics.id++);
    this.persistStateKey = `SDK_CRAWLER_STATISTICS_${this.id}`;
  }

  /** Everything from zero, except what is saved. */
  reset(): void {
    this.state = emptyState();
    this.requestRetryHistogram.length = 0;
    this.errorTracker.reset();
    this.errorTrackerRetry.reset();
    this.#running.clear();
    this.#startedAtMs = Date.now();
    this.#stop();
  }

  /** Removes what is saved. */
  async resetStore({
    enable = this.#options.persistenceOptions?.enable ?? true,
  }: PersistenceOptions = {}): Promise<void> {
    if (enable) await this.keyValueStore?.setValue(this.persistStateKey, null);
  }

  registerStatusCode(code: number): void {
    const counts = this.state.requestsWithStatusCode;
    counts[code] = (counts[code] ?? 0) + 1;
  }

  startJob(id: number | string): void {
    this.#running.set(id, performance.now());
  }

  /** A job that was not started does not count. */
  finishJob(id: number | string, retryCount: number): void {
    const tookMs = this.#ended(id, retryCount);
    if (tookMs === undefined) return;
    const { state } = this;
    state.requestsFinished++;
    state.requestTotalFinishedDurationMillis += tookMs;
    state.requestMinDurationMillis = Math.min(state.requestMinDurationMillis, tookMs);
    state.requestMaxDurationMillis = Math.max(state.requestMaxDurationMillis, tookMs);
  }

  failJob(id: number | string, retryCount: number): void {
    const tookMs = this.#ended(id, retryCount);
    if (tookMs === undefined) return;
    this.state.requestsFailed++;
    this.state.requestTotalFailedDurationMillis += tookMs;
  }

  calculate(): Omit<FinalStatistics, 'requestsFinished' | 'requestsFailed' | 'retryHistogram'> {
    const { requestsFinished, requestsFailed, requestTotalFailedDurationMillis, requestTotalFinishedDurationMillis } =
      this.state;
    const runtimeMs = Date.now() - this.#startedAtMs;
    const minutes = runtimeMs / 60_000;
    const perMinute = (count: number): number => (count === 0 ? 0 : Math.round(count / minutes));
    // Nothing, or nothing that took time: no average.
    const average = (total: number, count: number): number => Math.round(total / count) || Infinity;
    return {
      requestAvgFailedDurationMillis: average(requestTotalFailedDurationMillis, requestsFailed),
      requestAvgFinishedDurationMillis: average(requestTotalFinishedDurationMillis, requestsFinished),
      requestsFinishedPerMinute: perMinute(requestsFinished),
      requestsFailedPerMinute: perMinute(requestsFailed),
      requestTotalDurationMillis: requestTotalFinishedDurationMillis + requestTotalFailedDurationMillis,
      requestsTotal: requestsFailed + requestsFinished,
      crawlerRuntimeMillis: runtimeMs,
    };
  }

  /** Goes on from what was saved, logs at intervals, and saves when state is saved. */
  async startCapturing(): Promise<void> {
    if (this.#persists()) {
      this.keyValueStore ??= await KeyValueStore.open(null, { config: this.#config });
      await this.#load();
      eventManagerOf(this.#config).on(EventType.PERSIST_STATE, this.#persist);
    }
    this.state.crawlerStartedAt ??= new Date().toISOString();
    const { logIntervalSecs = 60, logMessage = 'Statistics' } = this.#options;
    const tell = (): void =>
      this.log.info(logMessage, { ...this.calculate(), retryHistogram: this.requestRetryHistogram });
    this.#timer = setInterval(tell, logIntervalSecs * 1_000).unref();
  }

  async stopCapturing(): Promise<void> {
    this.#stop();
    this.state.crawlerFinishedAt = new Date().toISOString();
    await this.persistState();
  }

  async persistState({ enable = this.#persists() }: PersistenceOptions = {}): Promise<void> {
    if (enable) await this.keyValueStore?.setValue(this.persistStateKey, this.toJSON());
  }

  toJSON(): State & Record<string, unknown> {
    const { requestMinDurationMillis } = this.state;
    const calculated = this.calculate();
    return {
      ...this.state,
      ...calculated,
      requestMinDurationMillis: Number.isFinite(requestMinDurationMillis) ? requestMinDurationMillis : 0,
      requestRetryHistogram: [...this.requestRetryHistogram],
      statsId: this.id,
      crawlerLastStartTimestamp: this.#startedAtMs,
      statsPersistedAt: new Date().toISOString(),
    };
  }

  #persists(): boolean {
    return this.#options.persistenceOptions?.enable ?? true;
  }

  #stop(): void {
    clearInterval(this.#timer);
    eventManagerOf(this.#config).off(EventType.PERSIST_STATE, this.#persist);
  }

  async #load(): Promise<void> {
    const saved = await this.keyValueStore!.getValue<Partial<State> & { requestRetryHistogram?: number[] }>(
      this.persistStateKey,
    );
    if (!saved) return;
    for (const name of Object.keys(emptyState()) as (keyof State)[]) {
      if (saved[name] !== undefined && saved[name] !== null) Object.assign(this.state, { [name]: saved[name] });
    }
    if (this.state.requestMinDurationMillis === 0) this.state.requestMinDurationMillis = Infinity;
    if (Array.isArray(saved.requestRetryHistogram)) {
      this.requestRetryHistogram.splice(0, Infinity, ...saved.requestRetryHistogram);
    }
    this.#startedAtMs = Date.now() - (saved.crawlerRuntimeMillis ?? 0);
  }

  #ended(id: number | string, retryCount: number): number | undefined {
    const startedAtMs = this.#running.get(id);
    if (startedAtMs === undefined) return undefined;
    this.#running.delete(id);
    if (retryCount > 0) this.state.requestsRetries++;
    this.requestRetryHistogram[retryCount] = (this.requestRetryHistogram[retryCount] ?? 0) + 1;
    return Math.round(performance.now() - startedAtMs);
  }
}
