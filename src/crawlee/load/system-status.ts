// Crawlee's SystemStatus: whether the samples of a Snapshotter and of further signals show an overload.
import type { Configuration } from '../../configuration.js';
import { type ClientInfo, evaluateLoadSignalSample, type LoadSignal } from './signal.js';
import { Snapshotter } from './snapshotter.js';

/** Whether the system is overloaded, and by what. */
export interface SystemInfo {
  /** False: something is overloaded. */
  isSystemIdle: boolean;
  memInfo: ClientInfo;
  eventLoopInfo: ClientInfo;
  cpuInfo: ClientInfo;
  clientInfo: ClientInfo;
  memTotalBytes?: number;
  memCurrentBytes?: number;
  cpuCurrentUsage?: number;
  isCpuOverloaded?: boolean;
  createdAt?: Date;
  /** By name, what further signals say. */
  loadSignalInfo?: Record<string, ClientInfo>;
}

/** Which share of samples may be overloaded. */
export interface SystemStatusOptions {
  /** Default 5. */
  currentHistorySecs?: number;
  /** Default 0.2. */
  maxMemoryOverloadedRatio?: number;
  /** Default 0.6. */
  maxEventLoopOverloadedRatio?: number;
  /** Default 0.4. */
  maxCpuOverloadedRatio?: number;
  /** Default 0.3. */
  maxClientOverloadedRatio?: number;
  snapshotter?: Snapshotter;
  /** Judged beside the four of the snapshotter. */
  loadSignals?: LoadSignal[];
  config?: Configuration;
}

const BUILT_IN = ['memInfo', 'eventLoopInfo', 'cpuInfo', 'clientInfo'] as const;
type BuiltIn = (typeof BUILT_IN)[number];

/**
 * Judges the load of the system.
 *
 * @example
 * const status = new SystemStatus({ snapshotter });
 * if (!status.getCurrentStatus().isSystemIdle) slowDown();
 */
export class SystemStatus {
  protected readonly snapshotter: Pick<Snapshotter, 'getLoadSignals'>;
  readonly #currentMs: number;
  readonly #signals: readonly LoadSignal[];
  readonly #limits: Readonly<Record<BuiltIn, number>>;

  constructor(options: SystemStatusOptions = {}) {
    const { snapshotter = new Snapshotter({ config: options.config }), loadSignals = [] } = options;
    this.snapshotter = snapshotter;
    this.#currentMs = (options.currentHistorySecs ?? 5) * 1_000;
    this.#signals = [...snapshotter.getLoadSignals(), ...loadSignals];
    this.#limits = {
      memInfo: options.maxMemoryOverloadedRatio ?? 0.2,
      eventLoopInfo: options.maxEventLoopOverloadedRatio ?? 0.6,
      cpuInfo: options.maxCpuOverloadedRatio ?? 0.4,
      clientInfo: options.maxClientOverloadedRatio ?? 0.3,
    };
  }

  /** The last `currentHistorySecs`. */
  getCurrentStatus(): SystemInfo {
    return this._isSystemIdle(this.#currentMs);
  }

  /** Everything that is remembered. */
  getHistoricalStatus(): SystemInfo {
    return this._isSystemIdle();
  }

  protected _isSystemIdle(sampleDurationMillis?: number): SystemInfo {
    const found = Object.fromEntries(
      BUILT_IN.map((name) => [name, evaluateLoadSignalSample([], this.#limits[name])]),
    ) as Record<BuiltIn, ClientInfo>;
    const further: Record<string, ClientInfo> = {};
    let isSystemIdle = true;
    for (const signal of this.#signals) {
      const limit = isBuiltIn(signal.name) ? this.#limits[signal.name] : signal.overloadedRatio;
      const judged = evaluateLoadSignalSample(signal.getSample(sampleDurationMillis), limit);
      if (judged.isOverloaded) isSystemIdle = false;
      if (isBuiltIn(signal.name)) found[signal.name] = judged;
      else further[signal.name] = judged;
    }
    const hasFurther = Object.keys(further).length > 0;
    return { isSystemIdle, ...found, ...(hasFurther ? { loadSignalInfo: further } : {}) };
  }
}

function isBuiltIn(name: string): name is BuiltIn {
  return (BUILT_IN as readonly string[]).includes(name);
}
