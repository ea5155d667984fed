// A pod as its supervisor and the coordinator see it, whatever kind of store it is.
// Promise: every call ends, by an answer or an error; nothing here is on the path of a page.
import type { ErrorCode } from '../../errors.js';
import type { Blame, QueueEntry } from '../../frontier/frontier.js';
import type { AllowanceAct, AllowanceAnswer, PodReading } from '../../frontier/redis/pod-operations.js';

/** What anybody may ask of a pod. */
export interface PodView {
  readonly index: number;
  reading(): Promise<PodReading>;
  /** Links that wait in this pod's outbox, by the pod they are for. */
  outboxByPod(): Promise<ReadonlyMap<number, number>>;
  isSeeded(): Promise<boolean>;
  changeAllowance(epoch: number, change: AllowanceAct): Promise<AllowanceAnswer>;
  close(): Promise<void>;
}

/** What the server behind a pod says of itself. */
export interface ServerFigures {
  readonly opsPerSec: number;
  readonly memoryBytes: number;
  /** 0 without a limit. */
  readonly memoryLimitBytes: number;
  readonly clients: number;
}

/** What the pod's own supervisor does with it. */
export interface OwnPod extends PodView {
  /** The address or folder, for people. */
  readonly where: string;
  /** URLs the store holds; 0 for a new one. */
  accepted(): Promise<number>;
  /** Empties the store. */
  wipe(): Promise<void>;
  /** A small fact of the store that outlives runs: the crawl it belongs to, the runs it took part in. */
  fact(name: StoreFact): Promise<string | undefined>;
  setFact(name: StoreFact, text: string): Promise<void>;
  /** Takes or keeps the role of supervisor; false when another has it, which `onWait` is told about. */
  own(onWait: (who: string, leftMs: number) => void): Promise<boolean>;
  disown(): Promise<void>;
  add(entries: readonly QueueEntry[]): Promise<void>;
  markSeeded(): Promise<void>;
  /** Takes everything from workers that are gone; `blame` names what ended them, where that is known. */
  release(holders: readonly string[], blame?: Blame): Promise<number>;
  /** Undefined for a store without a server. */
  serverFigures(): Promise<ServerFigures | undefined>;
  notes(): Promise<Readonly<Record<string, string>>>;
  /** Names of captures that wait to be parsed. */
  captures(): Promise<Set<string>>;
  /** Sends what waits to be parsed back to be fetched again: there are no parsers any more. */
  returnCaptures(): Promise<number>;
}

export type StoreFact = 'crawl' | 'run_seen' | 'run_obeyed';

/** Why a pod does no more. */
export interface PodFailure {
  readonly pod: number;
  readonly code: ErrorCode;
  readonly message: string;
}

/** What the machines of a crawl tell each other. */
export interface GlobalBoard {
  /** Begins a run; its number is above all before it. Calls of an earlier run's coordinator are refused from then on. */
  nextRun(): Promise<number>;
  /** The run that goes on, or the last one; 0 before the first. */
  currentRun(): Promise<number>;
  /** These pods take part in a crawl. */
  join(pods: readonly number[], crawl: string): Promise<void>;
  /** The pods that ever took part in a crawl. */
  joined(crawl: string): Promise<ReadonlySet<number>>;
  /** A pod does no more in this run. */
  tellStopped(run: number, failure: PodFailure): Promise<void>;
  stopped(run: number): Promise<readonly PodFailure[]>;
  showPages(pages: number): Promise<void>;
  stopSignal(): Promise<string | undefined>;
  signalStop(reason: string): Promise<void>;
  clearStop(): Promise<void>;
}
