// Exports the stored responses of a crawl as one WACZ file, which archive tools replay.
// Promise: every segment goes in byte for byte with its digest; memory holds one chunk; the file appears whole or not at all.
import { createHash, randomBytes } from 'node:crypto';
import { open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { PRIVATE_FILE } from '../../../base/private-files.js';
import { createZip } from '../../../base/zip.js';
import { CrawlError } from '../../../errors.js';
import { asStorageError } from '../../storage-errors.js';
import { parseIndexLine, timestampOf, type IndexEntry, uriOf } from '../cdxj.js';
import { compactedIn } from '../compact/list.js';
import { contentFilesIn, refuseObjectStores } from '../folders.js';
import { batchesOfLines, mergedLines, writeAll } from '../index-sorting.js';
import { CONTENT_FOLDER, indexNameOf, parseContentName, TAIL_ENDING } from '../names.js';

export interface WaczOptions {
  readonly title?: string | undefined;
  /** As `orcrawl/1.2.3`. */
  readonly software?: string | undefined;
  readonly nowMs?: () => number;
  readonly warn?: (message: string) => void;
}

export interface WaczReport {
  /** Pages that the file's list names: HTML that was found with status 200, one line per capture of its own. */
  readonly pages: number;
  /** Lines of the index: responses and revisits. */
  readonly captures: number;
  readonly segments: number;
  readonly bytes: number;
}

const VERSION = '1.1.1';
const READ_BYTES = 1024 * 1024;
const HTML = /^(?:text\/html|application\/xhtml\+xml)/;

/** Writes `to`. Segments that are still being written are left out, and said so. */
export async function exportWacz(
  dataDirs: readonly string[],
  to: string,
  options: WaczOptions = {},
): Promise<WaczReport> {
  refuseObjectStores(dataDirs, 'archive export');
  const { nowMs = Date.now } = options;
  const segments = (await Promise.all(dataDirs.map((dataDir) => segmentsIn(dataDir, options.warn)))).flat();
  if (segments.length === 0) {
    throw new CrawlError(
      'OPTION_INVALID',
      `${dataDirs.join(', ')}: no stored responses to export: crawl with store_raw_html: true, and let the crawl end`,
    );
  }
  const drafts = ['index', 'pages', 'wacz'].map((part) => `${to}.${randomBytes(6).toString('hex')}.${part}.tmp`);
  const [index, pages, draft] = drafts as [string, string, string];
  try {
    const counts = await writeIndexes(segments, index, pages);
    const madeAt = new Date(nowMs());
    const zip = createZip(madeAt);
    const target = await open(draft, 'wx', PRIVATE_FILE.mode);
    const resources: Resource[] = [];
    try {
      const add = async (path: string, from: string): Promise<void> => {
        resources.push(await addFile(target, zip, path, from));
      };
      await add('pages/pages.jsonl', pages);
      await add('indexes/index.cdx', index);
      for (const path of segments) await add(`archive/${basename(path)}`, path);
      const about = JSON.stringify(
        {
          profile: 'data-package',
          wacz_version: VERSION,
          title: options.title,
          software: options.software ?? 'orcrawl',
          created: madeAt.toISOString(),
          resources,
        },
        null,
        2,
      );
      const hash = `sha256:${createHash('sha256').update(about).digest('hex')}`;
      await writeAll(target, zip.file('datapackage.json', about));
      await writeAll(
        target,
        zip.file('datapackage-digest.json', JSON.stringify({ path: 'datapackage.json', hash }, null, 2)),
      );
      await writeAll(target, zip.end());
      await target.datasync();
    } finally {
      await target.close();
    }
    await rename(draft, to);
    return { ...counts, segments: segments.length, bytes: (await stat(to)).size };
  } catch (error) {
    throw asStorageError(error, to);
  } finally {
    for (const file of drafts) await rm(file, { force: true });
  }
}

interface Resource {
  readonly name: string;
  readonly path: string;
  readonly hash: string;
  readonly bytes: number;
}

/** Finished segments of responses. */
async function segmentsIn(dataDir: string, warn?: (message: string) => void): Promise<string[]> {
  const folder = join(dataDir, CONTENT_FOLDER);
  const files = await contentFilesIn(folder);
  const replaced = await compactedIn(folder);
  const names = files.filter((file) => parseContentName(file)?.kind === 'raw' && !replaced.has(file)).sort();
  return names.flatMap((name) => {
    const isFinished = files.includes(indexNameOf(name)) && !files.includes(indexNameOf(name) + TAIL_ENDING);
    if (isFinished) return [join(folder, name)];
    warn?.(
      `${join(folder, name)} is left out: it is still being written, or its writer died (the next run repairs it)`,
    );
    return [];
  });
}

/** The index of all segments in one order, and the list of pages. */
async function writeIndexes(
  segments: readonly string[],
  index: string,
  pages: string,
): Promise<{ pages: number; captures: number }> {
  const counts = { pages: 0, captures: 0 };
  const [lines, list] = [await open(index, 'wx', PRIVATE_FILE.mode), await open(pages, 'wx', PRIVATE_FILE.mode)];
  const sources: FileHandle[] = [];
  try {
    for (const path of segments) sources.push(await open(join(path, '..', indexNameOf(basename(path))), 'r'));
    const head = { format: 'json-pages-1.0', id: 'pages', title: 'All Pages' };
    await writeAll(list, Buffer.from(`${JSON.stringify(head)}\n`));
    const batches = sources.map((file) =>
      batchesOfLines(file, 0, Infinity, Math.max(4_096, Math.floor(READ_BYTES / sources.length))),
    );
    for await (const batch of mergedLines(batches, READ_BYTES)) {
      let [lineText, listText] = ['', ''];
      for (const text of batch) {
        const entry = parseIndexLine(Buffer.from(text, 'latin1').toString('utf8'));
        if (entry?.filename === undefined || entry.offset === undefined) continue;
        counts.captures++;
        lineText += archiveLine(text.slice(0, text.indexOf(' ')), entry);
        if (!isPage(entry)) continue;
        counts.pages++;
        listText += `${JSON.stringify(pageOf(entry, counts.pages))}\n`;
      }
      await writeAll(lines, Buffer.from(lineText, 'latin1'));
      await writeAll(list, Buffer.from(listText));
    }
    return counts;
  } finally {
    for (const file of [lines, list, ...sources]) await file.close();
  }
}

/** As archives write it: by the URL that the body came from, without our own fields. */
function archiveLine(surt: string, entry: IndexEntry): string {
  const fields = {
    url: uriOf(entry),
    mime: entry.originalAtMs === undefined ? entry.contentType : 'warc/revisit',
    status: String(entry.statusCode),
    digest: `sha1:${entry.digest}`,
    length: String(entry.length),
    offset: String(entry.offset),
    filename: entry.filename,
  };
  // The key is Latin-1 text of UTF-8 bytes, and so must the rest be.
  return `${surt} ${timestampOf(entry.fetchedAtMs)} ${Buffer.from(JSON.stringify(fields)).toString('latin1')}\n`;
}

function isPage({ statusCode, contentType, originalAtMs }: IndexEntry): boolean {
  return statusCode === 200 && originalAtMs === undefined && HTML.test(contentType);
}

function pageOf(entry: IndexEntry, number: number) {
  const ts = new Date(entry.fetchedAtMs).toISOString();
  return { id: String(number), url: uriOf(entry), ts, title: uriOf(entry) };
}

/** Reads the file twice: its digests stand before it. */
async function addFile(
  target: FileHandle,
  zip: ReturnType<typeof createZip>,
  path: string,
  from: string,
): Promise<Resource> {
  const file = await open(from, 'r');
  try {
    const sha256 = createHash('sha256');
    let [crc, bytes] = [0, 0];
    for await (const chunk of chunksOf(file)) {
      sha256.update(chunk);
      crc = crc32(chunk, crc);
      bytes += chunk.length;
    }
    await writeAll(target, zip.head(path, { bytes, crc }));
    let copied = 0;
    for await (const chunk of chunksOf(file, bytes)) {
      await writeAll(target, chunk);
      copied += chunk.length;
    }
    if (copied !== bytes) throw new CrawlError('STORAGE_LOST', `${from} became shorter while it was read`);
    return { name: basename(path), path, hash: `sha256:${sha256.digest('hex')}`, bytes };
  } finally {
    await file.close();
  }
}

async function* chunksOf(file: FileHandle, toByte = Infinity): AsyncGenerator<Buffer> {
  for (let at = 0; at < toByte;) {
    const chunk = Buffer.allocUnsafe(Math.min(READ_BYTES, toByte - at));
    const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}
