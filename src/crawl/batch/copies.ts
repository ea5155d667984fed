// Near copies among the results of a batch, by the code that finds them in crawls.
// Promise: of pages that are alike, the one whose result came first is the original; what is known of them is on disk, in
// a folder that goes with the batch unless it was given, so that memory grows by at most 60 bytes per page.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { normaliseContent } from '../../fresh/change/normalise.js';
import { type DuplicateFinder, openDuplicateFinder } from '../../fresh/duplicates/finder.js';
import { simhashOf, type Simhash } from '../../fresh/duplicates/simhash.js';
import type { LmdbMemory } from '../../fresh/memory/memory-lmdb.js';
import { newPage } from '../../fresh/memory/new-page.js';
import type { DuplicateOf } from '../../fresh/page-change.js';
import { fingerprintOf } from '../../request/fingerprint.js';
import type { CrawlResult } from './crawl-result.js';

export interface BatchCopies {
  /** The page that one repeats, of those that were seen before. One that comes again by the same name repeats nothing. */
  see(name: string, url: string, simhash: Simhash): Promise<DuplicateOf | undefined>;
  /** Whether a page belongs to a mirror of another site, or is a print version or the like, as far as is known. */
  isCopy(url: string): boolean;
  close(): Promise<void>;
}

interface Opened {
  readonly memory: LmdbMemory;
  readonly finder: DuplicateFinder;
}

/** Nothing is opened before the first page. What is in a folder that was given is known again by the next run. */
export function createBatchCopies(nowMs: () => number, folder?: string): BatchCopies {
  let opening: Promise<Opened> | undefined;
  let opened: Opened | undefined;
  let ownFolder: string | undefined;

  async function open(): Promise<Opened> {
    const at = folder ?? (ownFolder = await mkdtemp(path.join(tmpdir(), 'orcrawl-copies-')));
    const { openLmdbMemory } = await import('../../fresh/memory/memory-lmdb.js');
    const memory = await openLmdbMemory(at);
    return (opened = { memory, finder: await openDuplicateFinder(memory) });
  }

  return {
    async see(name, url, simhash) {
      const { memory, finder } = await (opening ??= open());
      const key = fingerprintOf(name);
      const duplicateOf = finder.see(key, simhash, url);
      if (duplicateOf) return duplicateOf;
      const page = { ...newPage(Math.floor(nowMs() / 1000), 200), simhash: { hi: simhash.hi, lo: simhash.lo } };
      memory.settle([{ key, request: key, page, names: { url } }], true);
      return undefined;
    },
    isCopy: (url) => opened?.finder.sites.isCopy(url) === true,
    async close() {
      await opening?.catch(() => undefined);
      await opened?.memory.close();
      if (ownFolder !== undefined) await rm(ownFolder, { recursive: true, force: true });
    },
  };
}

/** Of a page that was fetched; undefined of others. */
export function simhashOfResult(result: CrawlResult): Simhash | undefined {
  if (!result.success || result.bytes === 0) return undefined;
  return simhashOf(normaliseContent(result.comparedText()));
}
