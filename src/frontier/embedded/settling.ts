// The settle call: responses land, visits end or return to the queue, links are queued and notes written, atomically.
// A lease that is not the caller's is refused, with everything that came with it.
import { CrawlError } from '../../errors.js';
import type { Landing, SettleAnswer, SettleCall, Settlement } from '../frontier.js';
import { giveBack, type Holders } from './lease-holders.js';
import { type Machine, putNote } from './machine.js';
import { DONE, FAILED, type LeaseRow, packLease, SKIPPED, unpackLease } from '../tables/packing.js';
import { acceptEntries, endRequest, queueInFront, queueLast, readRequest, wait, writeRequest } from './requests.js';
import { clear } from './suspects.js';

export function settleVisits(machine: Machine, holders: Holders, call: SettleCall): SettleAnswer {
  const { leases } = machine.tables;
  const holder = holders.numberOf(call.holder);
  const landed = new Map<number, LeaseRow>();

  function held(lease: number): LeaseRow | undefined {
    if (holder === undefined) return undefined;
    const known = landed.get(lease);
    if (known) return known;
    const row = leases.get(holder, lease);
    return row && unpackLease(row);
  }

  for (const landing of call.landings ?? []) {
    const lease = held(landing.lease);
    if (!lease || lease.landed) continue;
    land(machine, lease, landing);
    landed.set(landing.lease, lease);
  }
  const accepted = call.settlements.map((settlement) => {
    const lease = held(settlement.lease);
    if (!lease || (lease.bulkSkip && !mayEndBulkSkip(settlement))) return false;
    leases.remove(holder!, settlement.lease);
    landed.delete(settlement.lease);
    settleOne(machine, lease, settlement);
    if (settlement.links) acceptEntries(machine, settlement.links);
    return true;
  });
  for (const [id, row] of landed) leases.put(holder!, id, packLease(row));
  if (call.notes) takeNotes(machine, call.notes);
  return { held: true, accepted };
}

/** A bulk skip was never sent: it cannot be done or retried. */
function mayEndBulkSkip({ kind }: Settlement): boolean {
  return kind === 'skipped' || kind === 'failed' || kind === 'untouched';
}

/** The response has ended: the turn is free, and the delay starts now. */
function land(machine: Machine, lease: LeaseRow, landing: Landing): void {
  const { domains, nowMs } = machine;
  const domain = domains.byId(lease.domain);
  lease.landed = true;
  // A domain that always had a free turn has always been ready.
  if (domains.returnTurn(domain)) domain.readyMs = nowMs;
  if (landing.delayMs !== undefined && landing.delayMs !== domain.delayMs) {
    domain.delayMs = landing.delayMs;
    domains.mark(domain);
  }
  domains.rest(domain, Math.max(domains.delayOf(domain), landing.pauseMs ?? 0));
}

function settleOne(machine: Machine, lease: LeaseRow, settlement: Settlement): void {
  const { domains, hot } = machine;
  if (settlement.kind === 'untouched') {
    if (settlement.record !== undefined) {
      const request = readRequest(machine, lease.request);
      writeRequest(machine, lease.request, { ...request, record: settlement.record });
    }
    giveBack(machine, lease);
    return;
  }
  hot.leased--;
  clear(machine, lease.request);
  if (!lease.landed) {
    // Never sent: the turn returns unused, and the domain is due as before.
    domains.returnTurn(domains.byId(lease.domain));
  }
  switch (settlement.kind) {
    case 'done':
      return endRequest(machine, lease.request, DONE, '', settlement.record);
    case 'failed':
      return endRequest(machine, lease.request, FAILED, settlement.reason, settlement.record);
    case 'skipped':
      return endRequest(machine, lease.request, SKIPPED, settlement.reason, settlement.record);
    case 'retry': {
      const request = readRequest(machine, lease.request);
      if (settlement.record !== undefined) request.record = settlement.record;
      if (settlement.afterMs > 0) return wait(machine, lease.request, request, settlement.afterMs, settlement.back);
      writeRequest(machine, lease.request, request);
      if (settlement.back) return queueLast(machine, lease.request, request);
      return queueInFront(machine, lease.request, request);
    }
    case 'handed':
      // Refused before anything is written: embedded.ts.
      throw new CrawlError('REQUEST_INVALID', 'an embedded queue has no parse queue');
    default:
      return settlement satisfies never;
  }
}

export function takeNotes(machine: Machine, notes: NonNullable<SettleCall['notes']>): void {
  for (const [key, value] of Object.entries(notes)) putNote(machine, key, value);
}
