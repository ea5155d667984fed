// Samples CPU, memory and event-loop delay during a crawl, and reports which is overloaded.
// Promise: history is bounded, timers never keep the process alive and end with stop(), queries are free
// (they read the last sample's result).
import {
  aBoolean,
  aNumber,
  arrayOf,
  aWholeNumber,
  check,
  checkOptions,
  objectWith,
  optionError,
} from '../option-checks.js';
import type { ShapeOf } from '../option-checks.js';
import { createSystemReaders } from './system-readers.js';
import type { MemoryLimitOptions, MemoryReading, SystemReaders } from './system-readers.js';

/** How samples are taken and what makes one overloaded (Crawlee's names and defaults). */
export interface SnapshotterOptions extends MemoryLimitOptions {
  /** Default 0.5. */
  eventLoopSnapshotIntervalSecs?: number;
  /** How often CPU and memory are read (ours). Default 1. */
  systemSnapshotIntervalSecs?: number;
  /** The event loop counts as overloaded when it is later than this. Default 50. */
  maxBlockedMillis?: number;
  /** Default 0.9 of the limit. */
  maxUsedMemoryRatio?: number;
  /** Default 0.95 of what the process may use. */
  maxUsedCpuRatio?: number;
  /** Samples older than this are forgotten. Default 30. */
  snapshotHistorySecs?: number;
  /** Accepted for Crawlee scripts; there is no remote storage client to watch. */
  clientSnapshotIntervalSecs?: number;
  /** Accepted for Crawlee scripts; there is no remote storage client to watch. */
  maxClientErrors?: number;
}

/** Which share of the samples may be overloaded before the system is (Crawlee's names and defaults). */
export interface SystemStatusOptions {
  /** The window of `current()`. Default 5. */
  currentHistorySecs?: number;
  /** Default 0.2. */
  maxMemoryOverloadedRatio?: number;
  /** Default 0.6. */
  maxEventLoopOverloadedRatio?: number;
  /** Default 0.4. */
  maxCpuOverloadedRatio?: number;
  /** Accepted for Crawlee scripts; there is no remote storage client to watch. */
  maxClientOverloadedRatio?: number;
  /** What else can be overloaded, by your own judgement: while one is, no task is started beyond the least. */
  loadSignals?: readonly FurtherSignal[];
}

/** Something of your own that can be overloaded, such as a database (Crawlee's `LoadSignal` in `orcrawl/crawlee`). */
export interface FurtherSignal {
  /** Begins to sample. */
  start?(): unknown;
  /** Ends all timers. */
  stop?(): unknown;
  /** Whether it was overloaded in the last so many milliseconds. */
  isOverloaded(windowMs: number): boolean;
}

/** One signal over a window: the share of overloaded time, and what it may be. */
export interface LoadSignal {
  /** More of the time than `limitRatio`. */
  readonly isOverloaded: boolean;
  /** The share of the window that may be overloaded. */
  readonly limitRatio: number;
  /** The share of the window that was. */
  readonly actualRatio: number;
}

/** Whether the machine is overloaded, and by what. */
export interface LoadStatus {
  /** One of the signals is. */
  readonly isOverloaded: boolean;
  /** Of the process's share of the machine or container. */
  readonly cpu: LoadSignal;
  /** Of the process, against its limit. */
  readonly memory: LoadSignal;
  /** How late timers run. */
  readonly eventLoop: LoadSignal;
  /** Whether one of `loadSignals` is overloaded; missing without any. */
  readonly further?: boolean;
}

/** The newest readings, for progress lines. */
export interface LoadReading extends MemoryReading {
  readonly cpuRatio: number;
  readonly eventLoopLateMs: number;
}

/** Measures the load of the machine. */
export interface SystemLoad {
  /** Begins to sample. */
  start(): void;
  /** Ends all timers. */
  stop(): void;
  /** The last `currentHistorySecs`. */
  current(): LoadStatus;
  /** The last `snapshotHistorySecs`. */
  historical(): LoadStatus;
  /** The last sample. */
  latest(): LoadReading;
}

export interface SystemLoadParts {
  readonly readers?: SystemReaders;
  readonly clock?: () => number;
}

/**
 * Watches the load of the system.
 *
 * @example
 * const load = createSystemLoad({ maxBlockedMillis: 100 });
 * load.start();
 * if (load.current().memory.isOverloaded) slowDown();
 * load.stop();
 */
export function createSystemLoad(
  snapshotterOptions: SnapshotterOptions = {},
  systemStatusOptions: SystemStatusOptions = {},
  parts: SystemLoadParts = {},
): SystemLoad {
  const limits = resolve(snapshotterOptions, systemStatusOptions);
  const clock = parts.clock ?? (() => performance.now());
  let readers = parts.readers;
  const cpu = createHistory(limits.systemIntervalMs, limits.historyMs);
  const memory = createHistory(limits.systemIntervalMs, limits.historyMs);
  const eventLoop = createHistory(limits.eventLoopIntervalMs, limits.historyMs);
  let current: LoadStatus | undefined;
  let reading: LoadReading = { cpuRatio: 0, eventLoopLateMs: 0, usedBytes: 0, limitBytes: Infinity };
  let timers: NodeJS.Timeout[] = [];

  function status(windowMs: number): LoadStatus {
    const now = clock();
    const over = (history: History, limitRatio: number): LoadSignal => {
      const actualRatio = history.overloadedRatio(now - windowMs);
      return { isOverloaded: actualRatio > limitRatio, limitRatio, actualRatio };
    };
    const signals = {
      cpu: over(cpu, limits.maxCpuOverloadedRatio),
      memory: over(memory, limits.maxMemoryOverloadedRatio),
      eventLoop: over(eventLoop, limits.maxEventLoopOverloadedRatio),
    };
    const further =
      limits.further.length === 0 ? {} : { further: limits.further.some((one) => one.isOverloaded(windowMs)) };
    const isOverloaded =
      signals.cpu.isOverloaded || signals.memory.isOverloaded || signals.eventLoop.isOverloaded || !!further.further;
    return { isOverloaded, ...signals, ...further };
  }

  function start(): void {
    if (timers.length > 0) return;
    const { cpu: readCpu, memory: readMemory } = (readers ??= createSystemReaders(snapshotterOptions));
    let before = readCpu();
    let loopAtMs = clock();

    const sampleMemory = () => {
      const { usedBytes, limitBytes } = readMemory();
      memory.add(clock(), usedBytes > limits.maxUsedMemoryRatio * limitBytes);
      reading = { ...reading, usedBytes, limitBytes };
      current = undefined;
    };
    const sampleSystem = () => {
      const after = readCpu();
      const availableMs = after.availableMs - before.availableMs;
      const cpuRatio = availableMs > 0 ? (after.busyMs - before.busyMs) / availableMs : reading.cpuRatio;
      before = after;
      cpu.add(clock(), cpuRatio > limits.maxUsedCpuRatio);
      reading = { ...reading, cpuRatio };
      sampleMemory();
    };
    const sampleEventLoop = () => {
      const now = clock();
      const eventLoopLateMs = Math.max(0, now - loopAtMs - limits.eventLoopIntervalMs);
      loopAtMs = now;
      eventLoop.add(now, eventLoopLateMs > limits.maxBlockedMillis);
      reading = { ...reading, eventLoopLateMs };
      current = undefined;
    };

    sampleMemory();
    timers = [
      setInterval(sampleSystem, limits.systemIntervalMs),
      setInterval(sampleEventLoop, limits.eventLoopIntervalMs),
    ];
    for (const timer of timers) timer.unref();
    for (const signal of limits.further) void signal.start?.();
  }

  return {
    start,
    stop: () => {
      if (timers.length > 0) for (const signal of limits.further) void signal.stop?.();
      for (const timer of timers) clearInterval(timer);
      timers = [];
    },
    current: () => (current ??= status(limits.currentMs)),
    historical: () => status(limits.historyMs),
    latest: () => reading,
  };
}

interface History {
  add(atMs: number, overloaded: boolean): void;
  /** Overloaded share of the time covered by the samples taken after `sinceMs`; 0 without samples. */
  overloadedRatio(sinceMs: number): number;
}

/** Samples are weighted by the time they cover, so that a blocked loop with few samples still counts. */
function createHistory(intervalMs: number, keepMs: number): History {
  const samples: { atMs: number; spanMs: number; overloaded: boolean }[] = [];
  return {
    add: (atMs, overloaded) => {
      const last = samples.at(-1);
      // A machine that slept must not fill the window with one sample.
      const spanMs = last === undefined ? intervalMs : Math.min(atMs - last.atMs, 10 * intervalMs);
      samples.push({ atMs, spanMs, overloaded });
      const expired = samples.findIndex((sample) => sample.atMs > atMs - keepMs);
      if (expired > 0) samples.splice(0, expired);
    },
    overloadedRatio: (sinceMs) => {
      let allMs = 0;
      let overloadedMs = 0;
      for (let index = samples.length - 1; index >= 0 && samples[index]!.atMs > sinceMs; index--) {
        const { spanMs, overloaded } = samples[index]!;
        allMs += spanMs;
        if (overloaded) overloadedMs += spanMs;
      }
      return allMs > 0 ? overloadedMs / allMs : 0;
    },
  };
}

const aRatio = check('a number from 0 to 1', (value) => typeof value === 'number' && value >= 0 && value <= 1);

const SNAPSHOTTER_SHAPE: ShapeOf<SnapshotterOptions> = {
  eventLoopSnapshotIntervalSecs: aNumber({ above: 0 }),
  systemSnapshotIntervalSecs: aNumber({ above: 0 }),
  clientSnapshotIntervalSecs: aNumber({ above: 0 }),
  maxBlockedMillis: aNumber({ from: 0 }),
  maxUsedMemoryRatio: aRatio,
  maxUsedCpuRatio: aRatio,
  maxClientErrors: aNumber({ from: 0 }),
  snapshotHistorySecs: aNumber({ above: 0 }),
  memoryMbytes: aWholeNumber({ from: 1 }),
  availableMemoryRatio: aRatio,
  includeChildren: aBoolean,
  containerized: aBoolean,
};
const STATUS_SHAPE: ShapeOf<SystemStatusOptions> = {
  currentHistorySecs: aNumber({ above: 0 }),
  maxMemoryOverloadedRatio: aRatio,
  maxEventLoopOverloadedRatio: aRatio,
  maxCpuOverloadedRatio: aRatio,
  maxClientOverloadedRatio: aRatio,
  loadSignals: arrayOf(objectWith('a signal', ['isOverloaded'])),
};

function resolve(snapshotter: SnapshotterOptions, status: SystemStatusOptions) {
  checkOptions('snapshotterOptions', snapshotter, SNAPSHOTTER_SHAPE);
  checkOptions('systemStatusOptions', status, STATUS_SHAPE);
  const eventLoopIntervalMs = (snapshotter.eventLoopSnapshotIntervalSecs ?? 0.5) * 1000;
  const systemIntervalMs = (snapshotter.systemSnapshotIntervalSecs ?? 1) * 1000;
  if (Math.min(eventLoopIntervalMs, systemIntervalMs) < 10) {
    throw optionError(['snapshotterOptions: intervals must be at least 0.01 s, or sampling itself causes load']);
  }
  return {
    eventLoopIntervalMs,
    systemIntervalMs,
    historyMs: (snapshotter.snapshotHistorySecs ?? 30) * 1000,
    currentMs: (status.currentHistorySecs ?? 5) * 1000,
    maxBlockedMillis: snapshotter.maxBlockedMillis ?? 50,
    maxUsedMemoryRatio: snapshotter.maxUsedMemoryRatio ?? 0.9,
    maxUsedCpuRatio: snapshotter.maxUsedCpuRatio ?? 0.95,
    maxMemoryOverloadedRatio: status.maxMemoryOverloadedRatio ?? 0.2,
    maxEventLoopOverloadedRatio: status.maxEventLoopOverloadedRatio ?? 0.6,
    maxCpuOverloadedRatio: status.maxCpuOverloadedRatio ?? 0.4,
    further: status.loadSignals ?? [],
  } as const;
}
