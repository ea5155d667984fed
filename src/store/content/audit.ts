// Checks stored pages: every index line against its record, every record against its digests, every byte of a segment
// against the index. Reads only. Promise: one pass over the segments; memory holds the lines of one stretch of one segment.
import { open, readdir, readFile, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { parseIndexLine, type IndexEntry, uriOf } from './cdxj.js';
import { CONTENT_FOLDER, contentKindOf, indexNameOf, parseContentName } from './names.js';
import { segmentOfIndex, TAIL_ENDING } from './names.js';
import { findPage } from './reading.js';
import { batchesOfLines } from './index-sorting.js';
import { isOwnerGone } from '../segments/segment-names.js';
import { oneWord, sha1Base32 } from './warc.js';
import { parseResponse, readGzippedRecord, type ParsedRecord } from './warc-reading.js';

/** `file:line` of an index, or `file` and the byte in a segment. */
export interface ContentProblem {
  readonly kind: 'line' | 'order' | 'record' | 'digest' | 'no-line' | 'no-index' | 'no-segment' | 'unrecovered';
  readonly where: string;
  readonly problem: string;
}

export interface ContentAudit {
  readonly segments: number;
  readonly lines: number;
  readonly records: number;
  readonly bytes: number;
  /** Segments being written: what is past their last line is not checked. */
  readonly beingWritten: number;
  readonly problemCount: number;
  readonly counts: Readonly<Record<string, number>>;
  /** The first of them. */
  readonly problems: readonly ContentProblem[];
}

export interface ContentAuditOptions {
  /** Bytes of a segment whose lines are held at once. Default 64 MiB: some ten thousand pages, half a million at most. */
  readonly stretchBytes?: number;
}

/** Problems reported in full; the others are counted. */
const MAX_PROBLEMS = 1_000;
const STRETCH_BYTES = 64 * 1024 * 1024;
const READ_BYTES = 1024 * 1024;
/** A line that points to a larger record is invalid. */
const MAX_RECORD_BYTES = 1024 * 1024 * 1024;

/**
 * Audits the content of data directories.
 *
 * @example
 * const { problemCount, problems } = await auditContent(['/mnt/ssd1', '/mnt/ssd2']);
 */
export async function auditContent(
  dataDirs: readonly string[],
  options: ContentAuditOptions = {},
): Promise<ContentAudit> {
  const { stretchBytes = STRETCH_BYTES } = options;
  const problems: ContentProblem[] = [];
  const counts: Record<string, number> = {};
  const total = { segments: 0, lines: 0, records: 0, bytes: 0, beingWritten: 0, problemCount: 0 };

  const report: Report = (kind, where, problem) => {
    total.problemCount++;
    counts[kind] = (counts[kind] ?? 0) + 1;
    if (problems.length < MAX_PROBLEMS) problems.push({ kind, where, problem });
  };

  for (const dataDir of dataDirs) {
    const folder = join(dataDir, CONTENT_FOLDER);
    const files = await readdir(folder);
    for (const name of segmentsIn(files)) {
      total.segments++;
      const segment: Audited = { dataDirs, folder, name, ...indexOf(files, folder, name), report, stretchBytes, total };
      if (segment.isBeingWritten) total.beingWritten++;
      else if (!segment.isSorted && segment.index) {
        report('unrecovered', segment.index, 'its writer died: run the crawl with --resume to repair it');
      }
      if (indexNameOf(name) === name) await auditPages(segment);
      else await auditSegment(segment, files.includes(name));
    }
  }
  return { ...total, counts, problems };
}

type Report = (kind: ContentProblem['kind'], where: string, problem: string) => void;

interface Audited {
  readonly dataDirs: readonly string[];
  readonly folder: string;
  readonly name: string;
  /** Undefined if there is none. */
  readonly index: string | undefined;
  readonly isSorted: boolean;
  readonly isBeingWritten: boolean;
  readonly report: Report;
  readonly stretchBytes: number;
  readonly total: { lines: number; records: number; bytes: number };
}

function segmentsIn(files: readonly string[]): string[] {
  const names = new Set<string>();
  for (const file of files) {
    const segment = parseContentName(file) ? file : segmentOfIndex(file);
    if (segment !== undefined) names.add(segment);
  }
  return [...names].sort();
}

function indexOf(
  files: readonly string[],
  folder: string,
  name: string,
): Pick<Audited, 'index' | 'isSorted' | 'isBeingWritten'> {
  const sorted = indexNameOf(name);
  const isSorted = files.includes(sorted);
  const hasTail = files.includes(sorted + TAIL_ENDING);
  const index = isSorted ? join(folder, sorted) : hasTail ? join(folder, sorted + TAIL_ENDING) : undefined;
  const { writerId } = parseContentName(name)!;
  return { index, isSorted, isBeingWritten: hasTail && !isOwnerGone(writerId) };
}

interface PlacedLine {
  readonly line: number;
  readonly offset: number;
  readonly length: number;
  readonly digest: string;
  readonly uri: string;
}

/** A segment, stretch by stretch: the lines of a stretch in the order of their records, and the gaps between them. */
async function auditSegment(audited: Audited, isThere: boolean): Promise<void> {
  const { folder, name, index, report, stretchBytes, total } = audited;
  const path = join(folder, name);
  if (index === undefined) return report('no-index', path, 'it has no index: its pages cannot be found');
  if (!isThere) return report('no-segment', index, `its segment ${name} is gone`);
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    total.bytes += size;
    let checkedTo = 0;
    for (let from = 0; from === 0 || from < size; from += stretchBytes) {
      const isFirst = from === 0;
      const isLast = from + stretchBytes >= size;
      const placed = await linesOf(audited, size, from, isLast ? Infinity : from + stretchBytes, isFirst);
      for (const line of placed) {
        if (line.offset > checkedTo) await auditGap(audited, file, checkedTo, line.offset);
        else if (line.offset < checkedTo) {
          report('line', `${index}:${line.line}`, `it points into a record that another line points at`);
          continue;
        }
        await auditRecord(audited, file, line);
        checkedTo = Math.max(checkedTo, line.offset + line.length);
      }
    }
    if (checkedTo < size && !audited.isBeingWritten) await auditGap(audited, file, checkedTo, size);
  } finally {
    await file.close();
  }
}

/** The lines whose records begin in a stretch; the first pass also checks each line by itself. */
async function linesOf(
  { index, name, isSorted, report, total }: Audited,
  sizeBytes: number,
  from: number,
  to: number,
  isFirst: boolean,
): Promise<PlacedLine[]> {
  const placed: PlacedLine[] = [];
  await eachLine(index!, isSorted && isFirst ? report : undefined, (entry, line) => {
    if (isFirst) total.lines++;
    const say = (problem: string): void => {
      if (isFirst) report('line', `${index}:${line}`, problem);
    };
    if (entry === undefined) return say('not a valid index line');
    const { filename, offset, length, digest } = entry;
    if (filename !== name || offset === undefined || !length || length > MAX_RECORD_BYTES) {
      return say(`it does not point at a record of ${name}`);
    }
    if (offset + length > sizeBytes) return say(`it points past the end of ${name}`);
    if (offset >= from && offset < to) placed.push({ line, offset, length, digest, uri: uriOf(entry) });
  });
  return placed.sort((a, b) => a.offset - b.offset);
}

/** Every line of an index with its number; half a line at the end is none. With `report`, the order is judged too. */
async function eachLine(
  path: string,
  report: Report | undefined,
  take: (entry: IndexEntry | undefined, line: number) => void | Promise<void>,
): Promise<void> {
  const file = await open(path, 'r');
  let number = 0;
  let before = '';
  try {
    for await (const lines of batchesOfLines(file, 0, Infinity, READ_BYTES)) {
      for (const line of lines) {
        number++;
        const entry = parseIndexLine(Buffer.from(line, 'latin1').toString('utf8'));
        if (report && entry && line < before) report('order', `${path}:${number}`, 'not in index order');
        if (entry) before = line;
        await take(entry, number);
      }
    }
  } finally {
    await file.close();
  }
}

/** Bytes of a segment that no line points at: the record it begins with, or pages that cannot be found. */
async function auditGap({ folder, name, report }: Audited, file: FileHandle, from: number, to: number): Promise<void> {
  if (from === 0) {
    const first = await readRecord(file, 0, Math.min(to, READ_BYTES));
    if (first?.type === 'warcinfo') return;
  }
  report('no-line', `${join(folder, name)} at byte ${from}`, `no index line points at the next ${to - from} bytes`);
}

async function auditRecord(audited: Audited, file: FileHandle, line: PlacedLine): Promise<void> {
  const { index, name, report, total } = audited;
  const where = `${index}:${line.line}`;
  const record = await readRecord(file, line.offset, line.length);
  if (record === undefined)
    return report('record', where, `its record in ${name} at byte ${line.offset} is incomplete`);
  total.records++;
  const problem = recordProblem(record, line);
  if (problem !== undefined) report('digest', where, `its record in ${name} at byte ${line.offset}: ${problem}`);
}

async function readRecord(file: FileHandle, offset: number, length: number): Promise<ParsedRecord | undefined> {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, offset + filled);
    if (bytesRead === 0) return undefined;
    filled += bytesRead;
  }
  return readGzippedRecord(bytes);
}

function recordProblem({ type, headers, block }: ParsedRecord, line: Pick<PlacedLine, 'digest' | 'uri'>) {
  if (headers.get('warc-block-digest') !== `sha1:${sha1Base32(block)}`) return 'its bytes do not match its digest';
  const payload = type === 'response' ? parseResponse(block)?.body : block;
  // What a revisit stands for is in another record, which has a line of its own.
  const digest = type === 'revisit' ? headers.get('warc-payload-digest')?.slice('sha1:'.length) : undefined;
  if (payload === undefined || (digest ?? sha1Base32(payload)) !== line.digest) return 'it does not match the index';
  if (headers.get('warc-target-uri') !== oneWord(line.uri)) {
    return `it is of ${headers.get('warc-target-uri')}, not of ${line.uri}`;
  }
  return undefined;
}

/** An index without a segment: its lines have only metadata, or point to one file per page. */
async function auditPages(audited: Audited): Promise<void> {
  const { dataDirs, folder, index, isSorted, report, total } = audited;
  await eachLine(index!, isSorted ? report : undefined, async (entry, line) => {
    total.lines++;
    const where = `${index}:${line}`;
    if (entry === undefined) return report('line', where, 'not a valid index line');
    if (entry.filename === undefined) return;
    const problem = await fileProblem(join(folder, entry.filename), entry);
    total.records++;
    if (problem === undefined) return;
    // If a page was crawled again, its file was replaced and has a newer line.
    const newest = await findPage(dataDirs, entry.uniqueKey).catch(() => undefined);
    if (newest && newest.fetchedAt.getTime() > entry.fetchedAtMs) return;
    report('digest', where, `${entry.filename}: ${problem}`);
  });
}

async function fileProblem(path: string, entry: IndexEntry): Promise<string | undefined> {
  const size = (await stat(path).catch(() => undefined))?.size;
  if (size === undefined) return 'the file is gone';
  if (size > MAX_RECORD_BYTES) return 'the file is larger than any page';
  const bytes = await readFile(path);
  if (contentKindOf(entry.filename!) === 'text') {
    return sha1Base32(bytes) === entry.digest ? undefined : 'it does not match the index';
  }
  const record = readGzippedRecord(bytes);
  return record ? recordProblem(record, { digest: entry.digest, uri: uriOf(entry) }) : 'the record is incomplete';
}
