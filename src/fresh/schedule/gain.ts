// What one more visit adds to a page's expected freshness, and the interval at which it adds a given amount.
// Promise: a few steps of a search in a table that is made once per shape.
//
// A page of rate r that is visited every t seconds is fresh for the part (1 - exp(-r t)) / (r t) of the time, and one
// more visit per second adds (1 - exp(-r t) (1 + r t)) / r. Of the rate only a Gamma distribution is known: the mean of
// that over it is scale * gainOf(t / scale), with no more to know than its shape. An uncertain page is worth more than
// a page that surely has the same mean rate: it may be slower, and then a visit keeps it fresh for long.

/** Steps of half a doubling: a belief is taken for the nearest. */
const LOWEST_SHAPE = 0.25;
const CLASSES = 14;

/** The number of a shape's class. */
export function shapeClassOf(shape: number): number {
  const number = Math.round(2 * Math.log2(shape / LOWEST_SHAPE));
  return Math.min(CLASSES - 1, Math.max(0, Number.isNaN(number) ? 0 : number));
}

export const SHAPE_CLASSES = CLASSES;

/** The shape that stands for a class. */
export const shapeOfClass = (number: number): number => LOWEST_SHAPE * 2 ** (number / 2);

/** The gain at an interval of u scales: the integral of (1 + s)^-shape up to u, less u (1 + u)^-shape. */
export function gainOf(shape: number, u: number): number {
  // Differences of nearly equal numbers: the beginning of the series is exact enough.
  if (u < 1e-4) return (shape * u * u) / 2;
  const log = Math.log1p(u);
  const rest = u * Math.exp(-shape * log);
  if (Math.abs(shape - 1) < 1e-9) return log - rest;
  return -Math.expm1((1 - shape) * log) / (shape - 1) - rest;
}

const LOWEST_LOG2 = -30;
const STEPS_PER_DOUBLING = 8;
const STEPS = 60 * STEPS_PER_DOUBLING;
const tables: (Float64Array | undefined)[] = [];

/** Logarithms of the gain, at equal steps of the logarithm of u. */
function tableOf(shapeClass: number): Float64Array {
  const shape = shapeOfClass(shapeClass);
  return (tables[shapeClass] ??= Float64Array.from({ length: STEPS + 1 }, (_, step) =>
    Math.log2(gainOf(shape, 2 ** (LOWEST_LOG2 + step / STEPS_PER_DOUBLING))),
  ));
}

/** The interval, in scales, at which one more visit adds this; Infinity when no interval does. */
export function intervalOfGain(shapeClass: number, gain: number): number {
  const table = tableOf(shapeClass);
  const log = Math.log2(gain);
  if (!(log > table[0]!)) return 2 ** LOWEST_LOG2;
  if (log >= table[STEPS]!) return Infinity;
  let low = 0;
  let high = STEPS;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (table[middle]! <= log) low = middle;
    else high = middle;
  }
  const part = (log - table[low]!) / Math.max(1e-12, table[high]! - table[low]!);
  return 2 ** (LOWEST_LOG2 + (low + part) / STEPS_PER_DOUBLING);
}

/** How likely a Gamma variable of this shape and scale 1 is below `limit`: Wilson and Hilferty's approximation. */
export function likelihoodBelow(shape: number, limit: number): number {
  const root = Math.cbrt(limit / shape) - 1 + 1 / (9 * shape);
  // The logistic curve is close enough to the normal one.
  return 1 / (1 + Math.exp(-1.702 * 3 * Math.sqrt(shape) * root));
}
