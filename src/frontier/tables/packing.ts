// The rows of the embedded frontier as bytes. Headers have fixed places, text follows; numbers are little-endian.
// Writers fill one scratch buffer that the next writer reuses: a table copies what it is given.
import type { Priority } from '../../request/request.js';

let scratch = Buffer.allocUnsafeSlow(16_384);

/** The scratch buffer with room for `bytes`. */
function room(bytes: number): Buffer {
  if (bytes > scratch.length) scratch = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(bytes)));
  return scratch;
}

export const QUEUED = 0;
export const RETRYING = 1;
export const DONE = 2;
export const FAILED = 3;
export const SKIPPED = 4;

/** A request's state on disk. A leased one is `QUEUED` here: its lease row tells. */
export type StoredState = typeof QUEUED | typeof RETRYING | typeof DONE | typeof FAILED | typeof SKIPPED;

export interface RequestRow {
  state: StoredState;
  readonly priority: Priority;
  lostLeases: number;
  /** Of a suspect: see suspects.ts. Otherwise 0. */
  trial: number;
  readonly domain: number;
  readonly hi: number;
  readonly lo: number;
  reason: string;
  record: string;
}

const REQUEST_HEADER = 18;
/** Reasons are codes and short messages; what a hostile page made longer is cut. */
const MAX_REASON = 1_000;

export function packRequest(row: RequestRow): Buffer {
  const reason = row.reason.length > MAX_REASON ? row.reason.slice(0, MAX_REASON) : row.reason;
  // A UTF-16 unit takes at most 3 bytes of UTF-8.
  const bytes = room(REQUEST_HEADER + (reason.length + row.record.length) * 3);
  bytes[0] = row.state;
  bytes[1] = row.priority + 2;
  bytes[2] = row.lostLeases;
  bytes[3] = row.trial;
  bytes.writeUInt32LE(row.domain, 4);
  bytes.writeUInt32LE(row.hi, 8);
  bytes.writeUInt32LE(row.lo, 12);
  const reasonBytes = reason === '' ? 0 : bytes.write(reason, REQUEST_HEADER);
  bytes.writeUInt16LE(reasonBytes, 16);
  const end = REQUEST_HEADER + reasonBytes;
  return bytes.subarray(0, end + bytes.write(row.record, end));
}

export function unpackRequest(bytes: Buffer): RequestRow {
  const reasonEnd = REQUEST_HEADER + bytes.readUInt16LE(16);
  return {
    state: bytes[0] as StoredState,
    priority: (bytes[1]! - 2) as Priority,
    lostLeases: bytes[2]!,
    trial: bytes[3]!,
    domain: bytes.readUInt32LE(4),
    hi: bytes.readUInt32LE(8),
    lo: bytes.readUInt32LE(12),
    reason: reasonEnd === REQUEST_HEADER ? '' : bytes.toString('utf8', REQUEST_HEADER, reasonEnd),
    record: bytes.toString('utf8', reasonEnd, bytes.length),
  };
}

/** Only the state, for the many links that turn out to be known. */
export function requestState(bytes: Buffer): StoredState {
  return bytes[0] as StoredState;
}

/** The same row in another state, without decoding its text. */
export function restateRequest(row: Buffer, state: StoredState): Buffer {
  const bytes = room(row.length);
  row.copy(bytes, 0, 0, row.length);
  bytes[0] = state;
  return bytes.subarray(0, row.length);
}

/** The fingerprint in a request's row, for building an index. */
export function requestFingerprint(bytes: Buffer): { hi: number; lo: number } {
  return { hi: bytes.readUInt32LE(8), lo: bytes.readUInt32LE(12) };
}

export function domainFingerprint(bytes: Buffer): { hi: number; lo: number } {
  return { hi: bytes.readUInt32LE(0), lo: bytes.readUInt32LE(4) };
}

export interface Domain {
  readonly id: number;
  readonly hi: number;
  readonly lo: number;
  /** Its own delay, or −1 for the pacing's. */
  delayMs: number;
  nextAllowedMs: number;
  /** Since when it has been ready but for its delay: the longest-ready domain is served first. */
  readyMs: number;
  /** Its row in `due`; −1 when it has none. */
  dueMs: number;
  dueTie: number;
  /** All that wait in its queue: in the line, and at places before and behind it. */
  queued: number;
  ahead: number;
  behind: number;
  turnsOut: number;
  /** The blocks between the ends of the line. */
  firstBlock: number;
  nextBlock: number;
  /** The ends of the line: at most `BLOCK_IDS` request ids each. */
  head: number[];
  tail: number[];
  readonly name: string;
  /** Not stored: changed since it was last written. */
  marked: boolean;
  /** Not stored: goes behind every domain that is due now, even if its due time is unchanged. */
  toBack: boolean;
  /** Not stored: suspects in its queue, and whether its row is in `accused` and not in `due`. */
  suspects: number;
  isAccused: boolean;
}

/** One literal for all domains: a million of them are made, and spreading costs more than storing one. */
export function freshDomain(id: number, hi: number, lo: number, name: string): Domain {
  return {
    id,
    hi,
    lo,
    delayMs: -1,
    nextAllowedMs: 0,
    readyMs: 0,
    dueMs: -1,
    dueTie: 0,
    queued: 0,
    ahead: 0,
    behind: 0,
    turnsOut: 0,
    firstBlock: 0,
    nextBlock: 0,
    head: [],
    tail: [],
    name,
    marked: false,
    toBack: false,
    suspects: 0,
    isAccused: false,
  };
}

/**
 * Ids a block of the line holds. A batch over n domains writes n × (100 + 12 × ids) bytes of domain rows and n / ids
 * blocks of a page each: 16 is where the sum is least.
 */
export const BLOCK_IDS = 16;
const ID_BYTES = 6;
const DOMAIN_HEADER = 74;

/** `turnsOut` apart: what is stored of it is not always what is true now. */
export function packDomain(row: Domain, turnsOut: number): Buffer {
  const idBytes = (row.head.length + row.tail.length) * ID_BYTES;
  const bytes = room(DOMAIN_HEADER + idBytes + row.name.length * 3);
  bytes.writeUInt32LE(row.hi, 0);
  bytes.writeUInt32LE(row.lo, 4);
  bytes.writeDoubleLE(row.delayMs, 8);
  bytes.writeDoubleLE(row.nextAllowedMs, 16);
  bytes.writeDoubleLE(row.readyMs, 24);
  bytes.writeDoubleLE(row.dueMs, 32);
  bytes.writeDoubleLE(row.dueTie, 40);
  bytes.writeUInt32LE(row.queued, 48);
  bytes.writeUInt32LE(row.ahead, 52);
  bytes.writeUInt32LE(row.behind, 56);
  bytes.writeUInt32LE(turnsOut, 60);
  bytes.writeUInt32LE(row.firstBlock, 64);
  bytes.writeUInt32LE(row.nextBlock, 68);
  bytes[72] = row.head.length;
  bytes[73] = row.tail.length;
  const nameAt = writeIds(bytes, row.tail, writeIds(bytes, row.head, DOMAIN_HEADER));
  return bytes.subarray(0, nameAt + bytes.write(row.name, nameAt));
}

export function unpackDomain(id: number, bytes: Buffer): Domain {
  const tailAt = DOMAIN_HEADER + bytes[72]! * ID_BYTES;
  const nameAt = tailAt + bytes[73]! * ID_BYTES;
  const name = bytes.toString('utf8', nameAt, bytes.length);
  const domain = freshDomain(id, bytes.readUInt32LE(0), bytes.readUInt32LE(4), name);
  domain.delayMs = bytes.readDoubleLE(8);
  domain.nextAllowedMs = bytes.readDoubleLE(16);
  domain.readyMs = bytes.readDoubleLE(24);
  domain.dueMs = bytes.readDoubleLE(32);
  domain.dueTie = bytes.readDoubleLE(40);
  domain.queued = bytes.readUInt32LE(48);
  domain.ahead = bytes.readUInt32LE(52);
  domain.behind = bytes.readUInt32LE(56);
  domain.turnsOut = bytes.readUInt32LE(60);
  domain.firstBlock = bytes.readUInt32LE(64);
  domain.nextBlock = bytes.readUInt32LE(68);
  domain.head = readIds(bytes, DOMAIN_HEADER, tailAt);
  domain.tail = readIds(bytes, tailAt, nameAt);
  return domain;
}

export function packIds(ids: readonly number[]): Buffer {
  const bytes = room(ids.length * ID_BYTES);
  return bytes.subarray(0, writeIds(bytes, ids, 0));
}

export function unpackIds(bytes: Buffer): number[] {
  return readIds(bytes, 0, bytes.length);
}

function writeIds(bytes: Buffer, ids: readonly number[], start: number): number {
  let at = start;
  for (const id of ids) {
    bytes.writeUIntLE(id, at, ID_BYTES);
    at += ID_BYTES;
  }
  return at;
}

function readIds(bytes: Buffer, start: number, end: number): number[] {
  const ids: number[] = [];
  for (let at = start; at < end; at += ID_BYTES) ids.push(bytes.readUIntLE(at, ID_BYTES));
  return ids;
}

export interface LeaseRow {
  readonly request: number;
  readonly domain: number;
  /** Where it was queued: an untouched request goes back there. */
  readonly place: number;
  /** Its turn has been given back; always so of a bulk skip, which holds none. */
  landed: boolean;
  readonly bulkSkip: boolean;
}

const LANDED = 1;
const BULK_SKIP = 2;

export function packLease(row: LeaseRow): Buffer {
  const bytes = room(24);
  bytes.writeDoubleLE(row.request, 0);
  bytes.writeDoubleLE(row.place, 8);
  bytes.writeUInt32LE(row.domain, 16);
  bytes.writeUInt32LE((row.landed ? LANDED : 0) | (row.bulkSkip ? BULK_SKIP : 0), 20);
  return bytes.subarray(0, 24);
}

export function unpackLease(bytes: Buffer): LeaseRow {
  const flags = bytes.readUInt32LE(20);
  return {
    request: bytes.readDoubleLE(0),
    place: bytes.readDoubleLE(8),
    domain: bytes.readUInt32LE(16),
    landed: (flags & LANDED) !== 0,
    bulkSkip: (flags & BULK_SKIP) !== 0,
  };
}

/** A lone number: a request id in the queue, a domain id in `due` or an index. */
export function packNumber(value: number): Buffer {
  const bytes = room(ID_BYTES);
  bytes.writeUIntLE(value, 0, ID_BYTES);
  return bytes.subarray(0, ID_BYTES);
}

export function unpackNumber(bytes: Buffer): number {
  return bytes.readUIntLE(0, ID_BYTES);
}

export function packNumbers(values: readonly number[]): Buffer {
  const bytes = room(values.length * 8);
  for (let i = 0; i < values.length; i++) bytes.writeDoubleLE(values[i]!, i * 8);
  return bytes.subarray(0, values.length * 8);
}

export function unpackNumbers(bytes: Buffer): number[] {
  const values: number[] = [];
  for (let at = 0; at + 8 <= bytes.length; at += 8) values.push(bytes.readDoubleLE(at));
  return values;
}

/** For the few rows that are small and rarely written. */
export function packJson(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

export function unpackJson<T>(bytes: Buffer): T {
  return JSON.parse(bytes.toString('utf8', 0, bytes.length)) as T;
}
