// Times in buckets that grow by a quarter each: percentiles without keeping the values.
// Promise: one addition per value, 80 numbers in all; a percentile is right within an eighth.
export interface Latencies {
  add(ms: number): void;
  /** 0 while there are none. */
  percentile(share: number): number;
  readonly count: number;
  clear(): void;
}

const GROWTH = Math.log(1.25);
const BUCKETS = 80;

export function createLatencies(): Latencies {
  const buckets = new Uint32Array(BUCKETS);
  let count = 0;
  return {
    add(ms) {
      if (!(ms >= 0)) return;
      const at = ms < 1 ? 0 : Math.min(BUCKETS - 1, 1 + Math.floor(Math.log(ms) / GROWTH));
      buckets[at]!++;
      count++;
    },
    percentile(share) {
      if (count === 0) return 0;
      let left = Math.ceil(count * share);
      for (let at = 0; at < BUCKETS; at++) {
        left -= buckets[at]!;
        if (left <= 0) return at === 0 ? 0.5 : Math.round(Math.exp((at - 0.5) * GROWTH) * 10) / 10;
      }
      return 0;
    },
    get count() {
      return count;
    },
    clear() {
      buckets.fill(0);
      count = 0;
    },
  };
}
