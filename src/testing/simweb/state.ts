// What the synthetic web remembers between requests: how often something was tried, and since when.
// Bounded: the oldest keys are forgotten first. `reset()` starts anew.

export interface WebState {
  /** Counts one more try of this key and returns the count. */
  tries(key: string): number;
  /** The time of the first request of this key, which is `nowMs` the first time. */
  firstSeenMs(key: string, nowMs: number): number;
  /** Takes one request from a host's allowance of `requests` per `windowMs`; false when it is used up. */
  allow(host: number, requests: number, windowMs: number, nowMs: number): boolean;
  /** When a page was touched, in milliseconds since 1970, in order. */
  touches(host: number, page: number): readonly number[];
  touch(host: number, page: number, atMs: number): void;
  reset(): void;
}

const MAX_KEYS = 1_000_000;

function createKept<V>(): { get(key: string): V | undefined; set(key: string, value: V): void; clear(): void } {
  const values = new Map<string, V>();
  return {
    get: (key) => values.get(key),
    set(key, value) {
      values.set(key, value);
      if (values.size > MAX_KEYS) values.delete(values.keys().next().value as string);
    },
    clear: () => values.clear(),
  };
}

export function createWebState(): WebState {
  const tries = createKept<number>();
  const firsts = createKept<number>();
  const touched = createKept<number[]>();
  const windows = createKept<{ startMs: number; used: number }>();
  return {
    tries(key) {
      const count = (tries.get(key) ?? 0) + 1;
      tries.set(key, count);
      return count;
    },
    firstSeenMs(key, nowMs) {
      const known = firsts.get(key);
      if (known !== undefined) return known;
      firsts.set(key, nowMs);
      return nowMs;
    },
    allow(host, requests, windowMs, nowMs) {
      const key = String(host);
      const window = windows.get(key);
      if (!window || nowMs - window.startMs >= windowMs) {
        windows.set(key, { startMs: nowMs, used: 1 });
        return true;
      }
      return ++window.used <= requests;
    },
    touches: (host, page) => touched.get(`${host}/${page}`) ?? [],
    touch(host, page, atMs) {
      const key = `${host}/${page}`;
      touched.set(key, [...(touched.get(key) ?? []), atMs]);
    },
    reset() {
      tries.clear();
      firsts.clear();
      windows.clear();
    },
  };
}
