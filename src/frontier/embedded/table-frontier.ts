// A frontier over ordered tables that somebody else keeps: a database with synchronous transactions needs no more.
// Promise: all of the frontier port, as far as the tables keep theirs (`Kv`).
import type { ClientFrontier, FrontierOpening } from '../../storage-client.js';
import type { Kv } from '../tables/kv.js';
import { createEmbeddedFrontier, type EmbeddedFrontier } from './frontier.js';

/** A frontier for a storage client, and what its maker needs of it. */
export interface TableFrontier extends EmbeddedFrontier, ClientFrontier {
  isKnown: EmbeddedFrontier['isKnown'];
  setPacing: EmbeddedFrontier['setPacing'];
}

/** How a frontier over tables of your own is opened. */
export interface TableFrontierOptions extends Pick<
  FrontierOpening,
  'holder' | 'access' | 'leaseMs' | 'pacing' | 'clock'
> {
  /** Names the tables in messages. */
  readonly where: string;
  /** Removes the tables, after they were closed. */
  readonly remove: () => Promise<void>;
}

/**
 * Opens a frontier over tables of your own: the quickest way to a backend that has ordered rows and synchronous
 * transactions. Closing it closes the tables.
 *
 * @example
 * const frontier = await openTableFrontier(createMemoryTables(), {
 *   holder: 'me',
 *   access: 'owner',
 *   leaseMs: 180_000,
 *   pacing: { delayMs: 0, turns: 10 },
 *   where: 'memory',
 *   remove: async () => undefined,
 * });
 * await frontier.close();
 */
export async function openTableFrontier(tables: Kv, options: TableFrontierOptions): Promise<TableFrontier> {
  const { remove, clock, ...rest } = options;
  const frontier = createEmbeddedFrontier(tables, { ...rest, ...(clock === undefined ? {} : { clock }) });
  try {
    await frontier.open();
  } catch (error) {
    await tables.close();
    throw error;
  }
  return Object.assign(frontier, {
    access: options.access,
    async drop() {
      await frontier.close();
      await remove();
    },
  });
}
