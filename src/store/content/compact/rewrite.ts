// Writes a finished segment anew without some of its records.
// Promise: the new segment and its index are in place, whole, before the old ones go; records are copied byte for byte.
import { randomBytes } from 'node:crypto';
import { open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { killPoint } from '../../../base/kill-points.js';
import { PRIVATE_FILE } from '../../../base/private-files.js';
import { ownerName } from '../../segments/segment-names.js';
import { asStorageError } from '../../storage-errors.js';
import { indexLine, parseIndexLine, type IndexEntry } from '../cdxj.js';
import { listCompacted, removeCompacted } from './list.js';
import { batchesOfLines, sortLines } from '../index-sorting.js';
import { indexNameOf, isIndexOnly, newContentName, parseContentName, type SegmentKind } from '../names.js';
import { gzipRecord, warcinfoRecord } from '../warc.js';

export interface OldSegment {
  readonly folder: string;
  readonly name: string;
  readonly kind: SegmentKind;
  /** The numbers of the index lines that are left out, in order. */
  readonly drops: readonly number[];
}

/** Of what is being written: nobody else reads or removes it. */
export const COMPACT_ENDING = '.compact.tmp';
/** No other writer has such a name, and no recovery takes it for one that died. */
const WRITER_PREFIX = 'compact';
const READ_BYTES = 1024 * 1024;
const GZIP_LEVEL = 3;

export function isOfCompaction(file: string): boolean {
  return parseContentName(file)?.writerId.startsWith(`${WRITER_PREFIX}-`) === true;
}

/** Resolves to the bytes of the new segment and index; undefined if it was left alone, which is said. */
export async function rewriteSegment(old: OldSegment, warn?: (message: string) => void): Promise<number | undefined> {
  const { folder, name, kind } = old;
  const draft = join(folder, `${randomBytes(6).toString('hex')}${COMPACT_ENDING}`);
  const drafts = [draft, `${draft}.lines${COMPACT_ENDING}`, `${draft}.index${COMPACT_ENDING}`] as const;
  const [records, lines, index] = drafts;
  try {
    const kept = await keptLines(old);
    if (kept === undefined) {
      warn?.(`${join(folder, name)} is left as it is: its index is damaged`);
      return undefined;
    }
    let bytes = 0;
    if (kept.count > 0) {
      const newName = newContentName(await readdir(folder), `${WRITER_PREFIX}-${ownerName()}`, kind);
      const moved = isIndexOnly(kind) ? undefined : await copyRecords(old, newName, kept.places, records);
      await writeLines(old, newName, moved, lines);
      await sortLines(lines, index, { sync: true });
      killPoint('compact.before-segment');
      if (moved) await rename(records, join(folder, newName));
      killPoint('compact.before-index');
      await rename(index, join(folder, indexNameOf(newName)));
      for (const file of new Set([newName, indexNameOf(newName)])) bytes += (await stat(join(folder, file))).size;
    }
    killPoint('compact.before-list');
    await listCompacted(folder, name);
    await removeCompacted(folder, name);
    return bytes;
  } catch (error) {
    throw asStorageError(error, join(folder, name));
  } finally {
    for (const file of drafts) await rm(file, { force: true });
  }
}

interface Place {
  readonly offset: number;
  readonly length: number;
}

/** The lines that stay, by the place of their records; undefined if one of them cannot point at a record of its own. */
async function keptLines(old: OldSegment): Promise<{ count: number; places: Place[] } | undefined> {
  const places: Place[] = [];
  let count = 0;
  for await (const entry of entriesOf(old)) {
    count++;
    if (isIndexOnly(old.kind)) {
      if (entry === undefined) return undefined;
      continue;
    }
    const { filename, offset, length } = entry ?? {};
    if (filename !== old.name || offset === undefined || !length) return undefined;
    places.push({ offset, length });
  }
  return (await areRecords(old, places)) ? { count, places } : undefined;
}

/** Puts places in order, and says whether they can be records: one after the other, within the segment. */
async function areRecords({ folder, name }: OldSegment, places: Place[]): Promise<boolean> {
  if (places.length === 0) return true;
  places.sort((a, b) => a.offset - b.offset);
  let end = 0;
  for (const { offset, length } of places) {
    if (offset < end) return false;
    end = offset + length;
  }
  return end <= (await stat(join(folder, name))).size;
}

async function* entriesOf({ folder, name, drops }: OldSegment): AsyncGenerator<IndexEntry | undefined> {
  const file = await open(join(folder, indexNameOf(name)), 'r');
  let number = 0;
  let next = 0;
  try {
    for await (const lines of batchesOfLines(file, 0, Infinity, READ_BYTES)) {
      for (const line of lines) {
        if (drops[next] === number++) next++;
        else yield parseIndexLine(Buffer.from(line, 'latin1').toString('utf8'));
      }
    }
  } finally {
    await file.close();
  }
}

/** Copies records in their order; resolves to where each is now, by where it was. */
async function copyRecords(
  { folder, name, kind }: OldSegment,
  newName: string,
  places: readonly Place[],
  to: string,
): Promise<Map<number, number>> {
  const moved = new Map<number, number>();
  const source = await open(join(folder, name), 'r');
  try {
    const target = await open(to, 'wx', PRIVATE_FILE.mode);
    try {
      const fields = {
        software: 'orcrawl',
        format: 'WARC File Format 1.1',
        description: `${kind === 'text' ? 'text' : 'responses'} of crawled pages, compacted`,
      };
      const first = await gzipRecord(
        warcinfoRecord({ filename: newName, dateMs: Date.now(), fields }).bytes,
        GZIP_LEVEL,
      );
      let end = await append(target, first);
      for (const { offset, length } of places) {
        moved.set(offset, end);
        end += await copy(source, offset, length, target);
      }
      await target.datasync();
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
  return moved;
}

async function writeLines(
  old: OldSegment,
  newName: string,
  moved: ReadonlyMap<number, number> | undefined,
  to: string,
): Promise<void> {
  const target = await open(to, 'wx', PRIVATE_FILE.mode);
  try {
    let text: string[] = [];
    const flush = async () => {
      await append(target, Buffer.from(text.join('')));
      text = [];
    };
    for await (const entry of entriesOf(old)) {
      const place = moved && { filename: newName, offset: moved.get(entry!.offset!)! };
      text.push(indexLine({ ...entry!, ...place }));
      if (text.length >= 1_000) await flush();
    }
    await flush();
  } finally {
    await target.close();
  }
}

async function append(target: FileHandle, bytes: Buffer): Promise<number> {
  for (let done = 0; done < bytes.length;) done += (await target.write(bytes, done)).bytesWritten;
  return bytes.length;
}

async function copy(source: FileHandle, offset: number, length: number, target: FileHandle): Promise<number> {
  const chunk = Buffer.allocUnsafe(Math.min(READ_BYTES, length));
  for (let done = 0; done < length;) {
    const { bytesRead } = await source.read(chunk, 0, Math.min(chunk.length, length - done), offset + done);
    if (bytesRead === 0) throw new Error(`the segment ends at byte ${offset + done}, within a record`);
    await append(target, chunk.subarray(0, bytesRead));
    done += bytesRead;
  }
  return length;
}
