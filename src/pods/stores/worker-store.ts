// A worker's own pod and its way to the others, whatever kind of store they are.
// One place knows the difference between Redis and embedded stores; the worker does not.
import { createFrontierClient } from '../../frontier/client.js';
import type { Overview } from '../../frontier/frontier.js';
import type { RedisFrontier } from '../../frontier/redis/frontier.js';
import type { AllowanceAct, PodReading } from '../../frontier/redis/pod-operations.js';
import type { Log } from '../../observe/log.js';
import type { PodsConfig } from '../config/types.js';
import { createLinkTargets } from '../worker/link-targets.js';
import type { WorkerPlace } from '../messages.js';
import { startOutboxDelivery } from '../supervise/outbox.js';
import { pullFrom } from '../worker/parse-queue.js';
import { openPodFrontier } from './pod-frontier.js';
import { createRoutingClient, type RoutingClient } from '../worker/routing-client.js';
import { type HolderListener, createReportingClient } from '../worker/reporting-client.js';

export interface WorkerStore {
  readonly client: RoutingClient;
  readonly leaseMs: number;
  /** Undefined for an embedded store, which has no parse queue. */
  readonly redis: RedisFrontier | undefined;
  /** Of a parser: the capture that came with the lease of a URL. */
  readonly captureOf?: (url: string) => string | undefined;
  readonly commandsSent: number;
  overview(): Promise<Overview>;
  /** Of an embedded pod, whose numbers nobody else can read. */
  reading(): Promise<PodReading & { readonly seeded: boolean }>;
  /** Of an embedded pod: pages it may do in all; how many were really given or taken. */
  changeAllowance(change: AllowanceAct): Promise<number>;
  /** Pods that take no more links in this run. */
  setLost(pods: readonly number[]): void;
  close(): Promise<void>;
}

export interface WorkerStoreOptions extends HolderListener {
  readonly config: PodsConfig;
  readonly place: WorkerPlace;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly checkAssignment: boolean;
  readonly onSent: (pod: number, tookMs: number) => void;
  /** Of an embedded pod: links that others found are in its queue now. Whoever waits for work need not wait on. */
  readonly onArrived?: () => void;
  /** The pod's own store came back without what this process did last: the process must end, and settle nothing. */
  readonly onRolledBack: () => void;
  /** The store of another pod came back without the links it was sent last. */
  readonly onLinksForgotten?: () => void;
  /** Given to an embedded pod at its start. */
  readonly allowance: number | undefined;
}

export async function openWorkerStore(options: WorkerStoreOptions): Promise<WorkerStore> {
  if (options.config.pods[options.place.pod]!.kind === 'redis') return openRedisStore(options);
  const { openEmbeddedStore } = await import('./embedded-store.js');
  return openEmbeddedStore(options);
}

async function openRedisStore(options: WorkerStoreOptions): Promise<WorkerStore> {
  const { config, place, log, signal } = options;
  const warn = (message: string) => log.warning(message);
  const leaseMs = config.leaseSeconds * 1_000;
  const frontier = await openPodFrontier(config, place.pod, {
    as: 'worker',
    warn,
    onForgotten: options.onRolledBack,
  });
  const openGuest = (pod: number) =>
    openPodFrontier(config, pod, { as: 'guest', warn, onForgotten: options.onLinksForgotten });
  const targets = createLinkTargets({ open: openGuest, log });
  const pulling = place.role === 'parser' ? pullFrom(frontier) : undefined;
  const own = createReportingClient(pulling?.frontier ?? frontier, leaseMs, options);
  let lost = new Set<number>();
  const client = createRoutingClient({
    own,
    pod: place.pod,
    pods: config.pods.length,
    send: targets.add,
    isLost: (pod) => lost.has(pod),
    log,
    checkAssignment: options.checkAssignment,
    onSent: options.onSent,
    signal,
  });
  // One of the pod's workers is enough; the orchestrator restarts it when it dies.
  const isPostman = place.role === 'fetcher' && place.id === 0 && config.pods.length > 1;
  const delivery = isPostman
    ? startOutboxDelivery({ pod: frontier.pod, client: createFrontierClient(frontier), targets, log })
    : undefined;
  return {
    client,
    leaseMs,
    redis: frontier,
    captureOf: pulling?.captureOf,
    get commandsSent() {
      return frontier.commandsSent;
    },
    overview: () => frontier.overview(),
    reading: async () => ({ ...(await frontier.pod.reading()), seeded: false }),
    changeAllowance: () => Promise.resolve(0),
    setLost: (pods) => void (lost = new Set(pods)),
    async close() {
      await delivery?.close();
      await targets.close();
      await frontier.close();
    },
  };
}
