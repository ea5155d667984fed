// The settings of one command-line crawl: validated, complete, and saved with the crawl's data, so that
// `--resume` needs only the folder. Headers, proxies, passwords and keys are not saved.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PRIVATE_FILE } from '../../base/private-files.js';
import type { CrawlOrder, Scorers } from '../../crawl/order/options.js';
import type { ContentOptions } from '../../extract/content-options.js';
import type { PageActions, RunConfig } from '../../index.js';
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
  /** In which order pages are visited, what is looked for, and whether the crawl ends when it has found enough. */
  readonly order?: CrawlOrder;
  readonly query?: string;
  readonly scorers?: Scorers;
  readonly enough?: boolean;
  readonly concurrency?: number;
  /** Pages per second. */
  readonly rate?: number;
  /** Seconds between the end of a response and the next request to its host. */
  readonly delay?: number;
  readonly ignoreRobots?: boolean;
  readonly maxPerHost?: number;
  /** Files with one domain per line. */
  readonly excludeDomains?: string;
  readonly allowDomains?: string;
  /** False: also follow links that look endless. */
  readonly traps?: boolean;
  readonly explainSkips?: boolean;
  readonly format: ResultFormat;
  /** Cells that a spreadsheet would run stay as they are. */
  readonly rawCsv?: boolean;
  readonly links?: boolean;
  /** Pages are remembered, and only what is new or changed is stored. */
  readonly update?: boolean;
  /** What becomes of pages that nearly repeat another one. */
  readonly duplicates?: 'keep' | 'mark' | 'skip';
  /** Read documents too; `follow`: and follow their links. */
  readonly documents?: boolean | 'follow';
  /** Ask for markdown where a site offers it. */
  readonly acceptMarkdown?: boolean;
  readonly retries?: number;
  readonly retryDelayMs?: number;
  readonly allowPrivate?: boolean | readonly string[];
  /** The given URLs themselves may not be at private addresses either. */
  readonly refusePrivate?: boolean;
  readonly userAgent?: string;
  readonly maxBody?: number;
  /** Files of URLs. */
  readonly lists?: readonly string[];
  /** The URLs of the sites' sitemaps are seeds, too. */
  readonly sitemap?: boolean;
  /** What fetches pages; default HTTP. */
  readonly engine?: 'browser' | 'auto';
  readonly headed?: boolean;
  readonly userDataDir?: string;
  /** What is done in each page. */
  readonly actions?: PageActions;
  /** A folder for pictures. */
  readonly screenshot?: string;
  readonly insecure?: boolean;
  /** Seconds. */
  readonly timeout?: number;
  readonly selector?: string;
  /** What of a page is its content. */
  readonly content?: ContentOptions;
  /** What to extract; not saved where a model is asked, since its key is in it. */
  readonly extract?: RunConfig['extract'];
  /** A file of cookies. */
  readonly cookies?: string;
  /** One file per page. */
  readonly inFolder?: boolean;
  /** Not saved: it may have a password. */
  readonly proxy?: string | false;
  readonly header?: Readonly<Record<string, string>>;
  /** Those of the URLs that have a user name and password, as typed. */
  readonly logins?: readonly string[];
}

const FILE = 'crawl.json';

export async function saveSettings(folder: string, settings: CrawlSettings): Promise<void> {
  const { header: _secret, logins: _secrets, proxy: _proxy, extract, ...rest } = settings;
  const kept = extract === undefined || extract.engine === 'model' ? rest : { ...rest, extract };
  const file = path.join(folder, FILE);
  await writeFile(file, `${JSON.stringify(kept, null, 2)}\n`, PRIVATE_FILE).catch((error: unknown) => {
    throw asStorageError(error, folder);
  });
}

/** The settings of the crawl in a folder; undefined if unreadable. */
export async function readSettings(folder: string): Promise<CrawlSettings | undefined> {
  try {
    const saved = JSON.parse(await readFile(path.join(folder, FILE), 'utf8')) as CrawlSettings | null;
    return typeof saved === 'object' && Array.isArray(saved?.urls) ? saved : undefined;
  } catch {
    return undefined;
  }
}
