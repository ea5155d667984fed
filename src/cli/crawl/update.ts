// `orcrawl crawl --update`: what is kept of the last crawl, and what the update found.
// Promise: the figures are counted in the page memory, so an update that was interrupted and resumed reports the whole.
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { PRIVATE_FILE } from '../../base/private-files.js';
import { throughDraft } from '../../base/whole-file.js';
import { ALONE_NOTE, COPIES_NOTE, openMemory } from '../../crawl/storage/page-memory.js';
import { isThere } from '../../fresh/change/judge.js';
import { rememberItems } from '../../fresh/memory/older-items.js';
import type { SiteCopy } from '../../fresh/duplicates/site-copies.js';
import type { KnownPage, WholeMemory } from '../../fresh/memory/memory.js';
import { type Configuration, Dataset, RequestQueue } from '../../index.js';
import { hideLogins } from '../../request/login.js';
import { asStorageError } from '../../store/storage-errors.js';
import { FAILED_DATASET, SKIPPED_DATASET } from './folder.js';
import type { PageItem } from './page-item.js';

/** What an update found. new + changed + same + gone + missing = visits of this update that ended well. */
export interface UpdateFigures {
  readonly new: number;
  readonly changed: number;
  readonly same: number;
  /** There at the visit before, now 404 or 410. */
  readonly gone: number;
  /** Error pages that were not there before either. */
  readonly missing: number;
  /** Remembered, and not visited by this update: beyond a limit, excluded, left alone, or failed. */
  readonly notVisited: number;
  /** Of those, the ones that did not change by what their site says, and is believed in. */
  readonly leftAlone: number;
  /** The first thousand of each. */
  readonly urls: Readonly<Record<'new' | 'changed' | 'gone', readonly string[]>>;
  /** All of them, one JSON line each. */
  readonly file: string;
}

const CHANGES_FILE = 'changes.jsonl';
const MAX_LISTED = 1_000;

/** A finished crawl is about to be visited again: its queue is emptied, its items and memory stay. */
export async function beginUpdate(config: Configuration, folder: string): Promise<void> {
  const memory = await openMemory('default', config);
  try {
    const dataset = await Dataset.open<PageItem & Record<string, unknown>>(undefined, { config });
    await rememberItems(memory, dataset, Date.now());
  } finally {
    await memory.close();
  }
  await (await RequestQueue.open(undefined, { config })).drop();
  const leftovers = [FAILED_DATASET, SKIPPED_DATASET].map((name) => path.join('datasets', name));
  for (const name of [...leftovers, 'failed.jsonl', 'skipped.jsonl']) {
    await rm(path.join(folder, name), { recursive: true, force: true });
  }
}

/** Counts what the last update found, and lists it in a file. */
export async function updateFigures(config: Configuration, folder: string): Promise<UpdateFigures> {
  const memory = await openMemory('default', config);
  const file = path.join(folder, CHANGES_FILE);
  try {
    return await countAll(memory, file);
  } catch (error) {
    throw asStorageError(error, folder);
  } finally {
    await memory.close();
  }
}

/** Mirrors and print versions that the crawl found. */
export async function siteCopies(config: Configuration): Promise<readonly SiteCopy[]> {
  const memory = await openMemory('default', config);
  try {
    return (memory.note(COPIES_NOTE) as readonly SiteCopy[] | undefined) ?? [];
  } finally {
    await memory.close();
  }
}

async function countAll(memory: WholeMemory, file: string): Promise<UpdateFigures> {
  const run = Number(memory.note('run') ?? 0) % 65_536;
  const counts = { new: 0, changed: 0, same: 0, gone: 0, missing: 0, notVisited: 0 };
  const urls = { new: [] as string[], changed: [] as string[], gone: [] as string[] };
  function* lines(): Generator<string> {
    for (const known of memory.pages()) {
      if (known.page.run !== run) {
        if (isThere(known.page)) counts.notVisited++;
        continue;
      }
      const what = foundIn(known);
      counts[what]++;
      if (what === 'same' || what === 'missing') continue;
      const url = hideLogins(known.names.url);
      if (urls[what].length < MAX_LISTED) urls[what].push(url);
      const { statusCode: status, visitedAt } = known.page;
      const line = { url, change: what, status, visitedAt: new Date(visitedAt * 1000).toISOString() };
      yield `${JSON.stringify(line)}\n`;
    }
  }
  await throughDraft(file, (draft) => pipeline(lines, createWriteStream(draft, PRIVATE_FILE)));
  const alone = memory.note(ALONE_NOTE) as { run?: number; count?: number } | undefined;
  const leftAlone = alone?.run !== undefined && alone.run % 65_536 === run ? (alone.count ?? 0) : 0;
  return { ...counts, leftAlone, urls, file };
}

function foundIn({ page }: KnownPage): 'new' | 'changed' | 'same' | 'gone' | 'missing' {
  if (page.found === 'removed') return 'gone';
  return page.found === 'same' && !isThere(page) ? 'missing' : page.found;
}
