// Opening a queue: which release wrote it, which processes have it open, and what dead ones left behind.
// Decided in one write transaction, so that only one of two processes becomes the owner.
import { CrawlError } from '../../errors.js';
import { FINGERPRINT_VERSION } from '../../request/fingerprint.js';
import { NORMALISATION_VERSION } from '../../request/url.js';
import type { Blame } from '../frontier.js';
import { anchorClock, type ClockAnchor } from './clock.js';
import type { Holders } from './lease-holders.js';
import { META_CLOCK, META_VERSIONS } from './hot-state.js';
import type { Table } from '../tables/kv.js';
import type { Machine } from './machine.js';
import { packJson, unpackJson } from '../tables/packing.js';
import { lifeOf, type ProcessIdentity } from '../process-identity.js';

/** How a process has a queue open: alone, with a cache in memory, or shared with others. */
export type Access = 'owner' | 'shared';

interface OpenerRow extends ProcessIdentity {
  readonly access: Access;
  readonly seenMs: number;
}

/** Incremented when rows change their meaning. */
export const SCHEMA_VERSION = 1;

interface Versions {
  readonly schema: number;
  readonly fingerprint: number;
  readonly normalisation: number;
}

const CURRENT: Versions = {
  schema: SCHEMA_VERSION,
  fingerprint: FINGERPRINT_VERSION,
  normalisation: NORMALISATION_VERSION,
};

/** Refuses a queue that this release would misread. Called before anything else is read. */
export function checkVersions(meta: Table, where: string): void {
  const row = meta.get(0, META_VERSIONS);
  if (!row) {
    meta.put(0, META_VERSIONS, packJson(CURRENT));
    return;
  }
  const stored = unpackJson<Versions>(row);
  if (stored.schema > CURRENT.schema) {
    throw new CrawlError(
      'QUEUE_VERSION',
      `the queue at ${where} was written by a newer orcrawl (format ${stored.schema}, this one reads up to ` +
        `${CURRENT.schema}): update orcrawl, or start fresh with another queue or an empty folder`,
    );
  }
  if (stored.fingerprint !== CURRENT.fingerprint || stored.normalisation !== CURRENT.normalisation) {
    throw new CrawlError(
      'QUEUE_VERSION',
      `the queue at ${where} compares URLs by other rules (fingerprints ${stored.fingerprint}, normalisation ` +
        `${stored.normalisation}; this orcrawl: ${CURRENT.fingerprint}, ${CURRENT.normalisation}): finish it with ` +
        'the orcrawl that started it, or start fresh with another queue or an empty folder',
    );
  }
}

/** Continues store time from where it was. */
export function startClock(machine: Machine): void {
  const { meta } = machine.tables;
  const row = meta.get(0, META_CLOCK);
  const stored = row && unpackJson<ClockAnchor>(row);
  const anchor = anchorClock(machine.options.clock, stored, machine.hot.lastMs);
  if (anchor !== stored) meta.put(0, META_CLOCK, packJson(anchor));
  machine.setAnchor(anchor);
}

/** Releases dead openers, refuses conflicts with live ones, and registers this process; returns its number. */
export function enter(
  machine: Machine,
  holders: Holders,
  self: { access: Access; identity: ProcessIdentity; where: string },
  blame?: Blame,
): number {
  releaseDead(machine, holders, undefined, blame);
  const clashing = openers(machine).find(({ row }) => self.access === 'owner' || row.access === 'owner');
  if (clashing) throw inUse(clashing.row, self);
  const number = machine.hot.nextOpener++;
  refresh(machine, number, self);
  return number;
}

/** Takes everything from openers that are known to be dead, or silent where that cannot be known. */
export function releaseDead(machine: Machine, holders: Holders, self?: number, blame?: Blame): void {
  for (const { number, row } of openers(machine)) {
    if (number === self) continue;
    const life = lifeOf(row, machine.options.clock.bootId, 'machine');
    const isSilent = machine.nowMs - row.seenMs > machine.options.leaseMs;
    if (life === 'alive' || (life === 'unknown' && !isSilent)) continue;
    holders.loseAllOf(number, blame);
    machine.tables.openers.remove(0, number);
  }
}

/** Tells others that cannot see this process that it is alive. */
export function refresh(machine: Machine, number: number, self: { access: Access; identity: ProcessIdentity }): void {
  const row: OpenerRow = { ...self.identity, access: self.access, seenMs: machine.nowMs };
  machine.tables.openers.put(0, number, packJson(row));
}

function openers(machine: Machine): { number: number; row: OpenerRow }[] {
  const found: { number: number; row: OpenerRow }[] = [];
  machine.tables.openers.scan(0, 0, 0, (_major, number, row) => {
    found.push({ number, row: unpackJson<OpenerRow>(row) });
  });
  return found;
}

function inUse(row: OpenerRow, self: { access: Access; where: string }): CrawlError {
  const who = `process ${row.pid} on ${row.host}`;
  const how = row.access === 'owner' ? 'owns it' : 'shares it';
  const advice =
    self.access === 'owner' && row.access === 'owner'
      ? "wait for it to end, stop it, or open the queue with access: 'shared' in both processes"
      : self.access === 'owner'
        ? "open it with access: 'shared' too, or wait until every process that shares it has ended"
        : "open it with access: 'shared' there too, or wait for that process to end";
  return new CrawlError('QUEUE_IN_USE', `the queue at ${self.where} is in use: ${who} ${how}; ${advice}`);
}
