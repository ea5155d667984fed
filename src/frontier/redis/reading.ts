// Decodes the answers of read-only scripts for the port: the state of requests, and the overview.
import type { Fingerprint } from '../../request/fingerprint.js';
import type { Priority } from '../../request/request.js';
import type { Counters, Found, Overview } from '../frontier.js';
import { fingerprintBytes } from './packing.js';
import { pairs } from './server/start-checks.js';

const MAX_FINDS_A_CALL = 1_000;
const STATES: Readonly<Record<string, Found['state']>> = {
  Q: 'queued',
  R: 'retrying',
  D: 'done',
  F: 'failed',
  S: 'skipped',
};

/** The state of requests, some at a time. */
export async function findAll(
  fingerprints: readonly Fingerprint[],
  ask: (list: Buffer[]) => Promise<unknown[]>,
): Promise<(Found | undefined)[]> {
  const found: (Found | undefined)[] = [];
  for (let from = 0; from < fingerprints.length; from += MAX_FINDS_A_CALL) {
    const list = fingerprints.slice(from, from + MAX_FINDS_A_CALL).map(fingerprintBytes);
    const [rows, leased] = (await ask(list)) as [(Buffer | null)[], Buffer[]];
    const isLeased = new Set(leased.map((bytes) => bytes.toString('latin1')));
    rows.forEach((row, i) => found.push(row ? foundIn(row, isLeased.has(list[i]!.toString('latin1'))) : undefined));
  }
  return found;
}

/** A row of `r`: state, priority, length of the reason, reason, record. Empty if only the fingerprint is kept. */
function foundIn(row: Buffer, isLeased: boolean): Found {
  if (row.length === 0) return { state: 'known', record: '', priority: 0 };
  const stored = STATES[String.fromCharCode(row[0]!)]!;
  const recordAt = 4 + row.readUInt16LE(2);
  const state = isLeased && stored === 'queued' ? 'leased' : stored;
  const found = { state, record: row.toString('utf8', recordAt), priority: (row[1]! - 2) as Priority };
  return state === 'failed' || state === 'skipped' ? { ...found, reason: row.toString('utf8', 4, recordAt) } : found;
}

export function overviewOf(answer: unknown[]): Overview {
  const [counts, flat] = answer as [number[], Buffer[]];
  const [accepted, queued, retrying, leased, done, failed, skipped] = counts as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const counters: Counters = { accepted, queued, retrying, leased, done, failed, skipped };
  const notes: Record<string, string> = {};
  for (const [key, value] of pairs(flat)) {
    // A key such as __proto__ must stay a key.
    Object.defineProperty(notes, key, { value, enumerable: true, writable: true, configurable: true });
  }
  return { counters, notes };
}
