// The options of AutoscaledPool: Crawlee 3's names and defaults, and ours (slowStart).
// Promise: resolved, validated and frozen once; the pool trusts them.
import {
  aFunction,
  aNumber,
  anObject,
  anyOf,
  aWholeNumber,
  check,
  checkOptions,
  optionError,
} from '../option-checks.js';
import { objectWith } from '../option-checks.js';
import type { ShapeOf } from '../option-checks.js';
import type { SnapshotterOptions, SystemStatusOptions } from './system-load.js';

/** What the pool needs from a log; `Log` fits. */
export interface PoolLog {
  debug(message: string, data?: Record<string, unknown>): void;
  info(message: string, data?: Record<string, unknown>): void;
}

/** What an `AutoscaledPool` runs, and how much of it at once. */
export interface AutoscaledPoolOptions {
  /** Does one piece of work. A rejection ends the pool: `run()` rejects with it. */
  runTaskFunction: () => Promise<unknown>;
  /** Is there work now? Asked with the number of tasks that could start at once, never twice at a time. */
  isTaskReadyFunction: (freeSlots: number) => boolean | Promise<boolean>;
  /** No work now and nothing running: will there never be any? Then `run()` resolves. */
  isFinishedFunction: () => boolean | Promise<boolean>;
  /** Default 1. */
  minConcurrency?: number;
  /** Default 200. */
  maxConcurrency?: number;
  /** Where to begin. Default `minConcurrency`, or where the slow start begins. */
  desiredConcurrency?: number;
  /** How full the pool must be before it grows. Default 0.9. */
  desiredConcurrencyRatio?: number;
  /** Default 0.05, at least one task. */
  scaleUpStepRatio?: number;
  /** Default 0.05, at least one task. */
  scaleDownStepRatio?: number;
  /** How often the pool asks for work without a call of `notify()`. Default 0.5. */
  maybeRunIntervalSecs?: number;
  /** How often the state is logged; null or 0 for never. Default 60. */
  loggingIntervalSecs?: number | null;
  /** Default 10. */
  autoscaleIntervalSecs?: number;
  /** Longest a task may take; 0 for no limit. Default 0. */
  taskTimeoutSecs?: number;
  /** Most starts in a minute, spread evenly. Default Infinity. */
  maxTasksPerMinute?: number;
  /**
   * Begin at `from` (or `minConcurrency` if higher) and double every second while the pool is full and
   * nothing was ever overloaded (ours). Default false.
   */
  slowStart?: { from: number } | false;
  /** How load is sampled, and when a sample counts as overloaded. */
  snapshotterOptions?: SnapshotterOptions;
  /** Which share of overloaded samples makes the system overloaded. */
  systemStatusOptions?: SystemStatusOptions;
  /** Where changes of the concurrency are told. */
  log?: PoolLog;
}

const aWidth = aWholeNumber({ from: 1 });
const aStep = check('a number above 0 and up to 1', (value) => typeof value === 'number' && value > 0 && value <= 1);
const orNull = check('null', (value) => value === null);
const aSlowStart = check(
  '{ from: a whole number from 1 } or false',
  (value) => value === false || (anObject.accepts(value) && aWidth.accepts((value as { from?: unknown }).from)),
);

const SHAPE: ShapeOf<AutoscaledPoolOptions> = {
  runTaskFunction: aFunction,
  isTaskReadyFunction: aFunction,
  isFinishedFunction: aFunction,
  minConcurrency: aWidth,
  maxConcurrency: aWidth,
  desiredConcurrency: aWidth,
  desiredConcurrencyRatio: aStep,
  scaleUpStepRatio: aStep,
  scaleDownStepRatio: aStep,
  maybeRunIntervalSecs: aNumber({ above: 0 }),
  loggingIntervalSecs: anyOf(aNumber({ from: 0 }), orNull),
  autoscaleIntervalSecs: aNumber({ above: 0 }),
  taskTimeoutSecs: aNumber({ from: 0 }),
  maxTasksPerMinute: aNumber({ above: 0, orInfinity: true }),
  slowStart: aSlowStart,
  snapshotterOptions: anObject,
  systemStatusOptions: anObject,
  log: objectWith('a log', ['debug', 'info']),
};

/**
 * What HTTP crawlers give their pool: the event loop is busy with parsing as a matter of course, and sockets
 * are cheap, so the pool begins wide and tolerates more delay.
 */
export const HTTP_POOL_OPTIONS = Object.freeze({
  slowStart: Object.freeze({ from: 10 }),
  snapshotterOptions: Object.freeze({ eventLoopSnapshotIntervalSecs: 2, maxBlockedMillis: 100 }),
  systemStatusOptions: Object.freeze({ maxEventLoopOverloadedRatio: 0.7 }),
}) satisfies Partial<AutoscaledPoolOptions>;

/** A width set later, while the pool runs. */
export function checkedWidth(name: string, value: number): number {
  checkOptions('AutoscaledPool', { [name]: value }, { [name]: aWidth });
  return value;
}

/** Validates the options and fills in the defaults. */
export function resolvePoolOptions(options: AutoscaledPoolOptions) {
  checkOptions('AutoscaledPool', options, SHAPE);
  const required = ['runTaskFunction', 'isTaskReadyFunction', 'isFinishedFunction'] as const;
  const missing = required.filter((name) => options?.[name] === undefined);
  if (missing.length > 0) throw optionError(missing.map((name) => `AutoscaledPool option "${name}" is required`));
  const minConcurrency = options.minConcurrency ?? 1;
  const maxConcurrency = options.maxConcurrency ?? Math.max(200, minConcurrency);
  if (minConcurrency > maxConcurrency) {
    throw optionError([`AutoscaledPool: minConcurrency ${minConcurrency} is above maxConcurrency ${maxConcurrency}`]);
  }
  const slowStart = options.slowStart ?? false;
  const begin = options.desiredConcurrency ?? (slowStart ? slowStart.from : minConcurrency);
  return Object.freeze({
    runTaskFunction: options.runTaskFunction,
    isTaskReadyFunction: options.isTaskReadyFunction,
    isFinishedFunction: options.isFinishedFunction,
    minConcurrency,
    maxConcurrency,
    desiredConcurrency: Math.min(Math.max(begin, minConcurrency), maxConcurrency),
    desiredConcurrencyRatio: options.desiredConcurrencyRatio ?? 0.9,
    scaleUpStepRatio: options.scaleUpStepRatio ?? 0.05,
    scaleDownStepRatio: options.scaleDownStepRatio ?? 0.05,
    maybeRunIntervalMs: (options.maybeRunIntervalSecs ?? 0.5) * 1000,
    loggingIntervalMs: (options.loggingIntervalSecs === undefined ? 60 : (options.loggingIntervalSecs ?? 0)) * 1000,
    autoscaleIntervalMs: (options.autoscaleIntervalSecs ?? 10) * 1000,
    taskTimeoutMs: (options.taskTimeoutSecs ?? 0) * 1000,
    maxTasksPerMinute: options.maxTasksPerMinute ?? Infinity,
    slowStart: slowStart !== false,
    log: options.log,
  });
}

export type ResolvedPoolOptions = ReturnType<typeof resolvePoolOptions>;
