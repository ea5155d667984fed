// Known fingerprints and their numbers: the seen set of requests, and the names of domains.
// An owner keeps them in memory up to a limit and in the store beyond it; a shared queue only in the store.
import { createFingerprintTable, type FingerprintTable } from '../tables/fingerprint-table.js';
import type { Table } from '../tables/kv.js';
import { packNumber, unpackNumber } from '../tables/packing.js';

export interface SeenIndex {
  /** The number of the fingerprint, or −1. */
  get(hi: number, lo: number): number;
  add(hi: number, lo: number, id: number): void;
  /** Bytes of memory it occupies: a metric. */
  readonly bytes: number;
}

/** Where an index and its entries are stored, and where the stored part begins. */
export interface IndexSource {
  readonly index: Table;
  readonly rows: Table;
  readonly fingerprintIn: (row: Buffer) => { hi: number; lo: number };
  /** Ids from `from()` up to `next()` are in the stored index. */
  from(): number;
  setFrom(id: number): void;
  next(): number;
}

/** Everything in the store: can be shared by processes. */
export function storedIndex(source: IndexSource): SeenIndex {
  return {
    bytes: 0,
    get: (hi, lo) => lookUp(source.index, hi, lo),
    add: (hi, lo, id) => source.index.put(hi, lo, packNumber(id)),
  };
}

/** An index of unfinished requests only: for queues that forget. */
export interface ForgettingIndex extends SeenIndex {
  remove(hi: number, lo: number): void;
}

/** In memory, only as large as what is pending. */
export function forgettingIndex(): ForgettingIndex {
  const ids = new Map<string, number>();
  const key = (hi: number, lo: number): string => `${hi}-${lo}`;
  return {
    // A key of some 20 characters, a number and the map's slot.
    get bytes() {
      return ids.size * 80;
    },
    get: (hi, lo) => ids.get(key(hi, lo)) ?? -1,
    add: (hi, lo, id) => void ids.set(key(hi, lo), id),
    remove: (hi, lo) => void ids.delete(key(hi, lo)),
  };
}

/** The oldest `limit` in memory, read by one scan; younger ones in the store. */
export function ownedIndex(source: IndexSource, limit: number): SeenIndex {
  const table = createFingerprintTable(Math.min(limit, source.next()));
  if (source.from() < source.next() && source.next() - 1 <= limit) {
    // Left by shared use or a smaller limit, and small enough for memory: cheaper there.
    fill(table, source, source.next());
    source.index.clear();
    source.setFrom(source.next());
  } else {
    fill(table, source, source.from());
  }
  return {
    get bytes() {
      return table.bytes;
    },
    get(hi, lo) {
      const id = table.get(hi, lo);
      return id < 0 && source.from() < source.next() ? lookUp(source.index, hi, lo) : id;
    },
    add(hi, lo, id) {
      if (source.from() >= id && table.size < limit) {
        table.add(hi, lo, id);
        source.setFrom(id + 1);
      } else {
        source.index.put(hi, lo, packNumber(id));
      }
    },
  };
}

function fill(table: FingerprintTable, source: IndexSource, before: number): void {
  source.rows.scan(0, 0, 0, (_major, id, row) => {
    if (id >= before) return false;
    const { hi, lo } = source.fingerprintIn(row);
    table.add(hi, lo, id);
    return true;
  });
}

/**
 * Adds one more portion of an owner's queue to the stored index; true when it is complete.
 * From the youngest down, so that an interrupted build continues where it stopped.
 */
export function extendStoredIndex(source: IndexSource, portion: number): boolean {
  const from = Math.max(1, source.from() - portion);
  const found: { hi: number; lo: number; id: number }[] = [];
  source.rows.scan(0, from, 0, (_major, id, row) => {
    if (id >= source.from()) return false;
    const { hi, lo } = source.fingerprintIn(row);
    found.push({ hi, lo, id });
    return true;
  });
  // In key order each page of the index is touched once.
  found.sort((a, b) => a.hi - b.hi || a.lo - b.lo);
  for (const { hi, lo, id } of found) source.index.put(hi, lo, packNumber(id));
  source.setFrom(from);
  return from === 1;
}

function lookUp(index: Table, hi: number, lo: number): number {
  const row = index.get(hi, lo);
  return row ? unpackNumber(row) : -1;
}
