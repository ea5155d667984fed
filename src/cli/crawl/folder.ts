// The folder of one crawl: what an earlier run left, and whether this one starts, resumes or refuses.
// Promise: no crawl is continued or deleted unless the user asks for it.
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { Configuration } from '../../configuration.js';
import { isAlive } from '../../base/alive.js';
import { readLastRun } from '../../crawl/storage/run-state.js';
import { UsageError } from '../exit-codes.js';
import { PAGES_FOLDER, RESULT_FILES } from './result-file.js';
import { quoted } from '../terminal.js';

/** `update`: a finished crawl is visited again. */
export type StartMode = 'new' | 'resume' | 'fresh' | 'update';

/** Dataset of pages that finally failed. */
export const FAILED_DATASET = 'failed';
/** Dataset of skipped URLs, with --explain-skips. */
export const SKIPPED_DATASET = 'skipped';

/** `./orcrawl-out/<host>`, by the first URL, or by the name of the first list. */
export function defaultFolder(urls: readonly string[], lists: readonly string[] = []): string {
  const first = urls[0];
  const list = lists[0] === undefined ? 'stdin' : path.parse(lists[0]).name;
  const host = first === undefined || first === '-' ? list : new URL(first).host;
  return path.join('orcrawl-out', host.replace(/[^\w.-]+/g, '_'));
}

/** How to start in a folder; a UsageError lists the choices if the user must decide. */
export async function chooseStart(
  folder: string,
  asked: { resume?: boolean; fresh?: boolean; update?: boolean },
): Promise<StartMode> {
  if (asked.resume && asked.fresh) throw new UsageError('use either --resume or --fresh, not both');
  if (asked.update && (asked.resume || asked.fresh)) {
    throw new UsageError('use --update alone: it continues an update that was interrupted');
  }
  const left = await whatIsLeft(folder);
  if (left === 'nothing') return 'new';
  if (asked.fresh) return 'fresh';
  if (asked.resume) return 'resume';
  const where = quoted(folder);
  if (left === 'running') throw new UsageError(`a crawl is running in ${where}: wait for it, or choose another --out`);
  // What an interrupted crawl or update left is finished first; the next update visits all of it.
  if (asked.update) return left === 'unfinished' ? 'resume' : 'update';
  if (left === 'unfinished') {
    throw new UsageError(`${where} holds an unfinished crawl: add --resume to continue it or --fresh to start over`);
  }
  throw new UsageError(
    `${where} holds a finished crawl: add --update to see what changed, --fresh to start over, --resume with a higher --max-pages to continue, ` +
      'or choose another --out',
  );
}

async function whatIsLeft(folder: string): Promise<'nothing' | 'running' | 'unfinished' | 'finished'> {
  const last = await readLastRun(folder);
  if (!last) {
    // A queue without a readable run record: an earlier run did not end well.
    const queues = await readdir(path.join(folder, 'request_queues')).catch(() => []);
    return queues.length > 0 ? 'unfinished' : 'nothing';
  }
  if (last.state === 'finished') return 'finished';
  const isRunning = last.state === 'running' && last.pids.some((pid) => pid !== process.pid && isAlive(pid));
  return isRunning ? 'running' : 'unfinished';
}

/** The settings of a crawl whose storage is `folder`, whatever the environment says. */
export function configurationFor(folder: string, mode: StartMode): Configuration {
  for (const prefix of ['ORCRAWL_', 'CRAWLEE_']) {
    for (const name of OVERRIDING_VARIABLES) delete process.env[prefix + name];
  }
  return new Configuration({
    storageClientOptions: { localDataDirectory: folder },
    persistStorage: true,
    purgeOnStart: mode === 'fresh',
    defaultDatasetId: 'default',
    defaultKeyValueStoreId: 'default',
    defaultRequestQueueId: 'default',
  });
}

// The environment overrides constructors; here the command line overrides both.
const OVERRIDING_VARIABLES = [
  'STORAGE_DIR',
  'PURGE_ON_START',
  'PERSIST_STORAGE',
  'DEFAULT_DATASET_ID',
  'DEFAULT_KEY_VALUE_STORE_ID',
  'DEFAULT_REQUEST_QUEUE_ID',
];

/** Removes what earlier runs wrote outside the default storages. */
export async function removeLeftovers(folder: string): Promise<void> {
  const datasets = [FAILED_DATASET, SKIPPED_DATASET].map((name) => path.join('datasets', name));
  const leftovers = [...RESULT_FILES, PAGES_FOLDER, 'failed.jsonl', 'skipped.jsonl', 'report.json', ...datasets];
  for (const name of leftovers) await rm(path.join(folder, name), { recursive: true, force: true });
}
