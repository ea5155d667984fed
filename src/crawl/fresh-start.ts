// Decides at the first use of a storage folder whether the default queue, dataset and key-value store of
// the last run are emptied (it ended by itself) or continued (it was interrupted).
import type { Configuration } from '../configuration.js';
import { WITHIN_FIRST_USE } from '../first-use.js';
import { RequestQueue } from '../frontier/request-queue.js';
import { purgeDefaultStorages } from '../store/purge.js';
import { isAlive, type LastRun, readLastRun, withRunLock, writeRunState } from './run-state.js';

export async function prepareDefaultStorages(config: Configuration): Promise<void> {
  const purgeOnStart = config.get('purgeOnStart');
  if (purgeOnStart === false || !config.get('persistStorage')) return;
  const folder = config.localDataDirectory();
  await withRunLock(folder, async () => {
    const last = await readLastRun(folder);
    if (purgeOnStart !== true && isToBeContinued(last)) return;
    await emptyDefaultStorages(config);
    await writeRunState(folder, 'fresh');
  });
}

/** Crashed, interrupted, or just emptied by a process that lives. */
function isToBeContinued(last: LastRun | undefined): boolean {
  if (!last) return false;
  return last.state === 'running' || last.state === 'interrupted' || (last.state === 'fresh' && isAlive(last.pid));
}

async function emptyDefaultStorages(config: Configuration): Promise<void> {
  // Opened first: a queue that another process works on is an error, not something to delete.
  const queue = await RequestQueue.open(undefined, { config, [WITHIN_FIRST_USE]: true });
  await queue.drop();
  await purgeDefaultStorages({ config });
}
