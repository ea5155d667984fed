// Foundation: what happens once per Configuration and process before its first storage or queue is opened.
// The crawl layer decides there whether the last run's default storages are emptied or continued, and is told when a named
// queue is dropped.
import type { Configuration } from './configuration.js';

/** Marks an opening from within the hook, which everybody else waits for. */
export const WITHIN_FIRST_USE = Symbol('within first use');

type FirstUse = (config: Configuration) => Promise<void>;

type AfterDrop = (config: Configuration, queueId: string) => Promise<void>;

let hook: FirstUse | undefined;
let dropHook: AfterDrop | undefined;
const prepared = new WeakMap<Configuration, Promise<void>>();

/** Sets the hook. What it opens itself needs `[WITHIN_FIRST_USE]: true`, or it would wait for itself. */
export function beforeFirstUse(prepare: FirstUse | undefined): void {
  hook = prepare;
}

/** Sets what is done after a named queue was dropped. */
export function afterQueueDrop(forget: AfterDrop | undefined): void {
  dropHook = forget;
}

/** A named queue is gone. */
export async function queueDropped(config: Configuration, queueId: string): Promise<void> {
  await dropHook?.(config, queueId);
}

/** Resolves when the hook has run for this Configuration; one that failed is tried again by the next caller. */
export function firstUse(config: Configuration): Promise<void> {
  let preparing = prepared.get(config);
  if (!preparing) {
    if (!hook) return Promise.resolve();
    preparing = hook(config);
    prepared.set(config, preparing);
    preparing.catch(() => prepared.delete(config));
  }
  return preparing;
}
