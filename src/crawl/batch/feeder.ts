// Reads the list of a batch as needed: what may run and a small stock, further ahead only while slots stay free.
// Promise: at most `LOOK_AHEAD` URLs are held; a list that fails is reported after what was read of it.
import { CrawlError } from '../../errors.js';
import { placesByPriority, type UrlItem } from './tasks.js';
import { type Many, openSource } from './url-source.js';

/** An item with its place in the list. */
export interface ListEntry {
  readonly item: UrlItem;
  readonly place: number;
}

export interface FeederParts {
  readonly items: Many<UrlItem>;
  /** How many may be in progress. */
  readonly permits: number;
  /** URLs that were read and have not ended; those that wait for others of their session do not count. */
  readonly held: () => number;
  readonly unread?: (() => number) | undefined;
  /** Queues what was read. */
  readonly take: (entries: readonly ListEntry[]) => Promise<void>;
  /** Nothing more comes. */
  readonly onDone: () => void;
}

export interface Feeder {
  /** The list was read to its end, or is no longer wanted. */
  readonly isDone: boolean;
  /** Starts to read; resolves when nothing more is read, and rejects with the list's own failure. */
  feed(): Promise<void>;
  /** There may be room. */
  feedMore(): void;
  /** Slots are free and all that waits belongs to resting domains: others are looked for. */
  lookFurther(): void;
  /** Something was due: no need to look further. */
  lookNoFurther(): void;
  /** Reads nothing more. */
  stop(): void;
  /** Nothing more is wanted: the list is left. */
  leave(): void;
}

/** Beyond what may run: so that a slot that frees finds its next URL waiting. */
const STOCK_LIMIT = 64;
/** How far the list is read ahead while slots are free and all that waits belongs to domains that rest. */
export const LOOK_AHEAD = 10_000;
const PULL_BATCH = 256;
/** The list is read when this part of the stock is used up: a call of the queue costs the same for one URL and for many. */
const PULL_SHARE = 1 / 4;

export function createFeeder(parts: FeederParts): Feeder {
  const { permits, held, unread } = parts;
  const stock = permits + Math.min(permits, STOCK_LIMIT);
  const leastPull = Math.ceil(Math.min(permits, STOCK_LIMIT) * PULL_SHARE);
  const places = placesByPriority(parts.items);
  const source = openSource(places ? places.map((place) => (parts.items as readonly UrlItem[])[place]!) : parts.items);
  let pulled = 0;
  let room = stock;
  let isDone = false;
  let isLeft = false;
  let wake: (() => void) | undefined;

  const roomToPull = () => Math.min(PULL_BATCH, room - held() - (unread?.() ?? 0));

  function feedMore(): void {
    if (wake && (isLeft || roomToPull() >= leastPull)) wake();
  }

  async function readAll(): Promise<void> {
    while (!isLeft) {
      const max = roomToPull();
      if (max < leastPull) {
        await new Promise<void>((resume) => (wake = resume));
        wake = undefined;
        continue;
      }
      const items = await source.take(max);
      if (!items || isLeft) return;
      const first = pulled;
      pulled += items.length;
      await parts.take(items.map((item, at) => ({ item, place: places?.[first + at] ?? first + at })));
    }
  }

  return {
    get isDone() {
      return isDone;
    },
    async feed() {
      try {
        await readAll();
      } catch (error) {
        throw error ?? new CrawlError('REQUEST_INVALID', 'the list of URLs failed');
      } finally {
        isDone = true;
        parts.onDone();
      }
    },
    feedMore,
    lookFurther() {
      if (isDone || room >= LOOK_AHEAD) return;
      room = Math.min(LOOK_AHEAD, Math.max(room, held()) + permits);
      feedMore();
    },
    lookNoFurther() {
      room = stock;
    },
    stop() {
      isDone = true;
    },
    leave() {
      isLeft = true;
      source.leave();
      feedMore();
    },
  };
}
