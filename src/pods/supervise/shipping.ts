// Moves finished segments of a machine's data directories to the object stores of `content` and `datasets`, while the
// crawl runs. Promise: a store that fails or is away costs disk space, never pages: what it did not confirm stays here.
import { setTimeout as delay } from 'node:timers/promises';
import { countOf } from '../../observe/figures.js';
import type { Log } from '../../observe/log.js';
import { openObjects, type ObjectStore } from '../../store/content/remote/objects.js';
import type { Shipping } from '../../store/content/remote/shipping.js';

export interface Shipper {
  /** Reads what is in the store, once; throws if it cannot be used. */
  begin(): Promise<void>;
  /** Of pages by its name, of items by the key of its note. */
  isThere(segment: string): boolean;
  /** Looks for finished segments every few seconds. */
  start(log: Log): void;
  /** All writers have ended: moves the rest, with some patience for a store that fails. */
  finish(log: Log, now: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

const LOOK_MS = 5_000;
const MAX_WAIT_MS = 60_000;
/** At the end: about five minutes with a store that is away. */
const LAST_ATTEMPTS = 8;

/** All of them as one. */
export function allShippers(shippers: readonly Shipper[]): Shipper | undefined {
  if (shippers.length === 0) return undefined;
  return {
    async begin() {
      for (const one of shippers) await one.begin();
    },
    isThere: (segment) => shippers.some((one) => one.isThere(segment)),
    start: (log) => shippers.forEach((one) => one.start(log)),
    async finish(log, now) {
      for (const one of shippers) await one.finish(log, now);
    },
    async close() {
      for (const one of shippers) await one.close();
    },
  };
}

export function openShipping(
  url: string,
  what: 'Pages' | 'Items',
  create: (objects: ObjectStore) => Shipping,
): Shipper {
  let opening: Promise<{ objects: ObjectStore; shipping: Shipping }> | undefined;
  let shipping: Shipping | undefined;
  let looking: Promise<void> | undefined;
  const ended = new AbortController();

  const open = async () => {
    const objects = await openObjects(url);
    const made = create(objects);
    await made.begin().catch((error: unknown) => {
      objects.close();
      throw error;
    });
    shipping = made;
    return { objects, shipping: made };
  };
  const begin = () => {
    opening ??= open();
    opening.catch(() => (opening = undefined));
    return opening;
  };

  async function look(log: Log): Promise<void> {
    let waitMs = LOOK_MS;
    let told = '';
    while (!ended.signal.aborted) {
      try {
        await (await begin()).shipping.ship(ended.signal);
        if (told !== '') log.info(`${what} go to ${url} again`);
        told = '';
        waitMs = LOOK_MS;
      } catch (error) {
        const { message, code } = error as Error & { code?: string };
        // A pod whose worker starts again cannot tell yet what is finished.
        if (code === 'QUEUE_UNREACHABLE') {
          await delay(waitMs, undefined, { signal: ended.signal }).catch(() => undefined);
          continue;
        }
        if (message !== told) log.warning(`${what} stay in the data directories for now: ${message}`);
        told = message;
        waitMs = Math.min(MAX_WAIT_MS, waitMs * 2);
      }
      await delay(waitMs, undefined, { signal: ended.signal }).catch(() => undefined);
    }
  }

  async function stopLooking(): Promise<void> {
    ended.abort();
    await looking;
  }

  return {
    begin: async () => void (await begin()),
    isThere: (segment) => shipping?.isThere(segment) === true,
    start: (log) => void (looking ??= look(log)),
    async finish(log, now) {
      await stopLooking();
      for (let attempt = 1; !now.aborted; attempt++) {
        try {
          const { shipping: mine } = await begin();
          await mine.ship(now);
          const { segments, bytes } = mine.shipped;
          if (segments > 0)
            log.info(`${countOf(segments, 'segment')} of ${what.toLowerCase()} moved to ${url}`, { segments, bytes });
          return;
        } catch (error) {
          const { message } = error as Error;
          if (attempt === LAST_ATTEMPTS) {
            log.error(`${what} stay in the data directories, until a run with --resume: ${message}`);
            return;
          }
          log.warning(`The rest of the ${what.toLowerCase()} is not in ${url} yet: ${message}`);
          await delay(Math.min(MAX_WAIT_MS, 1_000 * 2 ** attempt), undefined, { signal: now }).catch(() => undefined);
        }
      }
    },
    async close() {
      await stopLooking();
      (await opening?.catch(() => undefined))?.objects.close();
    },
  };
}
