// Values of a key-value store that handlers change in place and that are saved automatically.
// Promise: one object per key in the process; saved every interval if it changed, and on request.
import { log } from '../../observe/log.js';
import type { Dictionary } from '../../request/request.js';

export interface AutoSaved {
  /** The one object of a key, loaded at the first call. */
  get(key: string, initial: Dictionary): Promise<Dictionary>;
  /** The record of a key was set or deleted: updates the shared object. */
  follow(key: string, value: unknown): void;
  /** Saves every value that changed; throws the first failure after trying all. */
  save(): Promise<void>;
  /** Stops the interval; the next `get` starts it again. */
  stop(): void;
  /** Drops all values without saving. */
  clear(): void;
}

interface Held {
  readonly value: Dictionary;
  /** The stored text, to write only changes. */
  saved: string | undefined;
}

/** Those whose values are saved at intervals now. */
const active = new Set<() => Promise<void>>();

/** Saves what changed of every store of the process, beside the intervals; what fails is logged and tried again then. */
export async function saveAllAutoSaved(): Promise<void> {
  await Promise.all([...active].map((save) => save().catch(tellOfFailure)));
}

function tellOfFailure(error: unknown): void {
  log.exception(error, 'Could not save the state, will retry');
}

export function createAutoSaved(
  read: (key: string) => Promise<unknown>,
  write: (key: string, json: string) => Promise<void>,
  intervalMs: () => number,
): AutoSaved {
  const values = new Map<string, Promise<Held>>();
  let timer: NodeJS.Timeout | undefined;

  const load = async (key: string, initial: Dictionary): Promise<Held> => {
    const stored = await read(key);
    if (typeof stored === 'object' && stored !== null) return { value: stored, saved: JSON.stringify(stored, null, 2) };
    return { value: initial, saved: undefined };
  };

  const saveOne = async (key: string, holding: Promise<Held>): Promise<void> => {
    const held = await holding;
    const json = JSON.stringify(held.value, null, 2);
    if (json === held.saved) return;
    await write(key, json);
    held.saved = json;
  };

  const save = async (): Promise<void> => {
    const results = await Promise.allSettled([...values].map(([key, held]) => saveOne(key, held)));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  };

  const begin = (): void => {
    active.add(save);
    timer ??= setInterval(() => void save().catch(tellOfFailure), intervalMs()).unref();
  };

  return {
    async get(key, initial) {
      let holding = values.get(key);
      if (holding === undefined) {
        holding = load(key, initial);
        values.set(key, holding);
        holding.catch(() => values.delete(key));
      }
      const { value } = await holding;
      begin();
      return value;
    },
    follow(key, value) {
      const holding = values.get(key);
      if (holding === undefined) return;
      const apply = (held: Held): void => {
        if (value === held.value) return;
        const fields = typeof value === 'object' && value !== null ? (value as Dictionary) : {};
        for (const name of Object.keys(held.value)) if (!Object.hasOwn(fields, name)) delete held.value[name];
        Object.assign(held.value, fields);
        // A deleted record is not written again until the object changes.
        held.saved = JSON.stringify(held.value, null, 2);
      };
      // If loading failed there is no object to update; the caller got the error.
      holding.then(apply, () => undefined);
    },
    save,
    stop() {
      active.delete(save);
      clearInterval(timer);
      timer = undefined;
    },
    clear: () => values.clear(),
  };
}
