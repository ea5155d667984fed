// One signal of load: samples over time, and whether their weighted share is above a limit.
// Promise: a store holds samples of its window only.
import type { EventManagerLike } from '../../event-names.js';
import type { EventTypeName } from '../events.js';
import { weightedAvg } from '../general.js';

/** Whether a resource was overloaded at a time. */
export interface LoadSnapshot {
  createdAt: Date;
  isOverloaded: boolean;
}

/** The share of overloaded samples, and what it may be. */
export interface ClientInfo {
  isOverloaded: boolean;
  limitRatio: number;
  actualRatio: number;
}

/** Reports whether a resource is overloaded; give your own as `systemStatusOptions.loadSignals`. */
export interface LoadSignal {
  readonly name: string;
  /** A sample whose overloaded share is above this is overloaded. */
  readonly overloadedRatio: number;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** The snapshots of the last milliseconds, or all. */
  getSample(sampleDurationMillis?: number): LoadSnapshot[];
}

/** A signal that keeps its snapshots in a store and can be told of one by hand. */
export interface StoredSignal<T extends LoadSnapshot, Told> extends Omit<LoadSignal, 'getSample'> {
  readonly store: SnapshotStore<T>;
  readonly handle: (told: Told) => void;
  getSample(sampleDurationMillis?: number): T[];
}

const HISTORY_MS = 30_000;

interface SignalOptions {
  name: string;
  overloadedRatio: number;
  snapshotHistoryMillis?: number;
}

/**
 * Snapshots of a window of time, oldest first.
 *
 * @example
 * const store = new SnapshotStore(10_000);
 * store.push({ createdAt: new Date(), isOverloaded: false });
 */
export class SnapshotStore<T extends LoadSnapshot = LoadSnapshot> {
  readonly #historyMs: number;
  #snapshots: T[] = [];

  constructor(historyMillis = HISTORY_MS) {
    this.#historyMs = historyMillis;
  }

  /** Adds a snapshot; what is older than the window is forgotten. */
  push(snapshot: T, now = new Date()): void {
    const oldest = now.getTime() - this.#historyMs;
    const firstKept = this.#snapshots.findIndex(({ createdAt }) => createdAt.getTime() >= oldest);
    if (firstKept !== 0) this.#snapshots.splice(0, firstKept < 0 ? this.#snapshots.length : firstKept);
    this.#snapshots.push(snapshot);
  }

  /** The snapshots of the last milliseconds before the newest one, or all. */
  getSample(sampleDurationMillis?: number): T[] {
    const newest = this.#snapshots.at(-1);
    if (!sampleDurationMillis || !newest) return this.#snapshots;
    const oldest = newest.createdAt.getTime() - sampleDurationMillis;
    const from = this.#snapshots.findIndex(({ createdAt }) => createdAt.getTime() >= oldest);
    return this.#snapshots.slice(Math.max(0, from));
  }

  getAll(): T[] {
    return this.#snapshots;
  }

  /** A signal whose handler runs at an interval. */
  static fromInterval<T extends LoadSnapshot>(
    options: SignalOptions & {
      intervalMillis: number;
      handler: (store: SnapshotStore<T>, intervalCallback: () => unknown) => void;
    },
  ): StoredSignal<T, () => unknown> {
    const { name, overloadedRatio, intervalMillis, snapshotHistoryMillis, handler } = options;
    const store = new SnapshotStore<T>(snapshotHistoryMillis);
    const handle = (done: () => unknown): void => handler(store, done);
    let timer: NodeJS.Timeout | undefined;
    let isRunning = false;
    const next = (): void => {
      if (isRunning) timer = setTimeout(() => handle(next), intervalMillis).unref();
    };
    return {
      name,
      overloadedRatio,
      store,
      handle,
      async start() {
        if (isRunning) return;
        isRunning = true;
        handle(next);
      },
      async stop() {
        isRunning = false;
        clearTimeout(timer);
      },
      getSample: (millis) => store.getSample(millis),
    };
  }

  /** A signal whose handler hears an event. */
  static fromEvent<T extends LoadSnapshot, E>(
    options: SignalOptions & {
      events: EventManagerLike;
      event: EventTypeName;
      handler: (store: SnapshotStore<T>, payload: E) => void;
    },
  ): StoredSignal<T, E> {
    const { name, overloadedRatio, events, event, snapshotHistoryMillis, handler } = options;
    const store = new SnapshotStore<T>(snapshotHistoryMillis);
    const handle = (payload: E): void => handler(store, payload);
    return {
      name,
      overloadedRatio,
      store,
      handle,
      async start() {
        events.on(event, handle);
      },
      async stop() {
        events.off(event, handle);
      },
      getSample: (millis) => store.getSample(millis),
    };
  }
}

/**
 * Whether a sample is overloaded for a larger share of its time than `overloadedRatio`.
 *
 * @example
 * const { isOverloaded } = evaluateLoadSignalSample(store.getSample(5_000), 0.2);
 */
export function evaluateLoadSignalSample(sample: readonly LoadSnapshot[], overloadedRatio: number): ClientInfo {
  const share = overloadedShare(sample);
  return {
    isOverloaded: share > overloadedRatio,
    limitRatio: overloadedRatio,
    actualRatio: Math.round(share * 1_000) / 1_000,
  };
}

/** Each snapshot stands for the time since the one before it. */
function overloadedShare(sample: readonly LoadSnapshot[]): number {
  if (sample.length < 2) return Number(sample[0]?.isOverloaded ?? false);
  const later = sample.slice(1);
  const values = later.map(({ isOverloaded }) => Number(isOverloaded));
  const weights = later.map(({ createdAt }, index) => Math.max(1, +createdAt - +sample[index]!.createdAt));
  return weightedAvg(values, weights);
}
