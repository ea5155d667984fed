// Opens a pod's Redis the same way in every process of the crawl: same pacing, dedup and spill.
// Promise: every process adds to a pod by the same rules as its owner.
import { join } from 'node:path';
import { createRequire } from 'node:module';
import { openRedisFrontier, type RedisFrontier } from '../../frontier/redis/frontier.js';
import type { Pacing } from '../../frontier/frontier.js';
import { type Fingerprint, fingerprintOf } from '../../request/fingerprint.js';
import { unpackRecord } from '../../request/record.js';
import { Request } from '../../request/request.js';
import { normalizeUrl } from '../../request/url.js';
import { ROUNDING_MS } from '../../crawl/run/turn.js';
import type { PodsConfig } from '../config/types.js';
import { redisOptions } from './redis-options.js';

export interface PodFrontierOptions {
  /** `worker`: leases and may keep its spill. `guest`: only adds. `supervisor`: watches and seeds. */
  readonly as: 'worker' | 'guest' | 'supervisor';
  readonly warn: (message: string) => void;
  readonly create?: boolean;
  readonly onForgotten?: (calls: number) => void;
}

/** A guest does not block its own pod for an unreachable one. */
const GUEST_PATIENCE_MS = 2_000;
const SUPERVISOR_PATIENCE_MS = 5_000;

export function openPodFrontier(
  config: PodsConfig,
  index: number,
  options: PodFrontierOptions,
): Promise<RedisFrontier> {
  const pod = config.pods[index]!;
  if (pod.kind !== 'redis') throw new TypeError(`pod ${index} is not in Redis`);
  const { as } = options;
  return openRedisFrontier({
    ...redisOptions(config, pod),
    keepAlive: config.redisSocketKeepalive,
    ...(as === 'worker' ? {} : { patienceMs: as === 'guest' ? GUEST_PATIENCE_MS : SUPERVISOR_PATIENCE_MS }),
    pacing: pacingOf(config),
    leaseMs: config.leaseSeconds * 1_000,
    pod: {
      index,
      count: config.pods.length,
      suffixList: suffixListVersion(),
      // Its supervisor assigns it to the crawl.
      crawl: as === 'supervisor' ? undefined : config.crawl,
    },
    seen:
      config.dedup === 'exact'
        ? { kind: 'exact' }
        : { kind: 'bloom', capacity: config.bloomFilterCapacity, errorRate: config.bloomFilterErrorRate },
    domainBudget: config.maxUrlsPerDomain,
    fingerprintOf: fingerprintOfRecord,
    create: options.create ?? as === 'supervisor',
    spill: {
      folder: join(podStateDir(config, index), 'spill'),
      domainHead: config.domainHead,
      overflowLimit: config.overflowLimit,
      keep: as === 'worker',
      isLocal: as !== 'guest',
    },
    warn: as === 'worker' ? options.warn : undefined,
    onForgotten: options.onForgotten,
  });
}

export function pacingOf(config: PodsConfig): Pacing {
  const delayMs = config.politenessDelaySeconds * 1_000;
  return { delayMs: delayMs > 0 ? delayMs + ROUNDING_MS : 0, turns: config.maxConnectionsPerAddress };
}

/** A domain loses at most a hundredth of its delay; an idle worker settles at once. */
const COMPANY_OF_DELAY = 0.01;
const SHORTEST_COMPANY_MS = 10;
const LONGEST_COMPANY_MS = 250;

/** How long a finished visit waits for others: a call costs the store as much as a few pages. */
export function settleBatchWaitMs(config: PodsConfig): number {
  const { delayMs } = pacingOf(config);
  if (delayMs === 0) return LONGEST_COMPANY_MS;
  return Math.min(LONGEST_COMPANY_MS, Math.max(SHORTEST_COMPANY_MS, delayMs * COMPANY_OF_DELAY));
}

/** Local state of a pod: its spill and host records, or everything if it is embedded. */
export function podStateDir(config: PodsConfig, index: number): string {
  return join(config.stateDir, `pod_${index}`);
}

/** The fingerprint of an accepted request, from its record alone. */
export function fingerprintOfRecord(record: string): Fingerprint {
  const { url, uniqueKey, keepUrlFragment, useExtendedUniqueKey } = unpackRecord(record);
  if (uniqueKey !== undefined) return fingerprintOf(uniqueKey);
  if (useExtendedUniqueKey) return Request.fromRecord(record).fingerprint;
  return fingerprintOf(normalizeUrl(url, keepUrlFragment));
}

let suffixList: string | undefined;

/** The version of the public suffix list: the release of its package. */
export function suffixListVersion(): string {
  suffixList ??= `tldts ${(createRequire(import.meta.url)('tldts/package.json') as { version: string }).version}`;
  return suffixList;
}
