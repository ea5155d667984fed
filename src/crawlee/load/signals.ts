// Crawlee's four signals: memory, CPU, event loop, and refusals of a storage client.
import { Configuration } from '../../configuration.js';
import { EventType } from '../../event-names.js';
import { log as globalLog, type Log } from '../../observe/log.js';
import { eventManagerOf } from '../events.js';
import { memoryNow } from '../machine.js';
import { type LoadSignal, type LoadSnapshot, SnapshotStore, type StoredSignal } from './signal.js';
import type { SystemInfo } from './system-status.js';

/** Memory at a time. */
export interface MemorySnapshot extends LoadSnapshot {
  usedBytes?: number;
}
/** CPU at a time. */
export interface CpuSnapshot extends LoadSnapshot {
  usedRatio: number;
  ticks?: { idle: number; total: number };
}
/** How late the event loop was. */
export interface EventLoopSnapshot extends LoadSnapshot {
  exceededMillis: number;
}
/** How often a storage client was refused so far. */
export interface ClientSnapshot extends LoadSnapshot {
  rateLimitErrorCount: number;
}

/** The signal of refusals. */
export type ClientLoadSignal = StoredSignal<ClientSnapshot, () => unknown>;
/** The signal of the CPU. */
export type CpuLoadSignal = StoredSignal<CpuSnapshot, SystemInfo>;
/** The signal of the event loop. */
export type EventLoopLoadSignal = StoredSignal<EventLoopSnapshot, () => unknown>;

/** What a client of remote storages may tell of itself. */
interface CountingClient {
  stats?: { rateLimitErrors: number[] };
}

/** How refusals are counted. */
export interface ClientLoadSignalOptions {
  client: CountingClient;
  clientSnapshotIntervalSecs?: number;
  maxClientErrors?: number;
  overloadedRatio?: number;
  snapshotHistoryMillis?: number;
}

/** Refusals after this many attempts count: earlier ones are ordinary. */
const ATTEMPT_THAT_COUNTS = 2;

/**
 * Overloaded while a storage client is refused often.
 *
 * @example
 * const signal = createClientLoadSignal({ client: { stats: { rateLimitErrors: [0, 0, 0] } } });
 */
export function createClientLoadSignal(options: ClientLoadSignalOptions): ClientLoadSignal {
  const { client, clientSnapshotIntervalSecs = 1, maxClientErrors = 3, overloadedRatio = 0.3 } = options;
  return SnapshotStore.fromInterval<ClientSnapshot>({
    name: 'clientInfo',
    overloadedRatio,
    intervalMillis: clientSnapshotIntervalSecs * 1_000,
    snapshotHistoryMillis: options.snapshotHistoryMillis,
    handler(store, done) {
      const createdAt = new Date();
      const rateLimitErrorCount = client.stats?.rateLimitErrors[ATTEMPT_THAT_COUNTS] ?? 0;
      const before = store.getAll().at(-1)?.rateLimitErrorCount ?? rateLimitErrorCount;
      const isOverloaded = rateLimitErrorCount - before > maxClientErrors;
      store.push({ createdAt, isOverloaded, rateLimitErrorCount }, createdAt);
      done();
    },
  });
}

/** How the CPU is judged. */
export interface CpuLoadSignalOptions {
  overloadedRatio?: number;
  snapshotHistoryMillis?: number;
  config?: Configuration;
}

/**
 * Overloaded while system information says that the CPU is.
 *
 * @example
 * const signal = createCpuLoadSignal({ config: Configuration.getGlobalConfig() });
 */
export function createCpuLoadSignal(options: CpuLoadSignalOptions): CpuLoadSignal {
  const { overloadedRatio = 0.4, snapshotHistoryMillis, config = Configuration.getGlobalConfig() } = options;
  return SnapshotStore.fromEvent<CpuSnapshot, SystemInfo>({
    name: 'cpuInfo',
    overloadedRatio,
    snapshotHistoryMillis,
    events: eventManagerOf(config),
    event: EventType.SYSTEM_INFO,
    handler(store, { createdAt = new Date(), cpuCurrentUsage = 0, isCpuOverloaded = false }) {
      const at = new Date(createdAt);
      store.push({ createdAt: at, isOverloaded: isCpuOverloaded, usedRatio: Math.ceil(cpuCurrentUsage / 100) }, at);
    },
  });
}

/** How the event loop is judged. */
export interface EventLoopLoadSignalOptions {
  eventLoopSnapshotIntervalSecs?: number;
  maxBlockedMillis?: number;
  overloadedRatio?: number;
  snapshotHistoryMillis?: number;
}

/**
 * Overloaded while timers are late.
 *
 * @example
 * const signal = createEventLoopLoadSignal({ maxBlockedMillis: 100 });
 */
export function createEventLoopLoadSignal(options: EventLoopLoadSignalOptions = {}): EventLoopLoadSignal {
  const { eventLoopSnapshotIntervalSecs = 0.5, maxBlockedMillis = 50, overloadedRatio = 0.6 } = options;
  const intervalMillis = eventLoopSnapshotIntervalSecs * 1_000;
  return SnapshotStore.fromInterval<EventLoopSnapshot>({
    name: 'eventLoopInfo',
    overloadedRatio,
    intervalMillis,
    snapshotHistoryMillis: options.snapshotHistoryMillis,
    handler(store, done) {
      const createdAt = new Date();
      const before = store.getAll().at(-1);
      const lateMs = before ? +createdAt - +before.createdAt - intervalMillis : 0;
      const isOverloaded = lateMs > maxBlockedMillis;
      store.push({ createdAt, isOverloaded, exceededMillis: Math.max(0, lateMs - maxBlockedMillis) }, createdAt);
      done();
    },
  });
}

/** How memory is judged. */
export interface MemoryLoadSignalOptions {
  maxUsedMemoryRatio?: number;
  overloadedRatio?: number;
  snapshotHistoryMillis?: number;
  config?: Configuration;
  log?: Pick<Log, 'warning' | 'debug'>;
}

/** The share of the reserve, above `maxUsedMemoryRatio`, that is worth a warning; and how often one is given. */
const CRITICAL_SHARE = 0.5;
const WARNING_EVERY_MS = 10_000;

/**
 * Overloaded while the process uses more memory than its part of what there is.
 *
 * @example
 * const signal = new MemoryLoadSignal({ config: Configuration.getGlobalConfig() });
 */
export class MemoryLoadSignal implements LoadSignal {
  readonly name = 'memInfo';
  readonly overloadedRatio: number;
  readonly #store: SnapshotStore<MemorySnapshot>;
  readonly #config: Configuration;
  readonly #log: Pick<Log, 'warning' | 'debug'>;
  readonly #maxUsedRatio: number;
  readonly #heard = (info: SystemInfo): void => this._onSystemInfo(info);
  #maxBytes: number | undefined;
  #warnedAtMs = -Infinity;

  constructor(options: MemoryLoadSignalOptions) {
    const { maxUsedMemoryRatio = 0.9, overloadedRatio = 0.2, config = Configuration.getGlobalConfig() } = options;
    this.overloadedRatio = overloadedRatio;
    this.#maxUsedRatio = maxUsedMemoryRatio;
    this.#config = config;
    this.#log = options.log ?? globalLog.child({ prefix: 'Snapshotter' });
    this.#store = new SnapshotStore(options.snapshotHistoryMillis);
  }

  async start(): Promise<void> {
    const megabytes = this.#config.get('memoryMbytes');
    if (megabytes !== undefined) this.#maxBytes = megabytes * 1024 * 1024;
    else {
      this.#maxBytes = Math.ceil((await this._getTotalMemoryBytes()) * this.#config.get('availableMemoryRatio'));
      this.#log.debug(
        `the crawl may use ${inMegabytes(this.#maxBytes)} MB of memory; CRAWLEE_MEMORY_MBYTES changes it`,
      );
    }
    eventManagerOf(this.#config).on(EventType.SYSTEM_INFO, this.#heard);
  }

  async stop(): Promise<void> {
    eventManagerOf(this.#config).off(EventType.SYSTEM_INFO, this.#heard);
  }

  getSample(sampleDurationMillis?: number): MemorySnapshot[] {
    return this.#store.getSample(sampleDurationMillis);
  }

  getMemorySnapshots(): MemorySnapshot[] {
    return this.#store.getAll();
  }

  /** @internal */
  _onSystemInfo(info: SystemInfo): void {
    const createdAt = info.createdAt ? new Date(info.createdAt) : new Date();
    const usedBytes = info.memCurrentBytes;
    const isOverloaded = usedBytes !== undefined && usedBytes / this.#limit() > this.#maxUsedRatio;
    this.#store.push({ createdAt, isOverloaded, ...(usedBytes === undefined ? {} : { usedBytes }) }, createdAt);
    this._memoryOverloadWarning(info);
  }

  /** @internal */
  _memoryOverloadWarning(info: SystemInfo, maxMemoryBytes = this.#limit()): void {
    const { memCurrentBytes: used, createdAt = new Date() } = info;
    const critical = (this.#maxUsedRatio + (1 - this.#maxUsedRatio) * CRITICAL_SHARE) * maxMemoryBytes;
    if (used === undefined || used <= critical || +createdAt - this.#warnedAtMs < WARNING_EVERY_MS) return;
    this.#warnedAtMs = +createdAt;
    const percent = Math.round((used / maxMemoryBytes) * 100);
    const amounts = `${inMegabytes(used)} MB of ${inMegabytes(maxMemoryBytes)} MB (${percent}%)`;
    this.#log.warning(`Memory is critically overloaded: ${amounts}. Give the crawl more memory.`);
  }

  /** Of the machine or the container. */
  protected async _getTotalMemoryBytes(): Promise<number> {
    return memoryNow().totalBytes;
  }

  #limit(): number {
    return this.#maxBytes ?? Infinity;
  }
}

function inMegabytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}
