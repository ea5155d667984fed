// Crawlee's storage clients.
export type * from './clients.js';
export { MemoryStorage } from './memory-storage.js';
export type { MemoryStorageOptions } from './memory-storage.js';
