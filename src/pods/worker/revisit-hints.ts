// What sites list of their pages, read by a pod before it queues the pages that it remembers; not in a watch, which reads
// lists as it goes. Promise: bounded in sites and in time; what could not be read by then leaves no page alone.
import { MAX_HINT_ORIGINS, readHintLists } from '../../crawl/storage/hint-lists.js';
import { isThere } from '../../fresh/change/judge.js';
import type { SiteHints } from '../../fresh/hints/site-hints.js';
import type { PageMemory } from '../../fresh/memory/memory.js';
import { pageKeyOf } from '../../fresh/remembering.js';
import { parseUrl } from '../../request/url.js';
import type { PodsConfig } from '../config/types.js';

export type ListReading = Pick<PodsConfig, 'userAgent' | 'allowPrivateAddresses' | 'politenessDelaySeconds'>;

/** Sites that are counted; those with most pages are read first. */
const MAX_COUNTED = 10_000;
/** Reading takes two requests or more: fewer pages are not worth it. */
const LEAST_PAGES = 3;
/** The crawl begins after this at the latest. */
const LONGEST_MS = 60_000;

/** Resolves to the number of files that were requested. */
export async function readListsOf(
  memory: Pick<PageMemory, 'pages' | 'find'>,
  hints: Pick<SiteHints, 'list'>,
  { userAgent, allowPrivateAddresses, politenessDelaySeconds }: ListReading,
): Promise<number> {
  const origins = originsOf(memory);
  const signal = AbortSignal.timeout(LONGEST_MS);
  let asked = 0;
  for (let at = 0; at < origins.length && !signal.aborted; at += MAX_HINT_ORIGINS) {
    asked += await readHintLists({
      ...{ userAgent, allowPrivateAddresses, signal },
      origins: origins.slice(at, at + MAX_HINT_ORIGINS),
      isNamed: false,
      delayMs: politenessDelaySeconds * 1_000,
      take(entries) {
        for (const { url, lastmod } of entries) {
          const key = pageKeyOf({ target: url, keepUrlFragment: false });
          if (memory.find(key)) hints.list(key, lastmod);
        }
      },
      // A hint that cannot be had is not missed.
    }).catch(() => 0);
  }
  return asked;
}

/** Those with most pages that their server cannot validate; the others are cheap to ask for. */
function originsOf(memory: Pick<PageMemory, 'pages'>): string[] {
  const counts = new Map<string, number>();
  for (const { names, page } of memory.pages()) {
    const isValidated = names.etag !== undefined || names.lastModified !== undefined;
    if (isValidated || page.visits === 0 || !isThere(page)) continue;
    const origin = parseUrl(names.url)?.origin;
    if (origin === undefined || (counts.size >= MAX_COUNTED && !counts.has(origin))) continue;
    counts.set(origin, (counts.get(origin) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, pages]) => pages >= LEAST_PAGES)
    .sort(([, one], [, other]) => other - one)
    .map(([origin]) => origin);
}
