// The storage of the embedded frontier: ordered tables of small binary rows, changed in transactions.
// Synchronous inside a transaction, so the state machine is plain code; memory.ts and lmdb-kv.ts implement it.

/** Returns false to end the scan. */
export type Visit = (major: number, minor: number, value: Buffer) => boolean | void;

/**
 * Rows ordered by (major, minor), whole numbers of at most 48 bits. A value from `get` or `scan` is only valid until
 * the next operation on any table: read what you need at once. `put` copies.
 */
export interface Table {
  /** The value of a row, or undefined. */
  get(major: number, minor: number): Buffer | undefined;
  /** Writes a row. */
  put(major: number, minor: number, value: Buffer): void;
  /** Removes a row, if it is there. */
  remove(major: number, minor: number): void;
  /** Visits rows from (major, minor) on while major ≤ lastMajor. The visitor must not change this table. */
  scan(major: number, minor: number, lastMajor: number, visit: Visit): void;
  /** Removes all rows. */
  clear(): void;
}

/** Key widths in bytes; a width of 0 means that half of the key is always 0. */
export const TABLE_KEYS = {
  /** request id → header and record */
  requests: [0, 6],
  /** domain id, block number → ids of requests in the middle of the domain's line */
  blocks: [4, 4],
  /** domain id, place → request id, for requests before and behind the line */
  places: [4, 6],
  /** domain id → state and name */
  domains: [0, 4],
  /** due time, tie-break → domain id: exactly the domains with something queued and a free turn */
  due: [6, 6],
  /** the same for domains with a queued suspect */
  accused: [6, 6],
  /** retry time, request id → whether it then goes to the end of its domain */
  waiting: [6, 6],
  /** holder number, lease id → request, domain, place */
  leases: [4, 6],
  /** holder number → holder */
  holders: [0, 4],
  /** fingerprint of a lost holder's id → when */
  lost: [4, 4],
  /** opener number → process that has the queue open */
  openers: [0, 4],
  /** versions, counters, clock, extent of the indexes */
  meta: [0, 1],
  /** fingerprint of the key → key and value */
  notes: [4, 4],
  /** request fingerprint → request id */
  seen: [4, 4],
  /** domain name's fingerprint → domain id */
  names: [4, 4],
} as const satisfies Record<string, readonly [number, number]>;

/** The name of one of the tables a frontier needs. */
export type TableName = keyof typeof TABLE_KEYS;
/** One table per name. */
export type Tables = Readonly<Record<TableName, Table>>;

export const TABLE_NAMES = Object.keys(TABLE_KEYS) as TableName[];

/** The largest key half: 48 bits. */
export const MAX_KEY = 2 ** 48 - 1;

/** Ordered tables that change in transactions. */
export interface Kv {
  /** The tables; they change only in `transact`. */
  readonly tables: Tables;
  /**
   * Runs `body` alone, all or nothing, and resolves when its writes survive the death of this process.
   * If it rejects, nothing was written.
   */
  transact<T>(body: () => T): Promise<T>;
  /** Closes the store. */
  close(): Promise<void>;
}
