// What one attempt wants to leave behind: items and links, kept until the visit settles.
// A failed attempt leaves nothing; a handler that outlives its attempt can add nothing any more.
import { CrawlError } from '../errors.js';
import type { QueueEntry } from '../frontier/frontier.js';
import type { Fingerprint } from '../request/fingerprint.js';
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
  /** Forgets what was added so far: the handler begins anew. */
  clear(): void;
  /** From now on adding is an error. */
  close(): void;
}

/** A page that links to more than this is a trap, and would not fit one atomic step: the rest is left out. */
const MAX_LINKS = 100_000;
const MAX_ITEM_CHARACTERS = 64 * 1024 * 1024;

/** As many bits of a fingerprint as a number holds: within one page they tell links apart. */
function bits53({ hi, lo }: Fingerprint): number {
  return hi * 2 ** 21 + (lo >>> 11);
}

export function createTransaction(url: string): Transaction {
  const items: PendingItem[] = [];
  const links: QueueEntry[] = [];
  const queued = new Set<number>();
  let itemCharacters = 0;
  let closed = false;

  function assertOpen(): void {
    if (closed) throw new CrawlError('HANDLER_TIMEOUT', `the visit of ${url} has ended: nothing can be added to it`);
  }

  return {
    get items() {
      return items;
    },
    get links() {
      return links;
    },
    pushItem(item) {
      assertOpen();
      itemCharacters += item.line.length;
      if (itemCharacters > MAX_ITEM_CHARACTERS) {
        throw new CrawlError('ITEM_INVALID', `the items of one visit exceed ${MAX_ITEM_CHARACTERS} characters: ${url}`);
      }
      items.push(item);
    },
    isNewLink: (fingerprint) => !queued.has(bits53(fingerprint)),
    get roomForLinks() {
      return MAX_LINKS - links.length;
    },
    addLink(link) {
      assertOpen();
      queued.add(bits53(link.fingerprint));
      links.push(link);
    },
    clear() {
      items.length = 0;
      links.length = 0;
      queued.clear();
      itemCharacters = 0;
    },
    close() {
      closed = true;
    },
  };
}
