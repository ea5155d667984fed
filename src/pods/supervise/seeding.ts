// Streams seeds from a file of URLs and bare domains to the pods that own them.
// Promise: memory does not grow with the file; an invalid line is counted and reported, the others are queued.
import { createReadStream } from 'node:fs';
import { isIP } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { CrawlError } from '../../errors.js';
import { specialKind } from '../../fetch/http/guard.js';
import { entryOf } from '../../frontier/entry.js';
import type { QueueEntry } from '../../frontier/frontier.js';
import { countOf } from '../../observe/figures.js';
import type { Log } from '../../observe/log.js';
import { hideLogins } from '../../request/login.js';
import { Request } from '../../request/request.js';
import { MAX_URL_LENGTH, parseUrl } from '../../request/url.js';
import { podOfDomain } from '../topology.js';

export interface SeedReport {
  readonly seeds: number;
  readonly wrong: number;
  readonly refused: number;
  /** Seeds per pod. */
  readonly byPod: readonly number[];
}

export interface SeedingOptions {
  readonly file: string;
  readonly pods: number;
  /** Where a pod's seeds go; undefined for pods of other machines, which read their own. */
  readonly add: (pod: number) => ((entries: readonly QueueEntry[]) => Promise<void>) | undefined;
  /** Why a URL is never visited. */
  readonly refuse: (url: string) => string | undefined;
  readonly batchSize: number;
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly retryMs?: number;
}

const MAX_NAMED_LINES = 10;
const RETRY_MS = 1_000;
/** Batches per pod that may wait; then reading pauses. */
const MAX_WAITING = 2;

export async function seedPods(options: SeedingOptions): Promise<SeedReport> {
  const { file, pods, batchSize, signal, log } = options;
  const lines = pods === 0 ? [] : createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Infinity });
  const byPod = new Array<number>(pods).fill(0);
  const waiting = byPod.map((): QueueEntry[] => []);
  const sending = byPod.map((): Promise<void>[] => []);
  const wrong: string[] = [];
  const counts = { seeds: 0, wrong: 0, refused: 0 };
  let number = 0;

  async function send(pod: number): Promise<void> {
    const add = options.add(pod);
    const batch = waiting[pod]!;
    waiting[pod] = [];
    if (!add || batch.length === 0) return;
    const queue = sending[pod]!;
    while (queue.length >= MAX_WAITING) await queue[0];
    const sent = addPatiently(add, batch).finally(() => void queue.splice(queue.indexOf(sent), 1));
    // The awaiter gets the error; until then it must not end the process.
    sent.catch(() => undefined);
    queue.push(sent);
  }

  /** Waits for an unreachable or full store. */
  async function addPatiently(add: (entries: readonly QueueEntry[]) => Promise<void>, batch: QueueEntry[]) {
    while (!signal.aborted) {
      try {
        return await add(batch);
      } catch (error) {
        if (!(error instanceof CrawlError) || error.class !== 'transient') throw error;
        log.warning(`Seeds wait: ${error.message}`);
        await delay(options.retryMs ?? RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  for await (const line of lines) {
    if (signal.aborted) break;
    number++;
    const text = line.trim();
    if (text === '' || text.startsWith('#')) continue;
    const url = seedUrl(text);
    if (url === undefined) {
      counts.wrong++;
      if (wrong.length < MAX_NAMED_LINES) wrong.push(`line ${number}: "${hideLogins(text).slice(0, 60)}"`);
      continue;
    }
    if (options.refuse(url) !== undefined) {
      counts.refused++;
      continue;
    }
    const entry = entryOf(new Request({ url }, true));
    const pod = podOfDomain(entry.domain, pods);
    counts.seeds++;
    byPod[pod]!++;
    waiting[pod]!.push(entry);
    if (waiting[pod]!.length >= batchSize) await send(pod);
  }
  await Promise.all(byPod.map((_, pod) => send(pod)));
  await Promise.all(sending.flat());
  if (counts.seeds + counts.refused === 0 && !signal.aborted) {
    const named = wrong.length === 0 ? '' : `: ${wrong.join(', ')}`;
    throw new CrawlError('OPTION_INVALID', `${file} has no valid URL or domain${named}`);
  }
  if (counts.wrong > 0) {
    log.warning(
      `${countOf(counts.wrong, 'invalid line')} in ${file} (not a URL or domain), such as ${wrong.join(', ')}`,
    );
  }
  return { ...counts, byPod };
}

/** The URL of a line: http(s) unchanged, a bare domain with https. */
export function seedUrl(text: string): string | undefined {
  // A comment may follow after a space: `#` within a URL is a fragment.
  const said = text.replace(/\s#.*$/, '').trim();
  if (said === '' || said.length > MAX_URL_LENGTH || /\s/.test(said)) return undefined;
  const url = parseUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(said) ? said : `https://${said}`);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
  const isName = url.hostname.includes('.') || url.hostname === 'localhost' || url.hostname.startsWith('[');
  return isName && url.username === '' && url.password === '' ? url.href : undefined;
}

/** The kind of a URL's non-public address; undefined for public ones and unresolved names. */
export function privateKindOf(url: string): string | undefined {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  if (host === 'localhost' || host.endsWith('.localhost')) return 'loopback';
  return isIP(host) === 0 ? undefined : specialKind(host);
}

/** How evenly seeds are distributed over pods. */
export function distribution(byPod: readonly number[]): { min: number; max: number; mean: number; imbalance: number } {
  const total = byPod.reduce((sum, count) => sum + count, 0);
  const mean = total / Math.max(1, byPod.length);
  const max = Math.max(0, ...byPod);
  return {
    min: byPod.length === 0 ? 0 : Math.min(...byPod),
    max,
    mean: Math.round(mean * 100) / 100,
    imbalance: mean === 0 ? 1 : Math.round((max / mean) * 1_000) / 1_000,
  };
}
