// The URLs whose last fate is that they failed, read from the fates of all data directories.
// Promise: memory holds a chunk of each index and the lines of one URL, whatever their number; a URL comes once.
import { open, readdir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { type FateFields, type IndexEntry, parseIndexLine } from './cdxj.js';
import { batchesOfLines, mergedLines } from './index-sorting.js';
import { CONTENT_FOLDER, parseContentName, segmentOfIndex, TAIL_ENDING } from './names.js';
import { isMissing } from '../storage-errors.js';

export type FailedUrl = IndexEntry & { readonly fate: FateFields };

export interface FailedFatesOptions {
  /** Lines of other crawls are ignored. */
  readonly crawl: string;
  /** Told of indexes that are still being written: they are left out. */
  readonly warn: (message: string) => void;
}

const READ_BYTES = 64 * 1024;
/** With very many indexes each gets less. */
const ALL_READ_BYTES = 64 * 1024 * 1024;
const LEAST_READ_BYTES = 4 * 1024;
/** Lines of one SURT form that are compared: more attempts than anybody makes. */
const MAX_GROUP = 10_000;

export async function* failedFates(
  dataDirs: readonly string[],
  options: FailedFatesOptions,
): AsyncGenerator<FailedUrl> {
  const files: FileHandle[] = [];
  try {
    for (const path of await fateIndexes(dataDirs, options.warn)) files.push(await open(path, 'r'));
    const bytes = Math.max(LEAST_READ_BYTES, Math.min(READ_BYTES, Math.floor(ALL_READ_BYTES / (files.length || 1))));
    const sources = files.map((file) => batchesOfLines(file, 0, Infinity, bytes));
    let group: string[] = [];
    let surt = '';
    for await (const lines of mergedLines(sources, READ_BYTES)) {
      for (const line of lines) {
        const own = line.slice(0, line.indexOf(' '));
        if (own !== surt) {
          yield* failedIn(group, options.crawl);
          group = [];
          surt = own;
        }
        group.push(line);
        // The oldest are first.
        if (group.length > MAX_GROUP) group.shift();
      }
    }
    yield* failedIn(group, options.crawl);
  } finally {
    for (const file of files) await file.close();
  }
}

/** Of lines with the same SURT form: the last fate of each key, if it failed. */
function failedIn(lines: readonly string[], crawl: string): FailedUrl[] {
  const last = new Map<string, FailedUrl>();
  for (const line of lines) {
    const entry = parseIndexLine(Buffer.from(line, 'latin1').toString('utf8'));
    if (entry?.fate?.crawl !== crawl) continue;
    const before = last.get(entry.uniqueKey);
    if (!before || isLater(entry as FailedUrl, before)) last.set(entry.uniqueKey, entry as FailedUrl);
  }
  return [...last.values()].filter(({ fate }) => fate.kind === 'failed');
}

function isLater(one: FailedUrl, other: FailedUrl): boolean {
  if (one.fetchedAtMs !== other.fetchedAtMs) return one.fetchedAtMs > other.fetchedAtMs;
  return one.fate.kind === 'again';
}

async function fateIndexes(dataDirs: readonly string[], warn: (message: string) => void): Promise<string[]> {
  const paths: string[] = [];
  for (const dataDir of dataDirs) {
    const folder = join(dataDir, CONTENT_FOLDER);
    const names: string[] = await readdir(folder).catch((error: unknown) => {
      if (isMissing(error)) return [];
      throw error;
    });
    for (const name of names) {
      const segment = segmentOfIndex(name);
      if (segment === undefined || parseContentName(segment)?.kind !== 'fates') continue;
      if (!name.endsWith(TAIL_ENDING)) paths.push(join(folder, name));
      else if (!names.includes(segment)) warn(`${join(folder, name)} is still being written: its URLs are left out`);
    }
  }
  return paths;
}
