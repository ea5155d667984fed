// Foundation: what happens once per Configuration and process before its first storage or queue is opened.
// The crawl layer decides there whether the last run's default storages are emptied or continued.
import type { Configuration } from './configuration.js';

type FirstUse = (config: Configuration) => Promise<void>;

let hook: FirstUse | undefined;
const prepared = new WeakMap<Configuration, Promise<void>>();

/** Sets the hook. It may purge storages, but must open them as `prepared`, or it would wait for itself. */
export function beforeFirstUse(prepare: FirstUse | undefined): void {
  hook = prepare;
}

/** Resolves when the hook has run for this Configuration; one that failed is tried again by the next caller. */
export function firstUse(config: Configuration): Promise<void> {
  let preparing = prepared.get(config);
  if (!preparing) {
    preparing = hook?.(config) ?? Promise.resolve();
    prepared.set(config, preparing);
    preparing.catch(() => prepared.delete(config));
  }
  return preparing;
}
