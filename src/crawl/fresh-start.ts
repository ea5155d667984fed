// Decides at the first use of a storage folder whether the default queue, dataset and key-value store of
// the last runs are emptied (they ended by themselves) or continued (one was interrupted).
import type { Configuration } from '../configuration.js';
import { WITHIN_FIRST_USE } from '../first-use.js';
import { RequestQueue } from '../frontier/request-queue.js';
import { purgeDefaultStorages } from '../store/purge.js';
import { isAlive, markPrepared, readRuns, type RunRecord, withRunLock } from './run-state.js';

export async function prepareDefaultStorages(config: Configuration): Promise<void> {
  const purgeOnStart = config.get('purgeOnStart');
  if (purgeOnStart === false || !config.get('persistStorage')) return;
  const folder = config.localDataDirectory();
  await withRunLock(folder, async () => {
    const record = await readRuns(folder);
    const ownQueue = config.get('defaultRequestQueueId');
    if (purgeOnStart !== true && isToBeContinued(record, ownQueue)) return;
    const hasEnded = purgeOnStart === true || record?.runs[ownQueue] !== undefined;
    if (!(await emptyDefaultQueue(config, hasEnded))) return;
    // Crawls on other queues write to the default storages too: while one is to be continued, its items stay.
    if (purgeOnStart === true || !isAnyInterrupted(record)) await purgeDefaultStorages({ config });
    await markPrepared(folder);
  });
}

/** Crashed, interrupted, unreadable, or just emptied by a process that lives. */
function isToBeContinued(record: RunRecord | undefined, ownQueue: string): boolean {
  if (!record) return true;
  const { preparedBy, runs } = record;
  if (preparedBy !== undefined && isAlive(preparedBy)) return true;
  const own = runs[ownQueue];
  return own === undefined ? isAnyInterrupted(record) : own.state !== 'finished';
}

function isAnyInterrupted(record: RunRecord | undefined): boolean {
  return Object.values(record?.runs ?? {}).some(({ state }) => state !== 'finished');
}

/**
 * Empties the default queue unless it holds requests that no run ever ended: they were added by a process
 * that died before it ran. Resolves to whether the queue is empty now. A queue that another process works
 * on is an error, not something to delete.
 */
async function emptyDefaultQueue(config: Configuration, hasEnded: boolean): Promise<boolean> {
  const queue = await RequestQueue.open(undefined, { config, [WITHIN_FIRST_USE]: true });
  const { accepted } = (await queue.overview()).counters;
  if (accepted > 0 && !hasEnded) return false;
  if (accepted > 0) await queue.drop();
  else await queue.close();
  return true;
}
