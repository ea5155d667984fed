// The frontier in memory: the same state machine as on disk, over tables that end with the process.
// For crawls without resume (`persistStorage: false`) and for tests without a disk.
import { createEmbeddedFrontier, type EmbeddedFrontier, type EmbeddedOptions } from '../frontier.js';
import { type Kv, TABLE_NAMES, type Tables } from '../../tables/kv.js';
import { createSortedTable } from '../../tables/sorted-table.js';

/**
 * Tables in memory for `openTableFrontier`.
 *
 * @example
 * const tables = createMemoryTables();
 * await tables.transact(() => tables.tables.meta.put(0, 200, Buffer.from('mine')));
 */
export function createMemoryKv(): Kv {
  const tables = Object.fromEntries(TABLE_NAMES.map((name) => [name, createSortedTable()])) as unknown as Tables;
  return {
    tables,
    // Nothing here can fail halfway: calls are checked before they run, and the tables only allocate.
    transact: <T>(body: () => T) =>
      new Promise<T>((resolve) => {
        resolve(body());
      }),
    close: () => Promise.resolve(),
  };
}

/**
 * A frontier in memory.
 *
 * @example
 * const frontier = createMemoryFrontier({ pacing: { delayMs: 0, turns: 10 } });
 */
export function createMemoryFrontier(options: EmbeddedOptions): EmbeddedFrontier {
  const frontier = createEmbeddedFrontier(createMemoryKv(), {
    ...options,
    access: 'owner',
    where: 'memory',
  });
  // In memory a transaction runs before this returns; a new one has no conflicts.
  void frontier.open();
  return frontier;
}
