// What the orchestrator and a worker process tell each other over their channel: plain data, nothing of pages.
// The channel is also the worker's life line: when it closes, the worker drains and ends.
import type { ErrorCode } from '../errors.js';
import type { AllowanceAct, PodReading } from '../frontier/redis/pod-operations.js';
import type { MetricsSnapshot } from '../observe/metrics.js';
import type { PodsConfig } from './config/types.js';
import type { Progress } from './worker/reporting-client.js';

export type WorkerRole = 'fetcher' | 'parser';

export interface WorkerPlace {
  readonly role: WorkerRole;
  readonly pod: number;
  /** Among the workers of its role and pod, from 0. */
  readonly id: number;
}

/** What a worker counts; everything grows but the gauges at the end. */
export interface WorkerFigures {
  readonly pages: number;
  readonly failed: number;
  readonly retries: number;
  /** By code, of requests that failed for good. */
  readonly errors: Readonly<Record<string, number>>;
  readonly statuses: Readonly<Record<string, number>>;
  readonly fetchMs: number;
  readonly bytes: number;
  readonly leases: number;
  /** Links sent to other pods, and how long that took. */
  readonly sentLinks: number;
  readonly sends: number;
  readonly sendMs: number;
  readonly outboxLinks: number;
  readonly misplaced: number;
  /** Links for pods that are lost, dropped because the outbox was full. */
  readonly droppedForLost: number;
  readonly backpressure: number;
  readonly commands: number;
  readonly droppedLinks: number;
  readonly active: number;
  readonly rssBytes: number;
  readonly openFiles: number;
  readonly cpuMs: number;
}

export type ToWorker =
  | {
      readonly kind: 'begin';
      readonly config: PodsConfig;
      readonly place: WorkerPlace;
      readonly allowance: number | undefined;
      /** After so long without a turn of its event loop the worker says who blocks it. */
      readonly blockedLoopMs: number;
    }
  /** Finish what is under way, give the rest back, end. */
  | { readonly kind: 'drain' }
  /** Break off what is on the wire, give it back, end. */
  | { readonly kind: 'abort' }
  /** Pods that take no more links in this run. */
  | { readonly kind: 'lost'; readonly pods: readonly number[] }
  /** Embedded pods: pages that may be done in all. Answered by `reading`. */
  | { readonly kind: 'allow'; readonly call: number; readonly change: AllowanceAct }
  /** Embedded pods: answered by `reading`. */
  | { readonly kind: 'read'; readonly call: number };

export type FromWorker =
  /** Everything is open; leasing begins. */
  | { readonly kind: 'started' }
  /** The holder in whose name it leases from now on. */
  | { readonly kind: 'holder'; readonly id: string }
  /** Its first lease, and its first settled visit: told at once, since it may die of either. */
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'beat'; readonly figures: WorkerFigures; readonly metrics?: MetricsSnapshot }
  | {
      readonly kind: 'reading';
      readonly call: number;
      readonly reading: PodReading;
      readonly pages: number;
      readonly seeded: boolean;
    }
  /** The last message: how it ended. */
  | { readonly kind: 'ended'; readonly code: ErrorCode | undefined; readonly message: string };

/** Where a worker's watching thread writes while the worker's event loop is blocked: lines of JSON (BlockReport). */
export const BLOCKS_FD = 4;

/** How often a worker says that it lives. */
export const BEAT_MS = 1_000;
