// A mutable value shared by handlers and saved with the crawl.
// Promise: one object per name and store in the process.
import type { Configuration } from '../../configuration.js';
import type { Dictionary } from '../../request/request.js';
import { KeyValueStore } from './key-value.js';

/** Where the state is kept. */
export interface UseStateOptions {
  /** Where the state lies. Default the global configuration. */
  config?: Configuration;
  /** The store that holds the value; the default one unless given. */
  keyValueStoreName?: string | null;
}

/** Crawlee's key, so that scripts that look at the record find it. */
const DEFAULT_STATE_KEY = 'CRAWLEE_GLOBAL_STATE';

/**
 * The state object of that name, made from `defaultValue` if there is none yet.
 *
 * @example
 * const state = await useState('counts', { pages: 0 });
 * state.pages++;
 */
export async function useState<State extends Dictionary = Dictionary>(
  name?: string,
  defaultValue?: State,
  { config, keyValueStoreName }: UseStateOptions = {},
): Promise<State> {
  const store = await KeyValueStore.open(keyValueStoreName, config === undefined ? {} : { config });
  return store.getAutoSavedValue(name ?? DEFAULT_STATE_KEY, defaultValue ?? ({} as State));
}
