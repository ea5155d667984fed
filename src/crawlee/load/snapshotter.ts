// Crawlee's Snapshotter: the four signals of load as one object.
import { Configuration } from '../../configuration.js';
import type { EventManagerLike } from '../../event-names.js';
import { log as globalLog, type Log } from '../../observe/log.js';
import { eventManagerOf } from '../events.js';
import type { LoadSignal } from './signal.js';
import type { ClientSnapshot, CpuSnapshot, EventLoopSnapshot, MemorySnapshot } from './signals.js';
import { createClientLoadSignal, createCpuLoadSignal, createEventLoopLoadSignal, MemoryLoadSignal } from './signals.js';
import type { SystemInfo } from './system-status.js';

/** How load is measured. */
export interface SnapshotterOptions {
  /** Default 0.5. */
  eventLoopSnapshotIntervalSecs?: number;
  /** Default 1. */
  clientSnapshotIntervalSecs?: number;
  /** Default 50. */
  maxBlockedMillis?: number;
  /** Default 0.9. */
  maxUsedMemoryRatio?: number;
  /** Default 3. */
  maxClientErrors?: number;
  /** Default 30. */
  snapshotHistorySecs?: number;
  log?: Log;
  client?: { stats?: { rateLimitErrors: number[] } };
  config?: Configuration;
}

/**
 * Takes samples of memory, CPU, event loop and storage client.
 *
 * @example
 * const snapshotter = new Snapshotter({ maxBlockedMillis: 100 });
 * await snapshotter.start();
 * const sample = snapshotter.getMemorySample(5_000);
 * await snapshotter.stop();
 */
export class Snapshotter {
  readonly log: Log;
  readonly client: NonNullable<SnapshotterOptions['client']>;
  readonly config: Configuration;
  readonly events: EventManagerLike;
  readonly #memory: MemoryLoadSignal;
  readonly #eventLoop: ReturnType<typeof createEventLoopLoadSignal>;
  readonly #cpu: ReturnType<typeof createCpuLoadSignal>;
  readonly #client: ReturnType<typeof createClientLoadSignal>;

  constructor(options: SnapshotterOptions = {}) {
    const { snapshotHistorySecs = 30, config = Configuration.getGlobalConfig() } = options;
    const client = options.client ?? (config.get('storageClient') as SnapshotterOptions['client']) ?? {};
    const snapshotHistoryMillis = snapshotHistorySecs * 1_000;
    this.log = (options.log ?? globalLog).child({ prefix: 'Snapshotter' });
    this.client = client;
    this.config = config;
    this.events = eventManagerOf(config);
    const { maxUsedMemoryRatio, eventLoopSnapshotIntervalSecs, maxBlockedMillis } = options;
    const { clientSnapshotIntervalSecs, maxClientErrors } = options;
    this.#memory = new MemoryLoadSignal({ maxUsedMemoryRatio, snapshotHistoryMillis, config, log: this.log });
    this.#eventLoop = createEventLoopLoadSignal({
      eventLoopSnapshotIntervalSecs,
      maxBlockedMillis,
      snapshotHistoryMillis,
    });
    this.#cpu = createCpuLoadSignal({ snapshotHistoryMillis, config });
    this.#client = createClientLoadSignal({
      client,
      clientSnapshotIntervalSecs,
      maxClientErrors,
      snapshotHistoryMillis,
    });
  }

  getLoadSignals(): LoadSignal[] {
    return [this.#memory, this.#eventLoop, this.#cpu, this.#client];
  }

  get cpuSnapshots(): CpuSnapshot[] {
    return this.#cpu.store.getAll();
  }

  get eventLoopSnapshots(): EventLoopSnapshot[] {
    return this.#eventLoop.store.getAll();
  }

  get memorySnapshots(): MemorySnapshot[] {
    return this.#memory.getMemorySnapshots();
  }

  get clientSnapshots(): ClientSnapshot[] {
    return this.#client.store.getAll();
  }

  async start(): Promise<void> {
    for (const signal of this.getLoadSignals()) await signal.start();
  }

  async stop(): Promise<void> {
    for (const signal of this.getLoadSignals()) await signal.stop();
  }

  getMemorySample(sampleDurationMillis?: number): MemorySnapshot[] {
    return this.#memory.getSample(sampleDurationMillis);
  }

  getEventLoopSample(sampleDurationMillis?: number): EventLoopSnapshot[] {
    return this.#eventLoop.getSample(sampleDurationMillis);
  }

  getCpuSample(sampleDurationMillis?: number): CpuSnapshot[] {
    return this.#cpu.getSample(sampleDurationMillis);
  }

  getClientSample(sampleDurationMillis?: number): ClientSnapshot[] {
    return this.#client.getSample(sampleDurationMillis);
  }

  protected _snapshotMemory(info: SystemInfo): void {
    this.#memory._onSystemInfo(info);
  }

  protected _memoryOverloadWarning(info: SystemInfo): void {
    this.#memory._memoryOverloadWarning(info);
  }

  protected _snapshotEventLoop(done: () => unknown): void {
    this.#eventLoop.handle(done);
  }

  protected _snapshotCpu(info: SystemInfo): void {
    this.#cpu.handle(info);
  }

  protected _snapshotClient(done: () => unknown): void {
    this.#client.handle(done);
  }
}
