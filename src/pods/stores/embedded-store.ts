// An embedded pod in its one worker: the frontier on disk that it owns, its inbox, and the inboxes of the others.
// Promise: a link for another pod is in that pod's inbox before its visit is acknowledged.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { PRIVATE_FOLDER } from '../../base/private-files.js';
import type { Counters } from '../../frontier/frontier.js';
import { type FrontierClient, newHolderId } from '../../frontier/client.js';
import { type Inbox, openInbox } from '../../frontier/embedded/inbox-lmdb.js';
import { openLmdbFrontier } from '../../frontier/embedded/lmdb.js';
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

/** The numbers of an embedded pod; links in its inbox are accepted and queued. */
export function embeddedReading(counters: Counters, waiting: number, allowance: number | undefined): PodReading {
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
  };
}

export async function openEmbeddedStore(options: WorkerStoreOptions): Promise<WorkerStore> {
  const { config, place, log } = options;
  const id = newHolderId();
  const frontier = await openLmdbFrontier(frontierFolder(config, place.pod), {
    access: 'owner',
    holder: id,
    pacing: pacingOf(config),
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
  // An owner's leases do not expire while it lives.
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
      .catch((error: unknown) => log.warning(`The inbox could not be taken in: ${(error as Error).message}`))
      .finally(() => (taking = undefined));
  }, LOOK_MS);

  async function reading(): Promise<PodReading & { seeded: boolean }> {
    // In this order: what moves from the inbox to the queue meanwhile is counted twice, never missed.
    const waiting = inbox.links;
    const seeded = inbox.isMarked(SEEDED_MARK);
    const { counters } = await frontier.overview();
    return { ...embeddedReading(counters, waiting, Number.isFinite(allowance) ? allowance : undefined), seeded };
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
        // Lowered first, then looked at: what was leased before is never taken.
        frontier.setAllowance(wanted);
        const { done, leased } = (await frontier.overview()).counters;
        allowance = Math.max(wanted, change.act === 'limit' ? done + leased : Math.min(before, done + leased));
      }
      frontier.setAllowance(allowance);
      return Math.abs(allowance - before);
    },
    // An inbox takes links whether its owner lives or not.
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
