// Moves the tail of long domains to disk and back in order. Every process of a pod offers itself; one is the keeper.
// A request leaves Redis only after the disk has it, and positions live in Redis, so whoever keeps next goes on exactly.
import { killPoint } from '../../base/kill-points.js';
import type { Argument } from './connection.js';
import type { ScriptName } from './scripts.js';
import type { SpillStore } from './spill-lmdb.js';

export interface SpillOptions {
  /** Where the pod's spilled requests live: one folder for all processes of the pod. */
  readonly folder: string;
  /** Queued requests a domain keeps in Redis. Default 1,000. */
  readonly domainHead?: number;
  /** False for a process that only adds to the pod, and does not offer itself as keeper. Default true. */
  readonly keep?: boolean;
  /** Requests that may wait to be spilled; beyond it nothing is taken in. Default 100,000. */
  readonly overflowLimit?: number;
}

export const DEFAULT_DOMAIN_HEAD = 1_000;
export const DEFAULT_OVERFLOW_LIMIT = 100_000;

export interface Keeper {
  /** Ends the work and frees the store. */
  close(): Promise<void>;
}

const KEEPER_LEASE_MS = 10_000;
const OFFER_MS = 3_000;
const IDLE_MS = 100;
/** With nothing on disk or on its way there, the keeper asks ever more rarely: to ask is a command for nothing. */
const LONGEST_IDLE_MS = 1_600;
const FAILURE_MS = 1_000;
/** One script call stays under 5 ms. */
const MAX_MOVED = 1_000;

export function startKeeper(options: {
  readonly token: string;
  readonly domainHead: number;
  readonly openStore: () => SpillStore;
  readonly run: (name: ScriptName, args: readonly Argument[]) => Promise<unknown[]>;
  readonly warn: ((message: string) => void) | undefined;
}): Keeper {
  const { token, domainHead, run } = options;
  let store: SpillStore | undefined;
  let isClosing = false;
  let wake: (() => void) | undefined;
  let idleMs = IDLE_MS;

  const rest = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      timer.unref();
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  /** One round of work; how long to rest before the next. */
  async function round(): Promise<number> {
    const answer = await run('keep', [token, KEEPER_LEASE_MS, MAX_MOVED]);
    const [isKeeper, position, waiting, wanted, positions, far] = answer as KeepAnswer;
    if (isKeeper === 0) return OFFER_MS;
    idleMs = far > 0 ? IDLE_MS : Math.min(LONGEST_IDLE_MS, idleMs * 2);
    if (waiting.length === 0 && wanted.length === 0) return idleMs;
    store ??= options.openStore();
    if (waiting.length > 0) {
      killPoint('spill.before-write');
      await store.write(waiting.map((row, i) => ({ ...unpackOverflow(row), position: position + i })));
      killPoint('spill.before-trim');
      await run('spilled', [position, waiting.length]);
      killPoint('spill.after-trim');
    }
    let moved = waiting.length;
    for (const [i, domain] of wanted.entries()) moved += await refill(store, domain, String(positions[i]));
    return moved > 0 ? 0 : IDLE_MS;
  }

  async function refill(from: SpillStore, domain: Buffer, position: string): Promise<number> {
    const rows = from.read(domain, Number(position), Math.min(MAX_MOVED, Math.ceil(domainHead / 2)));
    if (rows.length === 0) return 0;
    const next = rows.at(-1)!.position + 1;
    killPoint('spill.before-refill');
    const [moved] = await run('refill', [domain, position, next, ...rows.map(({ value }) => value)]);
    killPoint('spill.before-forget');
    // What came back this time stays until the next: a server that forgets its last calls asks for it again.
    if (moved === 1) await from.forget(domain, Number(position));
    killPoint('spill.after-forget');
    return moved === 1 ? rows.length : 0;
  }

  async function work(): Promise<void> {
    while (!isClosing) {
      let restMs = FAILURE_MS;
      try {
        restMs = await round();
      } catch (error) {
        if (!isClosing) options.warn?.(`moving queued requests to disk: ${(error as Error).message}`);
      }
      if (restMs > 0 && !isClosing) await rest(restMs);
    }
  }

  const working = work();
  return {
    async close() {
      isClosing = true;
      wake?.();
      await working;
      await store?.close();
    },
  };
}

/** See lua/keep.lua. */
type KeepAnswer = [
  isKeeper: number,
  position: number,
  waiting: Buffer[],
  wanted: Buffer[],
  positions: Buffer[],
  far: number,
];

function unpackOverflow(row: Buffer): { domain: Buffer; value: Buffer } {
  const end = 2 + row.readUInt16LE(0);
  return { domain: row.subarray(2, end), value: row.subarray(end) };
}
