// Opening a public queue: its options, its folder, and the frontier behind it.
import path from 'node:path';
import { Configuration } from '../configuration.js';
import { CrawlError } from '../errors.js';
import type { WITHIN_FIRST_USE } from '../first-use.js';
import { aNumber, check, checkOptions, oneOf, refused, type Shape } from '../option-checks.js';
import { createHolder, newHolderId } from './holder.js';
import { createMemoryFrontier } from './memory.js';
import { MAX_TURNS } from './validation.js';

const DEFAULT_LOCK_SECS = 180;

export interface RequestQueueOpenOptions {
  config?: Configuration;
  /** `owner` (default): this process alone works on the queue. `shared`: several processes may. */
  access?: 'owner' | 'shared';
  /** How long a silent process keeps its requests when nobody can tell that it died. */
  requestLockSecs?: number;
  /** @internal */
  [WITHIN_FIRST_USE]?: true;
}

const OPEN_SHAPE: Shape = {
  config: check('a Configuration', (value) => value instanceof Configuration),
  access: oneOf(['owner', 'shared']),
  requestLockSecs: aNumber({ above: 0 }),
  redisUrl: refused('queues on Redis come with a later version'),
};

/** Refuses what would be ignored silently. */
export function checkOpenOptions(options: RequestQueueOpenOptions, config: Configuration): void {
  checkOptions('RequestQueue.open', options, OPEN_SHAPE);
  if (config.get('redisUrl')) {
    throw new CrawlError('OPTION_INVALID', 'ORCRAWL_REDIS_URL: queues on Redis come with a later version; unset it');
  }
}

/** Where a queue lives on disk; undefined when nothing is to be stored. */
export function queueFolder(id: string, config: Configuration): string | undefined {
  if (!/^[\w.~-]{1,200}$/.test(id) || /^\.+$/.test(id)) {
    throw new CrawlError('OPTION_INVALID', `"${id}" is no queue name: letters, digits, "-", "_", "." and "~" only`);
  }
  if (!config.get('persistStorage')) return undefined;
  return path.join(config.localDataDirectory(), 'request_queues', id);
}

/** Where the visits of polite crawls over a queue are logged: `visits/NAME` beside `request_queues`. */
export function visitsFolderOf(folder: string): string {
  return path.join(path.dirname(path.dirname(folder)), 'visits', path.basename(folder));
}

/** The frontier behind a queue, and this process's life in it. */
export async function openFrontier(folder: string | undefined, options: RequestQueueOpenOptions) {
  const holder = newHolderId();
  const access = options.access ?? 'owner';
  const common = {
    holder,
    pacing: { delayMs: 0, turns: MAX_TURNS },
    leaseMs: (options.requestLockSecs ?? DEFAULT_LOCK_SECS) * 1000,
  };
  const frontier = folder
    ? await (await import('./lmdb.js')).openEmbeddedLmdb(folder, { ...common, access })
    : createMemoryFrontier(common);
  // An owner's leases do not expire while it lives.
  const leaseMs = access === 'owner' ? Infinity : common.leaseMs;
  return { frontier, folder, access, leaseMs, holder: createHolder(frontier, { id: holder, leaseMs }) };
}
