// How much any schedule can win over uniform visits, at a budget of one visit per change, whatever the rates of the pages.
//
// With a price per visit, what a page of rate r is worth at most is h(r) = max over x of freshness(x) - price r / x, where
// x is its rate times its interval. Weak duality: no schedule within the budget (mean rate 1) is fresher than
// price + mean of h. Uniform visits have the freshness mean of u(r) = freshness(r). So if there are a price and a slope with
//   price + h(r) - ratio u(r) <= slope (r - 1)   for all r >= 0,
// then the mean over any distribution of mean 1 gives: schedule <= ratio × uniform. Such three numbers are a proof.

export interface Bound {
  readonly ratio: number;
  readonly price: number;
  readonly slope: number;
}

const freshness = (x: number): number => (x < 1e-8 ? 1 - x / 2 : -Math.expm1(-x) / x);
const marginal = (x: number): number => -Math.expm1(-x) - x * Math.exp(-x);

/** What a page is worth at a price: its freshness less what its visits cost, at its best interval. */
export function worthAt(rate: number, price: number): number {
  if (price * rate >= 1) return 0;
  let [low, high] = [0, 60];
  for (let step = 0; step < 60; step++) {
    const x = (low + high) / 2;
    if (marginal(x) < price * rate) low = x;
    else high = x;
  }
  const x = (low + high) / 2;
  return freshness(x) - (price * rate) / x;
}

/** How far a page of this rate breaks the bound; the bound is proven where it is nowhere above 0. */
export function excessOf(rate: number, { ratio, price, slope }: Bound): number {
  return price + worthAt(rate, price) - ratio * freshness(rate) - slope * (rate - 1);
}

/** Rates from a millionth to a million: below and above, both sides are as at the ends. */
export const RATES: readonly number[] = Array.from({ length: 2_401 }, (_, step) => 10 ** (-6 + step / 200));

/** The least ratio for which a slope is found, over prices. */
export function mostOverUniform(): Bound {
  let best: Bound = { ratio: Infinity, price: 0, slope: 0 };
  for (let price = 0.05; price < 0.3; price += 0.005) {
    const worths = RATES.map((rate) => worthAt(rate, price));
    let [low, high] = [1, 2];
    let slope = 0;
    for (let step = 0; step < 30; step++) {
      const ratio = (low + high) / 2;
      const found = slopeFor(ratio, price, worths);
      if (found === undefined) low = ratio;
      else [high, slope] = [ratio, found];
    }
    if (high < best.ratio) best = { ratio: high, price, slope };
  }
  // Rounded up, so that it holds between the rates that were tried.
  return { ...best, ratio: best.ratio + 1e-3 };
}

function slopeFor(ratio: number, price: number, worths: readonly number[]): number | undefined {
  let least = 0;
  let most = ratio - 1 - price;
  for (const [index, rate] of RATES.entries()) {
    const left = price + worths[index]! - ratio * freshness(rate);
    if (Math.abs(rate - 1) < 1e-9) {
      if (left > 0) return undefined;
    } else if (rate < 1) most = Math.min(most, -left / (1 - rate));
    else least = Math.max(least, left / (rate - 1));
  }
  return least <= most ? (least + most) / 2 : undefined;
}
