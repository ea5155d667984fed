// The dispatcher that watches memory: pauses new work above a threshold, sheds above a critical one, resumes below recovery.
// Promise: aborted tasks are queued again, not failed; one task always runs, so a batch ends however full memory is.
import { freemem, totalmem } from 'node:os';
import { aFunction, aNumber, aWholeNumber, check, checkOptions, optionError } from '../option-checks.js';
import { readCgroup } from './cgroup.js';
import type { Batch, Dispatcher, Membership, TaskMonitor } from './dispatcher.js';
import { createPermits } from './permits.js';
import type { RateLimiter } from './rate-limiter.js';
import { COMPANION_SHAPE } from './semaphore.js';

/** The limits of a `MemoryAdaptiveDispatcher`. */
export interface MemoryAdaptiveDispatcherOptions {
  /** No new work at or above this share of the container's (else the machine's) memory. Default 90. */
  memoryThresholdPercent?: number;
  /** At or above it half of the tasks are broken off and queued again. Default 95. */
  criticalThresholdPercent?: number;
  /** New work again below it. Default 85. */
  recoveryThresholdPercent?: number;
  /** Default 1000. */
  checkIntervalMs?: number;
  /** URLs in work at once. Default 20. */
  maxSessionPermit?: number;
  /** A URL that waited longer may start during a pause, one a check, while memory is below critical. Default 600. */
  fairnessTimeoutSecs?: number;
  /** A pause ends after this long, even without recovery, while memory is below critical. Default 600. */
  memoryWaitTimeoutSecs?: number;
  /** Delays between the requests of a domain, longer after 429 and 503. Default none. */
  rateLimiter?: RateLimiter;
  /** Shows progress, such as `new CrawlerMonitor()`. Default none. */
  monitor?: TaskMonitor;
  /** Memory in use, in percent (ours). Default: the container's, or the machine's where there is no limit. */
  readMemoryPercent?: () => number;
}

const aPercent = check('a number above 0 and up to 100', (value) => {
  return typeof value === 'number' && value > 0 && value <= 100;
});

/**
 * Runs as many URLs at once as memory allows.
 *
 * @example
 * const dispatcher = new MemoryAdaptiveDispatcher({ memoryThresholdPercent: 70, maxSessionPermit: 25 });
 * for await (const result of crawler.runMany(urls, { stream: true }, dispatcher)) console.log(result.url);
 */
export class MemoryAdaptiveDispatcher implements Dispatcher {
  /** URLs in work at once at most; fewer while memory is short. */
  readonly permits: number;
  /** As given. */
  readonly rateLimiter: RateLimiter | undefined;
  /** As given. */
  readonly monitor: TaskMonitor | undefined;
  readonly #options;
  readonly #permits;
  readonly #clock: () => number;
  #readPercent: (() => number) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #percent = 0;
  #pausedSinceMs: number | undefined;
  #wasFair = false;

  constructor(options: MemoryAdaptiveDispatcherOptions = {}, parts: { readonly clock?: () => number } = {}) {
    checkOptions('MemoryAdaptiveDispatcher', options, {
      memoryThresholdPercent: aPercent,
      criticalThresholdPercent: aPercent,
      recoveryThresholdPercent: aPercent,
      checkIntervalMs: aNumber({ from: 10 }),
      maxSessionPermit: aWholeNumber({ from: 1, to: 10_000 }),
      fairnessTimeoutSecs: aNumber({ above: 0, orInfinity: true }),
      memoryWaitTimeoutSecs: aNumber({ above: 0, orInfinity: true }),
      readMemoryPercent: aFunction,
      ...COMPANION_SHAPE,
    });
    const threshold = options.memoryThresholdPercent ?? 90;
    this.#options = {
      threshold,
      critical: options.criticalThresholdPercent ?? Math.min(100, Math.max(95, threshold)),
      recovery: options.recoveryThresholdPercent ?? Math.min(85, threshold),
      checkIntervalMs: options.checkIntervalMs ?? 1_000,
      fairnessMs: (options.fairnessTimeoutSecs ?? 600) * 1_000,
      longestPauseMs: (options.memoryWaitTimeoutSecs ?? 600) * 1_000,
    };
    const { critical, recovery } = this.#options;
    if (recovery > threshold || threshold > critical) {
      throw optionError([
        'MemoryAdaptiveDispatcher: recoveryThresholdPercent, memoryThresholdPercent and criticalThresholdPercent ' +
          `must be in ascending order, got ${recovery}, ${threshold}, ${critical}`,
      ]);
    }
    this.permits = options.maxSessionPermit ?? 20;
    this.rateLimiter = options.rateLimiter;
    this.monitor = options.monitor;
    this.#readPercent = options.readMemoryPercent;
    this.#clock = parts.clock ?? (() => performance.now());
    this.#permits = createPermits(this.permits);
  }

  /** Whether new work waits for memory now. */
  get isPaused(): boolean {
    return this.#pausedSinceMs !== undefined;
  }

  /** @internal */
  join(batch: Batch): Membership {
    return this.#permits.join(
      batch,
      (asking) => this.#mayStart(asking),
      () => this.#watch(),
    );
  }

  #mayStart(batch: Batch): boolean {
    if (this.#permits.running === 0 || this.#pausedSinceMs === undefined) return true;
    // During a pause, one URL per check may start if it has waited too long.
    if (this.#wasFair || this.#percent >= this.#options.critical) return false;
    if (batch.longestWaitMs() < this.#options.fairnessMs) return false;
    return (this.#wasFair = true);
  }

  /** Reads memory while there is a batch, and never keeps the process alive. */
  #watch(): void {
    if (this.#permits.batches.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    } else if (this.#timer === undefined) {
      this.#check();
      this.#timer = setInterval(() => this.#check(), this.#options.checkIntervalMs).unref();
    }
  }

  #check(): void {
    const { threshold, critical, recovery, longestPauseMs } = this.#options;
    this.#percent = (this.#readPercent ??= systemMemoryPercent())();
    this.#wasFair = false;
    if (this.#pausedSinceMs === undefined) {
      if (this.#percent >= threshold) this.#pausedSinceMs = this.#clock();
    } else {
      const isTooLong = this.#clock() - this.#pausedSinceMs >= longestPauseMs && this.#percent < critical;
      if (this.#percent < recovery || isTooLong) this.#pausedSinceMs = undefined;
    }
    if (this.#percent >= critical) this.#shed();
    this.monitor?.memory(this.#percent, this.isPaused);
    for (const batch of this.#permits.batches) batch.wake();
  }

  /** Half of what runs, but never the last one. */
  #shed(): void {
    let left = this.#permits.running >> 1;
    for (const batch of this.#permits.batches) if (left > 0) left -= batch.shed(left);
  }
}

/** The container's memory where it has a limit, else the machine's. */
function systemMemoryPercent(): () => number {
  const cgroup = readCgroup();
  return () => {
    const { memoryLimitBytes } = cgroup;
    const usedBytes = memoryLimitBytes === undefined ? undefined : cgroup.usedMemoryBytes();
    if (usedBytes !== undefined) return (100 * usedBytes) / memoryLimitBytes!;
    return 100 * (1 - freemem() / totalmem());
  };
}
