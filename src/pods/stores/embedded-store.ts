// An embedded pod in its only worker: the frontier on disk that it owns, its inbox, and the other pods' inboxes.
// Promise: a link for another pod is in that pod's inbox before its visit is acknowledged.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { PRIVATE_FOLDER } from '../../base/private-files.js';
import type { Counters } from '../../frontier/frontier.js';
import { type FrontierClient, newHolderId } from '../../frontier/client.js';
import { type Inbox, openInbox } from '../../frontier/embedded/store/inbox-lmdb.js';
import { openLmdbFrontier } from '../../frontier/embedded/store/lmdb.js';
import type { PodReading } from '../../frontier/redis/pod-operations.js';
import type { PodsConfig } from '../config/types.js';
import { pacingOf } from './pod-frontier.js';
import { createRoutingClient, packOutbox, unpackOutbox } from '../worker/routing-client.js';
import { createReportingClient } from '../worker/reporting-client.js';
import type { WorkerStore, WorkerStoreOptions } from './worker-store.js';

export const SEEDED_MARK = 'seeded';
const LOOK_MS = 50;
const BATCHES_A_ROUND = 32;

export function embeddedPath(config: PodsConfig, index: number): string {
  const pod = config.pods[index]!;
  if (pod.kind !== 'embedded') throw new TypeError(`pod ${index} is not embedded`);
  return pod.path;
}

export const frontierFolder = (config: PodsConfig, index: number): string =>
  join(embeddedPath(config, index), 'frontier');

export function openPodInbox(config: PodsConfig, index: number): Inbox {
  const folder = join(embeddedPath(config, index), 'inbox');
  mkdirSync(folder, PRIVATE_FOLDER);
  return openInbox(folder);
}

/** The counters of an embedded pod; links in its inbox count as accepted and queued. */
export function embeddedReading(
  counters: Counters,
  waiting: number,
  allowance: number | undefined,
  lostWorkers: number,
): PodReading {
  return {
    ...counters,
    accepted: counters.accepted + waiting,
    queued: counters.queued + waiting,
    parsing: 0,
    parseBytes: 0,
    outbox: 0,
    allowance,
    spilled: 0,
    dueDomains: counters.queued > 0 ? 1 : 0,
    restingDomains: 0,
    // The worker counts what it drops.
    dropped: 0,
    lostWorkers,
  };
}

export async function openEmbeddedStore(options: WorkerStoreOptions): Promise<WorkerStore> {
  const { config, place, log } = options;
  const id = newHolderId();
  const frontier = await openLmdbFrontier(frontierFolder(config, place.pod), {
    access: 'owner',
    holder: id,
    pacing: pacingOf(config),
    notesFates: config.recordFates,
    leaseMs: config.leaseSeconds * 1_000,
  });
  let allowance = options.allowance ?? Infinity;
  frontier.setAllowance(allowance);
  const inboxes = new Map<number, Inbox>();
  const inboxOf = (pod: number): Inbox => {
    let inbox = inboxes.get(pod);
    if (!inbox) inboxes.set(pod, (inbox = openPodInbox(config, pod)));
    return inbox;
  };
  const inbox = inboxOf(place.pod);
  // A live owner's leases do not expire.
  const own = createReportingClient(frontier, Infinity, options, id);
  const client = createRoutingClient({
    own,
    pod: place.pod,
    pods: config.pods.length,
    send: (pod, entries) => inboxOf(pod).append(packOutbox(entries), entries.length),
    log,
    checkAssignment: options.checkAssignment,
    onSent: options.onSent,
    signal: options.signal,
  });
  let taking: Promise<void> | undefined;

  const timer = setInterval(() => {
    taking ??= takeIn(inbox, own, options.onArrived)
      .catch((error: unknown) => log.warning(`Could not read the inbox, will retry: ${(error as Error).message}`))
      .finally(() => (taking = undefined));
  }, LOOK_MS);

  async function reading(): Promise<PodReading & { seeded: boolean }> {
    // In this order: a link that moves from inbox to queue meanwhile is counted twice, never missed.
    const waiting = inbox.links;
    const seeded = inbox.isMarked(SEEDED_MARK);
    const { counters } = await frontier.overview();
    const limit = Number.isFinite(allowance) ? allowance : undefined;
    return { ...embeddedReading(counters, waiting, limit, frontier.lostWorkers), seeded };
  }

  return {
    client,
    leaseMs: config.leaseSeconds * 1_000,
    redis: undefined,
    commandsSent: 0,
    overview: () => frontier.overview(),
    reading,
    async changeAllowance(change) {
      const before = Number.isFinite(allowance) ? allowance : 0;
      if (change.act === 'lift') allowance = Infinity;
      else if (change.act === 'give' && 'pages' in change) allowance = before + change.pages;
      else {
        const wanted = 'pages' in change ? before - change.pages : before;
        // Lowered first, then read: already leased pages are never taken.
        frontier.setAllowance(wanted);
        const { done, leased } = (await frontier.overview()).counters;
        allowance = Math.max(wanted, change.act === 'limit' ? done + leased : Math.min(before, done + leased));
      }
      frontier.setAllowance(allowance);
      return Math.abs(allowance - before);
    },
    // An inbox accepts links whether its owner runs or not.
    setLost: () => undefined,
    async close() {
      clearInterval(timer);
      await taking;
      await frontier.close();
      for (const one of inboxes.values()) await one.close();
    },
  };
}

/** Queues the links of an inbox, then removes them from it. */
export async function takeIn(
  inbox: Pick<Inbox, 'read' | 'remove'>,
  own: Pick<FrontierClient, 'add'>,
  onArrived?: () => void,
): Promise<void> {
  for (;;) {
    const batches = inbox.read(BATCHES_A_ROUND);
    if (batches.length === 0) return;
    await own.add(batches.flatMap(({ text }) => unpackOutbox(text)));
    await inbox.remove(batches.map(({ key }) => key));
    onArrived?.();
  }
}
