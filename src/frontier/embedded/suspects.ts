// Requests that may have killed their holder: all that it held when it was lost, tried in ever smaller groups.
// Promise: each loss lowers a suspect's trial number, so every request ends; one that was lost in a group, or is
// settled once, is never charged. The same rule in Redis: redis/lua/part-suspects.lua.
import { SUSPECT_PLACES, takePlace } from './domain-queue.js';
import type { Domain } from './domains.js';
import { LOSSES_ALONE } from '../frontier.js';
import { type Machine, putNote } from './machine.js';
import { FAILED, QUEUED, unpackLease, unpackNumber, unpackRequest } from '../tables/packing.js';
import { endRequest, enter, readRequest, writeRequest } from './requests.js';

const MOST_TOGETHER = 255;
const MOST_COUNTED = 255;
const MOST_NOTED = 10_000;

/**
 * A trial number: above `LOSSES_ALONE`, the group size of the next trial; at or below it the suspect is tried alone,
 * with this many losses left.
 */
function trialAfter(trial: number, together: number): number {
  if (together > 1) return Math.min(MOST_TOGETHER, Math.max(LOSSES_ALONE, Math.floor(together / 2)));
  return (trial > 0 && trial < LOSSES_ALONE ? trial : LOSSES_ALONE) - 1;
}

const companyOf = (trial: number): number => (trial > LOSSES_ALONE ? trial : 1);

/** A request whose holder was lost while it held so many `together`. With a `code` it is known to be the cause. */
export function accuse(machine: Machine, id: number, together: number, code?: string): void {
  const { hot, domains } = machine;
  const request = readRequest(machine, id);
  const trial = code === undefined ? trialAfter(request.trial, together) : 0;
  hot.suspects += (trial > 0 ? 1 : 0) - (request.trial > 0 ? 1 : 0);
  request.lostLeases = Math.min(MOST_COUNTED, request.lostLeases + 1);
  request.trial = trial;
  request.state = QUEUED;
  writeRequest(machine, id, request);
  if (trial === 0) {
    hot.lostWorkers++;
    // Until a worker of a pod has recorded it; scripts find it in the queue.
    const fate = `${code ?? 'WORKER_LOST'} ${request.lostLeases} ${request.record}`;
    if (machine.options.notesFates && hot.lostWorkers <= MOST_NOTED) putNote(machine, `fate/${hot.lostWorkers}`, fate);
    return endRequest(machine, id, FAILED, code ?? 'WORKER_LOST');
  }
  const domain = domains.byId(request.domain);
  enter(machine, domain, true);
  takePlace(machine, domain, id, SUSPECT_PLACES - hot.nextFront++);
}

/** Its holder survived to settle it. */
export function clear(machine: Machine, id: number): void {
  if (machine.hot.suspects === 0) return;
  const request = readRequest(machine, id);
  if (request.trial === 0) return;
  machine.hot.suspects--;
  request.trial = 0;
  writeRequest(machine, id, request);
}

/** What a holder may get now: ordinary requests, only suspects, or nothing until it has settled. */
export type Share = 'ordinary' | 'trial' | 'nothing';

export function shareOf(machine: Machine, holder: number | undefined): Share {
  const { hot, tables } = machine;
  if (hot.suspects === 0) return 'ordinary';
  const held = holder === undefined ? undefined : anyHeldBy(machine, holder);
  if (held !== undefined && trialOf(machine, held) > 0) return 'nothing';
  let isDue = false;
  tables.accused.scan(0, 0, machine.nowMs, () => !(isDue = true));
  if (!isDue) return 'ordinary';
  if (held === undefined) return 'trial';
  // Suspects must not wait for a holder to become idle by chance: one holder gets nothing more until it is free.
  if (hot.judge !== holder && hot.judge > 0 && tables.holders.get(0, hot.judge)) return 'ordinary';
  hot.judge = holder!;
  return 'nothing';
}

/** A request of the holder. */
function anyHeldBy({ tables }: Machine, holder: number): number | undefined {
  let held: number | undefined;
  tables.leases.scan(holder, 0, holder, (_holder, _lease, row) => {
    held = unpackLease(row).request;
    return false;
  });
  return held;
}

const trialOf = ({ tables }: Machine, request: number): number => unpackRequest(tables.requests.get(0, request)!).trial;

/** The domains to take suspects from, one entry per request: as many as may be tried together. */
export function pickTrial(machine: Machine, wanted: number): Domain[] {
  const { tables, domains, nowMs } = machine;
  const due: number[] = [];
  tables.accused.scan(0, 0, nowMs, (_dueMs, _tie, row) => {
    due.push(unpackNumber(row));
    return due.length < wanted;
  });
  const picked: Domain[] = [];
  let together = wanted;
  for (const domain of due.map((id) => domains.byId(id))) {
    domains.mark(domain);
    for (const request of suspectsOf(machine, domain, domains.turnsOf(domain) - domain.turnsOut)) {
      together = Math.min(together, companyOf(trialOf(machine, request)));
      if (picked.length >= together) return picked;
      domain.turnsOut++;
      domain.queued--;
      domain.suspects--;
      picked.push(domain);
    }
  }
  return picked;
}

function suspectsOf({ tables }: Machine, domain: Domain, most: number): number[] {
  const found: number[] = [];
  if (most <= 0) return found;
  tables.places.scan(domain.id, 0, domain.id, (_domain, place, row) => {
    if (place >= SUSPECT_PLACES) return false;
    found.push(unpackNumber(row));
    return found.length < most;
  });
  return found;
}
