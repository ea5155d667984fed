// Whether a lease call's answer is one that the port allows: nothing twice, nothing early, nothing beyond its turns,
// the longest-due domain first, and nothing left behind that could have been given. Of equals any may come.
import {
  type HolderId,
  type Lease,
  type LeaseAnswer,
  type LeaseCall,
  BULK_SKIPS_PER_CALL,
  BULK_SKIPS_PER_DOMAIN,
} from '../../frontier/frontier.js';
import { differs, mustEqual } from './difference.js';
import type { Model } from './frontier.js';
import { byPlace, isSuspect, type ModelDomain, type ModelRequest } from './state.js';
import { accusedNow, companyOf, isAccused, type Share, shareOf } from './suspects.js';

export interface LeaseCheck {
  readonly holder: HolderId;
  readonly call: Pick<LeaseCall, 'max' | 'maxEnded' | 'bulkSkipDomains'>;
  readonly nowMs: number;
  /** Ids given so far: one is never given twice. */
  readonly ids: Set<number>;
  /** Orders and times are not compared: the store was set back, and only what is pending is known. */
  readonly isLoose: boolean;
}

/** Takes over what the backend leased. */
export function takeLeases(model: Model, answer: LeaseAnswer, check: LeaseCheck): void {
  const { holder, call, nowMs } = check;
  model.call(holder, nowMs);
  model.returnRetries(nowMs);
  const isLoose = check.isLoose || model.rules.spills === true;
  const room = roomFor(model, call);
  const limit = Math.max(0, Math.min(call.max, room));
  const wanted = model.quietMs > nowMs ? 0 : limit;
  const share = wanted > 0 ? shareOf(model, holder, nowMs) : 'ordinary';
  const turns = answer.leases.filter(({ bulkSkip }) => !bulkSkip);
  const bulkSkips = answer.leases.filter(({ bulkSkip }) => bulkSkip);
  if (turns.length > wanted) differs(`${turns.length} leases, although only ${wanted} were wanted or allowed`);

  const served = new Map<ModelDomain, number>();
  const requests = turns.map((lease) => leasable(model, lease, check));
  checkShare(model, share, requests, check);
  turns.forEach((lease, i) => {
    const request = requests[i]!;
    const domain = model.domain(lease.domain);
    checkTurn(model, domain, request, served, check, isLoose);
    mustEqual(`the delay of ${request.record}`, lease.delayMs, domain.delayMs);
    model.hand(request, holder, lease.id, false, nowMs);
    served.set(domain, (served.get(domain) ?? 0) + 1);
    // To the back of the line if it may be asked again at once; otherwise it keeps how long it was ready.
    if (share === 'ordinary' && model.dueMs(domain) !== undefined) domain.readyMs = nowMs;
  });
  if (share === 'trial' && !check.isLoose) checkTrialSize(model, requests, wanted, nowMs);
  if (share === 'ordinary' && turns.length < wanted && !isLoose) {
    const left = ordinaryDomains(model).find((domain) => (model.dueMs(domain) ?? Infinity) <= nowMs);
    if (left) differs(`${turns.length} of ${wanted} leases, although ${left.queue[0]!.record} is due`);
  }
  takeBulkSkips(
    model,
    bulkSkips,
    served,
    check,
    share === 'trial' ? 0 : room - turns.length,
    isLoose || share === 'trial',
  );
  if (share !== 'ordinary' && !check.isLoose && turns.length < call.max) {
    return mustEqual('a holder held back', [answer.state, answer.nextDueMs], ['waiting', HELD_BACK_MS]);
  }
  checkState(model, answer, turns.length, limit, check, isLoose);
}

const HELD_BACK_MS = 100;

const ordinaryDomains = (model: Model): ModelDomain[] => [...model.domains()].filter((domain) => !isAccused(domain));

/** Suspects go to a holder that holds nothing, and nothing else goes with them. */
function checkShare(model: Model, share: Share, requests: readonly ModelRequest[], check: LeaseCheck): void {
  const { holder, isLoose } = check;
  const [first] = requests;
  if (!first) return;
  const isTrial = isSuspect(first);
  const odd = requests.find((one) => isSuspect(one) !== isTrial);
  if (odd) differs(`leased ${first.record} and ${odd.record} together: one of them is a suspect, the other not`);
  if (isTrial !== (share === 'trial'))
    differs(`leased ${first.record} as ${isTrial ? 'a suspect' : 'any'}, not ${share}`);
  // Which holder waits to be free is not known after the store was set back.
  const isJudgeUnknown = isLoose && !model.heldBy(holder).some(isSuspect);
  if (share === 'nothing' && !isJudgeUnknown) differs(`leased ${first.record} to ${holder}, which gets nothing now`);
  const company = Math.min(...requests.map(companyOf));
  if (isTrial && requests.length > company) differs(`${requests.length} suspects together instead of ${company}`);
}

/** As many together as may be. */
function checkTrialSize(model: Model, tried: readonly ModelRequest[], wanted: number, nowMs: number): void {
  if (tried.length >= Math.min(wanted, ...tried.map(companyOf))) return;
  // Of equals any may have been the next.
  const left = accusedNow(model, nowMs).flatMap(({ queue }) => queue.filter((one) => byPlace(queue[0]!, one) === 0));
  if (left.length > 0 && left.every((one) => companyOf(one) > tried.length)) {
    differs(`${tried.length} suspects, although ${left[0]!.record} might be tried with them`);
  }
}

/** How many may be handed out without going beyond a limit. */
function roomFor(model: Model, { maxEnded = Infinity }: LeaseCheck['call']): number {
  const mayEnd = Math.min(maxEnded - model.count('failed'), model.allowance);
  return mayEnd - model.count('done') - model.count('leased') - model.count('parsing');
}

function leasable(model: Model, lease: Lease, { ids, isLoose }: LeaseCheck): ModelRequest {
  const request = model.requestOf(lease.fingerprint);
  if (!request) differs(`leased ${lease.record}, which was never accepted`);
  if (request.state !== 'queued') differs(`leased ${lease.record}, which is ${request.state}`);
  if (ids.has(lease.id)) differs(`lease ${lease.id} was given before`);
  ids.add(lease.id);
  // Of several adds that were forgotten, any may have come first when they were repeated.
  if (isLoose) request.entry = { ...request.entry, priority: lease.priority };
  const { record, lost, entry } = request;
  const { record: got, lostLeases, priority, domain } = lease;
  if (got === record && lostLeases === lost && priority === (entry.priority ?? 0) && domain === entry.domain) {
    return request;
  }
  const actual = { record: got, lostLeases, priority, domain };
  const expected = { record, lostLeases: lost, priority: entry.priority ?? 0, domain: entry.domain };
  mustEqual(`lease of ${record}`, actual, expected);
  return request;
}

function checkTurn(
  model: Model,
  domain: ModelDomain,
  request: ModelRequest,
  served: ReadonlyMap<ModelDomain, number>,
  check: LeaseCheck,
  isLoose: boolean,
): void {
  const { nowMs } = check;
  const { record } = request;
  if (domain.allowedMs > nowMs) differs(`leased ${record} ${domain.allowedMs - nowMs} ms before its time`);
  if (domain.out >= model.turnsOf(domain)) {
    differs(`leased ${record}, although ${domain.out} of ${model.turnsOf(domain)} turns of ${domain.name} are out`);
  }
  if (isAccused(domain) && !isSuspect(request)) differs(`leased ${record} before a suspect of ${domain.name}`);
  checkPlace(model, domain, request, check);
  if (isLoose) return;
  const due = model.dueMs(domain)!;
  const rounds = served.get(domain) ?? 0;
  for (const other of model.domains()) {
    const otherMs = model.dueMs(other);
    if (otherMs === undefined || otherMs > due || isAccused(other) !== isSuspect(request)) continue;
    if (otherMs < due) differs(`leased ${record}, although ${other.name} has been due for longer`);
    // All suspects of one domain go before those of the next.
    if (!isSuspect(request) && (served.get(other) ?? 0) < rounds)
      differs(`leased ${record}, although it is the turn of ${other.name}`);
  }
}

/** Whether it is first in its domain, or what is before it may be on disk. */
function checkPlace(model: Model, { queue }: ModelDomain, request: ModelRequest, { isLoose }: LeaseCheck): void {
  if (isLoose || byPlace(queue[0]!, request) === 0) return;
  const isBehind = model.rules.spills === true && (request.entry.priority ?? 0) < 0;
  const before = queue.find((one) => byPlace(one, request) < 0 && !(isBehind && one.isInLine));
  if (before) differs(`leased ${request.record} before ${before.record}`);
}

function takeBulkSkips(
  model: Model,
  bulkSkips: readonly Lease[],
  served: ReadonlyMap<ModelDomain, number>,
  check: LeaseCheck,
  room: number,
  isLoose: boolean,
): void {
  const { holder, call, nowMs } = check;
  let left = Math.min(BULK_SKIPS_PER_CALL, room);
  let next = 0;
  for (const name of new Set(call.bulkSkipDomains ?? [])) {
    const domain = model.domain(name);
    if (!served.has(domain)) continue;
    const most = Math.max(0, Math.min(BULK_SKIPS_PER_DOMAIN, left, domain.queue.length));
    let count = 0;
    for (; count < most && bulkSkips[next]?.domain === name; count++, next++) {
      const request = leasable(model, bulkSkips[next]!, check);
      checkPlace(model, domain, request, check);
      model.hand(request, holder, bulkSkips[next]!.id, true, nowMs);
    }
    if (count < most && !isLoose) differs(`${count} of ${most} bulk skips of ${name} came along`);
    left -= count;
  }
  if (next < bulkSkips.length) differs(`${bulkSkips[next]!.record} came along without being requested`);
}

function checkState(
  model: Model,
  answer: LeaseAnswer,
  turns: number,
  limit: number,
  { call, nowMs }: LeaseCheck,
  isLoose: boolean,
): void {
  const dueMs = [...model.domains()].flatMap((domain) => model.dueMs(domain) ?? []);
  const soonest = Math.min(...dueMs, ...model.retryTimes());
  const nextMs = Number.isFinite(soonest) ? Math.max(0, Math.max(soonest, model.quietMs) - nowMs) : undefined;
  const isPending = ['queued', 'retrying', 'leased', 'parsing'].some((state) => model.count(state as 'queued') > 0);
  if (call.max > 0 && turns === call.max) return mustEqual('state of the lease call', answer.state, 'more');
  if (!isPending) return mustEqual('state of the lease call', answer.state, 'exhausted');
  if (answer.state === 'exhausted') differs('exhausted, although requests are pending');
  if (isLoose) {
    // It may be sooner: what is on disk comes back within moments.
    if (answer.state === 'waiting' && turns === limit && limit < call.max) return;
    if (answer.state === 'waiting' && nextMs !== undefined && answer.nextDueMs === undefined) {
      differs('nothing will be due, although requests are queued');
    }
    return;
  }
  if (call.max === 0 && nextMs === 0) return mustEqual('state of the lease call', answer.state, 'more');
  mustEqual('state of the lease call', answer.state, 'waiting');
  const isHeldByLimit = turns === limit && limit < call.max;
  mustEqual('time until the next is due', answer.nextDueMs, isHeldByLimit ? undefined : nextMs);
}
