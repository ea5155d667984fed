// The pod's parse queue: how parsers take captures with their leases, and how fetchers slow down when it grows.
// Promise: above the hard limit nothing new is fetched until the queue is below the soft one.
import { CrawlError } from '../../errors.js';
import type { Frontier } from '../../frontier/frontier.js';
import type { RedisFrontier } from '../../frontier/redis/frontier.js';
import { unpackRecord } from '../../request/record.js';

/** How long an idle parser waits before it asks again. */
const POLL_MS = 250;
const MAX_PULL = 256;

export interface PullingFrontier {
  /** The pod's frontier, except that leases come from the parse queue. */
  readonly frontier: Frontier;
  /** The capture of a pulled URL; once. */
  captureOf(url: string): string | undefined;
}

/** `isForWork` false: pulled entries are only returned. */
export function pullFrom(redis: RedisFrontier, isForWork = true): PullingFrontier {
  const captures = new Map<string, string[]>();
  return {
    frontier: {
      add: (call) => redis.add(call),
      settle: (call) => redis.settle(call),
      release: (holder) => redis.release(holder),
      find: (fingerprints) => redis.find(fingerprints),
      overview: () => redis.overview(),
      close: () => redis.close(),
      async lease({ holder, call, max }) {
        const wanted = Math.min(max, MAX_PULL);
        const { held, leases } = await redis.pod.pull({ holder, call, max: wanted, isForWork });
        if (!held) throw new CrawlError('LEASE_LOST', `holder ${holder} was lost: start a new one`);
        for (const { record, capture } of leases) {
          const { url } = unpackRecord(record);
          const names = captures.get(url);
          if (names) names.push(capture);
          else captures.set(url, [capture]);
        }
        if (leases.length > 0 && leases.length === wanted) return { leases, state: 'more' };
        return { leases, state: 'waiting', nextDueMs: POLL_MS };
      },
    },
    captureOf(url) {
      const names = captures.get(url);
      const name = names?.shift();
      if (names?.length === 0) captures.delete(url);
      return name;
    },
  };
}

export interface QueueLimits {
  readonly soft: number;
  readonly hard: number;
  readonly maxBytes: number;
}

export interface QueueSize {
  readonly entries: number;
  readonly bytes: number;
}

export interface Backpressure {
  /** The latest state of the queue. */
  see(size: QueueSize): void;
  /** Whether another page may be fetched now. */
  mayStart(): boolean;
  /** How often fetching was slowed down and stopped. */
  readonly events: { readonly soft: number; readonly hard: number };
}

const LONGEST_SLEEP_MS = 2_000;
const JITTER_MS = 500;

/**
 * Above the soft limit fetching sleeps, longer as the hard limit approaches; above that it waits until the queue is
 * below the soft limit. Bytes are limited in the same way, with a soft limit in the same proportion.
 */
export function createBackpressure(
  limits: QueueLimits,
  { nowMs = () => performance.now(), random = Math.random }: { nowMs?: () => number; random?: () => number } = {},
): Backpressure {
  const { soft, hard, maxBytes } = limits;
  const softBytes = (maxBytes * soft) / hard;
  let isBlocked = false;
  let sleepUntilMs = 0;
  const events = { soft: 0, hard: 0 };

  /** 0 at the soft limit, 1 at the hard one. */
  const farness = ({ entries, bytes }: QueueSize): number =>
    Math.max((entries - soft) / (hard - soft), (bytes - softBytes) / (maxBytes - softBytes));

  return {
    see(size) {
      const far = farness(size);
      if (isBlocked) {
        isBlocked = far > 0;
        return;
      }
      // One sleep at a time: pages are fetched in between.
      if (far <= 0 || (far < 1 && nowMs() < sleepUntilMs)) return;
      if (far >= 1) {
        events.hard++;
        isBlocked = true;
      } else {
        events.soft++;
        sleepUntilMs = nowMs() + LONGEST_SLEEP_MS * far + JITTER_MS * random();
      }
    },
    mayStart: () => !isBlocked && nowMs() >= sleepUntilMs,
    events,
  };
}
