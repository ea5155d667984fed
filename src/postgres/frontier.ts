// The frontier in Postgres: each call is one function of sql/, in one transaction, whichever process makes it.
// Guarantee: the whole port; a call whose answer was lost is repeated with its number and has one effect.
import {
  BULK_SKIPS_PER_CALL,
  BULK_SKIPS_PER_DOMAIN,
  type ClientFrontier,
  CrawlError,
  type FrontierOpening,
  frontierChecks,
  type Presence,
} from '../index.js';
import { openQueue, type OpeningOptions } from './opening.js';
import {
  packEntries,
  packFingerprint,
  packSettling,
  packText,
  unpackFound,
  unpackLease,
  unpackText,
} from './packing.js';

/** A frontier in Postgres, and what its maker needs of it. */
export interface PostgresFrontier extends ClientFrontier {
  /** Ends like `kill -9`: nothing is returned. For tests. */
  abandon(): Promise<void>;
}

const PRESENCES: Readonly<Record<string, Presence>> = { n: 'new', p: 'pending', e: 'ended' };

export async function openPostgresFrontier(
  wanted: FrontierOpening,
  options: OpeningOptions,
): Promise<PostgresFrontier> {
  const opening = await openQueue(wanted, options);
  let closing: Promise<void> | undefined;

  function checkOpen(): void {
    if (closing) throw new CrawlError('QUEUE_CLOSED', `the queue in Postgres at ${opening.where} has been closed`);
  }

  function refuseOld(fate: unknown, { holder, call }: { holder: string; call: number }): void {
    if (fate !== 'old') return;
    throw new CrawlError('REQUEST_INVALID', `call ${call} of holder ${holder} is too old to be repeated`);
  }

  const end = (how: 'close' | 'drop' | 'abandon') => (closing ??= opening.end(how));

  return {
    access: 'shared',
    setPacing: opening.setPacing,
    async add(call) {
      checkOpen();
      frontierChecks.caller(call);
      frontierChecks.entries(call.entries);
      const { holder, call: number, entries } = call;
      const [row] = await opening.call('add', [holder, number, ...packEntries(entries)]);
      refuseOld(row!.fate, call);
      opening.confirmed(holder, number);
      return Array.from(row!.letters as string, (letter) => PRESENCES[letter]!);
    },
    async lease(call) {
      checkOpen();
      frontierChecks.lease(call);
      await opening.releaseDead();
      const { holder, call: number, max, maxEnded = Infinity, bulkSkipDomains = [] } = call;
      const limit = maxEnded === Infinity ? null : Math.max(Math.floor(maxEnded), Number.MIN_SAFE_INTEGER);
      const bulk = [bulkSkipDomains.map(packText), BULK_SKIPS_PER_CALL, BULK_SKIPS_PER_DOMAIN];
      const most = Math.min(max, 2 ** 31 - 1);
      const [head, ...rows] = await opening.call('lease', [holder, number, most, limit, ...bulk]);
      const { state, next_ms: nextMs } = head as {
        state: 'more' | 'waiting' | 'exhausted' | 'old' | 'lost';
        next_ms: unknown;
      };
      refuseOld(state, call);
      if (state === 'old' || state === 'lost') {
        throw new CrawlError('LEASE_LOST', `holder ${holder} was lost and its leases were taken: start a new holder`);
      }
      opening.confirmed(holder, number);
      return { leases: rows.map(unpackLease), state, ...(nextMs === null ? {} : { nextDueMs: Number(nextMs) }) };
    },
    async settle(call) {
      checkOpen();
      const checked = frontierChecks.settle(call);
      if (checked.settlements.some(({ kind }) => kind === 'handed')) {
        throw new CrawlError(
          'REQUEST_INVALID',
          'a queue in Postgres has no parse queue: settle "handed" is not possible',
        );
      }
      const { holder, call: number } = checked;
      const [row] = await opening.call('settle', [holder, number, ...packSettling(checked)]);
      refuseOld(row!.fate, checked);
      opening.confirmed(holder, number);
      return { held: row!.held as boolean, accepted: Array.from(row!.accepted as string, (digit) => digit === '1') };
    },
    async release(holder, blame) {
      checkOpen();
      const [row] = await opening.call('release', [holder, blame?.leases ?? [], blame?.code ?? null]);
      return Number(row!.leases);
    },
    async find(fingerprints) {
      checkOpen();
      for (const fingerprint of fingerprints) frontierChecks.fingerprint(fingerprint);
      const rows = await opening.call('find_requests', [fingerprints.map(packFingerprint)]);
      const found = new Map(rows.map((row) => [Number(row.ord), unpackFound(row)]));
      return fingerprints.map((_, i) => found.get(i + 1));
    },
    async overview() {
      checkOpen();
      const [row] = await opening.call('overview', []);
      const { numbers, names, texts } = row as { numbers: string[]; names: string[] | null; texts: string[] };
      const [accepted, queued, retrying, leased, done, failed, skipped] = numbers.map(Number) as Seven;
      // A name such as __proto__ must stay a name.
      const notes = Object.fromEntries((names ?? []).map((name, i) => [unpackText(name), unpackText(texts[i]!)]));
      return { counters: { accepted, queued, retrying, leased, done, failed, skipped }, notes };
    },
    close: () => end('close'),
    drop: () => end('drop'),
    abandon: () => end('abandon'),
  };
}

type Seven = [number, number, number, number, number, number, number];
