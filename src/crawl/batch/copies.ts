// Near copies among the results of a batch, by the code that finds them in crawls.
// Promise: of pages that are alike, the one whose result came first is the original; what is known of them is on disk, in
// a folder that goes with the batch, so that memory grows by at most 60 bytes per page.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { normaliseContent } from '../../fresh/change/normalise.js';
import { createDuplicateFinder, type DuplicateFinder } from '../../fresh/duplicates/finder.js';
import { simhashOf, type Simhash } from '../../fresh/duplicates/simhash.js';
import type { LmdbMemory } from '../../fresh/memory/memory-lmdb.js';
import { newPage } from '../../fresh/memory/new-page.js';
import type { DuplicateOf } from '../../fresh/page-change.js';
import { fingerprintOf } from '../../request/fingerprint.js';
import type { CrawlResult } from './crawl-result.js';

export interface BatchCopies {
  /** The page that a result repeats, of those that were seen before; a URL given twice repeats itself. */
  see(index: number, url: string, simhash: Simhash): Promise<DuplicateOf | undefined>;
  close(): Promise<void>;
}

interface Opened {
  readonly folder: string;
  readonly memory: LmdbMemory;
  readonly finder: DuplicateFinder;
}

/** Nothing is opened before the first page. */
export function createBatchCopies(nowMs: () => number): BatchCopies {
  let opening: Promise<Opened> | undefined;
  return {
    async see(index, url, simhash) {
      const { memory, finder } = await (opening ??= open());
      const key = fingerprintOf(String(index));
      const duplicateOf = finder.see(key, simhash, url);
      if (duplicateOf) return duplicateOf;
      const page = { ...newPage(Math.floor(nowMs() / 1000), 200), simhash: { hi: simhash.hi, lo: simhash.lo } };
      memory.settle([{ key, request: key, page, names: { url } }], true);
      return undefined;
    },
    async close() {
      const opened = await opening?.catch(() => undefined);
      await opened?.memory.close();
      if (opened) await rm(opened.folder, { recursive: true, force: true });
    },
  };
}

/** Of a page that was fetched; undefined of others. */
export function simhashOfResult(result: CrawlResult): Simhash | undefined {
  if (!result.success || result.bytes === 0) return undefined;
  return simhashOf(normaliseContent(result.comparedText()));
}

async function open(): Promise<Opened> {
  const folder = await mkdtemp(path.join(tmpdir(), 'orcrawl-copies-'));
  const { openLmdbMemory } = await import('../../fresh/memory/memory-lmdb.js');
  const memory = await openLmdbMemory(folder);
  return { folder, memory, finder: createDuplicateFinder(memory) };
}
