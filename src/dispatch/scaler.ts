// Decides the concurrency of the pool: slow start, then steps by load, within [min, max].
// Promise: no timers; grows only if the pool was full and nothing was overloaded, always within the bounds.
import type { LoadStatus } from './system-load.js';

export interface ScalerOptions {
  readonly minConcurrency: number;
  readonly maxConcurrency: number;
  readonly desiredConcurrency: number;
  readonly desiredConcurrencyRatio: number;
  readonly scaleUpStepRatio: number;
  readonly scaleDownStepRatio: number;
  readonly slowStart: boolean;
}

/** The concurrency of the pool and the rules that change it. */
export interface Scaler {
  min: number;
  max: number;
  desired: number;
  /** The periodic step. `usedMean` is the mean number of running tasks since the last one. */
  step(load: LoadStatus, usedMean: number): void;
  /** The step of the slow start, once a second; false when the slow start is over. */
  slowStep(load: LoadStatus, usedMean: number): boolean;
}

/** Keeps the desired concurrency. */
export function createScaler(options: ScalerOptions): Scaler {
  let { minConcurrency: min, maxConcurrency: max, desiredConcurrency: desired } = options;
  let slow = options.slowStart;
  const clamp = (value: number) => Math.min(Math.max(value, min), max);
  // Rounded down as in Crawlee, so that a pool of one task, which is never used all the time, can grow.
  const wasFull = (usedMean: number) =>
    usedMean > 0 && usedMean >= Math.floor(desired * options.desiredConcurrencyRatio);

  return {
    get min() {
      return min;
    },
    set min(value) {
      min = value;
      max = Math.max(max, min);
      desired = clamp(desired);
    },
    get max() {
      return max;
    },
    set max(value) {
      max = value;
      min = Math.min(min, max);
      desired = clamp(desired);
    },
    get desired() {
      return desired;
    },
    set desired(value) {
      desired = clamp(value);
    },
    step(load, usedMean) {
      if (load.isOverloaded) desired = clamp(desired - Math.ceil(desired * options.scaleDownStepRatio));
      else if (wasFull(usedMean)) desired = clamp(desired + Math.ceil(desired * options.scaleUpStepRatio));
    },
    slowStep(load, usedMean) {
      if (load.isOverloaded || desired >= max) slow = false;
      if (slow && wasFull(usedMean)) desired = clamp(desired * 2);
      return slow;
    },
  };
}
