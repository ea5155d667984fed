// Limits the slots that hanging or dripping hosts may hold while requests to other hosts wait.
// Promise: a fetch is aborted only while every slot is taken, others wait and the share is exceeded; the fetches that
// have been slow longest keep their slots until they end, so every request eventually gets its full time.
import { CrawlError } from '../errors.js';
import type { FetchWatch, WatchedFetch } from '../fetch/engine.js';
import { createSlowMemory } from './slow-memory.js';

/** A run whose visits hold slots. */
export interface SlotUser {
  /** How many visits may run now, and how many do. */
  slots(): number;
  running(): number;
  /** The domains of the requests at hand, which wait for a slot. */
  waiting(): Iterable<string>;
  /** The share is full: return what must wait (`waitMs`) and lease something else. */
  makeRoom(): void;
}

/** Slow fetches: how many run now, were ended, and went back to the queue. */
export interface SlowFigures {
  /** Fetches that are slow now. */
  readonly slow: number;
  /** Fetches aborted so far. */
  readonly ended: number;
  /** How often a request to a slow host was returned to the queue unsent. */
  readonly putBack: number;
}

export interface SlowShare extends FetchWatch {
  /** Returns how to leave. */
  join(user: SlotUser): () => void;
  /**
   * How long a leased request must return to the queue: 0 unless its domain is known to be slow, the share is full and
   * others need the slots. `hasSlot`: it has a slot; else it waits for one.
   */
  waitMs(domain: string, hasSlot: boolean): number;
  /** Slow fetches use all of their share: look for requests behind them. */
  readonly isFull: boolean;
  readonly figures: SlowFigures;
}

export interface SlowShareOptions {
  /** The part of the slots, from 0 to 1, that slow fetches keep while others wait. */
  readonly share: number;
  /** A fetch that receives almost nothing for this long is slow; longer if answers usually take longer. */
  readonly patienceMs: number;
  /** The domain of a URL's queue. */
  readonly domainOf: (url: string) => string;
  /** Upper limit for slots, over all runs. */
  readonly maxSlots?: number | undefined;
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
  readonly random?: () => number;
  /** Calls `sweep` every SWEEP_MS until what it returned is called. */
  readonly every?: (sweep: () => void) => () => void;
}

/** How often fetches are checked. */
export const SWEEP_MS = 200;
/** A fetch that gets this many bytes, or a response head, within the patience is not slow. */
export const ENOUGH_BYTES = 8 * 1024;
/** Patience is this many times the usual time to a response head, and at most this. */
const PATIENCE_FACTOR = 4;
const MAX_PATIENCE_MS = 15_000;
/** Weight of one answer in the usual time. */
const USUAL_WEIGHT = 1 / 16;
/** After others had to wait, slow hosts start nothing beyond their share for this long… */
const CONTENDED_MS = 60_000;
/** …unless only slow fetches have been running for this long. */
const OTHERS_GONE_MS = 5_000;
/** An admitted request should start its fetch within this time. */
const EXPECTED_MS = 2_000;

interface Watched {
  readonly fetch: WatchedFetch;
  sinceMs: number;
  heads: number;
  bytes: number;
  /** Slow itself, not only its domain. */
  wasSlow: boolean;
}

/** Undefined if the share is 1: then no checks are needed. */
export function createSlowShare(options: SlowShareOptions): SlowShare | undefined {
  if (options.share >= 1) return undefined;
  const { share, domainOf, maxSlots = Infinity, now = () => performance.now(), every = everySweep } = options;
  const users = new Set<SlotUser>();
  const watched = new Map<WatchedFetch, Watched>();
  /** In the order in which they became slow. */
  const slow = new Set<Watched>();
  /** Domains whose next fetch was admitted but has not started, and since when. */
  const expected = new Map<string, number>();
  /** Time lost to a blocked loop: data received meanwhile is still unread. */
  let missedMs = 0;
  let sweptAtMs = 0;
  let stopSweeping: (() => void) | undefined;
  let usualHeadMs = 0;
  let wantedAtMs = -Infinity;
  let othersAtMs = -Infinity;
  let ended = 0;
  let putBack = 0;

  const clock = () => now() - missedMs;
  const memory = createSlowMemory(clock, options.random ?? Math.random);

  const slots = () => {
    let most = 0;
    for (const user of users) most = Math.max(most, user.slots());
    return Math.min(most, maxSlots);
  };
  const running = () => {
    let sum = 0;
    for (const user of users) sum += user.running();
    return sum;
  };
  const seats = () => (share > 0 ? Math.max(1, Math.floor(share * slots())) : 0);
  const isFull = () => slow.size + expected.size >= seats();
  const isContended = () => clock() - wantedAtMs < CONTENDED_MS && clock() - othersAtMs < OTHERS_GONE_MS;

  function patienceMs(): number {
    return Math.max(options.patienceMs, Math.min(usualHeadMs * PATIENCE_FACTOR, MAX_PATIENCE_MS));
  }

  function sweep(): void {
    const late = now() - sweptAtMs - 2 * SWEEP_MS;
    if (late > 0) missedMs += late;
    sweptAtMs = now();
    const nowMs = clock();
    const limitMs = nowMs - patienceMs();
    for (const one of watched.values()) {
      if (hasMoved(one)) {
        one.sinceMs = nowMs;
        slow.delete(one);
      } else if (one.sinceMs <= limitMs) becomeSlow(one);
    }
    for (const [domain, sinceMs] of expected) if (nowMs - sinceMs > EXPECTED_MS) expected.delete(domain);
    balance();
    if (watched.size === 0) {
      stopSweeping?.();
      stopSweeping = undefined;
    }
  }

  function hasMoved(one: Watched): boolean {
    const { heads, receivedBytes } = one.fetch;
    if (heads === one.heads && receivedBytes - one.bytes < ENOUGH_BYTES) return false;
    one.heads = heads;
    one.bytes = receivedBytes;
    return true;
  }

  function becomeSlow(one: Watched): void {
    if (!one.wasSlow) memory.note(domainOf(one.fetch.url));
    one.wasSlow = true;
    slow.add(one);
  }

  /** Checks whether others need the slots of slow fetches, and frees as many as needed. */
  function balance(): void {
    if (slow.size === 0 && memory.size === 0) return;
    if (isFull()) for (const user of users) user.makeRoom();
    const busy = running();
    const wanted = countOthers();
    if (watched.size > slow.size || wanted > 0) othersAtMs = clock();
    const missing = wanted - Math.max(0, slots() - busy);
    if (missing <= 0) return;
    wantedAtMs = clock();
    const beyond = [...slow].slice(seats());
    for (const one of beyond.slice(-missing)) end(one);
  }

  function countOthers(): number {
    let count = 0;
    for (const user of users) for (const domain of user.waiting()) if (!memory.has(domain)) count++;
    return count;
  }

  function end(one: Watched): void {
    slow.delete(one);
    watched.delete(one.fetch);
    ended++;
    const { url } = one.fetch;
    one.fetch.end(new CrawlError('FETCH_SLOW', `${url}: aborted because it is slow and other requests need its slot`));
  }

  return {
    enter(fetch) {
      if (!stopSweeping) {
        sweptAtMs = now();
        stopSweeping = every(sweep);
      }
      const one: Watched = { fetch, sinceMs: clock(), heads: 0, bytes: 0, wasSlow: false };
      watched.set(fetch, one);
      if (memory.size === 0) return;
      const domain = domainOf(fetch.url);
      expected.delete(domain);
      if (!memory.has(domain)) {
        othersAtMs = one.sinceMs;
        return;
      }
      slow.add(one);
    },
    leave(fetch, headMs) {
      const one = watched.get(fetch);
      if (!one) return;
      watched.delete(fetch);
      slow.delete(one);
      if (headMs === undefined) return;
      // One very slow answer says little about the others.
      const tookMs = Math.min(headMs, 2 * patienceMs());
      usualHeadMs += (tookMs - usualHeadMs) * (usualHeadMs === 0 ? 1 : USUAL_WEIGHT);
      if (!one.wasSlow && (memory.size > 0 || slow.size > 0)) memory.forget(domainOf(fetch.url));
    },
    join(user) {
      users.add(user);
      return () => void users.delete(user);
    },
    waitMs(domain, hasSlot) {
      if (memory.size === 0 || !memory.has(domain)) return 0;
      const isNeeded = isContended() || (!hasSlot && running() >= slots());
      if (isFull() && isNeeded) {
        putBack++;
        return memory.waitMs();
      }
      if (hasSlot) expected.set(domain, clock());
      return 0;
    },
    get isFull() {
      return isFull();
    },
    get figures() {
      return { slow: slow.size, ended, putBack };
    },
  };
}

/** Unreferenced: sockets keep the process alive, this timer does not. */
function everySweep(sweep: () => void): () => void {
  const timer = setInterval(sweep, SWEEP_MS).unref();
  return () => clearInterval(timer);
}
