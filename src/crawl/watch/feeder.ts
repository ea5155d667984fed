// Feeds a watch's queue with the pages that are due, as many as the budget allows.
// Promise: no page is queued before it is due, none twice; what is queued is remembered by the queue, what is due by the
// memory, so the end of the process at any moment loses nothing.
import type { DueOrder, PageMemory } from '../../fresh/memory/memory.js';
import type { SiteHints } from '../../fresh/hints/site-hints.js';
import type { Schedule } from '../../fresh/schedule/schedule.js';
import type { RequestQueue } from '../../frontier/queue/request-queue.js';
import { type Fingerprint, fingerprintFromId, fingerprintToId } from '../../request/fingerprint.js';
import type { Time } from '../time.js';

export interface FeederParts {
  readonly memory: Pick<PageMemory, 'find'> & DueOrder;
  readonly schedule: Pick<Schedule, 'review'>;
  /** What sites say of their pages. */
  readonly hints?: Pick<SiteHints, 'isLeftAlone'> | undefined;
  readonly queue: Pick<RequestQueue, 'addRequestsBatched'>;
  readonly time: Time;
  readonly visitsPerSec: number;
  /** The watch ends: nothing more is queued. */
  readonly isOver?: () => boolean;
}

export interface Feeder {
  /** Queues what is due and paid for. */
  feed(): Promise<void>;
  /** Requests that others made are paid from the same budget. */
  spend(requests: number): void;
  /** From now on. */
  setBudget(visitsPerSec: number): void;
  /** Visits that were queued and have not ended, as far as known. */
  readonly underWay: number;
  /** Visits queued so far. */
  readonly queued: number;
}

/** As many visits as come in this time may be made at once, after a pause. */
const BURST_SECS = 60;
/** Due pages are looked at in portions. */
const PORTION = 200;
/**
 * A visit that the queue ended, and that the memory knows nothing of, may have ended the process: it is made again after
 * as long as the page was not visited, or is known, within these.
 */
const LEAST_AGAIN_SECS = 60;
const MOST_AGAIN_SECS = 86_400;
/** Before that the memory has so long to learn of it: the queue knows of an end first. */
const LEARN_MS = 60_000;
/** Of a visit that has not ended after this the queue is asked again. */
const ASK_AGAIN_MS = 600_000;

export function createFeeder({ memory, schedule, hints, queue, time, isOver, ...parts }: FeederParts): Feeder {
  const underWay = new Map<string, { readonly key: Fingerprint; readonly dueAt: number; readonly sinceMs: number }>();
  /** Visits that the queue ended and the memory did not know of when they were queued: since when. */
  const unlearned = new Map<string, { readonly dueAt: number; readonly sinceMs: number }>();
  let { visitsPerSec } = parts;
  // One visit at once; a restart does not give a new minute of budget.
  let tokens = 1;
  let queued = 0;
  let lastMs = time.monotonicMs();

  function earn(): void {
    const nowMs = time.monotonicMs();
    const mostTokens = Math.max(1, visitsPerSec * BURST_SECS);
    tokens = Math.min(mostTokens, tokens + ((nowMs - lastMs) / 1000) * visitsPerSec);
    lastMs = nowMs;
  }

  function forgetEnded(): void {
    const longAgoMs = time.monotonicMs() - ASK_AGAIN_MS;
    for (const [id, { key, dueAt, sinceMs }] of underWay) {
      if (sinceMs < longAgoMs || memory.find(key)?.page.nextVisitAt !== dueAt) underWay.delete(id);
    }
    for (const [id, { dueAt }] of unlearned) {
      if (memory.find(fingerprintFromId(id)!)?.page.nextVisitAt !== dueAt) unlearned.delete(id);
    }
  }

  /** Left by an earlier process, and ended just now, or long ago. Only a memory that never learns of it is told. */
  async function awaitMemory(key: Fingerprint, dueAt: number, nowSecs: number): Promise<void> {
    const id = fingerprintToId(key);
    const known = unlearned.get(id);
    const nowMs = time.monotonicMs();
    if (known?.dueAt !== dueAt) {
      unlearned.set(id, { dueAt, sinceMs: nowMs });
      // Passed over until then, so that many of them do not hold up the others.
      underWay.set(id, { key, dueAt, sinceMs: nowMs - ASK_AGAIN_MS + LEARN_MS });
    } else if (nowMs - known.sinceMs > LEARN_MS) {
      unlearned.delete(id);
      const { visits, visitedAt, changedAt } = memory.find(key)!.page;
      const unvisitedSecs = nowSecs - (visits === 0 ? changedAt : visitedAt);
      await memory.plan(key, nowSecs + Math.min(MOST_AGAIN_SECS, Math.max(LEAST_AGAIN_SECS, unvisitedSecs)));
    }
  }

  async function queueVisit(key: Fingerprint, dueAt: number, nowSecs: number): Promise<void> {
    const known = memory.find(key)!;
    const { url } = known.names;
    const { depth } = known.page;
    // The same visit has the same name, also in the next life of the process.
    const request = { url, uniqueKey: `due ${dueAt} ${url}`, crawlDepth: depth };
    const { addedRequests } = await queue.addRequestsBatched([request], { seeded: depth === 0 });
    if (addedRequests[0]?.wasAlreadyHandled) return awaitMemory(key, dueAt, nowSecs);
    underWay.set(fingerprintToId(key), { key, dueAt, sinceMs: time.monotonicMs() });
    if (addedRequests[0]?.wasAlreadyPresent) return;
    queued++;
    tokens--;
  }

  return {
    get underWay() {
      forgetEnded();
      return underWay.size;
    },
    get queued() {
      return queued;
    },
    spend(requests) {
      tokens -= requests;
    },
    setBudget(perSec) {
      earn();
      visitsPerSec = perSec;
    },
    async feed() {
      earn();
      forgetEnded();
      const nowSecs = Math.floor(time.wallMs() / 1000);
      let looked = 0;
      for (const { key, atSecs } of memory.due(nowSecs, underWay.size + PORTION)) {
        if (tokens < 1 || looked >= PORTION || isOver?.()) return;
        if (underWay.has(fingerprintToId(key))) continue;
        looked++;
        const known = memory.find(key);
        if (known?.page.nextVisitAt !== atSecs) continue;
        const { page } = known;
        // It is the same by what its site says: looked at again after as long as it was not visited.
        const isAlone = hints?.isLeftAlone(key, known) === true;
        const review = isAlone
          ? nowSecs + Math.max(1, nowSecs - page.visitedAt)
          : page.visits === 0
            ? 'visit'
            : schedule.review(page, nowSecs);
        if (review === 'visit') await queueVisit(key, atSecs, nowSecs);
        else await memory.plan(key, review);
      }
    },
  };
}
