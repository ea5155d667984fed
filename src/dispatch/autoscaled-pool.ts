// The dispatch stage: decides how many visits run at once and starts them.
// Promise: never more than desiredConcurrency tasks, starts spaced by maxTasksPerMinute, no new task while memory
// is overloaded (beyond minConcurrency); idle waiting costs one question per maybeRunInterval, a start is O(1).
import { Configuration } from '../configuration.js';
import { CrawlError } from '../errors.js';
import { createPace } from './pace.js';
import type { Pace } from './pace.js';
import { checkedWidth, resolvePoolOptions } from './pool-options.js';
import type { AutoscaledPoolOptions, ResolvedPoolOptions } from './pool-options.js';
import { createScaler } from './scaler.js';
import type { Scaler } from './scaler.js';
import { createSystemLoad } from './system-load.js';
import type { SnapshotterOptions, SystemLoad } from './system-load.js';
import { createUsage } from './usage.js';

const SLOW_START_STEP_MS = 1000;

/** Parts passed in by the crawl or a test, which must start and stop them. */
export interface PoolParts {
  readonly load?: SystemLoad;
  /** False: the concurrency stays as set, regardless of load. Default true. */
  readonly followsLoad?: boolean | undefined;
  /** Whether a task can start now. With it a freed slot is used at once, not in the next pass. */
  readonly isTaskAtHand?: (() => boolean) | undefined;
}

/**
 * Runs asynchronous tasks, as many at once as the system carries.
 *
 * @example
 * const urls = ['https://a.example', 'https://b.example'];
 * const pool = new AutoscaledPool({
 *   maxConcurrency: 50,
 *   runTaskFunction: async () => fetch(urls.pop()!),
 *   isTaskReadyFunction: async () => urls.length > 0,
 *   isFinishedFunction: async () => urls.length === 0,
 * });
 * await pool.run();
 */
export class AutoscaledPool {
  readonly #options: ResolvedPoolOptions;
  readonly #scaler: Scaler;
  readonly #pace: Pace;
  /** Undefined: it has no say. */
  readonly #load: SystemLoad | undefined;
  readonly #ownsLoad: boolean;
  readonly #isAtHand: (() => boolean) | undefined;
  readonly #usage = createUsage(() => performance.now());

  #running = 0;
  #paused = false;
  #ended = false;
  #outcome: Promise<void> | undefined;
  #resolve: () => void = () => {};
  #reject: (error: unknown) => void = () => {};
  /** Called when the last running task ends. */
  #whenIdle: (() => void)[] = [];

  #queuedPass: NodeJS.Immediate | undefined;
  #passRunning = false;
  /** A pass was requested while one was running: its answer may be stale. */
  #passAgain = false;
  /** Tasks that took over a freed slot since the last turn of the event loop. */
  #handedOver = 0;
  #paceTimer: NodeJS.Timeout | undefined;
  #timers: NodeJS.Timeout[] = [];

  constructor(options: AutoscaledPoolOptions, config = Configuration.getGlobalConfig(), parts: PoolParts = {}) {
    this.#options = resolvePoolOptions(options);
    this.#scaler = createScaler(this.#options);
    this.#pace = createPace(this.#options.maxTasksPerMinute, () => performance.now());
    this.#ownsLoad = parts.load === undefined;
    this.#isAtHand = parts.isTaskAtHand;
    if (parts.followsLoad === false) return;
    this.#load = parts.load ?? createSystemLoad(snapshotterOf(options, config), options.systemStatusOptions);
  }

  /** Tasks that run even when the machine is overloaded. */
  get minConcurrency(): number {
    return this.#scaler.min;
  }

  set minConcurrency(value: number) {
    this.#scaler.min = checkedWidth('minConcurrency', value);
    this.notify();
  }

  /** Tasks that run at most, however idle the machine is. */
  get maxConcurrency(): number {
    return this.#scaler.max;
  }

  set maxConcurrency(value: number) {
    this.#scaler.max = checkedWidth('maxConcurrency', value);
    this.notify();
  }

  /** How many tasks the pool would run now if there were enough. Setting it is a hint; the load moves it on. */
  get desiredConcurrency(): number {
    return this.#scaler.desired;
  }

  set desiredConcurrency(value: number) {
    this.#scaler.desired = checkedWidth('desiredConcurrency', value);
    this.notify();
  }

  /** How many tasks run now. */
  get currentConcurrency(): number {
    return this.#running;
  }

  /** The most starts in a minute. */
  get maxTasksPerMinute(): number {
    return this.#options.maxTasksPerMinute;
  }

  /**
   * Works until `isFinishedFunction` says so, `abort()` is called or a task fails (then it rejects with the
   * task's error). A pool runs once: later calls give the same promise.
   */
  run(): Promise<void> {
    if (this.#outcome !== undefined) return this.#outcome;
    this.#outcome = new Promise<void>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (this.#ended) this.#resolve();
    else this.#startTimers();
    this.notify();
    return this.#outcome;
  }

  /** Says that a task may be ready now. Cheap, any number of times. */
  notify(): void {
    if (this.#queuedPass !== undefined || this.#ended || this.#paused || this.#outcome === undefined) return;
    if (this.#passRunning) {
      this.#passAgain = true;
      return;
    }
    // Not in a microtask: tasks that end at once must not keep the event loop from its sockets.
    this.#queuedPass = setImmediate(this.#pass);
  }

  /**
   * Starts no more tasks; resolves when the running ones have ended, rejects when that takes longer than
   * `timeoutSecs`. `resume()` goes on.
   */
  async pause(timeoutSecs?: number): Promise<void> {
    if (this.#ended) return;
    this.#paused = true;
    if (this.#running === 0) return;
    await new Promise<void>((resolve, reject) => {
      const idle = () => {
        clearTimeout(timer);
        resolve();
      };
      const late = () => {
        this.#whenIdle = this.#whenIdle.filter((other) => other !== idle);
        reject(new CrawlError('HANDLER_TIMEOUT', `tasks still running ${timeoutSecs} s after pause()`));
      };
      const timer = timeoutSecs ? setTimeout(late, timeoutSecs * 1000) : undefined;
      this.#whenIdle.push(idle);
    });
  }

  /** Goes on after `pause()`. */
  resume(): void {
    this.#paused = false;
    this.notify();
  }

  /** Ends the pool at once: `run()` resolves, nothing new starts, running tasks are left to themselves. */
  async abort(): Promise<void> {
    this.#end(() => this.#resolve());
  }

  readonly #pass = (): void => {
    this.#queuedPass = undefined;
    this.#handedOver = 0;
    this.#passRunning = true;
    this.#passAgain = false;
    this.#startWhatIsReady().then(this.#passDone, this.#fail);
  };

  readonly #passDone = (again: boolean): void => {
    this.#passRunning = false;
    if (again || this.#passAgain) this.notify();
  };

  /** Resolves to true if it stopped early to yield to the event loop. */
  async #startWhatIsReady(): Promise<boolean> {
    // Tasks may end while we ask for the next one; without a bound such a pass might never return to the loop.
    for (let left = this.#scaler.desired; left > 0; left--) {
      const freeSlots = this.#freeSlots();
      if (freeSlots <= 0) return false;
      const answer = this.#options.isTaskReadyFunction(freeSlots);
      const ready = typeof answer === 'boolean' ? answer : await answer;
      if (this.#ended || this.#paused) return false;
      if (!ready) {
        if (this.#running === 0 && (await this.#options.isFinishedFunction())) this.#finish();
        return false;
      }
      this.#start();
    }
    return true;
  }

  #isHeldBack(): boolean {
    const status = this.#load?.current();
    return status !== undefined && (status.memory.isOverloaded || status.further === true);
  }

  #freeSlots(): number {
    const free = this.#scaler.desired - this.#running;
    if (free <= 0 || this.#ended || this.#paused) return 0;
    if (this.#running >= this.#scaler.min && this.#isHeldBack()) return 0;
    const waitMs = this.#pace.waitMs();
    if (waitMs > 0) {
      this.#paceTimer ??= setTimeout(this.#paceElapsed, Math.ceil(waitMs));
      return 0;
    }
    return this.#options.maxTasksPerMinute === Infinity ? free : 1;
  }

  readonly #paceElapsed = (): void => {
    this.#paceTimer = undefined;
    this.notify();
  };

  #start(): void {
    this.#pace.started();
    this.#usage.advance(this.#running++);
    let task: Promise<unknown>;
    try {
      task = Promise.resolve(this.#options.runTaskFunction());
    } catch (error) {
      task = Promise.reject(error);
    }
    const { taskTimeoutMs } = this.#options;
    if (taskTimeoutMs > 0) task = withTimeout(task, taskTimeoutMs);
    task.then(this.#taskDone, this.#taskFailed);
  }

  readonly #taskDone = (): void => {
    this.#usage.advance(this.#running--);
    if (this.#running === 0 && this.#whenIdle.length > 0) this.#releaseWaiters();
    this.#handOver();
    this.notify();
  };

  /**
   * Gives a freed slot to the next task at once if one is ready. In the next pass, slots freed in one turn of the event
   * loop would all wait for the last of them, and their next responses would arrive together again.
   * Bounded, so that tasks that end at once do not starve the sockets.
   */
  #handOver(): void {
    if (this.#isAtHand === undefined || this.#passRunning || this.#handedOver >= this.#scaler.desired) return;
    if (this.#freeSlots() <= 0 || !this.#isAtHand()) return;
    this.#handedOver++;
    this.#start();
  }

  readonly #taskFailed = (error: unknown): void => {
    this.#fail(error);
    this.#taskDone();
  };

  readonly #fail = (error: unknown): void => {
    if (this.#ended) this.#options.log?.debug('a task failed after the pool ended', { error: String(error) });
    this.#end(() => this.#reject(error));
  };

  #finish(): void {
    if (!this.#passAgain) this.#end(() => this.#resolve());
  }

  #end(settle: () => void): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const timer of this.#timers) clearInterval(timer);
    clearTimeout(this.#paceTimer);
    clearImmediate(this.#queuedPass);
    if (this.#ownsLoad) this.#load?.stop();
    settle();
    this.#releaseWaiters();
  }

  #releaseWaiters(): void {
    const waiters = this.#whenIdle;
    this.#whenIdle = [];
    for (const idle of waiters) idle();
  }

  #startTimers(): void {
    if (this.#ownsLoad) this.#load?.start();
    const every = (intervalMs: number, tick: () => void): NodeJS.Timeout => {
      const timer = setInterval(tick, intervalMs);
      this.#timers.push(timer);
      return timer;
    };
    const { maybeRunIntervalMs, autoscaleIntervalMs, loggingIntervalMs, slowStart } = this.#options;
    // The only one that keeps the process alive: a pool that waits for work is not finished.
    every(maybeRunIntervalMs, () => this.notify());
    const load = this.#load;
    if (load) {
      const steadyMean = this.#usage.meter();
      every(autoscaleIntervalMs, () => {
        this.#scaler.step(load.historical(), steadyMean(this.#running));
        this.notify();
      }).unref();
      if (slowStart) this.#startSlowly(load, every);
    }
    if (loggingIntervalMs > 0) every(loggingIntervalMs, () => this.#logState()).unref();
  }

  #startSlowly(load: SystemLoad, every: (intervalMs: number, tick: () => void) => NodeJS.Timeout): void {
    const mean = this.#usage.meter();
    const timer = every(SLOW_START_STEP_MS, () => {
      if (!this.#scaler.slowStep(load.current(), mean(this.#running))) clearInterval(timer);
      this.notify();
    }).unref();
  }

  #logState(): void {
    const { currentConcurrency, desiredConcurrency } = this;
    this.#options.log?.info('state', { currentConcurrency, desiredConcurrency, system: this.#load?.historical() });
  }
}

/** The configuration's machine settings, unless the pool's options override them. */
function snapshotterOf({ snapshotterOptions }: AutoscaledPoolOptions, config: Configuration): SnapshotterOptions {
  const memoryMbytes = config.get('memoryMbytes');
  const containerized = config.get('containerized');
  return {
    ...(memoryMbytes !== undefined && { memoryMbytes }),
    ...(containerized !== undefined && { containerized }),
    availableMemoryRatio: config.get('availableMemoryRatio'),
    maxUsedCpuRatio: config.get('maxUsedCpuRatio'),
    systemSnapshotIntervalSecs: config.get('systemInfoIntervalMillis') / 1000,
    ...snapshotterOptions,
  };
}

async function withTimeout(task: Promise<unknown>, timeoutMs: number): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new CrawlError('HANDLER_TIMEOUT', `runTaskFunction timed out after ${timeoutMs / 1000} seconds.`)),
      timeoutMs,
    );
  });
  return Promise.race([task, late]).finally(() => clearTimeout(timer));
}
