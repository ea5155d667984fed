// Requests, settlements and leases as the arguments and rows of the functions in sql/.
// A text of Postgres cannot hold the character 0 nor half a surrogate pair: such a text is stored escaped.
import type { Fingerprint, Found, Lease, QueueEntry, SettleCall, Settlement } from '../index.js';
import type { Row } from './connection.js';

const ESCAPED = '\u0001';

export function packText(text: string): string {
  const isPlain = !text.includes('\0') && !text.startsWith(ESCAPED) && !/\p{Surrogate}/u.test(text);
  return isPlain ? text : ESCAPED + JSON.stringify(text);
}

export function unpackText(text: string): string {
  return text.startsWith(ESCAPED) ? (JSON.parse(text.slice(1)) as string) : text;
}

/** Both halves as one signed number of 64 bits, in words that Postgres reads. */
export const packFingerprint = ({ hi, lo }: Fingerprint): string => ((BigInt(hi | 0) << 32n) | BigInt(lo)).toString();

export function unpackFingerprint(text: string): Fingerprint {
  const bits = BigInt.asUintN(64, BigInt(text));
  return { hi: Number(bits >> 32n), lo: Number(bits & 0xffff_ffffn) };
}

/** Fingerprints, domains, records, priorities, fronts. */
export function packEntries(entries: readonly QueueEntry[]): unknown[] {
  return [
    entries.map(({ fingerprint }) => packFingerprint(fingerprint)),
    entries.map(({ domain }) => packText(domain)),
    entries.map(({ record }) => packText(record)),
    entries.map(({ priority }) => priority ?? 0),
    entries.map(({ forefront }) => forefront === true),
  ];
}

/** The states of requests in sql/tables.sql; a settlement's kind is the state it leads to. */
const KINDS = { untouched: 0, retry: 2, done: 3, failed: 4, skipped: 5 } as const;

export function packSettling({ landings = [], settlements, notes = {} }: SettleCall): unknown[] {
  const of = <T>(pick: (settlement: Settlement) => T) => settlements.map(pick);
  const links = settlements.flatMap(({ links: found = [] }, i) => found.map((entry) => ({ entry, from: i + 1 })));
  return [
    landings.map(({ lease }) => lease),
    landings.map(({ delayMs }) => delayMs ?? null),
    landings.map(({ pauseMs }) => pauseMs ?? 0),
    of(({ lease }) => lease),
    of(({ kind }) => KINDS[kind as keyof typeof KINDS]),
    of((one) => (one.kind === 'retry' ? one.afterMs : 0)),
    of((one) => one.kind === 'retry' && one.back === true),
    of((one) => (one.kind === 'failed' || one.kind === 'skipped' ? packText(one.reason) : null)),
    of(({ record }) => (record === undefined ? null : packText(record))),
    links.map(({ from }) => from),
    ...packEntries(links.map(({ entry }) => entry)),
    Object.keys(notes).map(packText),
    Object.values(notes).map((text) => (text === null ? null : packText(text))),
  ];
}

export function unpackLease(row: Row): Lease {
  const lease: Lease = {
    id: Number(row.lease),
    fingerprint: unpackFingerprint(row.fp as string),
    domain: unpackText(row.domain as string),
    record: unpackText(row.record as string),
    priority: Number(row.priority) as Lease['priority'],
    lostLeases: Number(row.lost),
    delayMs: Number(row.delay_ms),
  };
  return row.bulk ? { ...lease, bulkSkip: true } : lease;
}

const STATES = ['queued', 'leased', 'retrying', 'done', 'failed', 'skipped'] as const;

export function unpackFound(row: Row): Found {
  const state = STATES[Number(row.state)]!;
  const found = {
    state,
    record: unpackText(row.record as string),
    priority: Number(row.priority) as Found['priority'],
  };
  return row.reason === null ? found : { ...found, reason: unpackText(row.reason as string) };
}
