// The events of a crawling process: save state, load measured, about to end.
// Promise: a listener that throws affects neither the others nor the emitter; its error is reported once to `onError`.

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

export type EventTypeName = EventType | `${EventType}`;

/** What each event carries. */
export interface EventPayloads {
  persistState: { isMigrating: boolean };
  systemInfo: { cpuCurrentUsage?: number; memCurrentBytes?: number; isCpuOverloaded?: boolean; createdAt?: Date };
  migrating: undefined;
  aborting: undefined;
  exit: undefined;
}

export type EventListener<Name extends EventTypeName> = (payload: EventPayloads[`${Name}`]) => unknown;

/** Registers listeners and emits events. */
export interface EventHub {
  on<Name extends EventTypeName>(event: Name, listener: EventListener<Name>): void;
  /** Removes one listener, or all of an event. */
  off<Name extends EventTypeName>(event: Name, listener?: EventListener<Name>): void;
  /** Calls every listener; resolves when all have settled. */
  emit<Name extends EventTypeName>(event: Name, payload: EventPayloads[`${Name}`]): Promise<void>;
  listenerCount(event: EventTypeName): number;
}

/**
 * An independent hub without timers or handles.
 *
 * @example
 * const events = createEventHub((error) => log.exception(error, 'listener failed'));
 * events.on(EventType.PERSIST_STATE, () => store.persistAutoSaved());
 */
export function createEventHub(onError: (error: unknown, event: EventTypeName) => void): EventHub {
  const listeners = new Map<string, Set<(payload: never) => unknown>>();

  const callSafely = async (event: EventTypeName, listener: (payload: never) => unknown, payload: unknown) => {
    try {
      await listener(payload as never);
    } catch (error) {
      onError(error, event);
    }
  };

  return {
    on(event, listener) {
      const known = listeners.get(event);
      if (known === undefined) listeners.set(event, new Set([listener]));
      else known.add(listener);
    },
    off(event, listener) {
      if (listener === undefined) listeners.delete(event);
      else listeners.get(event)?.delete(listener);
    },
    async emit(event, payload) {
      // A copy: a listener may add or remove listeners.
      const now = [...(listeners.get(event) ?? [])];
      await Promise.all(now.map((listener) => callSafely(event, listener, payload)));
    },
    listenerCount: (event) => listeners.get(event)?.size ?? 0,
  };
}
