// Crawlee's AutoscaledPool as scripts make one by themselves: ours, judged by a SystemStatus, with the members that derived
// classes reach for. Crawlers use ours as it is. Unlike ours, it can run again when it has ended.
import { Configuration } from '../../configuration.js';
import { AutoscaledPool as OwnPool } from '../../dispatch/autoscaled-pool.js';
import type { AutoscaledPoolOptions } from '../../dispatch/pool-options.js';
import type { LoadSignal as OwnSignal, LoadStatus, SystemLoad } from '../../dispatch/system-load.js';
import { log as globalLog, type Log } from '../../observe/log.js';
import { Snapshotter } from './snapshotter.js';
import { type SystemInfo, SystemStatus, type SystemStatusOptions } from './system-status.js';

type Functions = Pick<AutoscaledPoolOptions, 'runTaskFunction' | 'isTaskReadyFunction' | 'isFinishedFunction'>;
type Judge = Pick<SystemStatus, 'getCurrentStatus' | 'getHistoricalStatus'>;

/**
 * Runs tasks, as many at once as the system carries.
 *
 * @example
 * const pool = new AutoscaledPool({
 *   maxConcurrency: 10,
 *   runTaskFunction: async () => work(todo.pop()),
 *   isTaskReadyFunction: async () => todo.length > 0,
 *   isFinishedFunction: async () => todo.length === 0,
 * });
 * await pool.run();
 */
export class AutoscaledPool implements Omit<OwnPool, 'notify'> {
  protected readonly log: Log;
  protected readonly desiredConcurrencyRatio: number;
  protected readonly scaleUpStepRatio: number;
  protected readonly scaleDownStepRatio: number;
  readonly maxTasksPerMinute: number;
  protected maybeRunIntervalMillis: number;
  protected runTaskFunction: Functions['runTaskFunction'];
  protected isTaskReadyFunction: Functions['isTaskReadyFunction'];
  protected isFinishedFunction: Functions['isFinishedFunction'];
  protected readonly snapshotter: Snapshotter;
  protected systemStatus: Judge;
  /** What derived classes say that runs; undefined: what does. */
  protected _currentConcurrency: number | undefined;
  readonly #options: AutoscaledPoolOptions;
  readonly #config: Configuration;
  #pool: OwnPool;
  #isRunning = false;

  constructor(options: AutoscaledPoolOptions, config: Configuration = Configuration.getGlobalConfig()) {
    const { snapshotterOptions, systemStatusOptions, runTaskFunction, isTaskReadyFunction, isFinishedFunction } =
      options;
    this.log = globalLog.child({ prefix: 'AutoscaledPool' });
    this.desiredConcurrencyRatio = options.desiredConcurrencyRatio ?? 0.9;
    this.scaleUpStepRatio = options.scaleUpStepRatio ?? 0.05;
    this.scaleDownStepRatio = options.scaleDownStepRatio ?? 0.05;
    this.maxTasksPerMinute = options.maxTasksPerMinute ?? Infinity;
    this.maybeRunIntervalMillis = (options.maybeRunIntervalSecs ?? 0.5) * 1_000;
    this.runTaskFunction = runTaskFunction;
    this.isTaskReadyFunction = isTaskReadyFunction;
    this.isFinishedFunction = isFinishedFunction;
    this.#options = options;
    this.#config = config;
    this.snapshotter = new Snapshotter({ ...snapshotterOptions, config });
    const judged = systemStatusOptions as SystemStatusOptions | undefined;
    this.systemStatus = new SystemStatus({ ...judged, snapshotter: this.snapshotter, config });
    this.#pool = this.#make(options);
  }

  /** The pool of a crawler is one too. */
  static [Symbol.hasInstance](value: unknown): boolean {
    const isThis = Function.prototype[Symbol.hasInstance].call(this, value) as boolean;
    return isThis || (this === AutoscaledPool && value instanceof OwnPool);
  }

  get minConcurrency(): number {
    return this.#pool.minConcurrency;
  }

  set minConcurrency(value: number) {
    this.#pool.minConcurrency = value;
  }

  get maxConcurrency(): number {
    return this.#pool.maxConcurrency;
  }

  set maxConcurrency(value: number) {
    this.#pool.maxConcurrency = value;
  }

  get desiredConcurrency(): number {
    return this.#pool.desiredConcurrency;
  }

  set desiredConcurrency(value: number) {
    this.#pool.desiredConcurrency = value;
  }

  /** The same under the name that derived classes change. */
  protected get _desiredConcurrency(): number {
    return this.desiredConcurrency;
  }

  protected set _desiredConcurrency(value: number) {
    this.desiredConcurrency = value;
  }

  get currentConcurrency(): number {
    return this._currentConcurrency ?? this.#pool.currentConcurrency;
  }

  async run(): Promise<void> {
    if (this.#isRunning) return this.#pool.run();
    this.#isRunning = true;
    const { minConcurrency, maxConcurrency, desiredConcurrency } = this;
    const maybeRunIntervalSecs = this.maybeRunIntervalMillis / 1_000;
    this.#pool = this.#make({
      ...this.#options,
      minConcurrency,
      maxConcurrency,
      desiredConcurrency,
      maybeRunIntervalSecs,
    });
    await this.snapshotter.start();
    try {
      await this.#pool.run();
    } finally {
      await this._destroy();
    }
  }

  abort(): Promise<void> {
    return this.#pool.abort();
  }

  pause(timeoutSecs?: number): Promise<void> {
    return this.#pool.pause(timeoutSecs);
  }

  resume(): void {
    this.#pool.resume();
  }

  async notify(): Promise<void> {
    this.#pool.notify();
  }

  /** One look at the system, and a step up or down. */
  protected _autoscale(intervalCallback: () => void): void {
    const status = this.systemStatus.getHistoricalStatus();
    const { desiredConcurrency: desired, minConcurrency, maxConcurrency, currentConcurrency } = this;
    const isBusy = currentConcurrency >= Math.floor(desired * this.desiredConcurrencyRatio);
    if (!status.isSystemIdle && desired > minConcurrency) this._scaleDown(status);
    else if (status.isSystemIdle && desired < maxConcurrency && isBusy) this._scaleUp(status);
    intervalCallback();
  }

  protected _scaleUp(_status: SystemInfo): void {
    const step = Math.ceil(this.desiredConcurrency * this.scaleUpStepRatio);
    this.desiredConcurrency = Math.min(this.maxConcurrency, this.desiredConcurrency + step);
  }

  protected _scaleDown(_status: SystemInfo): void {
    const step = Math.ceil(this.desiredConcurrency * this.scaleDownStepRatio);
    this.desiredConcurrency = Math.max(this.minConcurrency, this.desiredConcurrency - step);
  }

  /** Ends the run and its samples. */
  protected async _destroy(): Promise<void> {
    this.#isRunning = false;
    await this.#pool.abort();
    await this.snapshotter.stop();
  }

  #make(options: AutoscaledPoolOptions): OwnPool {
    const { snapshotterOptions: _s, systemStatusOptions: _t, ...own } = options;
    const functions: Functions = {
      runTaskFunction: () => this.runTaskFunction(),
      isTaskReadyFunction: (free) => this.isTaskReadyFunction(free),
      isFinishedFunction: () => this.isFinishedFunction(),
    };
    return new OwnPool({ ...own, ...functions }, this.#config, { load: loadOf(() => this.systemStatus) });
  }
}

const NOTHING: OwnSignal = { isOverloaded: false, limitRatio: 1, actualRatio: 0 };

/** A SystemStatus as our pools ask: what holds tasks back now is memory there, and anything at all here. */
function loadOf(judge: () => Judge): SystemLoad {
  const seen = ({ isSystemIdle }: SystemInfo): LoadStatus => ({
    isOverloaded: !isSystemIdle,
    cpu: NOTHING,
    memory: { ...NOTHING, isOverloaded: !isSystemIdle },
    eventLoop: NOTHING,
  });
  return {
    start: () => undefined,
    stop: () => undefined,
    current: () => seen(judge().getCurrentStatus()),
    historical: () => seen(judge().getHistoricalStatus()),
    latest: () => ({ cpuRatio: 0, eventLoopLateMs: 0, usedBytes: 0, limitBytes: Infinity }),
  };
}
