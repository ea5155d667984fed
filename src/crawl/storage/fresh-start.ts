// Decides at the first use of a storage folder whether the default queue, dataset and key-value store of the last runs
// are emptied or continued. Guarantee: items are emptied only together with the queue whose crawl wrote them.
import { isAlive } from '../../base/alive.js';
import type { Configuration } from '../../configuration.js';
import type { PurgeOnStart } from '../../configuration-options.js';
import { WITHIN_FIRST_USE } from '../../first-use.js';
import { RequestQueue } from '../../frontier/queue/request-queue.js';
import { purgeDefaultStorages } from '../../store/purge.js';
import { markPrepared, readRuns, type RunRecord, runPlaceOf, withRunLock } from './run-state.js';

export async function prepareDefaultStorages(config: Configuration): Promise<void> {
  const purgeOnStart = config.get('purgeOnStart');
  if (purgeOnStart === false || !config.isPersistent) return;
  const place = runPlaceOf(config);
  await withRunLock(place, async () => {
    const record = await readRuns(place);
    const ownQueue = config.get('defaultRequestQueueId');
    const start = decideStart(record, ownQueue, purgeOnStart);
    if (start === 'continue') return;
    const { [ownQueue]: own, ...others } = record?.runs ?? {};
    if (!(await emptyDefaultQueue(config, purgeOnStart === true || own !== undefined))) return;
    if (start === 'empty all') await purgeDefaultStorages({ config });
    await markPrepared(place, start === 'empty all' ? {} : others);
  });
}

/** What a start does: nothing, empty the default queue alone, or the default dataset and key-value store with it. */
export type Start = 'continue' | 'empty queue' | 'empty all';

/**
 * The rule of `purgeOnStart: 'finished'`. The default queue is emptied when its last run ended by itself, in every process
 * that worked on it: one that was killed comes back to what the others made of it. Crawls on named queues write to the
 * default dataset too, and a named queue stays as it is: what its crawl wrote would not come again, so it stays as well,
 * until the queue is dropped.
 */
export function decideStart(
  record: RunRecord | undefined,
  ownQueue: string,
  purgeOnStart: Exclude<PurgeOnStart, false>,
  lives: (pid: number) => boolean = isAlive,
): Start {
  if (purgeOnStart === true) return 'empty all';
  // Unreadable, or just emptied by a process that lives.
  if (!record || (record.preparedBy !== undefined && lives(record.preparedBy))) return 'continue';
  const { [ownQueue]: own, ...others } = record.runs;
  if (own !== undefined && own.state !== 'finished') return 'continue';
  if (Object.keys(others).length === 0) return 'empty all';
  return own === undefined ? 'continue' : 'empty queue';
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
