// How often a page changes, from visits of unequal spacing that only tell whether it changed at least once between them.
// Promise: the changes that no visit saw do not bias the estimate; a constant time and two numbers per page.

/**
 * What is known of a page's changes per second: a Gamma distribution. Its mean is `shape / scaleSecs`.
 */
export interface RateBelief {
  readonly shape: number;
  readonly scaleSecs: number;
}

/** More certainty than from so many changes is not kept: rates of change change, too. */
const MAX_SHAPE = 25;
const MIN_SHAPE = 1e-3;

/** Changes per second. */
export function rateOf({ shape, scaleSecs }: RateBelief): number {
  return shape / scaleSecs;
}

/** What is believed of a page that was visited once, where pages change about so often. */
export function priorBelief(ratePerSec: number): RateBelief {
  return { shape: PRIOR_SHAPE, scaleSecs: PRIOR_SHAPE / ratePerSec };
}

/** Rates of pages differ by orders of magnitude: a few visits outweigh what others do. */
const PRIOR_SHAPE = 0.7;

/**
 * The belief after a visit `elapsedSecs` after the last one. That a page of rate r did not change has the probability
 * exp(-r t): the distribution stays a Gamma. That it changed has 1 - exp(-r t): the result is the Gamma with the same
 * mean and variance, which are known exactly.
 */
export function afterVisit(belief: RateBelief, elapsedSecs: number, hasChanged: boolean): RateBelief {
  const { shape, scaleSecs } = belief;
  if (!(elapsedSecs > 0)) return belief;
  if (!hasChanged) return capped(shape, scaleSecs + elapsedSecs);
  // log of (scale / (scale + t)) ^ shape; expm1 keeps the small differences.
  const logRatio = -Math.log1p(elapsedSecs / scaleSecs);
  const unchanged = (power: number) => -Math.expm1(power * logRatio);
  const norm = unchanged(shape);
  const mean = (shape / scaleSecs) * (unchanged(shape + 1) / norm);
  const square = ((shape * (shape + 1)) / (scaleSecs * scaleSecs)) * (unchanged(shape + 2) / norm);
  const variance = square - mean * mean;
  if (!(variance > 0) || !Number.isFinite(mean)) return belief;
  return capped((mean * mean) / variance, mean / variance);
}

function capped(shape: number, scaleSecs: number): RateBelief {
  const kept = Math.min(MAX_SHAPE, Math.max(MIN_SHAPE, shape));
  return { shape: kept, scaleSecs: (scaleSecs * kept) / shape };
}
