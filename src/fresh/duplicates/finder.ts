// Near duplicates among the pages of a memory: who said the same before.
// Promise: the first of several alike is the one that the others repeat; a page is never a duplicate of itself.
import type { Fingerprint } from '../../request/fingerprint.js';
import { eachPage } from '../memory/each-page.js';
import type { Arrivals, KeyHalves, PageMemory } from '../memory/memory.js';
import { isSameHash } from '../memory/page-row.js';
import type { DuplicateOf } from '../page-change.js';
import { createNearIndex, type NearIndex } from './near-index.js';
import type { Simhash } from './simhash.js';
import { createSiteCopies, type SiteCopies } from './site-copies.js';

export interface DuplicateFinder {
  /** The page that this one repeats, if any; one that repeats none is found by those to come. */
  see(key: Fingerprint, simhash: Simhash, url: string): DuplicateOf | undefined;
  readonly index: Pick<NearIndex, 'size' | 'bytes'>;
  /** Mirrors, print versions and the like, as far as they were found. */
  readonly sites: Pick<SiteCopies, 'isCopy' | 'list'>;
}

/** Of so many candidates with the same 32 bits, one is the page. */
const MAX_LATELY = 10_000;

/** As many arrivals are read at once. */
const PORTION = 1_000;

export type ComparedMemory = Pick<PageMemory, 'pages'> & KeyHalves & Partial<Arrivals>;

/** Of a memory that may hold millions of pages. */
export async function openDuplicateFinder(memory: ComparedMemory): Promise<DuplicateFinder> {
  const index = createNearIndex();
  const sites = createSiteCopies();
  /** Seen in this run, and perhaps not in the memory yet: by the first half of the key. */
  const lately = new Map<number, { readonly key: Fingerprint; readonly url: string }>();
  let heard = memory.lastArrival?.() ?? 0;
  await eachPage(memory, ({ key, page }) => {
    if (page.statusCode >= 400 || (page.simhash.hi | page.simhash.lo) === 0) return;
    // As when they were seen: of several alike one is in the index. Thousands of them would make every search long.
    if (index.find(page.simhash).length === 0) index.add(page.simhash, key.hi);
  });

  function urlOf(note: number, simhash: { hi: number; lo: number }, key: Fingerprint): string | undefined {
    const recent = lately.get(note);
    if (recent) return isSameHash(recent.key, key) ? undefined : recent.url;
    for (const found of memory.startingWith(note)) {
      if (isSameHash(found.page.simhash, simhash)) return isSameHash(found.key, key) ? undefined : found.names.url;
    }
    return undefined;
  }

  function keep(key: Fingerprint, url: string): void {
    if (lately.size >= MAX_LATELY) lately.delete(lately.keys().next().value!);
    lately.set(key.hi, { key, url });
  }

  /** What other writers of the memory saw since the last look; their pages may not be in it yet. */
  function hear(): void {
    for (;;) {
      const others = memory.arrivalsAfter?.(heard, PORTION) ?? [];
      for (const { number, key, simhash, url } of others) {
        heard = number;
        const own = lately.get(key.hi);
        if (own && isSameHash(own.key, key)) continue;
        index.add(simhash, key.hi);
        keep(key, url);
      }
      if (others.length < PORTION) return;
    }
  }

  function found(key: Fingerprint, simhash: Simhash, url: string): DuplicateOf | undefined {
    hear();
    // A page that says nothing repeats nobody.
    if ((simhash.hi | simhash.lo) === 0) return undefined;
    let isKnown = false;
    for (const near of index.find(simhash)) {
      if (near.note === key.hi) {
        isKnown ||= near.distance === 0;
        continue;
      }
      const of = urlOf(near.note, near.simhash, key);
      if (of !== undefined) return { url: of, distance: near.distance };
    }
    if (!isKnown) index.add(simhash, key.hi);
    keep(key, url);
    return undefined;
  }

  return {
    index,
    sites,
    see(key, simhash, url) {
      const duplicateOf = found(key, simhash, url);
      sites.see(url, duplicateOf?.url);
      return duplicateOf;
    },
  };
}
