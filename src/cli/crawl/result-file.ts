// The result file of a crawl: its pages in the chosen format.
// Promise: it appears complete or not at all; a single JSON-lines file is not copied.
import { createReadStream, createWriteStream } from 'node:fs';
import { copyFile, link, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { throughDraft } from '../../base/whole-file.js';
import type { Dataset } from '../../index.js';
import { isSegmentName } from '../../store/segments/segment-names.js';
import {
  extensionOfFormat,
  type FormatOf,
  formatsOf,
  isPageFormat,
  pageAmongOthers,
  pageFileText,
  type PageFormatName,
} from '../../store/formats.js';
import { asStorageError } from '../../store/storage-errors.js';
import { openPageFolder } from '../pages/folder.js';
import type { PageItem } from './page-item.js';

export type ResultFormat = FormatOf<'crawl'>;

const fileName = (format: ResultFormat) => `pages.${extensionOfFormat(format)}`;
/** Every name a result file can have. */
export const RESULT_FILES: readonly string[] = formatsOf('crawl').map(fileName);

/** With one file per page: where they are. */
export const PAGES_FOLDER = 'pages';

export interface ResultFile {
  readonly path: string;
  readonly bytes: number;
}

/** Writes all pages of a dataset to files of their own under `folder`; the result is their index. */
export async function writePageFiles(
  dataset: AsyncIterable<PageItem>,
  folder: string,
  format: PageFormatName,
): Promise<ResultFile> {
  const pages = await openPageFolder(path.join(folder, PAGES_FOLDER), extensionOfFormat(format));
  for await (const item of dataset) {
    const parts = partsOf(item, format);
    const text = pageFileText(format, parts);
    if (item.status >= 400) await pages.leaveOut(item.url, `status ${item.status}`);
    else if (text.trim() === '') await pages.leaveOut(item.url, `${item.contentType || 'the page'} has no text`);
    else await pages.write({ url: item.url, title: item.title }, pageAlone(format, parts, text));
  }
  const result = await pages.close();
  for (const other of RESULT_FILES) await rm(path.join(folder, other), { force: true });
  return result;
}

/** The main content lacks the title: it stands above. */
function pageAlone(format: PageFormatName, { heading, markdown }: ReturnType<typeof partsOf>, text: string): string {
  const isMarkdown = format === 'markdown' || format === 'fit';
  return isMarkdown && !/^# /m.test(markdown) ? `# ${heading}\n\n${text}` : text;
}

/** Writes all items of a dataset on disk under `folder` to a file there. */
export async function writeResultFile(
  dataset: Dataset,
  folder: string,
  format: ResultFormat,
  { name = fileName(format), rawCsv = false }: { readonly name?: string; readonly rawCsv?: boolean } = {},
): Promise<ResultFile> {
  const file = path.join(folder, name);
  try {
    await throughDraft(file, (draft) => {
      if (format === 'jsonl') return joinSegments(path.join(folder, 'datasets', dataset.id), draft);
      return pipeline(pieces(dataset, format, rawCsv), createWriteStream(draft));
    });
    // One result per crawl: an earlier run may have written it in another format.
    if (RESULT_FILES.includes(name)) {
      for (const other of RESULT_FILES) if (other !== name) await rm(path.join(folder, other), { force: true });
    }
    return { path: file, bytes: (await stat(file)).size };
  } catch (error) {
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

function pieces(dataset: Dataset, format: Exclude<ResultFormat, 'jsonl'>, rawCells: boolean): Readable {
  if (!isPageFormat(format)) return dataset.exportStream(format, { rawCells });
  return Readable.from(pagePieces(dataset as Dataset<PageItem & Record<string, unknown>>, format), {
    objectMode: false,
  });
}

async function* pagePieces(pages: AsyncIterable<PageItem>, format: PageFormatName): AsyncGenerator<string> {
  for await (const page of pages) yield pageAmongOthers(format, partsOf(page, format));
}

/** What is stored of a page, as page formats see it: its markdown is the main content, which lacks the title. */
function partsOf({ url, loadedUrl, title, text, markdown = text, links = [] }: PageItem, format: PageFormatName) {
  const heading = (title ?? loadedUrl).replace(/\s+/g, ' ').replace(/[\\`*_[\]<>#]/g, '\\$&');
  const address = format === 'text' ? url : loadedUrl;
  return { url: address, title, heading, text, markdown, fit: markdown, html: '', links };
}
