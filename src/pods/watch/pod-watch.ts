// The watch of one pod: its worker queues the pages that are due, within its share of the budget, and tells what changed.
// Promise: each change is an item of the dataset `changes` exactly once, and is posted at least once, in order.
import { createFeeder } from '../../crawl/watch/feeder.js';
import { createHintReader } from '../../crawl/watch/hint-reader.js';
import { createPoster } from '../../crawl/watch/poster.js';
import { changeItemOf, CHANGES_DATASET, isTold } from '../../crawl/watch/watch.js';
import { isMarkup } from '../../crawl/navigate/content-type.js';
import { systemTime } from '../../crawl/time.js';
import { operationInfo } from '../../frontier/queue/operation-infos.js';
import { entryOf } from '../../frontier/entry.js';
import type { CheerioCrawlingContext } from '../../handle/context.js';
import type { Log } from '../../observe/log.js';
import { Request, type RequestOptions } from '../../request/request.js';
import type { PodsConfig, PodsWatch } from '../config/types.js';
import { countsLinks, type PodMemory } from '../worker/pod-memory.js';
import type { RoutingClient } from '../worker/routing-client.js';
import { podOfUrl } from '../topology.js';
import { createWatchClient, type WatchClient } from './watch-client.js';

export interface PodWatch {
  /** Leases visits that are due. */
  readonly client: WatchClient;
  /** Stores what changed, with the visit. */
  tell(page: CheerioCrawlingContext): Promise<void>;
  /** The part of the budget that is this pod's, from 0 to 1. */
  setShare(part: number): void;
  /** How many pages the pod knows. */
  readonly watched: number;
  start(): void;
  close(): Promise<void>;
}

export interface PodWatchParts {
  readonly watch: PodsWatch;
  readonly config: Pick<PodsConfig, 'pods' | 'userAgent' | 'allowPrivateAddresses' | 'politenessDelaySeconds'>;
  /** The number of the pod. */
  readonly pod: number;
  readonly memory: PodMemory;
  readonly own: RoutingClient;
  readonly log: Pick<Log, 'warning'>;
  /** Something is queued. */
  readonly notify: () => void;
}

const TICK_MS = 500;
const TOLD_AT_ONCE = 100;
/** Of the budget that reading sitemaps and feeds may take: there may be more sites than visits per hour. */
const HINTS_PART = 0.05;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 300_000;

export function createPodWatch(parts: PodWatchParts): PodWatch {
  const { watch, log } = parts;
  const { memory, schedule, remembering, hints } = parts.memory;
  const nowSecs = () => Math.floor(Date.now() / 1000);
  const client = createWatchClient({ own: parts.own, memory, nowSecs });
  const poster = watch.webhook === undefined ? undefined : createPoster(watch.webhook);
  const perSec = watch.requestsPerHour / 3_600;
  const feeder = createFeeder({
    memory,
    schedule: schedule!,
    hints,
    queue: { addRequestsBatched: addVisits },
    time: systemTime,
    visitsPerSec: perSec / parts.config.pods.length,
    isOver: () => isClosed,
  });
  const { pods, userAgent, allowPrivateAddresses, politenessDelaySeconds } = parts.config;
  let share = 1 / pods.length;
  const lists = Array.isArray(watch.hints) ? (watch.hints as readonly string[]) : [];
  const reader =
    hints &&
    createHintReader({
      ...{ memory, hints, time: systemTime, userAgent, allowPrivateAddresses },
      isNamed: false,
      delayMs: politenessDelaySeconds * 1_000,
      lists: lists.filter((url) => podOfUrl(url, pods.length) === parts.pod),
      spend: (requests) => feeder.spend(requests),
      requestsPerSec: () => perSec * share * HINTS_PART,
    });
  let isClosed = false;
  let feeding: Promise<void> | undefined;
  let posting: Promise<void> | undefined;
  let pauseMs = 0;
  let notBeforeMs = 0;
  const timers: NodeJS.Timeout[] = [];

  async function addVisits(requests: Parameters<Parameters<typeof createFeeder>[0]['queue']['addRequestsBatched']>[0]) {
    const visits = [...(requests as Iterable<RequestOptions>)].map((request) => new Request(request));
    const presences = await parts.own.add(visits.map((request) => entryOf(request)));
    parts.notify();
    const addedRequests = visits.map(({ uniqueKey }, index) => operationInfo(uniqueKey, presences[index]!));
    return { addedRequests, waitForAllRequestsToBeAdded: Promise.resolve(addedRequests) };
  }

  /** The links of a page to pages of this pod. */
  function ownLinks({ content, document, contentType }: CheerioCrawlingContext): { url: string; depth: number }[] {
    if (!document && !isMarkup(contentType.type)) return [];
    return content.links
      .filter(({ element, url }) => element === 'a' && /^https?:/.test(url))
      .filter(({ url }) => podOfUrl(url, pods.length) === parts.pod)
      .map(({ url }) => ({ url, depth: 0 }));
  }

  async function postAll(): Promise<void> {
    for (;;) {
      const portion = memory.untold(TOLD_AT_ONCE);
      if (portion.length === 0) return;
      for (const { number, text } of portion) {
        if (isClosed) return;
        await poster!.post(text);
        await memory.forgetTold(number);
      }
    }
  }

  function post(): void {
    if (!poster || posting || isClosed || performance.now() < notBeforeMs) return;
    posting = postAll()
      .then(() => void (pauseMs = 0))
      .catch((error: unknown) => {
        pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, pauseMs * 2));
        notBeforeMs = performance.now() + pauseMs;
        const again = Math.ceil(pauseMs / 1000);
        log.warning(`The webhook did not accept a change (${(error as Error).message}). Trying again in ${again} s.`);
      })
      .finally(() => (posting = undefined));
  }

  function feed(): void {
    feeding ??= client
      .planForgotten()
      .then(() => {
        reader?.look();
        return feeder.feed();
      })
      // A store that is away ends the run, or comes back.
      .catch((error: unknown) => void (isClosed || log.warning(`Nothing was queued: ${(error as Error).message}`)))
      .finally(() => (feeding = undefined));
  }

  return {
    client,
    async tell(page) {
      const { change, request, response } = page;
      reader?.addOrigin(new URL(request.loadedUrl ?? request.url).origin);
      // Links are counted at the first visit; links that lead to other pods are counted nowhere.
      if (countsLinks(watch) && change?.visits === 1) remembering.found(request, ownLinks(page), 0);
      if (!change || !isTold(change)) return;
      const item = changeItemOf(request, change, response.statusCode, systemTime, watch.diff);
      await page.pushData(item, CHANGES_DATASET);
      if (poster) remembering.tell(request, JSON.stringify(item));
    },
    setShare(part) {
      share = part;
      schedule!.setBudget(perSec * part);
      feeder.setBudget(perSec * part);
    },
    get watched() {
      return memory.size;
    },
    start: () => void timers.push(setInterval(feed, TICK_MS), setInterval(post, TICK_MS)),
    async close() {
      isClosed = true;
      timers.forEach((timer) => clearInterval(timer));
      await reader?.close();
      await feeding;
      await posting;
      await poster?.close();
    },
  };
}
