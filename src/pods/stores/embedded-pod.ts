// An embedded pod as its orchestrator sees it: its worker owns the store, so numbers come over the channel and seeds go
// into the inbox. While no worker runs, the store is read directly.
import { rm } from 'node:fs/promises';
import { CrawlError } from '../../errors.js';
import { newHolderId } from '../../frontier/client.js';
import type { Blame } from '../../frontier/frontier.js';
import { openLmdbFrontier } from '../../frontier/embedded/store/lmdb.js';
import type { AllowanceAct, PodReading } from '../../frontier/redis/pod-operations.js';
import type { PodsConfig } from '../config/types.js';
import { readCrawlMark, writeCrawlMark } from '../identity/crawl-mark.js';
import { embeddedPath, embeddedReading, frontierFolder, openPodInbox, SEEDED_MARK } from './embedded-store.js';
import type { FromWorker, ToWorker, WorkerPlace } from '../messages.js';
import { pacingOf, podStateDir } from './pod-frontier.js';
import type { GlobalBoard, OwnPod } from './pod-view.js';
import { packOutbox } from '../worker/routing-client.js';

type Answer = Extract<FromWorker, { kind: 'reading' }>;
type Question =
  { readonly kind: 'read'; readonly withNotes?: true } | { readonly kind: 'allow'; readonly change: AllowanceAct };

/** Questions to workers and their answers. */
export interface MessageRouter {
  attach(
    supervisors: readonly {
      readonly pod: { readonly index: number };
      readonly workers: readonly { readonly isReady: boolean; send(message: ToWorker): void }[];
    }[],
  ): void;
  hear(place: WorkerPlace, message: FromWorker): void;
  ask(pod: number, question: Question): Promise<Answer>;
  /** The allowance of an embedded pod's worker at its start. */
  allowanceOf(pod: number): number | undefined;
  setAllowance(pod: number, pages: number | undefined): void;
  /** False before the workers run and after the last has ended: then the stores are not open elsewhere. */
  readonly isAttached: boolean;
}

const ANSWER_MS = 10_000;

export function createMessageRouter(): MessageRouter {
  const waiting = new Map<number, (answer: Answer) => void>();
  const allowances = new Map<number, number | undefined>();
  let supervisors: Parameters<MessageRouter['attach']>[0] = [];
  let calls = 0;
  return {
    attach: (list) => void (supervisors = list),
    hear(_place, message) {
      if (message.kind === 'reading') waiting.get(message.call)?.(message);
    },
    ask(pod, question) {
      const worker = supervisors.find((one) => one.pod.index === pod)?.workers[0];
      if (!worker?.isReady) {
        return Promise.reject(new CrawlError('QUEUE_UNREACHABLE', `pod ${pod} has no running worker`));
      }
      const call = ++calls;
      return new Promise((resolve, reject) => {
        const end = (): void => {
          clearTimeout(timer);
          waiting.delete(call);
        };
        const timer = setTimeout(() => {
          end();
          reject(new CrawlError('QUEUE_UNREACHABLE', `the worker of pod ${pod} does not answer`));
        }, ANSWER_MS);
        waiting.set(call, (answer) => {
          end();
          resolve(answer);
        });
        worker.send({ ...question, call });
      });
    },
    allowanceOf: (pod) => allowances.get(pod),
    setAllowance: (pod, pages) => void allowances.set(pod, pages),
    get isAttached() {
      return supervisors.length > 0;
    },
  };
}

export function openOwnEmbeddedPod(config: PodsConfig, index: number, router: MessageRouter): Promise<OwnPod> {
  const where = embeddedPath(config, index);
  let inbox = openPodInbox(config, index);
  let isOwned = false;
  let last: Promise<unknown> = Promise.resolve();

  /** One look at a time: each owns the store for its moment, and a second one would be refused. */
  function look(blame?: Blame): ReturnType<typeof overviewOf> {
    const mine = last.then(() => overviewOf(config, index, blame));
    last = mine.catch(() => undefined);
    return mine;
  }

  async function lookInside(): Promise<PodReading> {
    const waiting = inbox.links;
    const { counters, lostWorkers } = await look();
    return embeddedReading(counters, waiting, router.allowanceOf(index), lostWorkers);
  }

  const pod: OwnPod = {
    index,
    where,
    accepted: async () => (await look()).counters.accepted + inbox.links,
    async wipe() {
      await inbox.close();
      for (const folder of [where, podStateDir(config, index)]) {
        await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      }
      inbox = openPodInbox(config, index);
    },
    async own(onWait) {
      if (isOwned) return true;
      try {
        await look();
        return (isOwned = true);
      } catch (error) {
        if (!(error instanceof CrawlError) || error.code !== 'QUEUE_IN_USE') throw error;
        onWait(error.message, 0);
        return false;
      }
    },
    disown: () => Promise.resolve(),
    add: (entries) => inbox.append(packOutbox(entries), entries.length),
    markSeeded: () => inbox.mark(SEEDED_MARK),
    isSeeded: () => Promise.resolve(inbox.isMarked(SEEDED_MARK)),
    // Its next owner takes everything back: this process for a moment, where there is something to tell.
    release: async (_holders, blame) => (blame ? look(blame).then(() => 0) : 0),
    notes: async () => (await look()).notes,
    liveNotes: async () =>
      router.isAttached
        ? ((await router.ask(index, { kind: 'read', withNotes: true })).notes ?? {})
        : (await look()).notes,
    serverFigures: () => Promise.resolve(undefined),
    captures: () => Promise.resolve(new Set<string>()),
    returnCaptures: () => Promise.resolve(0),
    reading: async () => (router.isAttached ? (await router.ask(index, { kind: 'read' })).reading : lookInside()),
    // Links for other pods go to their inboxes at once.
    outboxByPod: () => Promise.resolve(new Map()),
    fact: (name) => (name === 'crawl' ? readCrawlMark(where) : Promise.resolve(undefined)),
    setFact: async (name, text) => (name === 'crawl' ? writeCrawlMark(where, text) : undefined),
    async changeAllowance(epoch, change) {
      // Before its worker runs: passed to it at its start.
      if (epoch === 0) {
        router.setAllowance(index, 0);
        return { held: true, pages: 0, allowance: 0 };
      }
      const { reading, pages } = await router.ask(index, { kind: 'allow', change });
      router.setAllowance(index, reading.allowance);
      return { held: true, pages, allowance: reading.allowance };
    },
    close: () => inbox.close(),
  };
  return Promise.resolve(pod);
}

async function overviewOf(config: PodsConfig, index: number, blame?: Blame) {
  const frontier = await openLmdbFrontier(frontierFolder(config, index), {
    access: 'owner',
    holder: newHolderId(),
    pacing: pacingOf(config),
    notesFates: config.recordFates,
    blame,
  });
  try {
    const overview = await frontier.overview();
    return { ...overview, lostWorkers: frontier.lostWorkers };
  } finally {
    await frontier.close();
  }
}

/** One machine: its board is in this process. */
export function createLocalBoard(): GlobalBoard {
  const answer = { isOurs: true, run: 1, signal: undefined, identity: '' };
  return {
    lead: () => Promise.resolve(answer),
    leave: () => Promise.resolve(),
    join: () => Promise.resolve(),
    joined: () => Promise.resolve(new Set()),
    tellStopped: () => Promise.resolve(),
    stopped: () => Promise.resolve([]),
    // All embedded pods are of one machine.
    tellLoads: () => Promise.resolve(),
    loads: () => Promise.resolve(new Map()),
    forgetStopped: () => Promise.resolve(),
    showPages: () => Promise.resolve(),
    clearStop: () => Promise.resolve(),
  };
}
