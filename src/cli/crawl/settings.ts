// What one crawl of the command line is told: checked, complete, and saved beside the crawl's data, so that
// `--resume` needs nothing but the folder. Headers and passwords are not saved.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PRIVATE_FILE } from '../../base/private-files.js';
import type { EnqueueStrategy } from '../../request/scope.js';
import { asStorageError } from '../../store/storage-errors.js';
import type { ResultFormat } from './result-file.js';

export interface CrawlSettings {
  /** Absolute URLs, and `-` for a list on standard input. */
  readonly urls: readonly string[];
  readonly maxPages?: number;
  readonly depth?: number;
  /** Globs and `/regexps/`, as typed. */
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly strategy?: EnqueueStrategy;
  readonly concurrency?: number;
  /** Pages per second. */
  readonly rate?: number;
  /** Seconds between the end of a response and the next request to its host. */
  readonly delay?: number;
  readonly ignoreRobots?: boolean;
  readonly maxPerHost?: number;
  /** Files with a domain a line. */
  readonly excludeDomains?: string;
  readonly allowDomains?: string;
  /** False: links that look endless are followed, too. */
  readonly traps?: boolean;
  readonly explainSkips?: boolean;
  readonly format: ResultFormat;
  /** Cells that a spreadsheet would run stay as they are. */
  readonly rawCsv?: boolean;
  readonly links?: boolean;
  readonly retries?: number;
  readonly retryDelayMs?: number;
  readonly allowPrivate?: boolean | readonly string[];
  /** The given URLs themselves may not be at private addresses either. */
  readonly refusePrivate?: boolean;
  readonly userAgent?: string;
  readonly maxBody?: number;
  readonly header?: Readonly<Record<string, string>>;
  /** Those of the URLs that have a user name and password, as typed. */
  readonly logins?: readonly string[];
}

const FILE = 'crawl.json';

export async function saveSettings(folder: string, settings: CrawlSettings): Promise<void> {
  const { header: _secret, logins: _secrets, ...kept } = settings;
  const file = path.join(folder, FILE);
  await writeFile(file, `${JSON.stringify(kept, null, 2)}\n`, PRIVATE_FILE).catch((error: unknown) => {
    throw asStorageError(error, folder);
  });
}

/** The settings of the crawl in a folder; undefined when there are none that can be read. */
export async function readSettings(folder: string): Promise<CrawlSettings | undefined> {
  try {
    const saved = JSON.parse(await readFile(path.join(folder, FILE), 'utf8')) as CrawlSettings | null;
    return typeof saved === 'object' && Array.isArray(saved?.urls) ? saved : undefined;
  } catch {
    return undefined;
  }
}
