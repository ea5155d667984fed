// The events that crawlers announce, and who hears them: names and shapes as Crawlee has them.

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

/** What crawlers and scripts need of an event manager. */
export interface EventManagerLike {
  /** Calls the listener for every such event. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the arguments are the emitter's business, as in Node
  on(event: EventType | `${EventType}`, listener: (...args: any[]) => unknown): void;
  /** Removes a listener, or all of this event. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above
  off(event: EventType | `${EventType}`, listener?: (...args: any[]) => unknown): void;
  /** Calls the listeners of this event. */
  emit(event: EventType | `${EventType}`, ...args: unknown[]): void;
  /** Starts what sends events by itself, such as system information. */
  init(): Promise<void>;
  /** Stops it again. */
  close(): Promise<void>;
  /** Whether `init()` was called and `close()` was not. */
  isInitialized(): boolean;
  /** Resolves when the promises of all listeners have settled. */
  waitForAllListenersToComplete(): Promise<boolean>;
}
