// Packs data between this process and the scripts: entries in, leases out. Layouts match the Lua files; numbers are
// little-endian except where they are sorted or compared as bytes.
import type { Fingerprint } from '../../request/fingerprint.js';
import type { Priority } from '../../request/request.js';
import type { Landing, Lease, QueueEntry, Settlement } from '../frontier.js';
import type { SeenNumbers } from './seen-memory.js';

/** A growing byte buffer. */
export interface ByteWriter {
  readonly length: number;
  room(bytes: number): { readonly buffer: Buffer; readonly at: number };
  /** Writes text as UTF-8; returns its bytes. */
  text(text: string): number;
  taken(): Buffer;
}

export function createByteWriter(size = 4_096): ByteWriter {
  let buffer = Buffer.allocUnsafe(size);
  let length = 0;
  function reserve(bytes: number): void {
    if (length + bytes <= buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, length + bytes));
    buffer.copy(larger, 0, 0, length);
    buffer = larger;
  }
  return {
    get length() {
      return length;
    },
    room(bytes) {
      reserve(bytes);
      const at = length;
      length += bytes;
      return { buffer, at };
    },
    text(text) {
      // A UTF-16 unit takes at most 3 bytes of UTF-8.
      reserve(text.length * 3);
      const bytes = buffer.write(text, length);
      length += bytes;
      return bytes;
    },
    taken: () => buffer.subarray(0, length),
  };
}

/** Two bytes that choose the domain's bucket, then its name: 65,536 buckets keep ten million domains in packed rows. */
export function domainKey(domain: string): Buffer {
  const key = Buffer.allocUnsafe(2 + Buffer.byteLength(domain));
  key.write(domain, 2);
  // FNV-1a, folded: it only has to spread.
  let hash = 0x811c9dc5;
  for (let i = 2; i < key.length; i++) hash = Math.imul(hash ^ key[i]!, 0x01000193);
  key.writeUInt16BE((hash ^ (hash >>> 16)) & 0xffff, 0);
  return key;
}

/** A note for lua/add.lua: length of its name, name, length of its text, text. */
export function packNote([name, text]: readonly [string, string]): Buffer[] {
  return [name, text].flatMap((part) => {
    const length = Buffer.alloc(4);
    const bytes = Buffer.from(part);
    length.writeUInt32LE(bytes.length);
    return [length, bytes];
  });
}

const HAS_FINGERPRINT = 8;
const HAS_LOST = 16;
const HAS_TRIAL = 32;
const IN_FRONT = 128;

// One script call stays under 5 ms, even on a shared core: a new request takes the server 3 to 7 µs, and so does each
// domain it touches.
const MAX_ENTRIES_AND_DOMAINS = 500;
const MAX_CALL_BYTES = 1_000_000;

export interface EntryCall {
  readonly leases: Buffer;
  readonly entries: Buffer;
  readonly domains: readonly Buffer[];
  readonly count: number;
}

/** `order[i]` is the list position of the i-th packed entry; undefined if nothing was moved. */
export interface EntryCalls {
  readonly calls: readonly EntryCall[];
  readonly order: readonly number[] | undefined;
}

export interface FoundEntry {
  readonly entry: QueueEntry;
  /** The lease of the visit that found it. */
  readonly lease?: number;
}

/**
 * Entries as the arguments of one or more add calls. With several, entries of a domain stay together, so that it is
 * read and written once and not in every call; within a domain the order stays.
 */
export function packEntryCalls(
  found: readonly FoundEntry[],
  withFingerprint: boolean,
  memory: SeenNumbers['letter'],
): EntryCalls {
  const whole = packEntryCall(found, 0, withFingerprint, memory);
  if (whole.count === found.length) return { calls: found.length > 0 ? [whole] : [], order: undefined };
  const order = byDomain(found);
  const sorted = order.map((index) => found[index]!);
  const calls: EntryCall[] = [];
  for (let from = 0; from < sorted.length;) {
    const call = packEntryCall(sorted, from, withFingerprint, memory);
    calls.push(call);
    from += call.count;
  }
  return { calls, order };
}

/** The indices of entries, grouped by domain in order of first appearance. */
function byDomain(found: readonly FoundEntry[]): number[] {
  const groups = new Map<string, number[]>();
  found.forEach(({ entry }, index) => {
    const group = groups.get(entry.domain);
    if (group) group.push(index);
    else groups.set(entry.domain, [index]);
  });
  return [...groups.values()].flat();
}

function packEntryCall(
  found: readonly FoundEntry[],
  from: number,
  withFingerprint: boolean,
  memory: SeenNumbers['letter'],
): EntryCall {
  const writer = createByteWriter(16_384);
  const domains = new Map<string, number>();
  const leases = new Map<number, number>();
  const indexOf = <K>(map: Map<K, number>, key: K): number => {
    const known = map.get(key);
    if (known !== undefined) return known;
    map.set(key, map.size);
    return map.size - 1;
  };
  let count = 0;
  const hasRoom = (): boolean => count + domains.size < MAX_ENTRIES_AND_DOMAINS && writer.length < MAX_CALL_BYTES;
  for (; from + count < found.length && hasRoom(); count++) {
    const { entry, lease } = found[from + count]!;
    const head = writer.room(11);
    const { at } = head;
    head.buffer.writeUInt16LE(lease === undefined ? 0 : indexOf(leases, lease) + 1, at);
    head.buffer.writeUInt32LE(entry.fingerprint.lo, at + 2);
    const claimBytes = writeClaim(writer, entry.fingerprint, memory);
    const rest = writer.room(3);
    const restAt = rest.at;
    const flags = (entry.priority ?? 0) + 2 + (withFingerprint ? HAS_FINGERPRINT : 0);
    rest.buffer[restAt] = flags + (entry.forefront ? IN_FRONT : 0);
    rest.buffer.writeUInt16LE(indexOf(domains, entry.domain), restAt + 1);
    if (withFingerprint) writeFingerprint(writer, entry.fingerprint);
    writer.text(entry.record);
    const end = writer.length;
    // The buffer may have grown since: get it again.
    const written = writer.taken();
    written[at + 6] = claimBytes;
    written.writeUInt32LE(end - restAt, at + 7);
  }
  const ids = Buffer.allocUnsafe(leases.size * 8);
  for (const [id, index] of leases) ids.writeDoubleLE(id, index * 8);
  return { leases: ids, entries: writer.taken(), domains: [...domains.keys()].map(domainKey), count };
}

/** The argument of claim() in lua/part-seen.lua; returns its bytes. */
function writeClaim(writer: ByteWriter, { hi, lo }: Fingerprint, memory: SeenNumbers['letter']): number {
  const start = writer.length;
  // 53 bits: exact in a double. The 11 others choose the bucket.
  if (memory === 'e') writer.text(String(hi * 0x20_0000 + (lo >>> 11)));
  else writeFingerprint(writer, { hi, lo });
  return writer.length - start;
}

function writeFingerprint(writer: ByteWriter, { hi, lo }: Fingerprint): void {
  const { buffer, at } = writer.room(8);
  buffer.writeUInt32BE(hi, at);
  buffer.writeUInt32BE(lo, at + 4);
}

export function fingerprintBytes({ hi, lo }: Fingerprint): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeUInt32BE(hi, 0);
  bytes.writeUInt32BE(lo, 4);
  return bytes;
}

export function packLandings(landings: readonly Landing[]): Buffer {
  const bytes = Buffer.allocUnsafe(landings.length * 24);
  landings.forEach(({ lease, delayMs, pauseMs }, i) => {
    bytes.writeDoubleLE(lease, i * 24);
    bytes.writeDoubleLE(delayMs ?? -1, i * 24 + 8);
    bytes.writeDoubleLE(pauseMs ?? 0, i * 24 + 16);
  });
  return bytes;
}

const KINDS = { done: 0, failed: 1, skipped: 2, retry: 3, untouched: 4, handed: 5 } as const;
/** Reasons are codes and short messages; longer ones (from hostile pages) are cut. */
const MAX_REASON = 1_000;

export function packSettlements(settlements: readonly Settlement[]): Buffer {
  const writer = createByteWriter();
  for (const settlement of settlements) {
    const { buffer, at } = writer.room(25);
    buffer.writeDoubleLE(settlement.lease, at);
    buffer[at + 8] = KINDS[settlement.kind];
    buffer.writeDoubleLE(numberIn(settlement), at + 9);
    buffer[at + 17] = settlement.kind === 'retry' && settlement.back ? 1 : 0;
    buffer[at + 20] = settlement.record === undefined ? 0 : 1;
    const reason = textIn(settlement).slice(0, MAX_REASON);
    const reasonBytes = writer.text(reason);
    const recordBytes = settlement.record === undefined ? 0 : writer.text(settlement.record);
    const written = writer.taken();
    written.writeUInt16LE(reasonBytes, at + 18);
    written.writeUInt32LE(recordBytes, at + 21);
  }
  return writer.taken();
}

function numberIn(settlement: Settlement): number {
  if (settlement.kind === 'retry') return settlement.afterMs;
  return settlement.kind === 'handed' ? settlement.bytes : 0;
}

function textIn(settlement: Settlement): string {
  if (settlement.kind === 'handed') return settlement.capture;
  return 'reason' in settlement ? settlement.reason : '';
}

/** A capture that waited for a parser, with its lease; see lua/settle.lua. */
export interface HandedLease extends Lease {
  readonly capture: string;
}

export function unpackHanded(entry: Buffer, fingerprintOf: FingerprintOfRecord | undefined): HandedLease {
  const rowAt = 18 + entry.readUInt16LE(16);
  const lease = unpackLease(entry.readDoubleLE(0), entry.subarray(rowAt), fingerprintOf);
  return Object.assign(lease, { capture: entry.toString('utf8', 18, rowAt) });
}

/** Computes the fingerprint from a record if the store does not keep it. */
export type FingerprintOfRecord = (record: string) => Fingerprint;

const IS_BULK_SKIP = 2;

/** A lease as the lease script returns it; see lua/part-holders.lua and lua/part-values.lua. */
export function unpackLease(id: number, row: Buffer, fingerprintOf: FingerprintOfRecord | undefined): Lease {
  const valueAt = 19 + row.readUInt16LE(17);
  const domain = row.toString('utf8', 21, valueAt);
  const flags = row[valueAt]!;
  let at = valueAt + 5;
  let stored: Fingerprint | undefined;
  if (flags & HAS_FINGERPRINT) {
    stored = { hi: row.readUInt32BE(at), lo: row.readUInt32BE(at + 4) };
    at += 8;
  }
  const lostLeases = flags & HAS_LOST ? row[at++]! : 0;
  if (flags & HAS_TRIAL) at++;
  const record = row.toString('utf8', at);
  const fingerprint = stored ?? fingerprintOf!(record);
  const priority = ((flags & 7) - 2) as Priority;
  const lease = { id, fingerprint, domain, record, priority, lostLeases, delayMs: row.readDoubleLE(8) };
  return row[16]! & IS_BULK_SKIP ? Object.assign(lease, { bulkSkip: true as const }) : lease;
}
