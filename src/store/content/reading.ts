// Finds a stored page by its URL, in all data directories, while writers write.
// Promise: the newest capture that is whole; memory holds one record and one chunk of an index. Damage on the way is told
// of, with file and line, and does not end the search.
import { open, readdir, readFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { CrawlError } from '../../errors.js';
import { normalizeUrl } from '../../request/url.js';
import { looksLikeIndexLine, parseIndexLine, surtOf, type IndexEntry } from './cdxj.js';
import { CONTENT_FOLDER, contentHash, contentKindOf, homeDirectory, segmentOfIndex, TAIL_ENDING } from './names.js';
import { lineNumberAt, scanUnsorted, searchSorted, type FoundLine, type ReadBytes } from './index-search.js';
import { isMissing } from '../storage-errors.js';
import { parseResponse, readGzippedRecord, type ParsedResponse } from './warc-reading.js';

/** A page as it was stored. */
export interface StoredPage {
  readonly url: string;
  readonly uniqueKey: string;
  /** Where the body came from, after redirects. */
  readonly loadedUrl: string;
  readonly statusCode: number;
  readonly fetchedAt: Date;
  readonly contentType: string;
  readonly depth: number;
  /** SHA-1 of the stored text, else of the stored body, in base 32; '' when neither is stored. */
  readonly digest: string;
  /** The file that holds the text, else the response; undefined when only metadata is stored. */
  readonly contentPath?: string;
  /** Where the record begins in it, and its compressed length. */
  readonly offset?: number;
  readonly length?: number;
  readonly text?: string;
  /** Its body still has the Content-Encoding that its headers name, if any. */
  readonly response?: ParsedResponse;
}

/** Which capture of a page is wanted. */
export interface FindPageOptions {
  /** Only captures that have this: the newest may have been stored without. */
  readonly having?: 'text' | 'response';
  /** Told of each damaged line that the search met: `FILE:LINE: what is wrong`. */
  readonly onDamage?: (message: string) => void;
}

interface Capture {
  readonly folder: string;
  readonly entry: IndexEntry;
  readonly from: IndexPlace;
}

interface IndexPlace {
  readonly index: string;
  readonly atByte: number;
}

type OnDamage = (at: IndexPlace, problem: string) => Promise<void>;

/**
 * The newest stored capture of a URL, or undefined. URLs that differ only as `uniqueKey` allows are the same page.
 *
 * @example
 * const page = await findPage(['/mnt/ssd1', '/mnt/ssd2'], 'https://example.com/');
 * console.log(page?.statusCode, page?.text);
 */
export async function findPage(
  dataDirs: readonly string[],
  url: string,
  options: FindPageOptions = {},
): Promise<StoredPage | undefined> {
  const uniqueKey = normalizeUrl(url);
  const home = homeDirectory(contentHash(uniqueKey), Math.max(1, dataDirs.length));
  const captures: Capture[] = [];
  const onDamage = damageTeller(options.onDamage);
  // The page's own directory first, so that it wins between lines of the same instant.
  for (const dataDir of [...dataDirs.slice(home), ...dataDirs.slice(0, home)]) {
    captures.push(...(await findCaptures(join(dataDir, CONTENT_FOLDER), uniqueKey, onDamage)));
  }
  const byTime = groupedByTime(captures);
  for (const fetchedAtMs of [...byTime.keys()].sort((a, b) => b - a)) {
    const page = await readCapture(byTime.get(fetchedAtMs)!, onDamage);
    if (page && (options.having === undefined || page[options.having] !== undefined)) return page;
  }
  return undefined;
}

function groupedByTime(captures: readonly Capture[]): Map<number, Capture[]> {
  const byTime = new Map<number, Capture[]>();
  for (const capture of captures) {
    const same = byTime.get(capture.entry.fetchedAtMs);
    if (same) same.push(capture);
    else byTime.set(capture.entry.fetchedAtMs, [capture]);
  }
  return byTime;
}

const MAX_TOLD = 20;

/** Each place once, and no more than a few; the number of a line is worked out only when there is something to tell. */
function damageTeller(tell: FindPageOptions['onDamage']): OnDamage {
  const told = new Set<string>();
  return async ({ index, atByte }, problem) => {
    if (!tell || told.size >= MAX_TOLD || told.has(`${index} ${atByte}`)) return;
    told.add(`${index} ${atByte}`);
    const file = await open(index, 'r').catch(() => undefined);
    const line = file ? await lineNumberAt(readerOf(file), atByte).finally(() => file.close()) : '?';
    tell(`${index}:${line}: ${problem}`);
  };
}

async function findCaptures(folder: string, uniqueKey: string, onDamage: OnDamage): Promise<Capture[]> {
  const files = await readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) throw new CrawlError('OPTION_INVALID', `${folder} does not exist: is it a data directory?`);
    throw error;
  });
  const prefix = Buffer.from(`${surtOf(uniqueKey)} `);
  const captures: Capture[] = [];
  for (const index of indexesOf(files)) {
    for (const { text, ...from } of await linesIn(join(folder, index), prefix, onDamage)) {
      const entry = parseIndexLine(text);
      if (entry === undefined) await onDamage(from, 'it is not a line of an index');
      else if (entry.uniqueKey === uniqueKey) captures.push({ folder, entry, from });
    }
  }
  return captures;
}

/** One file for each index: the sorted one where both are there, which is so for an instant. */
function indexesOf(files: readonly string[]): string[] {
  const names = new Set<string>();
  for (const file of files) {
    if (segmentOfIndex(file) !== undefined)
      names.add(file.endsWith(TAIL_ENDING) ? file.slice(0, -TAIL_ENDING.length) : file);
  }
  return [...names];
}

async function linesIn(sorted: string, prefix: Buffer, onDamage: OnDamage): Promise<(FoundLine & IndexPlace)[]> {
  // It may be sorted between two looks: then the second look at the sorted one finds it.
  for (const path of [sorted, sorted + TAIL_ENDING, sorted]) {
    const file = await open(path, 'r').catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
    if (file === undefined) continue;
    try {
      const { size } = await file.stat();
      const search = path === sorted ? searchSorted : scanUnsorted;
      const damaged: number[] = [];
      const found = await search(readerOf(file), size, prefix, {
        isLine: looksLikeIndexLine,
        onDamage: (atByte) => void (damaged.length < MAX_TOLD && damaged.push(atByte)),
      });
      for (const atByte of damaged) await onDamage({ index: path, atByte }, 'it is not a line of an index');
      return found.map((line) => ({ ...line, index: path }));
    } finally {
      await file.close();
    }
  }
  return [];
}

function readerOf(file: FileHandle): ReadBytes {
  return async (fromByte, toByte) => {
    const bytes = Buffer.allocUnsafe(Math.max(0, toByte - fromByte));
    let filled = 0;
    while (filled < bytes.length) {
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, fromByte + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.subarray(0, filled);
  };
}

/** What is stored of one capture; undefined when nothing of it is whole (its writer is writing, or died). */
async function readCapture(lines: readonly Capture[], onDamage: OnDamage): Promise<StoredPage | undefined> {
  let text: { content: string; from: Capture } | undefined;
  let response: { content: ParsedResponse; from: Capture } | undefined;
  let bare: Capture | undefined;
  for (const line of lines) {
    const { filename } = line.entry;
    const isText = filename !== undefined && contentKindOf(filename) === 'text';
    if (filename === undefined) bare ??= line;
    else if (isText ? text : response) continue;
    else {
      if (isText) text = withContent(await readText(line), line);
      else response = withContent(await readResponse(line), line);
      if (!(isText ? text : response)) await onDamage(line.from, `it points at no whole record of ${filename}`);
    }
  }
  const from = text?.from ?? response?.from ?? bare;
  if (from === undefined) return undefined;
  const { entry, folder } = from;
  return {
    url: entry.url,
    uniqueKey: entry.uniqueKey,
    loadedUrl: entry.loadedUrl ?? entry.url,
    statusCode: entry.statusCode,
    fetchedAt: new Date(entry.fetchedAtMs),
    contentType: entry.contentType,
    depth: entry.depth,
    digest: entry.digest,
    contentPath: entry.filename === undefined ? undefined : join(folder, entry.filename),
    offset: entry.offset,
    length: entry.length,
    text: text?.content,
    response: response?.content,
  };
}

function withContent<T>(content: T | undefined, from: Capture): { content: T; from: Capture } | undefined {
  return content === undefined ? undefined : { content, from };
}

async function readText({ folder, entry }: Capture): Promise<string | undefined> {
  const { filename = '', offset } = entry;
  if (offset === undefined) return readFile(join(folder, filename), 'utf8').catch(() => undefined);
  const record = await readRecord(folder, entry);
  return record?.type === 'conversion' ? record.block.toString('utf8') : undefined;
}

async function readResponse({ folder, entry }: Capture): Promise<ParsedResponse | undefined> {
  const record = await readRecord(folder, entry);
  return record?.type === 'response' ? parseResponse(record.block) : undefined;
}

async function readRecord(folder: string, { filename = '', offset = 0, length = 0 }: IndexEntry) {
  const file = await open(join(folder, filename), 'r').catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    return readGzippedRecord(await readerOf(file)(offset, offset + length));
  } finally {
    await file.close();
  }
}
