// A pod as its supervisor and the coordinator see it, for any kind of store.
// Promise: every call ends with an answer or an error; nothing here is on the path of a page.
import type { ErrorCode } from '../../errors.js';
import type { Blame, QueueEntry } from '../../frontier/frontier.js';
import type { AllowanceAct, AllowanceAnswer, LeadAnswer, PodReading } from '../../frontier/redis/pod-operations.js';

/** What any process may ask of a pod. */
export interface PodView {
  readonly index: number;
  reading(): Promise<PodReading>;
  /** Links in this pod's outbox, by target pod. */
  outboxByPod(): Promise<ReadonlyMap<number, number>>;
  isSeeded(): Promise<boolean>;
  changeAllowance(epoch: number, change: AllowanceAct): Promise<AllowanceAnswer>;
  close(): Promise<void>;
}

/** Figures from the pod's server. */
export interface ServerFigures {
  readonly opsPerSec: number;
  readonly memoryBytes: number;
  /** 0 without a limit. */
  readonly memoryLimitBytes: number;
  readonly clients: number;
  /** Lookups that found a key, and that did not. */
  readonly hits: number;
  readonly misses: number;
  readonly cpuSeconds: number;
}

/** What only the pod's supervisor does. */
export interface OwnPod extends PodView {
  /** The address or folder, for people. */
  readonly where: string;
  /** URLs in the store; 0 if new. */
  accepted(): Promise<number>;
  /** Empties the store. */
  wipe(): Promise<void>;
  /** A small value in the store that outlives runs: its crawl. */
  fact(name: StoreFact): Promise<string | undefined>;
  setFact(name: StoreFact, text: string): Promise<void>;
  /** Takes or keeps the supervisor role; false if another process has it (see `onWait`). */
  own(onWait: (who: string, leftMs: number) => void): Promise<boolean>;
  disown(): Promise<void>;
  add(entries: readonly QueueEntry[]): Promise<void>;
  markSeeded(): Promise<void>;
  /** Takes everything from workers that are gone; `blame` names what ended them, where that is known. */
  release(holders: readonly string[], blame?: Blame): Promise<number>;
  /** Undefined for a store without a server. */
  serverFigures(): Promise<ServerFigures | undefined>;
  /** For whoever knows that no worker runs. */
  notes(): Promise<Readonly<Record<string, string>>>;
  /** The same while workers may run; `QUEUE_UNREACHABLE` while the one that could tell does not run. */
  liveNotes(): Promise<Readonly<Record<string, string>>>;
  /** Names of captures waiting for a parser. */
  captures(): Promise<Set<string>>;
  /** Returns waiting captures to be fetched again: there are no parsers left. */
  returnCaptures(): Promise<number>;
}

export type StoreFact = 'crawl';

/** Why a pod stopped. */
export interface PodFailure {
  readonly pod: number;
  readonly code: ErrorCode;
  readonly message: string;
}

/** What the machines of a crawl share. */
export interface GlobalBoard {
  /**
   * Takes the lead over all machines where it is free and `mayTake` is set, or keeps it. A new leader has a number above
   * all earlier ones: from its first call to a pod on, that pod refuses earlier leaders.
   */
  lead(mayTake: boolean): Promise<LeadAnswer>;
  /** Gives the lead up, and ends the crawl if there is a signal; nothing if another machine leads. */
  leave(signal?: string): Promise<void>;
  /** Records that these pods take part in a crawl. */
  join(pods: readonly number[], crawl: string): Promise<void>;
  /** The pods that have taken part in a crawl. */
  joined(crawl: string): Promise<ReadonlySet<number>>;
  /** Records that a pod stopped in this run. */
  tellStopped(run: number, failure: PodFailure): Promise<void>;
  stopped(run: number): Promise<readonly PodFailure[]>;
  /** In a watch: how many pages pods know, by pod. */
  tellLoads(loads: ReadonlyMap<number, number>): Promise<void>;
  loads(): Promise<ReadonlyMap<number, number>>;
  /** These pods work again: what was said of them is forgotten. */
  forgetStopped(pods: readonly number[]): Promise<void>;
  showPages(pages: number): Promise<void>;
  clearStop(): Promise<void>;
}
