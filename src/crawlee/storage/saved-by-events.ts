// Values that every event `persistState` saves, beside the intervals of their store: scripts for Crawlee emit that event
// themselves, or wait for it and then read the record.
import { Configuration } from '../../configuration.js';
import { EventType } from '../../observe/events.js';
import { log } from '../../observe/log.js';
import type { Dictionary } from '../../request/request.js';
import { KeyValueStore } from '../../store/records/key-value.js';
import { useState as ownState, type UseStateOptions } from '../../store/records/use-state.js';
import { eventManagerOf } from '../events.js';

const SAVED = new WeakSet<KeyValueStore>();

/** From now on the auto-saved values of a store are saved with the event, too. */
export function saveWithEvents(store: KeyValueStore, config: Configuration): void {
  if (SAVED.has(store)) return;
  SAVED.add(store);
  eventManagerOf(config).on(EventType.PERSIST_STATE, () => {
    store.persistAutoSaved().catch((error: unknown) => log.exception(error as Error, 'Could not save the state'));
  });
}

/**
 * The state object of that name, saved regularly and with every event `persistState`.
 *
 * @example
 * const state = await useState('counts', { pages: 0 });
 * state.pages++;
 */
export async function useState<State extends Dictionary = Dictionary>(
  name?: string,
  defaultValue?: State,
  options: UseStateOptions = {},
): Promise<State> {
  const { config = Configuration.getGlobalConfig(), keyValueStoreName } = options;
  saveWithEvents(await KeyValueStore.open(keyValueStoreName, { config }), config);
  return ownState(name, defaultValue, options);
}
