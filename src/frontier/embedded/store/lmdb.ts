// The frontier on disk: the embedded state machine over LMDB. What `add` and `settle` accepted survives the process.
// As owner, the fast path of one process; shared, any number of processes on one machine lease from it.
import { createEmbeddedFrontier, type EmbeddedFrontier, type EmbeddedOptions } from '../frontier.js';
import type { HolderId } from '../../frontier.js';
import { openLmdbKv } from '../../tables/lmdb-kv.js';
import type { Access } from '../openers.js';

export interface LmdbFrontierOptions extends EmbeddedOptions {
  /** Default `owner`: one process, fastest. `shared`: several processes lease from the same folder. */
  readonly access?: Access;
  readonly holder: HolderId;
}

/**
 * Opens the frontier in a folder, created if missing.
 *
 * Rejects with `QUEUE_IN_USE` while another live process owns it, `QUEUE_VERSION` if another release wrote it,
 * `STORAGE_UNWRITABLE`, `STORAGE_FULL` or `QUEUE_CORRUPT`.
 *
 * @example
 * const frontier = await openLmdbFrontier('./storage/request_queues/default', {
 *   access: 'owner', holder: 'crawl-1', pacing: { delayMs: 0, turns: 10 },
 * });
 */
export async function openLmdbFrontier(path: string, options: LmdbFrontierOptions): Promise<EmbeddedFrontier> {
  const access = options.access ?? 'owner';
  const kv = await openLmdbKv(path, { alone: access === 'owner' });
  try {
    const frontier = createEmbeddedFrontier(kv, { ...options, access, where: path });
    await frontier.open();
    return frontier;
  } catch (error) {
    await kv.close();
    throw error;
  }
}
