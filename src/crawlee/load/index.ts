// Crawlee's measures of load by name. Crawlers measure with their own (src/dispatch); these are for scripts that use them.
export { evaluateLoadSignalSample, SnapshotStore } from './signal.js';
export type { ClientInfo, LoadSignal, LoadSnapshot } from './signal.js';
export { createClientLoadSignal, createCpuLoadSignal, createEventLoopLoadSignal, MemoryLoadSignal } from './signals.js';
export type {
  ClientLoadSignal,
  ClientLoadSignalOptions,
  ClientSnapshot,
  CpuLoadSignal,
  CpuLoadSignalOptions,
  CpuSnapshot,
  EventLoopLoadSignal,
  EventLoopLoadSignalOptions,
  EventLoopSnapshot,
  MemoryLoadSignalOptions,
  MemorySnapshot,
} from './signals.js';
export { Snapshotter } from './snapshotter.js';
export type { SnapshotterOptions } from './snapshotter.js';
export { SystemStatus } from './system-status.js';
export type { SystemInfo, SystemStatusOptions } from './system-status.js';
