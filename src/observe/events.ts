// Crawlee's event names, for scripts that import them.

/**
 * Crawlee's event names.
 *
 * @example
 * const names = Object.values(EventType); // ['persistState', …]
 */
export enum EventType {
  PERSIST_STATE = 'persistState',
  SYSTEM_INFO = 'systemInfo',
  MIGRATING = 'migrating',
  ABORTING = 'aborting',
  EXIT = 'exit',
}
