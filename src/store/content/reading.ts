// Finds a stored page by its URL, in all data directories, while writers write.
// Promise: returns the newest complete capture; memory holds one record and one chunk of an index. Damage is reported
// with file and line, and does not end the search.
import { CrawlError } from '../../errors.js';
import { normalizeUrl } from '../../request/url.js';
import { looksLikeIndexLine, parseIndexLine, surtOf, type IndexEntry } from './cdxj.js';
import { type ContentFolder, withFolders } from './folders.js';
import { contentHash, contentKindOf, homeDirectory, segmentOfIndex, TAIL_ENDING } from './names.js';
import { lineNumberAt, scanUnsorted, searchSorted, type FoundLine } from './index-search.js';
import { parseResponse, readGzippedRecord, type ParsedResponse } from './warc-reading.js';

/** A page as it was stored. */
export interface StoredPage {
  /** As it was requested. */
  readonly url: string;
  /** What makes two URLs the same page. */
  readonly uniqueKey: string;
  /** Where the body came from, after redirects. */
  readonly loadedUrl: string;
  /** Of the last response, after redirects. */
  readonly statusCode: number;
  /** When the response came. */
  readonly fetchedAt: Date;
  /** Without parameters such as the charset. */
  readonly contentType: string;
  /** Links from a seed to the page. */
  readonly depth: number;
  /** SHA-1 of the stored text, else of the stored body, in base 32; '' when neither is stored. */
  readonly digest: string;
  /** The file that holds the text, else the response; undefined when only metadata is stored. */
  readonly contentPath?: string;
  /** Where the record begins in it, and its compressed length. */
  readonly offset?: number;
  /** Compressed bytes of the record. */
  readonly length?: number;
  /** The extracted text, where the crawl stored it. */
  readonly text?: string;
  /** When the stored response was fetched that this visit found unchanged; undefined if it stored its own. */
  readonly originalAt?: Date;
  /** Its body still has the Content-Encoding that its headers name, if any. */
  readonly response?: ParsedResponse;
}

/** Which capture of a page is wanted. */
export interface FindPageOptions {
  /** Only captures that have this: the newest may have been stored without. */
  readonly having?: 'text' | 'response';
  /** Not the newest, but the last one at or before this time, in milliseconds since 1970. */
  readonly atMs?: number | undefined;
  /** Told of each damaged line that the search met: `FILE:LINE: what is wrong`. */
  readonly onDamage?: (message: string) => void;
}

interface Capture {
  readonly folder: ContentFolder;
  readonly entry: IndexEntry;
  readonly from: IndexPlace;
}

interface IndexPlace {
  readonly folder: ContentFolder;
  readonly index: string;
  readonly atByte: number;
}

type OnDamage = (at: IndexPlace, problem: string) => Promise<void>;

/**
 * The newest stored capture of a URL, or undefined. URLs that differ only as `uniqueKey` allows are the same page.
 * `dataDirs` are folders, or addresses such as `s3://bucket/prefix`.
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
  return whileMoving(() => findOnce(dataDirs, url, options));
}

/** A compaction replaced the segment while it was read: the captures are in another one. */
class Moved extends CrawlError {
  constructor(path: string) {
    super('STORAGE_LOST', `${path} is gone: was it deleted, is its disk mounted?`);
  }
}

const TRIES = 5;

/** A compaction may move captures as often as it rewrites one of their segments, which takes longer than a lookup. */
async function whileMoving<T>(find: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await find();
    } catch (error) {
      if (!(error instanceof Moved) || tries === TRIES) throw error;
    }
  }
}

async function findOnce(
  dataDirs: readonly string[],
  url: string,
  options: FindPageOptions,
): Promise<StoredPage | undefined> {
  const onDamage = damageTeller(options.onDamage);
  return withFolders(dataDirs, async (folders) => {
    const lines = await linesOf(folders, url, onDamage);
    const byTime = groupedByTime(lines.filter(({ entry }) => entry.fate === undefined));
    const { atMs = Infinity } = options;
    const times = [...byTime.keys()].filter((fetchedAtMs) => fetchedAtMs <= atMs);
    for (const fetchedAtMs of times.sort((a, b) => b - a)) {
      const page = await readCapture(byTime.get(fetchedAtMs)!, byTime, onDamage);
      if (page && (options.having === undefined || page[options.having] !== undefined)) return page;
    }
    return undefined;
  });
}

/** One capture of a page, as its index tells. */
export interface PageCapture {
  /** As it was crawled. */
  readonly url: string;
  /** Status of the response. */
  readonly statusCode: number;
  /** When it was fetched. */
  readonly fetchedAt: Date;
  /** Media type of the response. */
  readonly contentType: string;
  /** SHA-1 of the stored body, else of the stored text, in base 32; captures with the same one are the same. */
  readonly digest: string;
  /** When the stored response was fetched that this visit found unchanged; undefined if it stored its own. */
  readonly originalAt?: Date;
}

/**
 * All stored captures of a URL, the oldest first, one per visit.
 *
 * @example
 * for (const { fetchedAt, digest } of await pageHistory(['./data'], 'https://example.com/')) console.log(fetchedAt, digest);
 */
export async function pageHistory(
  dataDirs: readonly string[],
  url: string,
  onDamage?: FindPageOptions['onDamage'],
): Promise<PageCapture[]> {
  const found = await whileMoving(() =>
    withFolders(dataDirs, (folders) => linesOf(folders, url, damageTeller(onDamage))),
  );
  const byTime = groupedByTime(found.filter(({ entry }) => entry.fate === undefined));
  return [...byTime]
    .sort(([a], [b]) => a - b)
    .map(([fetchedAtMs, lines]) => {
      // The line of the response first: revisits have its digest, and no text.
      const { entry } = storedAs('raw', lines) ?? storedAs('text', lines) ?? lines[0]!;
      const { statusCode, digest, originalAtMs } = entry;
      const original = originalAtMs === undefined ? undefined : byTime.get(originalAtMs)?.[0]?.entry;
      const { contentType } = original ?? entry;
      const capture = { url: entry.url, statusCode, fetchedAt: new Date(fetchedAtMs), contentType, digest };
      return originalAtMs === undefined ? capture : { ...capture, originalAt: new Date(originalAtMs) };
    });
}

function storedAs(kind: 'raw' | 'text', lines: readonly Capture[]): Capture | undefined {
  return lines.find(({ entry: { filename } }) => filename !== undefined && contentKindOf(filename) === kind);
}

/** What became of a URL at one time: a stored page, or a fate. */
export type UrlEvent = Pick<
  IndexEntry,
  'url' | 'uniqueKey' | 'loadedUrl' | 'statusCode' | 'fetchedAtMs' | 'contentType' | 'depth' | 'fate'
>;

const MAX_EVENTS = 100;

/** What became of a URL, the newest first; at most a hundred events. */
export async function findEvents(
  dataDirs: readonly string[],
  url: string,
  options: Pick<FindPageOptions, 'onDamage'> = {},
): Promise<UrlEvent[]> {
  const lines = await whileMoving(() =>
    withFolders(dataDirs, (folders) => linesOf(folders, url, damageTeller(options.onDamage))),
  );
  const events = new Map<string, UrlEvent>();
  for (const { entry } of lines) {
    // The text and the response of a page have a line each.
    const id = `${entry.fetchedAtMs} ${entry.fate?.kind ?? 'page'}`;
    if (!events.has(id)) events.set(id, entry);
  }
  return [...events.values()].sort((a, b) => b.fetchedAtMs - a.fetchedAtMs).slice(0, MAX_EVENTS);
}

/** All index lines of a URL; its own directory first, so that it wins between lines with the same time. */
async function linesOf(folders: readonly ContentFolder[], url: string, onDamage: OnDamage): Promise<Capture[]> {
  const uniqueKey = normalizeUrl(url);
  const home = homeDirectory(contentHash(uniqueKey), Math.max(1, folders.length));
  const lines: Capture[] = [];
  for (const folder of [...folders.slice(home), ...folders.slice(0, home)]) {
    lines.push(...(await findCaptures(folder, uniqueKey, onDamage)));
  }
  return lines;
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

/** Each place once, and only a few; line numbers are computed only when needed. */
function damageTeller(tell: FindPageOptions['onDamage']): OnDamage {
  const told = new Set<string>();
  return async ({ folder, index, atByte }, problem) => {
    const path = folder.pathOf(index);
    if (!tell || told.size >= MAX_TOLD || told.has(`${path} ${atByte}`)) return;
    told.add(`${path} ${atByte}`);
    const file = await folder.open(index).catch(() => undefined);
    const line = file ? await lineNumberAt(file.read, atByte).finally(() => file.close()) : '?';
    tell(`${path}:${line}: ${problem}`);
  };
}

async function findCaptures(folder: ContentFolder, uniqueKey: string, onDamage: OnDamage): Promise<Capture[]> {
  const files = await folder.list();
  const prefix = Buffer.from(`${surtOf(uniqueKey)} `);
  const captures: Capture[] = [];
  for (const index of indexesOf(files)) {
    for (const { text, ...from } of await linesIn(folder, index, prefix, onDamage)) {
      const entry = parseIndexLine(text);
      if (entry === undefined) await onDamage(from, 'not a valid index line');
      else if (entry.uniqueKey === uniqueKey) captures.push({ folder, entry, from });
    }
  }
  return captures;
}

/** One file per index: the sorted one if both exist, which is brief. */
function indexesOf(files: readonly string[]): string[] {
  const names = new Set<string>();
  for (const file of files) {
    if (segmentOfIndex(file) !== undefined)
      names.add(file.endsWith(TAIL_ENDING) ? file.slice(0, -TAIL_ENDING.length) : file);
  }
  return [...names];
}

async function linesIn(
  folder: ContentFolder,
  sorted: string,
  prefix: Buffer,
  onDamage: OnDamage,
): Promise<(FoundLine & IndexPlace)[]> {
  // It may be sorted between two reads: then the second read finds the sorted one.
  for (const index of [sorted, sorted + TAIL_ENDING, sorted]) {
    const file = await folder.open(index);
    if (file === undefined) continue;
    try {
      const search = index === sorted ? searchSorted : scanUnsorted;
      const damaged: number[] = [];
      const found = await search(file.read, file.size, prefix, {
        isLine: looksLikeIndexLine,
        onDamage: (atByte) => void (damaged.length < MAX_TOLD && damaged.push(atByte)),
      });
      for (const atByte of damaged) await onDamage({ folder, index, atByte }, 'not a valid index line');
      return found.map((line) => ({ ...line, folder, index }));
    } finally {
      await file.close();
    }
  }
  // It was there when the folder was listed.
  throw new Moved(folder.pathOf(sorted));
}

/** The stored data of one capture; undefined if none is complete (being written, or its writer died). */
async function readCapture(
  lines: readonly Capture[],
  byTime: ReadonlyMap<number, readonly Capture[]>,
  onDamage: OnDamage,
): Promise<StoredPage | undefined> {
  const revisit = lines.find(({ entry }) => entry.originalAtMs !== undefined);
  if (revisit) return readRevisit(revisit.entry, byTime, onDamage);
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
      if (isText ? text : response) continue;
      await mustBeThere(line.from);
      await onDamage(line.from, `it does not point at a complete record of ${filename}`);
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
    contentPath: entry.filename === undefined ? undefined : folder.pathOf(entry.filename),
    offset: entry.offset,
    length: entry.length,
    text: text?.content,
    response: response?.content,
  };
}

/** An index that is gone, sorted and unsorted, was replaced with its segment. */
async function mustBeThere({ folder, index }: IndexPlace): Promise<void> {
  const sorted = index.endsWith(TAIL_ENDING) ? index.slice(0, -TAIL_ENDING.length) : index;
  for (const name of [index, sorted]) {
    const file = await folder.open(name);
    if (file) return file.close();
  }
  throw new Moved(folder.pathOf(index));
}

/** What a visit found unchanged: the content of the visit that stored it, with the time of this one. */
async function readRevisit(
  { originalAtMs, fetchedAtMs, statusCode }: IndexEntry,
  byTime: ReadonlyMap<number, readonly Capture[]>,
  onDamage: OnDamage,
): Promise<StoredPage | undefined> {
  const stored = (byTime.get(originalAtMs!) ?? []).filter(({ entry }) => entry.originalAtMs === undefined);
  const page = await readCapture(stored, byTime, onDamage);
  return page && { ...page, statusCode, fetchedAt: new Date(fetchedAtMs), originalAt: new Date(originalAtMs!) };
}

function withContent<T>(content: T | undefined, from: Capture): { content: T; from: Capture } | undefined {
  return content === undefined ? undefined : { content, from };
}

async function readText({ folder, entry }: Capture): Promise<string | undefined> {
  const { filename = '', offset } = entry;
  if (offset === undefined) return (await readBytes(folder, filename))?.toString('utf8');
  const record = await readRecord(folder, entry);
  return record?.type === 'conversion' ? record.block.toString('utf8') : undefined;
}

async function readResponse({ folder, entry }: Capture): Promise<ParsedResponse | undefined> {
  const record = await readRecord(folder, entry);
  return record?.type === 'response' ? parseResponse(record.block) : undefined;
}

async function readRecord(folder: ContentFolder, { filename = '', offset = 0, length = 0 }: IndexEntry) {
  const bytes = await readBytes(folder, filename, offset, offset + length);
  return bytes && readGzippedRecord(bytes);
}

async function readBytes(folder: ContentFolder, name: string, from = 0, to?: number): Promise<Buffer | undefined> {
  const file = await folder.open(name);
  try {
    return await file?.read(from, to ?? file.size);
  } finally {
    await file?.close();
  }
}
