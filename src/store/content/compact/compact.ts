// Drops old captures of stored pages: segments that are finished are written anew without them.
// Promise: the newest capture of a page stays, and whatever a kept one refers to; a crawl may run meanwhile; whatever dies
// when, every kept capture can be found, and the next compaction finishes what was begun.
import { open, readdir, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { compactedIn, removeCompacted } from './list.js';
import { lockFolder } from './lock.js';
import { contentFilesIn, refuseObjectStores } from '../folders.js';
import { COMPACT_ENDING, isOfCompaction, rewriteSegment } from './rewrite.js';
import { parseIndexLine, type IndexEntry } from '../cdxj.js';
import { batchesOfLines, mergedLines } from '../index-sorting.js';
import { CONTENT_FOLDER, indexNameOf, isIndexOnly, parseContentName, segmentOfIndex, TAIL_ENDING } from '../names.js';
import type { SegmentKind } from '../names.js';

/** What is dropped: captures to which any of these applies, but never the newest of a page. */
export interface CompactOptions {
  /** More captures of a page than this. */
  readonly keep?: number | undefined;
  /** Captures from before this time, in milliseconds since 1970. */
  readonly beforeMs?: number | undefined;
  /** Only count. */
  readonly dryRun?: boolean | undefined;
  readonly warn?: (message: string) => void;
}

export interface CompactReport {
  readonly pages: number;
  /** Found, and of those dropped. */
  readonly captures: number;
  readonly dropped: number;
  /** Finished segments, and of those rewritten or removed. */
  readonly segments: number;
  readonly rewritten: number;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

/** A finished segment and its index. */
interface Source {
  readonly folder: string;
  readonly name: string;
  readonly kind: SegmentKind;
  /** The numbers of the lines that are dropped, in order. */
  readonly drops: number[];
}

const READ_BYTES = 64 * 1024;
/** With very many indexes each gets less. */
const ALL_READ_BYTES = 64 * 1024 * 1024;
const LEAST_READ_BYTES = 4 * 1024;

/**
 * Compacts the stored pages of data directories. All directories of a crawl belong in one call.
 *
 * @example
 * const { dropped, bytesBefore, bytesAfter } = await compactContent(['./data'], { keep: 3 });
 */
export async function compactContent(dataDirs: readonly string[], options: CompactOptions): Promise<CompactReport> {
  refuseObjectStores(dataDirs, 'compact');
  const folders = dataDirs.map((dataDir) => join(dataDir, CONTENT_FOLDER));
  for (const folder of folders) await contentFilesIn(folder);
  const unlocks: (() => Promise<void>)[] = [];
  try {
    if (!options.dryRun) {
      for (const folder of folders) {
        unlocks.push(await lockFolder(folder));
        await finishEarlier(folder);
      }
    }
    const sources = (await Promise.all(folders.map(sourcesIn))).flat();
    const counts = await chooseDrops(sources, options);
    let rewritten = 0;
    let [bytesBefore, bytesAfter] = [0, 0];
    for (const source of sources) {
      const bytes = await bytesOf(source);
      bytesBefore += bytes;
      const after =
        source.drops.length === 0 || options.dryRun ? undefined : await rewriteSegment(source, options.warn);
      bytesAfter += after ?? bytes;
      if (after !== undefined) rewritten++;
    }
    return { ...counts, segments: sources.length, rewritten, bytesBefore, bytesAfter };
  } finally {
    for (const unlock of unlocks) await unlock();
  }
}

/** What a compaction that died had begun: drafts go, and so do segments that were replaced or never got their index. */
async function finishEarlier(folder: string): Promise<void> {
  for (const name of await compactedIn(folder)) await removeCompacted(folder, name);
  const files = await readdir(folder);
  for (const file of files) {
    const isOrphan = parseContentName(file) !== undefined && isOfCompaction(file) && !files.includes(indexNameOf(file));
    if (file.endsWith(COMPACT_ENDING) || isOrphan) await rm(join(folder, file), { force: true });
  }
}

async function sourcesIn(folder: string): Promise<Source[]> {
  const files = await readdir(folder);
  const replaced = await compactedIn(folder);
  return files.sort().flatMap((file) => {
    const name = file.endsWith(TAIL_ENDING) ? undefined : segmentOfIndex(file);
    if (name === undefined || replaced.has(name) || files.includes(file + TAIL_ENDING)) return [];
    const { kind } = parseContentName(name)!;
    // How URLs ended without a page is not a capture.
    if (kind === 'fates' || (!isIndexOnly(kind) && !files.includes(name))) return [];
    return [{ folder, name, kind, drops: [] }];
  });
}

async function bytesOf({ folder, name }: Source): Promise<number> {
  let bytes = 0;
  for (const file of new Set([name, indexNameOf(name)])) bytes += (await stat(join(folder, file))).size;
  return bytes;
}

interface Line {
  readonly source: number;
  /** Its number in its index. */
  readonly number: number;
  readonly entry: IndexEntry;
}

/** One pass over all indexes, page by page: memory holds the lines of one page and four bytes per dropped line. */
async function chooseDrops(sources: readonly Source[], options: CompactOptions) {
  const counts = { pages: 0, captures: 0, dropped: 0 };
  const files: FileHandle[] = [];
  try {
    for (const { folder, name } of sources) files.push(await open(join(folder, indexNameOf(name)), 'r'));
    const bytes = Math.max(LEAST_READ_BYTES, Math.min(READ_BYTES, Math.floor(ALL_READ_BYTES / (files.length || 1))));
    const tagged = files.map((file, source) => taggedLines(batchesOfLines(file, 0, Infinity, bytes), source));
    const lineNumbers = new Uint32Array(sources.length);
    let group: Line[] = [];
    let surt = '';
    const judgeGroup = () => {
      for (const lines of pagesIn(group)) judgePage(lines, sources, options, counts);
      group = [];
    };
    for await (const batch of mergedLines(tagged, READ_BYTES)) {
      for (const text of batch) {
        const tagAt = text.lastIndexOf('\0');
        const source = Number(text.slice(tagAt + 1));
        const number = lineNumbers[source]!++;
        const own = text.slice(0, text.indexOf(' '));
        if (own !== surt) judgeGroup();
        surt = own;
        // One that cannot be read is not judged.
        const entry = parseIndexLine(Buffer.from(text.slice(0, tagAt), 'latin1').toString('utf8'));
        if (entry) group.push({ source, number, entry });
      }
    }
    judgeGroup();
  } finally {
    for (const file of files) await file.close();
  }
  // Lines were judged page by page, and several pages may share one SURT form.
  for (const { drops } of sources) drops.sort((a, b) => a - b);
  return counts;
}

async function* taggedLines(batches: AsyncGenerator<string[]>, source: number): AsyncGenerator<string[]> {
  for await (const lines of batches) yield lines.map((line) => `${line}\0${source}`);
}

/** Lines with the same SURT form, by key. */
function pagesIn(lines: readonly Line[]): Line[][] {
  const pages = new Map<string, Line[]>();
  for (const line of lines) {
    const page = pages.get(line.entry.uniqueKey);
    if (page) page.push(line);
    else pages.set(line.entry.uniqueKey, [line]);
  }
  return [...pages.values()];
}

function judgePage(
  lines: readonly Line[],
  sources: readonly Source[],
  { keep = Infinity, beforeMs = -Infinity }: CompactOptions,
  counts: { pages: number; captures: number; dropped: number },
): void {
  const originals = new Map<number, number | undefined>();
  for (const { entry } of lines) {
    originals.set(entry.fetchedAtMs, originals.get(entry.fetchedAtMs) ?? entry.originalAtMs);
  }
  const times = [...originals.keys()].sort((a, b) => b - a);
  const kept = new Set(times.filter((time, rank) => rank === 0 || (rank < keep && time >= beforeMs)));
  for (const time of [...kept]) {
    const original = originals.get(time);
    if (original !== undefined) kept.add(original);
  }
  counts.pages++;
  counts.captures += times.length;
  counts.dropped += times.filter((time) => !kept.has(time)).length;
  /** A compaction that died may have left a line twice: the one in the newest segment stays. */
  const last = new Map<string, Line>();
  const nameOf = ({ source, entry }: Line) => `${entry.fetchedAtMs} ${sources[source]!.kind}`;
  for (const line of lines) {
    const other = last.get(nameOf(line));
    if (!other || sources[line.source]!.name > sources[other.source]!.name) last.set(nameOf(line), line);
  }
  for (const line of lines) {
    const isTwice = last.get(nameOf(line))!.source !== line.source;
    if (isTwice || !kept.has(line.entry.fetchedAtMs)) sources[line.source]!.drops.push(line.number);
  }
}
