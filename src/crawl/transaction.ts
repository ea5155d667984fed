// What one attempt wants to leave behind: items and links, kept until the visit settles.
// A failed attempt leaves nothing; a handler that outlives its attempt can add nothing any more.
import { CrawlError } from '../errors.js';
import type { QueueEntry } from '../frontier/frontier.js';
import type { PendingItem } from './settler.js';

export interface Transaction {
  readonly items: readonly PendingItem[];
  readonly links: readonly QueueEntry[];
  pushItem(item: PendingItem): void;
  addLinks(links: readonly QueueEntry[]): void;
  /** Forgets what was added so far. */
  clear(): void;
  /** From now on adding is an error. */
  close(): void;
}

/** One page that queues more than this is a trap, and would not fit one atomic step. */
const MAX_LINKS = 100_000;
const MAX_ITEM_CHARACTERS = 64 * 1024 * 1024;

export function createTransaction(url: string): Transaction {
  let items: PendingItem[] = [];
  let links: QueueEntry[] = [];
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
    addLinks(added) {
      assertOpen();
      if (links.length + added.length > MAX_LINKS) {
        throw new CrawlError('REQUEST_INVALID', `one visit may queue at most ${MAX_LINKS} requests: ${url}`);
      }
      for (const link of added) links.push(link);
    },
    clear() {
      items = [];
      links = [];
      itemCharacters = 0;
    },
    close() {
      closed = true;
    },
  };
}
