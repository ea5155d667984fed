// Read-only queries: the state of a request, and an overview of the queue.
import type { Fingerprint } from '../../request/fingerprint.js';
import type { Found, Overview, Presence } from '../frontier.js';
import { countersOf } from './hot-state.js';
import type { Machine } from './machine.js';
import { DONE, FAILED, QUEUED, requestState, RETRYING, SKIPPED, unpackJson, unpackLease } from '../tables/packing.js';
import { readRequest } from './requests.js';

const STATES = {
  [QUEUED]: 'queued',
  [RETRYING]: 'retrying',
  [DONE]: 'done',
  [FAILED]: 'failed',
  [SKIPPED]: 'skipped',
} as const;

const MAX_HALF = 2 ** 32 - 1;

/** Reads only the state of a request; outside a transaction, so a row being written may not be visible yet. */
export function glanceAt(machine: Machine, hi: number, lo: number): Presence {
  const id = machine.seen.get(hi, lo);
  if (id < 0) return 'new';
  const row = machine.tables.requests.get(0, id);
  return row && requestState(row) >= DONE ? 'ended' : 'pending';
}

export function findRequests(machine: Machine, fingerprints: readonly Fingerprint[]): (Found | undefined)[] {
  let leased: Set<number> | undefined;
  return fingerprints.map(({ hi, lo }) => {
    const id = machine.seen.get(hi, lo);
    if (id < 0) return undefined;
    const { state, record, priority, reason } = readRequest(machine, id);
    const isLeased = state === QUEUED && machine.hot.leased > 0 && (leased ??= leasedRequests(machine)).has(id);
    const found = { state: isLeased ? 'leased' : STATES[state], record, priority } as const;
    return state === FAILED || state === SKIPPED ? { ...found, reason } : found;
  });
}

/** There are only as many leases as requests in progress, so reading them all is cheaper than a row per lease. */
function leasedRequests(machine: Machine): Set<number> {
  const requests = new Set<number>();
  machine.tables.leases.scan(0, 0, MAX_HALF, (_holder, _lease, row) => {
    requests.add(unpackLease(row).request);
  });
  return requests;
}

export function readOverview(machine: Machine): Overview {
  const notes: Record<string, string> = {};
  machine.tables.notes.scan(0, 0, MAX_HALF, (_hi, _lo, row) => {
    const [key, value] = unpackJson<[string, string]>(row);
    // A key such as __proto__ must stay a key.
    Object.defineProperty(notes, key, { value, enumerable: true, writable: true, configurable: true });
  });
  return { counters: countersOf(machine.hot), notes };
}
