// The result file of a crawl: its pages in the chosen format.
// Promise: it appears complete or not at all; a single JSON-lines file is not copied.
import { createReadStream, createWriteStream } from 'node:fs';
import { copyFile, link, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Dataset } from '../../index.js';
import { isSegmentName } from '../../store/segments/segment-names.js';
import { asStorageError } from '../../store/storage-errors.js';
import type { PageItem } from './page-item.js';

export const RESULT_FORMATS = ['jsonl', 'json', 'csv', 'text', 'markdown'] as const;
export type ResultFormat = (typeof RESULT_FORMATS)[number];

const FILE_NAMES: Readonly<Record<ResultFormat, string>> = {
  jsonl: 'pages.jsonl',
  json: 'pages.json',
  csv: 'pages.csv',
  text: 'pages.txt',
  markdown: 'pages.md',
};
export const RESULT_FILES: readonly string[] = Object.values(FILE_NAMES);

export interface ResultFile {
  readonly path: string;
  readonly bytes: number;
}

/** Writes all items of a dataset on disk under `folder` to a file there. */
export async function writeResultFile(
  dataset: Dataset,
  folder: string,
  format: ResultFormat,
  name = FILE_NAMES[format],
): Promise<ResultFile> {
  const file = path.join(folder, name);
  const draft = `${file}.${process.pid}.tmp`;
  try {
    await rm(draft, { force: true });
    if (format === 'jsonl') await joinSegments(path.join(folder, 'datasets', dataset.id), draft);
    else await pipeline(pieces(dataset, format), createWriteStream(draft));
    await rename(draft, file);
    // One result per crawl: an earlier run may have written it in another format.
    if (RESULT_FILES.includes(name)) {
      for (const other of RESULT_FILES) if (other !== name) await rm(path.join(folder, other), { force: true });
    }
    return { path: file, bytes: (await stat(file)).size };
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw asStorageError(error, folder);
  }
}

/**
 * A small crawl that was never interrupted has written one JSON-lines file: the result is a hard link to it.
 * Later runs never append to that file, each has its own.
 */
async function joinSegments(datasetFolder: string, target: string): Promise<void> {
  const names = (await readdir(datasetFolder)).filter(isSegmentName).sort();
  const segments = names.map((name) => path.join(datasetFolder, name));
  const [first, ...more] = segments;
  if (first !== undefined && more.length === 0) {
    // Some file systems have no hard links.
    await link(first, target).catch(() => copyFile(first, target));
  } else await pipeline(contentsOf(segments), createWriteStream(target));
}

async function* contentsOf(files: readonly string[]): AsyncGenerator<Buffer> {
  for (const file of files) yield* createReadStream(file) as AsyncIterable<Buffer>;
}

function pieces(dataset: Dataset, format: Exclude<ResultFormat, 'jsonl'>): Readable {
  if (format !== 'text' && format !== 'markdown') return dataset.exportStream(format);
  const pages = dataset as Dataset<PageItem & Record<string, unknown>>;
  return Readable.from(format === 'text' ? textPieces(pages) : markdownPieces(pages), { objectMode: false });
}

async function* textPieces(pages: AsyncIterable<PageItem>): AsyncGenerator<string> {
  for await (const { url, title, text } of pages) yield `# ${title ?? url}\n${url}\n\n${text.trim()}\n\n\n`;
}

/** Each page as a document after its title and URL, separated by rules. */
async function* markdownPieces(pages: AsyncIterable<PageItem>): AsyncGenerator<string> {
  for await (const { loadedUrl, title, text, markdown } of pages) {
    const name = (title ?? loadedUrl).replace(/\s+/g, ' ').replace(/[\\`*_[\]<>#]/g, '\\$&');
    yield `# ${name}\n\n<${loadedUrl}>\n\n${(markdown ?? text).trim()}\n\n---\n\n`;
  }
}
