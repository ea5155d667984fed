// A storage client in memory: the smallest complete one, to be wrapped if only a part is replaced.
// Promise: closed storages can be opened again; everything ends with the process.
import { createMemoryKv } from '../../frontier/embedded/store/memory.js';
import { openTableFrontier } from '../../frontier/embedded/table-frontier.js';
import type { Kv } from '../../frontier/tables/kv.js';
import { createMemoryHosts } from '../../politeness/hosts.js';
import type { StorageClient } from '../../storage-client.js';
import { createMemoryBackend } from '../../store/memory.js';

/**
 * A storage client that keeps everything in memory. A client of your own may hand to it what it does not keep itself.
 *
 * @example
 * const memory = createMemoryStorage();
 * const config = new Configuration({ storageClient: { ...memory, records: (id) => myRecords(id) } });
 */
export function createMemoryStorage(): StorageClient {
  const queues = new Map<string, Kv>();
  const hosts = new Map<string, ReturnType<typeof createMemoryHosts>>();
  return {
    ...createMemoryBackend(),
    openFrontier(opening) {
      const { id } = opening;
      const tables = queues.get(id) ?? createMemoryKv();
      queues.set(id, tables);
      // Only this process can have it open.
      const options = { ...opening, access: 'owner', where: `memory (${id})` } as const;
      return openTableFrontier(tables, { ...options, remove: async () => void queues.delete(id) });
    },
    async openHosts(queueId) {
      const known = hosts.get(queueId) ?? createMemoryHosts();
      hosts.set(queueId, known);
      return known;
    },
  };
}
