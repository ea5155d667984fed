// The items and links of one attempt, held until the visit settles.
// A failed attempt leaves nothing; a handler that outlives its attempt cannot add any more.
import { CrawlError } from '../../errors.js';
import { limitReached, LIMITS } from '../../limits.js';
import type { QueueEntry } from '../../frontier/frontier.js';
import type { Fingerprint } from '../../request/fingerprint.js';
import { unpackRecord } from '../../request/record.js';
import type { PendingItem } from './settler.js';

export interface Transaction {
  readonly items: readonly PendingItem[];
  readonly links: readonly QueueEntry[];
  pushItem(item: PendingItem): void;
  /** False for a request that this visit queues already. */
  isNewLink(fingerprint: Fingerprint): boolean;
  /** How many more requests the visit may queue. */
  readonly roomForLinks: number;
  addLink(link: QueueEntry): void;
  /** Forgets what was added so far: the handler begins anew, or the attempt failed. */
  clear(): void;
  /** From now on adding is an error. */
  close(): void;
}

/** A page that links to more than this is a trap, and would not fit one atomic step: the rest is left out. */
const MAX_LINKS = LIMITS.pageLinks.max;
const MAX_ITEM_BYTES = 64 * 1024 * 1024;

/** As many bits of a fingerprint as a number holds: within one page they tell links apart. */
function bits53({ hi, lo }: Fingerprint): number {
  return hi * 2 ** 21 + (lo >>> 11);
}

/** `onDropped` receives the URL of every added link that will not be queued after all. */
export function createTransaction(url: string, onDropped?: (url: string) => void): Transaction {
  return new VisitTransaction(url, onDropped);
}

/** A class: getters in an object literal would give each visit a hidden class, which keeps the items until a full collection. */
class VisitTransaction implements Transaction {
  readonly items: PendingItem[] = [];
  readonly links: QueueEntry[] = [];
  readonly #url: string;
  readonly #onDropped: ((url: string) => void) | undefined;
  readonly #queued = new Set<number>();
  #itemBytes = 0;
  #closed = false;

  constructor(url: string, onDropped?: (url: string) => void) {
    this.#url = url;
    this.#onDropped = onDropped;
  }

  get roomForLinks(): number {
    const room = MAX_LINKS - this.links.length;
    if (room <= 0) limitReached('pageLinks');
    return room;
  }

  pushItem(item: PendingItem): void {
    this.#assertOpen();
    this.#itemBytes += item.lines.length;
    if (this.#itemBytes > MAX_ITEM_BYTES) {
      throw new CrawlError('ITEM_INVALID', `the items of one visit exceed ${MAX_ITEM_BYTES} bytes: ${this.#url}`);
    }
    this.items.push(item);
  }

  isNewLink(fingerprint: Fingerprint): boolean {
    return !this.#queued.has(bits53(fingerprint));
  }

  addLink(link: QueueEntry): void {
    if (this.#closed) this.#onDropped?.(unpackRecord(link.record).url);
    this.#assertOpen();
    this.#queued.add(bits53(link.fingerprint));
    this.links.push(link);
  }

  clear(): void {
    if (this.#onDropped) for (const { record } of this.links) this.#onDropped(unpackRecord(record).url);
    this.items.length = 0;
    this.links.length = 0;
    this.#queued.clear();
    this.#itemBytes = 0;
  }

  close(): void {
    this.#closed = true;
  }

  #assertOpen(): void {
    if (!this.#closed) return;
    throw new CrawlError('HANDLER_TIMEOUT', `the visit of ${this.#url} has ended: nothing can be added`);
  }
}
