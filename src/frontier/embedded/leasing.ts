// The lease call: which domains are due, in which order, and one request of each in turn.
// Taking the request and taking the domain's turn are the same transaction, so no server is asked beyond its pace.
import { type Taken, takeFront } from './domain-queue.js';
import type { Domain } from './domains.js';
import {
  type Lease,
  type LeaseAnswer,
  type LeaseCall,
  BULK_SKIPS_PER_CALL,
  BULK_SKIPS_PER_DOMAIN,
} from '../frontier.js';
import type { Holders } from './lease-holders.js';
import { MAX_KEY } from '../tables/kv.js';
import type { Machine } from './machine.js';
import { packLease, unpackNumber } from '../tables/packing.js';
import { readRequest, returnFromWaiting } from './requests.js';
import { pickTrial, type Share, shareOf } from './suspects.js';

export function leaseDue(machine: Machine, holders: Holders, call: LeaseCall): LeaseAnswer {
  returnFromWaiting(machine);
  machine.domains.flush();
  const { hot } = machine;
  // Whatever is leased now may still end as done or failed.
  const mayEnd = (call.maxEnded ?? Number.POSITIVE_INFINITY) - hot.failed;
  const allowed = Math.min(mayEnd, machine.options.allowance) - hot.done - hot.leased;
  const wanted = Math.max(0, Math.min(call.max, allowed));
  const share = wanted > 0 ? shareOf(machine, holders.numberOf(call.holder)) : 'ordinary';
  const picked = wanted > 0 ? pick(machine, share, wanted) : [];
  const leases = picked.length > 0 ? leaseFrom(machine, holders.enrol(call.holder), picked) : [];
  if (call.bulkSkipDomains && picked.length > 0 && share === 'ordinary') {
    leases.push(
      ...leaseBulkSkips(machine, holders.enrol(call.holder), picked, call.bulkSkipDomains, allowed - picked.length),
    );
  }
  machine.domains.flush();
  if (call.max > 0 && picked.length === call.max) return { leases, state: 'more' };
  if (hot.queued + hot.retrying + hot.leased === 0) return { leases, state: 'exhausted' };
  // When what it holds is settled there is more for it, which nobody can foretell.
  if (share !== 'ordinary') return { leases, state: 'waiting', nextDueMs: HELD_BACK_MS };
  // When only the limit holds requests back, time alone will not free them.
  const isHeldByLimit = picked.length === wanted && wanted < call.max;
  const nextMs = isHeldByLimit ? undefined : nextDue(machine);
  if (call.max === 0 && nextMs === 0) return { leases, state: 'more' };
  return { leases, state: 'waiting', ...(nextMs === undefined ? {} : { nextDueMs: nextMs }) };
}

const HELD_BACK_MS = 100;

function pick(machine: Machine, share: Share, wanted: number): Domain[] {
  if (share === 'nothing') return [];
  return share === 'trial' ? pickTrial(machine, wanted) : pickDomains(machine, wanted);
}

/** The domains to take a request from, one entry a request: the longest due first, then to the back of the line. */
function pickDomains(machine: Machine, wanted: number): Domain[] {
  const { tables, domains, nowMs } = machine;
  const due: number[] = [];
  tables.due.scan(0, 0, nowMs, (_dueMs, _tie, row) => {
    due.push(unpackNumber(row));
    return due.length < wanted;
  });
  const line = due.map((id) => domains.byId(id));
  const served = new Set<Domain>();
  const picked: Domain[] = [];
  let next = 0;
  for (; next < line.length && picked.length < wanted; next++) {
    const domain = line[next]!;
    // Due by a pacing that was changed since.
    if (domain.turnsOut >= domains.turnsOf(domain)) {
      domains.mark(domain);
      continue;
    }
    domain.turnsOut++;
    domain.queued--;
    picked.push(domain);
    served.add(domain);
    if (domain.queued === 0 || domain.turnsOut >= domains.turnsOf(domain)) continue;
    domain.readyMs = nowMs;
    domain.toBack = true;
    line.push(domain);
  }
  // Marked in the order of the line: that is the order in which they are due again.
  for (; next < line.length; next++) {
    if (served.has(line[next]!)) domains.mark(line[next]!);
  }
  for (const domain of served) domains.mark(domain);
  return picked;
}

function leaseFrom(machine: Machine, holder: number, picked: readonly Domain[]): Lease[] {
  const { hot } = machine;
  const counts = new Map<Domain, number>();
  for (const domain of picked) counts.set(domain, (counts.get(domain) ?? 0) + 1);
  const taken = new Map<Domain, Taken[]>();
  for (const [domain, count] of counts) taken.set(domain, takeFront(machine, domain, count).reverse());
  hot.queued -= picked.length;
  hot.leased += picked.length;
  return picked.map((domain) => leaseOne(machine, holder, domain, taken.get(domain)!.pop()!, false));
}

/** Further requests of the bulk-skipped domains that got a turn: they hold none, so no pace is touched. */
function leaseBulkSkips(
  machine: Machine,
  holder: number,
  picked: readonly Domain[],
  domains: readonly string[],
  allowed: number,
): Lease[] {
  const { hot } = machine;
  const byName = new Map(picked.map((domain) => [domain.name, domain]));
  const bulkSkips: Lease[] = [];
  for (const name of new Set(domains)) {
    const domain = byName.get(name);
    if (!domain) continue;
    const room = Math.min(BULK_SKIPS_PER_CALL, allowed) - bulkSkips.length;
    const count = Math.min(BULK_SKIPS_PER_DOMAIN, room, domain.queued);
    if (count <= 0) continue;
    domain.queued -= count;
    hot.queued -= count;
    hot.leased += count;
    for (const taken of takeFront(machine, domain, count)) {
      bulkSkips.push(leaseOne(machine, holder, domain, taken, true));
    }
    machine.domains.mark(domain);
  }
  return bulkSkips;
}

function leaseOne(machine: Machine, holder: number, domain: Domain, taken: Taken, bulkSkip: boolean): Lease {
  const { tables, hot, domains } = machine;
  const { request, place } = taken;
  const id = hot.nextLease++;
  tables.leases.put(holder, id, packLease({ request, domain: domain.id, place, landed: bulkSkip, bulkSkip }));
  const { hi, lo, record, priority, lostLeases } = readRequest(machine, request);
  const delayMs = domains.delayOf(domain);
  const lease: Lease = { id, fingerprint: { hi, lo }, domain: domain.name, record, priority, lostLeases, delayMs };
  return bulkSkip ? { ...lease, bulkSkip } : lease;
}

/** How long until something queued may be due; undefined when nothing is queued that time alone would free. */
function nextDue(machine: Machine): number | undefined {
  const { tables, nowMs } = machine;
  let nextMs = Number.POSITIVE_INFINITY;
  const first = (atMs: number): boolean => {
    nextMs = Math.min(nextMs, atMs);
    return false;
  };
  tables.due.scan(0, 0, MAX_KEY, first);
  if (machine.hot.suspects > 0) tables.accused.scan(0, 0, MAX_KEY, first);
  if (machine.hot.retrying > 0) tables.waiting.scan(0, 0, MAX_KEY, first);
  return Number.isFinite(nextMs) ? Math.max(0, nextMs - nowMs) : undefined;
}
