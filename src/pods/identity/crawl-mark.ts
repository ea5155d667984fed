// `crawl.json`: which crawl a folder belongs to, in each data directory, the state directory and each embedded store.
// Promise: it is whole or not there; a file that cannot be read never passes for the right crawl.
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PRIVATE_FOLDER } from '../../base/private-files.js';
import { writeWhole } from '../../base/whole-file.js';
import { asStorageError } from '../../store/storage-errors.js';

export interface CrawlMark {
  readonly crawl: string;
  /** When the folder became the crawl's: ISO 8601. */
  readonly since: string;
}

const FILE = 'crawl.json';
const MAX_BYTES = 4_096;

/** Undefined for a folder without a mark, or that is not there. */
export async function readCrawlMark(folder: string): Promise<string | undefined> {
  const file = join(folder, FILE);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw asStorageError(error, file);
  }
  try {
    const { crawl } = JSON.parse(text.slice(0, MAX_BYTES)) as Partial<CrawlMark>;
    if (typeof crawl === 'string' && crawl !== '') return crawl;
  } catch {
    // Not ours, or damaged.
  }
  return `of an unreadable ${FILE}`;
}

/** Gives the folder, made when missing, to a crawl. */
export async function writeCrawlMark(folder: string, crawl: string): Promise<void> {
  const file = join(folder, FILE);
  const mark: CrawlMark = { crawl, since: new Date().toISOString() };
  try {
    await mkdir(folder, PRIVATE_FOLDER);
    await writeWhole(file, `${JSON.stringify(mark)}\n`);
  } catch (error) {
    throw asStorageError(error, file);
  }
}
