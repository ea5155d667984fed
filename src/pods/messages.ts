// Messages between the orchestrator and a worker process: plain data, no page content.
// When the channel closes, the worker drains and exits.
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

/** A worker's counters; the last ones are gauges. */
export interface WorkerFigures {
  readonly pages: number;
  readonly failed: number;
  readonly retries: number;
  /** Requests that finally failed, by code. */
  readonly errors: Readonly<Record<string, number>>;
  readonly statuses: Readonly<Record<string, number>>;
  readonly bytes: number;
  readonly leases: number;
  /** Links sent to other pods, and the time it took. */
  readonly sentLinks: number;
  readonly sends: number;
  readonly sendMs: number;
  readonly outboxLinks: number;
  readonly misplaced: number;
  /** Links for lost pods, dropped because the outbox was full. */
  readonly droppedForLost: number;
  readonly backpressure: number;
  readonly commands: number;
  readonly droppedLinks: number;
  readonly active: number;
  /** In a watch: pages that the pod knows. */
  readonly watched: number;
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
      /** After this long without a turn of its event loop, the worker reports what blocks it. */
      readonly blockedLoopMs: number;
    }
  /** Load the handler module and exit: answered by `checked`. */
  | { readonly kind: 'check'; readonly handler: string; readonly mustWeigh: boolean }
  /** Finish pages in progress, return the rest, exit. */
  | { readonly kind: 'drain' }
  /** Abort fetches, return their requests, exit. */
  | { readonly kind: 'abort' }
  /** Pods that accept no more links in this run. */
  | { readonly kind: 'lost'; readonly pods: readonly number[] }
  /** In a watch: the pod's part of the budget. */
  | { readonly kind: 'share'; readonly part: number }
  /** Embedded pods: total pages allowed. Answered by `reading`. */
  | { readonly kind: 'allow'; readonly call: number; readonly change: AllowanceAct }
  /** Embedded pods: answered by `reading`, with the notes of the store if they are asked for. */
  | { readonly kind: 'read'; readonly call: number; readonly withNotes?: true };

export type FromWorker =
  /** Everything is open; leasing starts. */
  | { readonly kind: 'started' }
  /** The holder that leases from now on. */
  | { readonly kind: 'holder'; readonly id: string }
  /** Its first lease, and its first settled visit: sent at once, since either may kill it. */
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'beat'; readonly figures: WorkerFigures; readonly metrics?: MetricsSnapshot }
  | {
      readonly kind: 'reading';
      readonly call: number;
      readonly reading: PodReading;
      readonly pages: number;
      readonly seeded: boolean;
      readonly notes?: Readonly<Record<string, string>>;
    }
  /** The handler module loads, or why not. */
  | { readonly kind: 'checked'; readonly problem: string | undefined }
  /** The last message: how it ended. */
  | { readonly kind: 'ended'; readonly code: ErrorCode | undefined; readonly message: string };

/** Where a worker's watching thread writes while the worker's event loop is blocked: lines of JSON (BlockReport). */
export const BLOCKS_FD = 4;

/** How often a worker says that it lives. */
export const BEAT_MS = 1_000;
