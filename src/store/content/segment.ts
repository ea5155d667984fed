// A segment of stored pages and its index, written together by one process.
// Promise (guarantee 2): one length covers both: the index has exactly the lines of the records within it.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { killPoint } from '../../base/kill-points.js';
import type { CrawlError } from '../../errors.js';
import { indexLine, type IndexEntry } from './cdxj.js';
import { CONTENT_KEY_PREFIX, indexNameOf, isIndexOnly, TAIL_ENDING, type SegmentKind } from './names.js';
import { sortLines } from './index-sorting.js';
import { createSegmentFile, type Durability } from '../segments/segment-file.js';
import { segmentNote } from '../segments/segment-note.js';
import type { VisitWriter } from '../dataset/visit-segments.js';
import { gzipRecord, warcinfoRecord } from './warc.js';

/** What settling needs from a segment: the same as for a dataset's. */
export interface ContentWriter extends Pick<VisitWriter, 'key' | 'length' | 'note' | 'full' | 'cutTo' | 'close'> {
  /** The queue has recorded the note. A segment with unconfirmed bytes is not sorted: it may still be cut. */
  confirm(): void;
}

/** A page ready to be written: its compressed record (none in a `pages` index) and its line without the location. */
export interface PackedRecord {
  readonly bytes?: Buffer;
  readonly surt: string;
  readonly entry: IndexEntry;
}

export interface RecordPlace {
  readonly filename?: string;
  readonly offset?: number;
  readonly length?: number;
}

export interface ContentSegment extends ContentWriter {
  readonly name: string;
  /** Resolves to where each record is; on failure nothing is kept. */
  append(records: readonly PackedRecord[]): Promise<readonly RecordPlace[]>;
  /** After `close`: sorts the index if all of it is acknowledged. */
  finish(): Promise<void>;
}

export interface ContentSegmentOptions {
  readonly folder: string;
  readonly name: string;
  readonly kind: SegmentKind;
  readonly maxBytes: number;
  readonly gzipLevel: number;
  readonly durability: Durability;
  /** Who writes, as the first record of a segment says it. */
  readonly software: string;
  readonly nowMs: () => number;
}

interface Mark {
  readonly length: number;
  readonly indexLength: number;
  readonly lines: number;
}

/** Ends of appends that can be cut back to; an owner cuts only what it has not had acknowledged. */
const MAX_MARKS = 1_024;

export function createContentSegment(options: ContentSegmentOptions): ContentSegment {
  const { folder, name, kind, durability } = options;
  const sorted = join(folder, indexNameOf(name));
  const tail = sorted + TAIL_ENDING;
  const index = createSegmentFile(tail, { durability });
  const records = isIndexOnly(kind) ? undefined : createSegmentFile(join(folder, name), { durability });
  const main = records ?? index;
  const marks: Mark[] = [];
  // Bytes that could not be cut back: the next start cuts them by the note, and needs the writing order.
  let isUncut = false;
  let isLost = false;
  let confirmedLength = 0;
  let lines = 0;

  const cutBack = async (mark: Mark): Promise<void> => {
    const { length, indexLength } = mark;
    isUncut = true;
    lines = mark.lines;
    // The index first: if this process dies in between, a record without a line is better than the reverse.
    const results = [];
    killPoint('content.before-cut');
    if (index.lengthBytes > indexLength) results.push(await settled(index.cutTo(indexLength)));
    killPoint('content.between-cuts');
    if (records && records.lengthBytes > length) results.push(await settled(records.cutTo(length)));
    for (const { error } of results) if (error !== undefined) throw error;
    isUncut = false;
    killPoint('content.after-cut');
  };

  const writeRecords = async (packed: readonly PackedRecord[]): Promise<RecordPlace[]> => {
    if (records === undefined)
      return packed.map(({ entry: { filename, offset, length } }) => ({ filename, offset, length }));
    const parts = records.lengthBytes === 0 ? [await firstRecord(options)] : [];
    let offset = records.lengthBytes + (parts[0]?.length ?? 0);
    const places = packed.map(({ bytes = Buffer.alloc(0) }): RecordPlace => {
      parts.push(bytes);
      offset += bytes.length;
      return { filename: name, offset: offset - bytes.length, length: bytes.length };
    });
    await records.append(Buffer.concat(parts));
    return places;
  };

  return {
    name,
    key: CONTENT_KEY_PREFIX + name,
    get length() {
      return main.lengthBytes;
    },
    get note() {
      return segmentNote(main.lengthBytes, lines);
    },
    get full() {
      return main.lengthBytes >= options.maxBytes;
    },
    async append(packed) {
      const before: Mark = { length: main.lengthBytes, indexLength: index.lengthBytes, lines };
      marks.push(before);
      if (marks.length > MAX_MARKS) marks.shift();
      try {
        killPoint('content.before-records');
        const places = await writeRecords(packed);
        killPoint('content.before-index');
        const text = packed.map(({ entry, surt }, n) => indexLine({ ...entry, ...places[n] }, surt)).join('');
        await index.append(Buffer.from(text));
        killPoint('content.after-index');
        lines += packed.length;
        return places;
      } catch (error) {
        isLost = (error as CrawlError).code === 'STORAGE_LOST';
        await cutBack(before).catch(() => undefined);
        throw error;
      }
    },
    async cutTo(lengthBytes) {
      if (lengthBytes === main.lengthBytes) return;
      const mark = marks.findLast(({ length }) => length === lengthBytes);
      if (mark === undefined) throw new RangeError(`no append to ${name} ended at byte ${lengthBytes}`);
      await cutBack(mark);
    },
    confirm() {
      confirmedLength = main.lengthBytes;
    },
    async close() {
      await index.close();
      await records?.close();
    },
    async finish() {
      // The next start uses the note to find what counts, and needs the writing order.
      if (isLost || isUncut || main.lengthBytes !== confirmedLength) return;
      if (main.lengthBytes > 0) return sortLines(tail, sorted, { sync: durability === 'machine' });
      // Everything was cut back: no file is kept.
      for (const path of [tail, join(folder, name)]) await rm(path, { force: true });
    },
  };
}

/** Cuts both files, even if the first fails. */
async function settled(cutting: Promise<void>): Promise<{ error?: unknown }> {
  return cutting.then(
    () => ({}),
    (error: unknown) => ({ error }),
  );
}

async function firstRecord({ name, kind, gzipLevel, software, nowMs }: ContentSegmentOptions): Promise<Buffer> {
  const { bytes } = warcinfoRecord({
    filename: name,
    dateMs: nowMs(),
    fields: {
      software,
      format: 'WARC File Format 1.1',
      conformsTo: 'http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/',
      description: kind === 'text' ? 'text of crawled pages' : 'responses of crawled pages',
    },
  });
  return gzipRecord(bytes, gzipLevel);
}
