// Buffers a few leased requests for the pool, so that many are leased at a time.
// Unstarted leases are returned untouched when the crawl stops.
import type { FrontierClient } from '../../frontier/client.js';
import type { HolderId, Lease } from '../../frontier/frontier.js';
import type { Time } from '../time.js';

/** A lease, and the life in which it was taken. */
export interface TakenLease {
  readonly lease: Lease;
  readonly life: HolderId;
}

export interface LeaseFeed {
  /** The next request to visit, if one is at hand. */
  take(): TakenLease | undefined;
  readonly ready: number;
  /** The domains of the requests at hand. */
  domains(): Iterable<string>;
  /** Takes out those at hand that must not be kept. */
  sift(mustGo: (taken: TakenLease) => boolean): TakenLease[];
  /** Asks the queue for more, once at a time. Resolves when the answer is in. */
  refill(): Promise<void>;
  /** True when the last answer said that nothing is pending anywhere and nothing was added since. */
  readonly exhausted: boolean;
  /** Work was added or came back: what the last answer said may no longer hold. */
  reopen(): void;
  /** Ends the feed; resolves to its leases that were not started. */
  drain(): Promise<TakenLease[]>;
}

export interface LeaseFeedOptions {
  readonly client: FrontierClient;
  readonly time: Time;
  /** How many requests could be started now or soon. */
  readonly wanted: () => number;
  readonly maxEnded: number | undefined;
  /** Domains whose next requests shall come along as bulk skips. */
  readonly bulkSkipDomains?: () => readonly string[] | undefined;
  /** Takes the bulk skips of an answer: they are never visited. */
  readonly onBulkSkips?: (bulkSkips: readonly Lease[], life: HolderId) => void;
  /** Something may be ready: ask again. */
  readonly onReady: () => void;
}

/** However much is wanted, one call asks for no more. */
const MAX_LEASE = 256;
/** With nothing due, look again after at most this long: another process may have added work. */
const LONGEST_SLEEP_MS = 1_000;

export function createLeaseFeed(options: LeaseFeedOptions): LeaseFeed {
  const { client, time } = options;
  let atHand: TakenLease[] = [];
  let next = 0;
  let asking: Promise<void> | undefined;
  let exhausted = false;
  let sleepUntilMs = 0;
  let changes = 0;
  let cancelTimer: (() => void) | undefined;
  let closed = false;

  const ready = () => atHand.length - next;

  async function ask(): Promise<void> {
    const max = Math.min(options.wanted() - ready(), MAX_LEASE);
    if (max <= 0 || closed) return;
    const changesBefore = changes;
    const bulkSkipDomains = options.bulkSkipDomains?.();
    const answer = await client.lease({ max, maxEnded: options.maxEnded, bulkSkipDomains });
    const life = client.id;
    const leases = bulkSkipDomains ? answer.leases.filter(({ bulkSkip }) => !bulkSkip) : answer.leases;
    if (leases.length < answer.leases.length) {
      options.onBulkSkips?.(
        answer.leases.filter(({ bulkSkip }) => bulkSkip),
        life,
      );
    }
    atHand = [...atHand.slice(next), ...leases.map((lease) => ({ lease, life }))];
    next = 0;
    if (changes !== changesBefore) return;
    exhausted = answer.state === 'exhausted' && answer.leases.length === 0;
    if (answer.state !== 'more') {
      const sleepMs = Math.min(answer.nextDueMs ?? LONGEST_SLEEP_MS, LONGEST_SLEEP_MS);
      sleepUntilMs = time.monotonicMs() + sleepMs;
      cancelTimer?.();
      cancelTimer = time.after(Math.max(1, Math.ceil(sleepMs)), wake);
    }
  }

  function wake(): void {
    sleepUntilMs = 0;
    options.onReady();
  }

  return {
    take() {
      const taken = atHand[next];
      if (taken) next++;
      return taken;
    },
    get ready() {
      return ready();
    },
    *domains() {
      for (let index = next; index < atHand.length; index++) yield atHand[index]!.lease.domain;
    },
    sift(mustGo) {
      const left = atHand.slice(next);
      const gone = left.filter(mustGo);
      if (gone.length > 0) {
        atHand = left.filter((taken) => !gone.includes(taken));
        next = 0;
      }
      return gone;
    },
    async refill() {
      if (closed || time.monotonicMs() < sleepUntilMs) return;
      asking ??= ask().finally(() => (asking = undefined));
      await asking;
    },
    get exhausted() {
      return exhausted && ready() === 0;
    },
    reopen() {
      changes++;
      exhausted = false;
      sleepUntilMs = 0;
    },
    async drain() {
      closed = true;
      await asking?.catch(() => undefined);
      cancelTimer?.();
      const left = atHand.slice(next);
      atHand = [];
      next = 0;
      return left;
    },
  };
}
