// How long pages take to load, for crawlers whose handlers are not told: from the last hook before the request on.
// Promise: nothing is kept of a request that is gone.
export interface LoadClock {
  /** A `preNavigationHook`. */
  readonly hook: (context: { readonly request: object }) => Promise<void>;
  /** Milliseconds since the request was sent; undefined when it never was. */
  takenBy(request: object): number | undefined;
}

export function createLoadClock(nowMs: () => number = () => performance.now()): LoadClock {
  const sentAtMs = new WeakMap<object, number>();
  return {
    hook: async ({ request }) => void sentAtMs.set(request, nowMs()),
    takenBy(request) {
      const sent = sentAtMs.get(request);
      return sent === undefined ? undefined : nowMs() - sent;
    },
  };
}
