// Opening a public queue: its options, its location, and its frontier.
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { Configuration } from '../../configuration.js';
import { CrawlError } from '../../errors.js';
import type { WITHIN_FIRST_USE } from '../../first-use.js';
import { check, checkOptions, oneOf, type Shape, warnOnce } from '../../option-checks.js';
import { aLeaseInSecs, CONFIGURATION_SHAPE } from '../../configuration-options.js';
import type { HolderId, Pacing } from '../frontier.js';
import { createFrontierClient, newHolderId } from '../client.js';
import type { ClientFrontier, StorageClient } from '../../storage-client.js';
import type { EmbeddedFrontier } from '../embedded/frontier.js';
import { createMemoryFrontier } from '../embedded/store/memory.js';
import type { RedisFrontier } from '../redis/frontier.js';
import { MAX_TURNS } from '../validation.js';
import { createRecentFingerprints } from '../recent.js';

const DEFAULT_LOCK_SECS = 180;

/** Where a queue lives and who works on it. */
export interface RequestQueueOpenOptions {
  /** Where the queue lies. Default the global configuration. */
  config?: Configuration;
  /** `owner` (default): this process alone works on the queue. `shared`: several processes may. */
  access?: 'owner' | 'shared';
  /** How long a silent process keeps its requests if it is unknown whether it died. Above 10; default 180. */
  requestLockSecs?: number;
  /**
   * The queue lives in this Redis (7.0 or newer), under keys of its own, and any number of processes may share it:
   * `redis://`, `rediss://`, `unix://`, `redis+sentinel://` or `redis+cluster://` (docs/pods-redis.md).
   * Default: the `redisUrl` of the configuration, which `ORCRAWL_REDIS_URL` sets.
   */
  redisUrl?: string;
  /** @internal */
  [WITHIN_FIRST_USE]?: true;
}

const OPEN_SHAPE: Shape = {
  config: check('a Configuration', (value) => value instanceof Configuration),
  access: oneOf(['owner', 'shared']),
  requestLockSecs: aLeaseInSecs,
  redisUrl: CONFIGURATION_SHAPE.redisUrl,
};

export function checkOpenOptions(options: RequestQueueOpenOptions): void {
  checkOptions('RequestQueue.open', options, OPEN_SHAPE);
}

/** The location of a queue; `key` identifies it within this process. */
export type QueuePlace =
  | { readonly kind: 'memory'; readonly key: string }
  | { readonly kind: 'folder'; readonly key: string }
  | { readonly kind: 'redis'; readonly key: string; readonly url: string; readonly id: string }
  | { readonly kind: 'client'; readonly key: string; readonly client: StorageClient };

export function queuePlace(id: string, config: Configuration, options: RequestQueueOpenOptions): QueuePlace {
  if (!/^[\w.~-]{1,200}$/.test(id) || /^\.+$/.test(id)) {
    throw new CrawlError('OPTION_INVALID', `invalid queue name "${id}": use letters, digits, "-", "_", "." and "~"`);
  }
  const client = config.get('storageClient');
  if (client !== undefined && options.redisUrl === undefined) return { kind: 'client', key: id, client };
  const url = options.redisUrl ?? config.get('redisUrl');
  if (url) return { kind: 'redis', key: `${url} ${id}`, url, id };
  if (!config.get('persistStorage')) return { kind: 'memory', key: id };
  return { kind: 'folder', key: path.join(config.localDataDirectory(), 'request_queues', id) };
}

/** The visit log folder of polite crawls: `visits/NAME` next to `request_queues`. */
export function visitsFolderOf(folder: string): string {
  return path.join(path.dirname(path.dirname(folder)), 'visits', path.basename(folder));
}

/** A queue's frontier, and this process's client for it. */
export async function openFrontier(place: QueuePlace, options: RequestQueueOpenOptions) {
  const holder = newHolderId();
  // A queue in Redis is always shared: no process can know that it is alone.
  const wanted = place.kind === 'redis' ? 'shared' : (options.access ?? 'owner');
  const common = {
    holder,
    pacing: { delayMs: 0, turns: MAX_TURNS },
    leaseMs: (options.requestLockSecs ?? DEFAULT_LOCK_SECS) * 1000,
  };
  const recent = createRecentFingerprints();
  const frontier = await openIn(place, { ...common, access: wanted, onForgotten: recent.clear });
  const access = place.kind === 'client' ? ((frontier as ClientFrontier).access ?? 'shared') : wanted;
  // A live owner's leases do not expire.
  const leaseMs = access === 'owner' ? Infinity : common.leaseMs;
  return {
    frontier,
    /** Fingerprints that the frontier confirmed recently. */
    recent,
    folder: place.kind === 'folder' ? place.key : undefined,
    /** Opens what is known of hosts, where the backend of the queue keeps it. */
    openHosts: place.kind === 'client' && place.client.openHosts ? () => place.client.openHosts!(place.key) : undefined,
    access,
    leaseMs,
    client: createFrontierClient(frontier, { id: holder, leaseMs }),
    /** Closes the queue and removes it with everything in it. */
    async remove(): Promise<void> {
      if ('drop' in frontier) return frontier.drop();
      await frontier.close();
      if (place.kind !== 'folder') return;
      // Becoming its owner fails while other processes share it: their work must not be deleted.
      if (access === 'shared') await (await openFrontier(place, { access: 'owner' })).frontier.close();
      for (const folder of [place.key, visitsFolderOf(place.key)]) {
        await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      }
    },
  };
}

async function openIn(
  place: QueuePlace,
  options: FrontierOptions,
): Promise<EmbeddedFrontier | RedisFrontier | ClientFrontier> {
  switch (place.kind) {
    case 'memory':
      return createMemoryFrontier(options);
    case 'folder':
      return (await import('../embedded/store/lmdb.js')).openLmdbFrontier(place.key, options);
    case 'redis': {
      const [{ openRedisFrontier }, { queuePrefix }] = await Promise.all([
        import('../redis/frontier.js'),
        import('../redis/keys.js'),
      ]);
      return openRedisFrontier({
        url: place.url,
        prefix: queuePrefix(place.id, place.url),
        seen: { kind: 'requests' },
        pacing: options.pacing,
        leaseMs: options.leaseMs,
        warn: (message) => warnOnce(`redis ${place.id}`, message),
        onForgotten: options.onForgotten,
      });
    }
    case 'client':
      return place.client.openFrontier({ ...options, id: place.key });
    default:
      return place satisfies never;
  }
}

interface FrontierOptions {
  readonly holder: HolderId;
  readonly pacing: Pacing;
  readonly leaseMs: number;
  readonly access: 'owner' | 'shared';
  /** The store came back without its last calls. */
  readonly onForgotten: () => void;
}
