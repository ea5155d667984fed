// The pulled and unfinished URLs of a batch: config, attempt and cookies of each.
// Promise: keyed by list position, so that a URL given twice has two results; nothing is kept of a finished URL.
import { asCrawlError, type CrawlError } from '../../errors.js';
import { anObject, aWholeNumber, check, findProblems, optionError, shown, type Shape } from '../../option-checks.js';
import { type Priority, Request } from '../../request/request.js';
import { parseUrl } from '../../request/url.js';
import { Session } from '../../session/session.js';
import { PAGE_SHAPE } from '../browser/page-config.js';
import { isoNow, type Time } from '../time.js';
import { type CacheStatus, CrawlResult, type FetchedCapture } from './crawl-result.js';
import { mergedRunConfig, type ResolvedRunConfig, RUN_SHAPE, type RunConfig } from './run-config.js';
import type { Many } from './url-source.js';

/**
 * One item of a list: a URL, or a URL with its own options. Items of a higher priority (-2 to 2, default 0) go first: of
 * an array all of them, of a list that is read as it comes those of the same domain that were read so far.
 */
export type UrlItem =
  string | { readonly url: string; readonly config?: RunConfig | undefined; readonly priority?: Priority | undefined };

const ITEM_SHAPE: Shape = {
  url: check('a URL', () => true),
  config: anObject,
  priority: aWholeNumber({ from: -2, to: 2 }),
};

/** An attempt under way. */
export interface BatchAttempt {
  /** Breaks it off. */
  readonly abortion: AbortController;
  /** It was broken off to free memory. */
  isShed: boolean;
}

/** How a URL goes through the dispatcher. */
interface TaskProgress {
  readonly pulledAtMs: number;
  /** Of the first attempt. */
  startedAtMs?: number;
  startTime?: string;
  peakMemoryMb: number;
}

/** A URL of the list in work. */
export class BatchTask {
  attempts = 0;
  /** While one is under way. */
  attempt: BatchAttempt | undefined;
  /** When the last attempt began, or got its turn in its session. */
  attemptStartedAtMs = 0;
  /** The response of the last attempt, if one came. */
  capture: TaskCapture | undefined;
  /** What a model found in it. */
  modelled: { readonly data: unknown } | undefined;
  redirectChain: readonly string[] = [];
  /** Of the URL as given; undefined when it was never queued. */
  domain: string | undefined;
  session: Session | undefined;
  readonly progress: TaskProgress;

  /** @param url exactly as given */
  constructor(
    readonly index: number,
    readonly url: string,
    readonly config: ResolvedRunConfig,
    pulledAtMs: number,
  ) {
    this.progress = { pulledAtMs, peakMemoryMb: 0 };
  }

  /** A new attempt begins. */
  begin(nowMs: number): BatchAttempt {
    this.attempts++;
    this.attemptStartedAtMs = nowMs;
    return (this.attempt = { abortion: new AbortController(), isShed: false });
  }
}

type TaskCapture = FetchedCapture & { readonly cacheStatus?: CacheStatus; readonly storedAtMs?: number };

/** An item as a task and the request that is queued for it, or the task and why it cannot be fetched. */
export type Admitted = { readonly task: BatchTask } & (
  | { readonly request: Request; readonly error?: undefined }
  | { readonly request?: undefined; readonly error: CrawlError }
);

export function admit(item: UrlItem, index: number, batch: ResolvedRunConfig, nowMs: number): Admitted {
  const isObject = typeof item === 'object' && item !== null;
  const given: unknown = isObject ? item.url : item;
  const url = typeof given === 'string' ? given : shown(given);
  try {
    const problems = isObject ? findProblems('runMany item', item, ITEM_SHAPE) : [];
    if (problems.length > 0) throw optionError(isObject ? [...problems, ...placeOfOptions(item)] : problems);
    const config = isObject ? mergedRunConfig(batch, item.config) : batch;
    const task = new BatchTask(index, url, config, nowMs);
    try {
      const request = new Request({
        url: config.jsOnly && !parseUrl(String(given)) ? LABEL_URL : (given as string),
        uniqueKey: String(index),
        priority: isObject ? item.priority : undefined,
        maxRetries: config.maxRetries,
        method: config.method,
        payload: config.body,
        headers: config.headers as Record<string, string> | undefined,
        // Whoever wrote the list named the host: it may be private. Where it redirects to may not.
        seeded: true,
      });
      return { task, request };
    } catch (error) {
      return { task, error: asCrawlError(error, 'URL_INVALID') };
    }
  } catch (error) {
    return { task: new BatchTask(index, url, batch, nowMs), error: asCrawlError(error, 'OPTION_INVALID') };
  }
}

/** Says where options of a run belong that stand beside the URL. */
function placeOfOptions(item: object): string[] {
  const isOption = (key: string): boolean => key in RUN_SHAPE || key in PAGE_SHAPE;
  return Object.keys(item).some(isOption) ? ['options of a run belong in the config of its item: { url, config }'] : [];
}

/** The places of a list's items in the order in which they go; undefined when that is the order of the list. */
export function placesByPriority(items: Many<UrlItem>): readonly number[] | undefined {
  if (!Array.isArray(items)) return undefined;
  const priorityOf = (item: UrlItem) => (typeof item === 'object' && item !== null && item.priority) || 0;
  const list = items as readonly UrlItem[];
  if (!list.some((item) => priorityOf(item) !== 0)) return undefined;
  return [...list.keys()].sort((a, b) => Number(priorityOf(list[b]!)) - Number(priorityOf(list[a]!)) || a - b);
}

/** For `jsOnly` the URL is a label: nothing is sent to it. */
const LABEL_URL = 'http://label.invalid/';

/** A request's key is its place in the list; that of its redirects ends with it. */
export function indexOf(key: string): number {
  return Number(key.slice(key.lastIndexOf(' ') + 1) || NaN);
}

/** Cookies last as long as the URL: redirects and retries see them, other URLs never do. */
export function sessionOf(task: BatchTask): Session {
  return (task.session ??= new Session({
    id: String(task.index),
    maxErrorScore: Infinity,
    maxUsageCount: Infinity,
  }));
}

/** What became of it. */
export function resultOf(
  task: BatchTask,
  error: CrawlError | undefined,
  world: {
    readonly taskId: string;
    readonly memoryUsage: number;
    readonly engine: 'http' | 'browser';
    readonly time: Time;
  },
): CrawlResult {
  const { taskId, memoryUsage, engine, time } = world;
  const { capture, progress, redirectChain } = task;
  const nowMs = time.monotonicMs();
  const endTime = isoNow(time);
  return new CrawlResult({
    url: task.url,
    capture,
    engine,
    failure: error && { code: error.code, message: error.message },
    modelled: task.modelled,
    redirectChain: capture === undefined ? [] : redirectChain,
    cacheStatus: capture?.cacheStatus ?? 'miss',
    fetchedAt: capture?.storedAtMs === undefined ? endTime : new Date(capture.storedAtMs).toISOString(),
    config: task.config,
    dispatch: {
      taskId,
      index: task.index,
      memoryUsage,
      peakMemory: Math.max(progress.peakMemoryMb, memoryUsage),
      startTime: progress.startTime ?? endTime,
      endTime,
      attempts: task.attempts,
      waited: Math.round((progress.startedAtMs ?? nowMs) - progress.pulledAtMs),
    },
  });
}
