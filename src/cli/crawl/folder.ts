// The folder of one crawl: what an earlier run left there, and whether this one starts, resumes or refuses.
// Promise: nobody's crawl is continued or deleted without having been asked for by name.
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { Configuration } from '../../configuration.js';
import { isAlive } from '../../base/alive.js';
import { readLastRun } from '../../crawl/storage/run-state.js';
import { UsageError } from '../exit-codes.js';
import { RESULT_FILES } from './result-file.js';
import { quoted } from '../terminal.js';

export type StartMode = 'new' | 'resume' | 'fresh';

/** Pages that failed for good, in a dataset of their own. */
export const FAILED_DATASET = 'failed';
/** URLs that were left out, when they are to be explained. */
export const SKIPPED_DATASET = 'skipped';

/** `./orcrawl-out/<host>`, by the first URL. */
export function defaultFolder(urls: readonly string[]): string {
  const first = urls[0];
  const host = first === undefined || first === '-' ? 'stdin' : new URL(first).host;
  return path.join('orcrawl-out', host.replace(/[^\w.-]+/g, '_'));
}

/** How to begin in a folder; a UsageError names the choices when the person has to make one. */
export async function chooseStart(folder: string, asked: { resume?: boolean; fresh?: boolean }): Promise<StartMode> {
  if (asked.resume && asked.fresh) throw new UsageError('--resume and --fresh exclude each other: give one');
  const left = await whatIsLeft(folder);
  if (left === 'nothing') return 'new';
  if (asked.fresh) return 'fresh';
  if (asked.resume) return 'resume';
  const where = quoted(folder);
  if (left === 'running') throw new UsageError(`a crawl is running in ${where}: wait for it, or choose another --out`);
  if (left === 'unfinished') {
    throw new UsageError(`${where} holds an unfinished crawl: add --resume to continue it or --fresh to start over`);
  }
  throw new UsageError(
    `${where} holds a finished crawl: add --fresh to start over, --resume with a higher --max-pages to go on, ` +
      'or choose another --out',
  );
}

async function whatIsLeft(folder: string): Promise<'nothing' | 'running' | 'unfinished' | 'finished'> {
  const last = await readLastRun(folder);
  if (!last) {
    // A queue without a readable record of its run: something was here and did not end well.
    const queues = await readdir(path.join(folder, 'request_queues')).catch(() => []);
    return queues.length > 0 ? 'unfinished' : 'nothing';
  }
  if (last.state === 'finished') return 'finished';
  const isRunning = last.state === 'running' && last.pids.some((pid) => pid !== process.pid && isAlive(pid));
  return isRunning ? 'running' : 'unfinished';
}

/** The settings of a crawl whose storage is `folder`, whatever the environment says of other crawls. */
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

// The environment wins over constructors; here the command line has said more precisely what is wanted.
const OVERRIDING_VARIABLES = [
  'STORAGE_DIR',
  'PURGE_ON_START',
  'PERSIST_STORAGE',
  'DEFAULT_DATASET_ID',
  'DEFAULT_KEY_VALUE_STORE_ID',
  'DEFAULT_REQUEST_QUEUE_ID',
];

/** Removes what earlier runs wrote beside the default storages. */
export async function removeLeftovers(folder: string): Promise<void> {
  const datasets = [FAILED_DATASET, SKIPPED_DATASET].map((name) => path.join('datasets', name));
  const leftovers = [...RESULT_FILES, 'failed.jsonl', 'skipped.jsonl', 'report.json', ...datasets];
  for (const name of leftovers) await rm(path.join(folder, name), { recursive: true, force: true });
}
