// The numbers that nearly every transaction changes, in one row: counters, next ids, last store time.
// The owner keeps them between transactions; a shared opener reads them in each.
import type { Counters } from '../frontier.js';
import { packNumbers, unpackNumbers } from '../tables/packing.js';
import type { Table } from '../tables/kv.js';

const FIELDS = [
  'accepted',
  'queued',
  'retrying',
  'leased',
  'done',
  'failed',
  'skipped',
  'nextRequest',
  'nextDomain',
  'nextLease',
  'nextHolder',
  'nextOpener',
  'nextBack',
  'nextFront',
  'nextTie',
  'lastMs',
  /** Requests with this id and above are in the stored index; those below are not. */
  'seenFrom',
  /** The same for domains and their names. */
  'namesFrom',
  /** Suspects, queued or leased. */
  'suspects',
  /** The holder that gets nothing until it can take a trial. */
  'judge',
  /** Requests that ended because they ended their holder. */
  'lostWorkers',
] as const;

export type HotState = Record<(typeof FIELDS)[number], number>;

export const META_VERSIONS = 0;
export const META_HOT = 1;
export const META_CLOCK = 2;

export function freshHotState(): HotState {
  const hot = Object.fromEntries(FIELDS.map((field) => [field, 0])) as HotState;
  // Ids and tie-breaks start at 1, so that 0 never names anything.
  for (const field of FIELDS) if (field.startsWith('next') || field.endsWith('From')) hot[field] = 1;
  return hot;
}

/** Reads the stored numbers into `hot`; fields a newer release added keep their fresh value. */
export function loadHotState(meta: Table, hot: HotState): void {
  const stored = meta.get(0, META_HOT);
  const values = stored ? unpackNumbers(stored) : [];
  const fresh = values.length < FIELDS.length ? freshHotState() : hot;
  for (let i = 0; i < FIELDS.length; i++) hot[FIELDS[i]!] = values[i] ?? fresh[FIELDS[i]!];
}

export function saveHotState(meta: Table, hot: HotState): void {
  meta.put(0, META_HOT, packNumbers(FIELDS.map((field) => hot[field])));
}

export function isSameButTime(one: HotState, other: HotState): boolean {
  return FIELDS.every((field) => field === 'lastMs' || one[field] === other[field]);
}

export function countersOf(hot: HotState): Counters {
  const { accepted, queued, retrying, leased, done, failed, skipped } = hot;
  return { accepted, queued, retrying, leased, done, failed, skipped };
}
