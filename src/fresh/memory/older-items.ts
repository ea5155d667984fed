// Migration: a page memory from the items of a crawl that a release without one made.
// Promise: items are read one after another; the first update compares their text, and then knows as much as of any page.
import { fingerprintOf } from '../../request/fingerprint.js';
import { normalizeUrl, parseUrl } from '../../request/url.js';
import { textHashOf } from '../change/judge.js';
import type { PageMemory, PageVisit } from './memory.js';
import { newPage } from './new-page.js';

/** What such an item tells of its page. */
export interface OlderItem {
  readonly url: string;
  readonly loadedUrl?: string | undefined;
  readonly status?: number | undefined;
  readonly depth?: number | undefined;
  readonly fetchedAt?: string | undefined;
  /** The text of the whole page. */
  readonly text?: string | undefined;
}

const PORTION = 500;

/** Remembers the pages of items, unless the memory has pages already; resolves to how many. */
export async function rememberItems(
  memory: Pick<PageMemory, 'pages' | 'stage' | 'settle'>,
  items: AsyncIterable<OlderItem>,
  nowMs: number,
): Promise<number> {
  if (!memory.pages().next().done) return 0;
  let count = 0;
  let portion: PageVisit[] = [];
  const write = async () => {
    await memory.stage(portion);
    memory.settle(portion, true);
    count += portion.length;
    portion = [];
  };
  for await (const item of items) {
    const visit = visitOf(item, nowMs);
    if (visit && portion.push(visit) === PORTION) await write();
  }
  await write();
  return count;
}

function visitOf(item: OlderItem, nowMs: number): PageVisit | undefined {
  const url = parseUrl(item.loadedUrl ?? item.url)?.href;
  if (url === undefined || typeof item.text !== 'string') return undefined;
  const fetchedMs = Date.parse(item.fetchedAt ?? '');
  const visitedAt = Math.floor((Number.isNaN(fetchedMs) ? nowMs : fetchedMs) / 1000);
  const key = fingerprintOf(normalizeUrl(url));
  const page = {
    ...newPage(visitedAt, item.status ?? 200),
    depth: item.depth ?? 0,
    contentHash: textHashOf(item.text),
    hashIsOfText: true,
  };
  return { key, request: key, page, names: { url } };
}
