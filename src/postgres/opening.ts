// One opening of a queue by one process: registered with its identity, alive while it has its connection, and the dead
// ones found out. Promise: what a dead process held goes back at once if it ran on this machine, within seconds if not.
import { randomUUID } from 'node:crypto';
import {
  CrawlError,
  fingerprintOf,
  type FrontierOpening,
  frontierChecks,
  processLife,
  type ProcessIdentity,
} from '../index.js';
import { type Connection, type ConnectionOptions, createConnection, type Row, type Run } from './connection.js';
import { setUpSchema } from './schema.js';
import { createStoreClock } from './store-clock.js';

export interface Opening {
  readonly where: string;
  /** Calls a function of sql/ with the frame and these arguments. The first row's `now_ms` is the store's time. */
  call(name: string, args: readonly unknown[]): Promise<readonly Row[]>;
  /** The answer to a numbered call arrived: the server must know of it from now on. */
  confirmed(holder: string, call: number): void;
  setPacing(pacing: FrontierOpening['pacing']): void;
  /** Ends what dead processes left. At most once per second, unless `now`. */
  releaseDead(now?: boolean): Promise<void>;
  end(how: 'close' | 'drop' | 'abandon'): Promise<void>;
}

/** Silence after which a process of another machine that has lost its connection is dead. */
const GRACE_MS = 10_000;
const DEAD_CHECK_MS = 1_000;
const MAX_BEAT_MS = 5_000;
/** First key of the locks that processes hold while they are connected; is_connected() in sql/open.sql knows it. */
const OPENER_LOCK = 1_330_791_248;

export interface OpeningOptions extends Omit<ConnectionOptions, 'onConnect' | 'otherwise'> {
  readonly warn: (message: string) => void;
}

export async function openQueue(opening: FrontierOpening, options: OpeningOptions): Promise<Opening> {
  const { id, clock, onForgotten } = opening;
  const leaseMs = frontierChecks.leaseMs(opening.leaseMs);
  let pacing = frontierChecks.pacing(opening.pacing);
  const bootId = clock?.bootId ?? processLife.bootId();
  const identity = processLife.identify(bootId, randomUUID());
  const storeClock = createStoreClock(clock);
  let place: { readonly queue: number; readonly opener: number } | undefined;
  let last: { readonly holder: string; readonly call: number } | undefined;
  let checkedDeadMs = performance.now();
  let failure: CrawlError | undefined;

  /** After a lost connection: the server may have come back without our last calls, and holds no lock of ours. */
  async function onConnect(run: Run): Promise<void> {
    const { atRisk } = await setUpSchema(run, options.schema, connection.where);
    if (atRisk && !place) options.warn(`Postgres at ${connection.where}: ${atRisk}`);
    if (!place) return;
    await run('SELECT pg_try_advisory_lock($1, $2)', [OPENER_LOCK, place.opener]);
    if (!last) return;
    const [row] = await run('SELECT call FROM calls WHERE queue = $1 AND holder = $2 AND slot = $3', [
      place.queue,
      last.holder,
      last.call % 16,
    ]);
    if (row && Number(row.call) >= last.call) return;
    onForgotten();
    failure = new CrawlError(
      'QUEUE_ROLLED_BACK',
      `Postgres at ${connection.where} came back without the last calls of this process: run again to continue from what it has`,
    );
    throw failure;
  }
  const connection: Connection = createConnection({ ...options, otherwise: 'QUEUE_CORRUPT', onConnect });

  async function call(name: string, args: readonly unknown[]): Promise<readonly Row[]> {
    if (failure) throw failure;
    const list = args.map((_, i) => `, $${i + 2}`).join('');
    const rows = await connection.query(`SELECT * FROM ${name}($1${list})`, () => [frame(), ...args]);
    const nowMs = rows[0]?.now_ms;
    if (typeof nowMs === 'string') storeClock.heard(Number(nowMs));
    return rows;
  }

  function frame(): string {
    const { wallMs, lowerMs, upperMs } = storeClock.bounds();
    const { queue, opener } = place!;
    return `(${[queue, opener, wallMs, lowerMs, upperMs, leaseMs, pacing.delayMs, pacing.turns].join()})`;
  }

  async function enter(): Promise<void> {
    // Rules by which URLs are compared: a queue made by others would be misread.
    const { hi, lo } = fingerprintOf('https://example.com/');
    const rules = `fingerprints ${hi}-${lo}`;
    const { wallMs } = storeClock.bounds();
    const entered = await connection.query('SELECT * FROM open_queue($1, $2, $3, $4)', [
      ...[id, rules, wallMs, JSON.stringify(identity)],
    ]);
    const row = entered[0]!;
    if (row.rules !== rules) {
      throw new CrawlError(
        'QUEUE_VERSION',
        `the queue ${id} in Postgres at ${connection.where} compares URLs by other rules: finish it with the orcrawl that ` +
          'started it, or start fresh with another queue',
      );
    }
    place = { queue: Number(row.queue), opener: Number(row.opener) };
    storeClock.heard(Number(row.now_ms));
    await connection.query('SELECT pg_try_advisory_lock($1, $2)', [OPENER_LOCK, place.opener]);
    await releaseDead(true);
  }

  async function releaseDead(now = false): Promise<void> {
    if (!now && performance.now() - checkedDeadMs < DEAD_CHECK_MS) return;
    checkedDeadMs = performance.now();
    const storeMs = Number((await call('beat', []))[0]!.now_ms);
    for (const row of await call('others', [])) {
      if (isDead(row, storeMs)) await call('end_opener', [Number(row.id), 'lost']);
    }
  }

  function isDead(row: Row, storeMs: number): boolean {
    const life = processLife.of(JSON.parse(row.identity as string) as ProcessIdentity, bootId, 'network');
    if (life !== 'unknown') return life === 'dead';
    return !row.connected && storeMs - Number(row.seen_ms) > GRACE_MS;
  }

  async function leave(how: 'close' | 'drop' | 'abandon'): Promise<void> {
    if (how === 'abandon' || failure) return;
    if (how === 'drop') {
      await releaseDead(true);
      const [other] = await call('others', []);
      if (other) {
        throw new CrawlError(
          'QUEUE_IN_USE',
          `the queue ${id} in Postgres at ${connection.where} is open in another process`,
        );
      }
      await connection.query('SELECT drop_queue($1)', [place!.queue]);
      return;
    }
    await call('end_opener', [place!.opener, 'closed']);
  }

  processLife.openTokens().add(identity.token);
  try {
    await enter();
  } catch (error) {
    processLife.openTokens().delete(identity.token);
    await connection.close();
    throw error;
  }
  const beating = setInterval(
    () => {
      // A failed beat loses nothing; the crawl's next call fails in the same way and reports it.
      call('beat', []).catch(() => undefined);
    },
    Math.min(MAX_BEAT_MS, leaseMs / 3),
  ).unref();

  return {
    where: connection.where,
    call,
    confirmed: (holder, number) => void (last = { holder, call: number }),
    setPacing: (wanted) => void (pacing = frontierChecks.pacing(wanted)),
    releaseDead,
    async end(how) {
      clearInterval(beating);
      try {
        await leave(how);
      } catch (error) {
        if (how === 'drop') throw error;
        // What cannot be returned now returns when the leases end.
        options.warn(`closing the queue ${id}: ${(error as Error).message}`);
      } finally {
        processLife.openTokens().delete(identity.token);
        await connection.close();
      }
    },
  };
}
