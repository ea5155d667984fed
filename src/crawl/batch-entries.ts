// The URLs of a batch that are pulled and not ended: which config each has, how its attempts went, its cookies.
// Promise: keyed by place in the list, so that a URL given twice has two results; nothing of an ended URL is kept.
import { asCrawlError, type CrawlError } from '../errors.js';
import { shown } from '../option-checks.js';
import { Request } from '../request/request.js';
import { parseUrl } from '../request/url.js';
import { Session } from '../session/session.js';
import { type CacheStatus, CrawlResult, type FetchedCapture } from './crawl-result.js';
import type { Capture } from '../fetch/engine.js';
import type { Departure } from './departure.js';
import { mergedRunConfig, type ResolvedRunConfig, type RunConfig } from './run-config.js';

/** One item of a list: a URL, or a URL with its own options. */
export type UrlItem = string | { readonly url: string; readonly config?: RunConfig };

export interface Entry {
  readonly index: number;
  /** Exactly as given. */
  readonly url: string;
  readonly config: ResolvedRunConfig;
  readonly pulledAtMs: number;
  /** Of the first attempt. */
  startedAtMs: number | undefined;
  startTime: string | undefined;
  attemptStartedAtMs: number;
  attempts: number;
  /** Refetches that the rate limiter asked for. */
  refetches: number;
  /** The response of the last attempt, if one came. */
  capture: (FetchedCapture & { readonly cacheStatus?: CacheStatus; readonly storedAtMs?: number }) | undefined;
  redirected: boolean;
  peakMemoryMb: number;
  /** Of the URL as given; undefined when it was never queued. */
  domain: string | undefined;
  /** Breaks off the attempt under way. */
  abortion: AbortController | undefined;
  isShed: boolean;
  session: Session | undefined;
  /** How it leaves, when the gate let it through. */
  departure: Departure | undefined;
  /** While an attempt is under way: resolves when its domain has rested after this answer, so that it may ask again. */
  rest: ((capture: Capture) => Promise<void>) | undefined;
}

/** An item as an entry and the request that is queued for it, or the entry and why it cannot be fetched. */
export type Admitted = { readonly entry: Entry } & (
  | { readonly request: Request; readonly error?: undefined }
  | { readonly request?: undefined; readonly error: CrawlError }
);

export function admit(item: UrlItem, index: number, batch: ResolvedRunConfig, nowMs: number): Admitted {
  const isObject = typeof item === 'object' && item !== null;
  const given: unknown = isObject ? item.url : item;
  const url = typeof given === 'string' ? given : shown(given);
  try {
    const config = isObject ? mergedRunConfig(batch, item.config) : batch;
    const entry = newEntry(index, url, config, nowMs);
    try {
      const request = new Request({
        url: config.jsOnly && !parseUrl(String(given)) ? LABEL_URL : (given as string),
        uniqueKey: keyOf(index, 0),
        sessionId: keyOf(index, 0),
        maxRetries: config.maxRetries,
        method: config.method,
        payload: config.body,
        headers: config.headers as Record<string, string> | undefined,
        // Whoever wrote the list named the host: it may be private. Where it redirects to may not.
        seeded: true,
      });
      return { entry, request };
    } catch (error) {
      return { entry, error: asCrawlError(error, 'URL_INVALID') };
    }
  } catch (error) {
    return { entry: newEntry(index, url, batch, nowMs), error: asCrawlError(error, 'OPTION_INVALID') };
  }
}

/** For `jsOnly` the URL is a label: nothing is sent to it. */
const LABEL_URL = 'http://label.invalid/';

function newEntry(index: number, url: string, config: ResolvedRunConfig, nowMs: number): Entry {
  return {
    index,
    url,
    config,
    pulledAtMs: nowMs,
    startedAtMs: undefined,
    startTime: undefined,
    attemptStartedAtMs: nowMs,
    attempts: 0,
    refetches: 0,
    capture: undefined,
    redirected: false,
    peakMemoryMb: 0,
    domain: undefined,
    abortion: undefined,
    isShed: false,
    session: undefined,
    departure: undefined,
    rest: undefined,
  };
}

/** A request's key: its place in the list, and which redirect of it. */
export function keyOf(index: number, hop: number): string {
  return `${index}.${hop}`;
}

export function indexOf(key: string): number {
  return Number.parseInt(key, 10);
}

/** Cookies last as long as the URL: redirects and retries see them, other URLs never do. */
export function sessionOf(entry: Entry): Session {
  return (entry.session ??= new Session({
    id: keyOf(entry.index, 0),
    maxErrorScore: Infinity,
    maxUsageCount: Infinity,
  }));
}

/** What became of it. */
export function resultOf(
  entry: Entry,
  error: CrawlError | undefined,
  world: { readonly taskId: string; readonly memoryUsage: number; readonly engine: 'http' | 'browser' },
): CrawlResult {
  const { taskId, memoryUsage, engine } = world;
  const { capture } = entry;
  const nowMs = performance.now();
  const endTime = new Date().toISOString();
  return new CrawlResult({
    url: entry.url,
    capture,
    engine,
    failure: error && { code: error.code, message: error.message },
    redirected: entry.redirected && capture !== undefined,
    cacheStatus: capture?.cacheStatus ?? 'miss',
    fetchedAt: capture?.storedAtMs === undefined ? endTime : new Date(capture.storedAtMs).toISOString(),
    config: entry.config,
    dispatch: {
      taskId,
      index: entry.index,
      memoryUsage,
      peakMemory: Math.max(entry.peakMemoryMb, memoryUsage),
      startTime: entry.startTime ?? endTime,
      endTime,
      attempts: entry.attempts,
      waited: Math.round((entry.startedAtMs ?? nowMs) - entry.pulledAtMs),
    },
  });
}
