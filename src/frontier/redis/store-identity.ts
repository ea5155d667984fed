// The identity of a store: its pod and number of pods, its crawl, and its rules for comparing URLs.
// A store with another topology, crawl or set of rules is refused before anything in it is changed.
import { CrawlError } from '../../errors.js';
import { FINGERPRINT_VERSION } from '../../request/fingerprint.js';
import { NORMALISATION_VERSION } from '../../request/url.js';
import { REDIS_SCHEMA_VERSION } from './keys.js';

export interface PodIdentity {
  /** The pod's place in the list of pods, from 0. */
  readonly index: number;
  readonly count: number;
  /** The version of the public suffix list. */
  readonly suffixList?: string;
  /** The crawl it must belong to; default any. */
  readonly crawl?: string;
}

/** The field of `pod:info` that names the crawl; its supervisor sets it when the crawl starts. */
export const CRAWL_FIELD = 'crawl';

export interface StoreIdentity {
  readonly where: string;
  readonly pod: PodIdentity | undefined;
  /** How seen requests are stored, as text (seen-memory.ts). */
  readonly memory: string;
}

/** The `pod:info` of a new store. */
export function freshInfo({ where, pod, memory }: StoreIdentity): Record<string, string> {
  return {
    ...(pod ? { pod_id: String(pod.index), pods: String(pod.count) } : {}),
    redis_url: where,
    initialized_at: new Date().toISOString(),
    normalisation: String(NORMALISATION_VERSION),
    fingerprint: String(FINGERPRINT_VERSION),
    suffix_list: pod?.suffixList ?? '',
    seen: memory,
  };
}

/** Throws unless the store was created for this pod with compatible rules. */
export function checkIdentity(expected: StoreIdentity, schema: string, info: ReadonlyMap<string, string>): void {
  const { where, pod, memory } = expected;
  if (schema !== REDIS_SCHEMA_VERSION) {
    throw new CrawlError(
      'QUEUE_VERSION',
      `the queue in Redis at ${where} has format ${schema}, this orcrawl reads ${REDIS_SCHEMA_VERSION}: finish it ` +
        'with the orcrawl that started it, or start fresh',
    );
  }
  const rules = freshInfo(expected);
  for (const name of ['normalisation', 'fingerprint', 'suffix_list'] as const) {
    if (info.get(name) === rules[name]) continue;
    throw new CrawlError(
      'QUEUE_VERSION',
      `the queue in Redis at ${where} compares URLs by other rules (${name} ${info.get(name) || 'unknown'}, this ` +
        `orcrawl: ${rules[name] || 'none'}): finish it with the orcrawl that started it, or start fresh`,
    );
  }
  const owner = info.has('pod_id') ? `pod ${info.get('pod_id')} of ${info.get('pods')}` : 'a queue outside any pod';
  const wanted = pod ? `pod ${pod.index} of ${pod.count}` : 'a queue outside any pod';
  if (owner !== wanted) {
    throw new CrawlError(
      'QUEUE_FOREIGN',
      `the store in Redis at ${where} belongs to ${owner}, not to ${wanted}: check the order and number of pods, ` +
        'or give each pod its own database',
    );
  }
  if (info.get('seen') !== memory) {
    throw new CrawlError(
      'QUEUE_FOREIGN',
      `the store in Redis at ${where} stores seen URLs as "${info.get('seen')}", not as "${memory}": keep dedup and its ` +
        'capacity as they were, or start fresh',
    );
  }
  const crawl = info.get(CRAWL_FIELD);
  if (pod?.crawl === undefined || crawl === pod.crawl) return;
  // Its own machine has not started yet.
  if (crawl === undefined) {
    throw new CrawlError('QUEUE_UNREACHABLE', `the store in Redis at ${where} is not part of crawl ${pod.crawl} yet`);
  }
  throw new CrawlError(
    'QUEUE_FOREIGN',
    `the store in Redis at ${where} belongs to crawl ${crawl}, not to ${pod.crawl}: check the addresses of the pods`,
  );
}
