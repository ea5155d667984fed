// Moves the tail of long domains to disk and back in order. Every process of a pod is a candidate; one is the keeper.
// A request leaves Redis only after it is on disk, and positions are in Redis, so the next keeper continues exactly.
// Refilled requests stay on disk for a while: a server that loses its last calls asks for them again.
import { killPoint } from '../../../base/kill-points.js';
import type { CrawlError } from '../../../errors.js';
import type { Argument } from '../server/connection.js';
import type { ScriptName } from '../scripts.js';
import { type Gap, missing, type SpillStore } from './spill-lmdb.js';

export interface SpillOptions {
  /** The folder of the pod's spilled requests, for all processes of the pod. */
  readonly folder: string;
  /** Queued requests per domain in Redis. Default 1,000. */
  readonly domainHead?: number;
  /** False for a process that only adds to the pod and is not a candidate for keeper. Default true. */
  readonly keep?: boolean;
  /** Whether the folder is on this machine: then it is checked when the store is opened. Default `keep`. */
  readonly isLocal?: boolean;
  /** Requests that may wait to be spilled; beyond it nothing is accepted. Default 100,000. */
  readonly overflowLimit?: number;
  /** Work only on `keep()`: for tests with a fixed clock. Default false. */
  readonly byHand?: boolean;
}

export const DEFAULT_DOMAIN_HEAD = 1_000;
export const DEFAULT_OVERFLOW_LIMIT = 100_000;

export interface Keeper {
  /** Stops the work and frees the store. */
  close(): Promise<void>;
}

export interface KeeperOptions {
  readonly token: string;
  readonly folder: string;
  readonly domainHead: number;
  /** Opens the tail on disk, which must already have this many requests. */
  readonly openStore: (storedRows: number) => SpillStore;
  readonly run: (name: ScriptName, args: readonly Argument[]) => Promise<unknown[]>;
  readonly warn: ((message: string) => void) | undefined;
  /** Requests are missing on disk: the queue cannot continue. */
  readonly fail: (error: CrawlError) => void;
  readonly nowMs?: () => number;
}

const KEEPER_LEASE_MS = 10_000;
const OFFER_MS = 3_000;
const IDLE_MS = 100;
/** With nothing to move, the keeper polls ever more rarely. */
const LONGEST_IDLE_MS = 1_600;
const FAILURE_MS = 1_000;
/** One script call stays under 5 ms. */
const MAX_MOVED = 1_000;
/** With a tiny head a domain would get one request per round. */
const MIN_REFILLED = 32;
/** Well beyond what `appendfsync everysec` can lose. */
const KEPT_ON_DISK_MS = 30_000;
const MAX_FORGETTABLE = 100_000;

export function startKeeper(options: KeeperOptions): Keeper {
  const keeper = createKeeper(options);
  let isClosing = false;
  let wake: (() => void) | undefined;

  const rest = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      timer.unref();
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  async function work(): Promise<void> {
    while (!isClosing) {
      let restMs = FAILURE_MS;
      try {
        restMs = await keeper.round();
      } catch (error) {
        if ((error as CrawlError).code === 'QUEUE_CORRUPT') return options.fail(error as CrawlError);
        if (!isClosing) options.warn?.(`Cannot move queued requests to disk: ${(error as Error).message}`);
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
      await keeper.close();
    },
  };
}

/** The keeper's work, one round at a time. */
export function createKeeper(options: KeeperOptions): Keeper & { round(): Promise<number> } {
  const { token, domainHead, run, nowMs = () => performance.now() } = options;
  let store: SpillStore | undefined;
  let idleMs = IDLE_MS;
  // Refilled requests that may leave the disk, oldest first.
  const forgettable: { readonly domain: Buffer; readonly before: number; readonly sinceMs: number }[] = [];
  // A domain whose requests are missing on disk, by its key and position.
  let short = new Set<string>();
  let emptySinceMs: number | undefined;
  let restarts = 0;

  /** How long to wait before the next round. */
  async function round(): Promise<number> {
    const answer = readAnswer(await run('keep', [token, KEEPER_LEASE_MS, MAX_MOVED]));
    if (!answer) {
      emptySinceMs = undefined;
      return OFFER_MS;
    }
    const { waiting, wanted, far } = answer;
    // A restarted server may have forgotten what was refilled: it is still needed on disk.
    if (answer.restarts !== restarts) forgettable.length = 0;
    restarts = answer.restarts;
    idleMs = far > 0 ? IDLE_MS : Math.min(LONGEST_IDLE_MS, idleMs * 2);
    await forgetOld(far);
    if (waiting.length === 0 && wanted.length === 0) return idleMs;
    store ??= options.openStore(far - answer.overflow);
    if (waiting.length > 0) {
      killPoint('spill.before-write');
      await store.write(waiting.map((row, i) => ({ ...unpackOverflow(row), position: answer.position + i })));
      killPoint('spill.before-trim');
      const [left] = await run('spilled', [answer.position, waiting.length, answer.restarts]);
      killPoint('spill.after-trim');
      // Another process is the keeper now, or the server restarted: look again.
      if (left === 0) return 0;
    }
    let moved = waiting.length;
    const nowShort = new Set<string>();
    for (const domain of wanted) {
      const count = await refill(store, domain, answer);
      moved += count;
      if (count === 0 && domain.far > 0 && answer.overflow === waiting.length) nowShort.add(nameOf(domain));
    }
    // Checked twice, since another process may have become the keeper and moved them in between.
    const lost = wanted.find((domain) => nowShort.has(nameOf(domain)) && short.has(nameOf(domain)));
    if (lost) throw missing(options.folder, lost.far, `, among others of ${lost.key.toString('utf8', 2)}`);
    short = nowShort;
    return moved > 0 ? 0 : IDLE_MS;
  }

  async function refill(from: SpillStore, domain: Wanted, answer: KeepAnswer): Promise<number> {
    const range = {
      from: Number(domain.position),
      before: answer.position + answer.waiting.length,
      gaps: answer.gaps,
    };
    const count = Math.min(MAX_MOVED, Math.max(MIN_REFILLED, Math.ceil(domainHead / 2)), domain.far);
    const rows = from.read(domain.key, range, count);
    if (rows.length === 0) return 0;
    const next = rows.at(-1)!.position + 1;
    const values = rows.map(({ value }) => value);
    killPoint('spill.before-refill');
    const [moved] = await run('refill', [domain.key, domain.position, next, answer.restarts, ...values]);
    killPoint('spill.after-refill');
    if (moved === 1) forgettable.push({ domain: domain.key, before: next, sinceMs: nowMs() });
    return moved === 1 ? rows.length : 0;
  }

  async function forgetOld(far: number): Promise<void> {
    const now = nowMs();
    while (forgettable.length > MAX_FORGETTABLE || (forgettable[0] && now - forgettable[0].sinceMs > KEPT_ON_DISK_MS)) {
      const { domain, before } = forgettable.shift()!;
      killPoint('spill.before-forget');
      await store!.forget(domain, before);
      killPoint('spill.after-forget');
    }
    // Leftovers of earlier keepers are removed when nothing has been on disk for that time.
    if (far > 0) emptySinceMs = undefined;
    else if (emptySinceMs === undefined) emptySinceMs = now;
    else if (store && now - emptySinceMs > KEPT_ON_DISK_MS) {
      await store.clear();
      emptySinceMs = Infinity;
    }
  }

  return {
    round,
    async close() {
      await store?.close();
    },
  };
}

interface Wanted {
  readonly key: Buffer;
  readonly position: string;
  readonly far: number;
}

interface KeepAnswer {
  readonly restarts: number;
  readonly position: number;
  readonly waiting: readonly Buffer[];
  readonly wanted: readonly Wanted[];
  readonly gaps: readonly Gap[];
  readonly overflow: number;
  readonly far: number;
}

const nameOf = ({ key, position }: Wanted): string => `${key.toString('latin1')} ${position}`;

/** See lua/keep.lua; undefined when another keeps. */
function readAnswer(answer: unknown[]): KeepAnswer | undefined {
  const [isKeeper, restarts, position, waiting, keys, positions, fars, gaps, overflow, far] = answer as [
    ...[number, number, number, Buffer[], Buffer[], Buffer[], number[], Buffer[], number, number],
  ];
  if (isKeeper === 0) return undefined;
  const wanted = keys.map((key, i) => ({ key, position: String(positions[i]), far: fars[i]! }));
  const pairs = gaps.map((gap): Gap => [gap.readDoubleLE(0), gap.readDoubleLE(8)]);
  return { restarts, position, waiting, wanted, gaps: pairs, overflow, far };
}

function unpackOverflow(row: Buffer): { domain: Buffer; value: Buffer } {
  const end = 2 + row.readUInt16LE(0);
  return { domain: row.subarray(2, end), value: row.subarray(end) };
}
