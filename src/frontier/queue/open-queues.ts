// The queues that are open in this process, so that every opening of a name gives the same one.
// Stored queues are one per folder or Redis; others one per Configuration or storage client and name.
import type { Configuration } from '../../configuration.js';
import type { StorageClient } from '../../storage-client.js';
import type { QueuePlace } from './queue-opening.js';
import type { RequestQueue } from './request-queue.js';

type OpenQueues = Map<string, Promise<RequestQueue>>;

const stored: OpenQueues = new Map();
const byOwner = new WeakMap<Configuration | StorageClient, OpenQueues>();

export function openQueuesOf(config: Configuration, place: QueuePlace): OpenQueues {
  if (place.kind !== 'memory' && place.kind !== 'client') return stored;
  const owner = place.kind === 'client' ? place.client : config;
  let queues = byOwner.get(owner);
  if (!queues) byOwner.set(owner, (queues = new Map()));
  return queues;
}
