// Empties the default storages for a fresh start.
// Promise: named storages and the input are never touched; the crawl layer decides when.
import { Configuration } from '../configuration.js';
import { Dataset } from './dataset/dataset.js';
import { KeyValueStore } from './records/key-value.js';
import { WITHIN_FIRST_USE } from '../first-use.js';

export interface PurgeDefaultStoragesOptions {
  /** The global Configuration unless given. */
  config?: Configuration;
  /** Do nothing if it was done for this Configuration before. */
  onlyPurgeOnce?: boolean;
}

const purged = new WeakSet<Configuration>();

/**
 * Removes all items of the default dataset and all records but the input of the default key-value store.
 *
 * @example
 * await purgeDefaultStorages();
 */
export async function purgeDefaultStorages(options: PurgeDefaultStoragesOptions | Configuration = {}): Promise<void> {
  const { config = Configuration.getGlobalConfig(), onlyPurgeOnce = false } =
    options instanceof Configuration ? { config: options } : options;
  if (onlyPurgeOnce && purged.has(config)) return;
  purged.add(config);
  const place = { config, [WITHIN_FIRST_USE]: true } as const;
  await (await Dataset.open(undefined, place)).clear();
  const inputKey = config.get('inputKey');
  await (await KeyValueStore.open(undefined, place)).clear((key) => key === inputKey);
}
