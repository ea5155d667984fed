// The frontier as plain lists: the reference that random histories are compared with.
// No effort is made to be fast; every rule of the port is one line here.
import {
  type Counters,
  type Landing,
  LOSSES_ALONE,
  type Pacing,
  type Presence,
  type QueueEntry,
  RIDERS_PER_DOMAIN,
  type Settlement,
} from '../frontier/frontier.js';

interface ModelRequest {
  readonly entry: QueueEntry;
  state: 'queued' | 'retrying' | 'leased' | 'done' | 'failed' | 'skipped';
  /** Smaller is served first within a priority. */
  order: number;
  retryMs: number;
  /** Of a suspect: of how many it may be one; at most `LOSSES_ALONE`, alone, and so many losses are left. */
  trial: number;
  holder: string;
  lease: number;
  landed: boolean;
  rider: boolean;
}

interface ModelDomain {
  delayMs: number;
  allowedMs: number;
  readyMs: number;
  /** Tells domains apart that became due in the same millisecond. */
  tie: number;
  dueMs: number;
  accused: boolean;
}

export interface Model {
  add(holder: string, entries: readonly QueueEntry[], nowMs: number): Presence[];
  lease(
    holder: string,
    max: number,
    skim: readonly string[],
    nowMs: number,
  ): { records: string[]; state: string; nextDueMs: number | undefined };
  /** The ids the backend gave to the leases of the last call. */
  nameLeases(holder: string, ids: readonly number[]): void;
  heldBy(holder: string): number[];
  land(holder: string, landing: Landing, nowMs: number): void;
  settle(holder: string, settlement: Settlement, nowMs: number): boolean;
  release(holder: string, nowMs: number): number;
  isLost(holder: string, nowMs: number): boolean;
  counters(nowMs: number): Counters;
}

export function createModel({ pacing, leaseMs }: { pacing: Pacing; leaseMs: number }): Model {
  const requests: ModelRequest[] = [];
  const domains = new Map<string, ModelDomain>();
  const seenMs = new Map<string, number>();
  const lost = new Set<string>();
  let front = 0;
  let back = 0;
  let ties = 0;
  let unnamed: ModelRequest[] = [];
  /** Takes no more until it holds nothing and can take a trial. */
  let judge = '';

  const of = (domain: string): ModelRequest[] => requests.filter(({ entry }) => entry.domain === domain);
  const out = (domain: string): number =>
    of(domain).filter(({ state, landed }) => state === 'leased' && !landed).length;
  /** A delay means one turn. */
  const turns = ({ delayMs }: ModelDomain): number => (delayMs > 0 ? 1 : pacing.turns);
  const held = (holder: string): ModelRequest[] =>
    requests.filter((request) => request.state === 'leased' && request.holder === holder);

  /** Smaller is served first; a suspect before everything else of its domain. */
  const place = ({ entry, order, trial }: ModelRequest): number =>
    (trial > 0 ? -1e12 : -(entry.priority ?? 0) * 1e9) + order;
  const suspects = (domain: string): ModelRequest[] => line(domain).filter(({ trial }) => trial > 0);

  function domainOf(name: string): ModelDomain {
    const domain = domains.get(name) ?? {
      delayMs: pacing.delayMs,
      allowedMs: 0,
      readyMs: 0,
      tie: 0,
      dueMs: -1,
      accused: false,
    };
    domains.set(name, domain);
    return domain;
  }

  /** The queue of a domain in the order it is served. */
  function line(name: string): ModelRequest[] {
    return of(name)
      .filter(({ state }) => state === 'queued')
      .sort((a, b) => place(a) - place(b));
  }

  /** Gives each domain that became due, or is due at another time than before, its place among equals. */
  function placeDomains(names: Iterable<string>): void {
    for (const name of names) {
      const domain = domainOf(name);
      const isReady = line(name).length > 0 && out(name) < turns(domain);
      const dueMs = isReady ? Math.max(domain.allowedMs, domain.readyMs) : -1;
      const accused = suspects(name).length > 0;
      if ((dueMs !== domain.dueMs || accused !== domain.accused) && isReady) domain.tie = ++ties;
      domain.dueMs = dueMs;
      domain.accused = accused;
    }
  }

  function enqueue(request: ModelRequest, order: number, nowMs: number | undefined): void {
    const domain = domainOf(request.entry.domain);
    if (nowMs !== undefined && line(request.entry.domain).length === 0) domain.readyMs = nowMs;
    request.state = 'queued';
    request.order = order;
  }

  function lose(holder: string, nowMs: number): number {
    const losing = held(holder).sort((a, b) => place(b) - place(a));
    const together = losing.filter(({ rider }) => !rider).length;
    for (const request of losing) {
      const domain = domainOf(request.entry.domain);
      if (!request.landed) {
        if (domain.delayMs > 0) domain.allowedMs = Math.max(domain.allowedMs, nowMs + domain.delayMs);
        if (out(request.entry.domain) >= turns(domain)) domain.readyMs = nowMs;
      }
      if (request.rider) {
        enqueue(request, request.order, undefined);
        continue;
      }
      if (together > 1) request.trial = Math.max(LOSSES_ALONE, Math.floor(together / 2));
      else request.trial = Math.min(request.trial || LOSSES_ALONE, LOSSES_ALONE) - 1;
      if (request.trial === 0) request.state = 'failed';
      else enqueue(request, --front, nowMs);
    }
    placeDomains(losing.map(({ entry }) => entry.domain));
    seenMs.delete(holder);
    return losing.length;
  }

  function expire(nowMs: number): void {
    for (const [holder, ms] of [...seenMs]) {
      if (nowMs - ms > leaseMs && lose(holder, nowMs) > 0) lost.add(holder);
    }
  }

  function call(holder: string, nowMs: number): void {
    expire(nowMs);
    if (seenMs.has(holder)) seenMs.set(holder, nowMs);
  }

  /** The due domains with a suspect queued, or those without, the longest due first. */
  function dueDomains(accused: boolean, nowMs: number): [string, ModelDomain][] {
    return [...domains]
      .filter(([, domain]) => domain.accused === accused && domain.dueMs >= 0 && domain.dueMs <= nowMs)
      .sort(([, a], [, b]) => a.dueMs - b.dueMs || a.tie - b.tie);
  }

  /** A holder has suspects and nothing else, or none. */
  function share(holder: string, nowMs: number): 'ordinary' | 'trial' | 'nothing' {
    const [one] = held(holder);
    if (one && one.trial > 0) return 'nothing';
    if (dueDomains(true, nowMs).length === 0) return 'ordinary';
    if (!one) return 'trial';
    if (judge !== holder && seenMs.has(judge)) return 'ordinary';
    judge = holder;
    return 'nothing';
  }

  function give(request: ModelRequest, holder: string): void {
    Object.assign(request, { state: 'leased', holder, landed: false, rider: false });
  }

  function leaseTrial(holder: string, max: number, nowMs: number): ModelRequest[] {
    const due = dueDomains(true, nowMs).slice(0, max);
    const tried: ModelRequest[] = [];
    let most = max;
    search: for (const [name, domain] of due) {
      for (const request of suspects(name).slice(0, turns(domain) - out(name))) {
        most = Math.min(most, request.trial > LOSSES_ALONE ? request.trial : 1);
        if (tried.length >= most) break search;
        tried.push(request);
      }
    }
    for (const request of tried) give(request, holder);
    placeDomains(due.map(([name]) => name));
    return tried;
  }

  function leaseOrdinary(holder: string, max: number, nowMs: number): ModelRequest[] {
    const leased: ModelRequest[] = [];
    while (leased.length < max) {
      const next = dueDomains(false, nowMs)[0];
      if (!next) break;
      const [name, domain] = next;
      const request = line(name)[0]!;
      give(request, holder);
      leased.push(request);
      // To the back of the line if it may be asked again at once; otherwise it keeps how long it was ready.
      if (line(name).length > 0 && out(name) < turns(domain)) {
        domain.readyMs = nowMs;
        domain.dueMs = nowMs;
        domain.tie = ++ties;
      } else domain.dueMs = -1;
    }
    return leased;
  }

  function returnRetries(nowMs: number): void {
    const over = requests
      .map((request, i) => ({ request, i }))
      .filter(({ request }) => request.state === 'retrying' && request.retryMs <= nowMs)
      .sort((a, b) => b.request.retryMs - a.request.retryMs || b.i - a.i)
      .map(({ request }) => request);
    for (const request of over) enqueue(request, --front, nowMs);
    placeDomains(over.map(({ entry }) => entry.domain));
  }

  return {
    add(holder, entries, nowMs) {
      call(holder, nowMs);
      const touched = new Set<string>();
      const answer = entries.map((entry): Presence => {
        const known = requests.find((request) => request.entry.record === entry.record);
        if (known) return ['done', 'failed', 'skipped'].includes(known.state) ? 'ended' : 'pending';
        const request: ModelRequest = {
          entry,
          state: 'done',
          order: 0,
          retryMs: 0,
          trial: 0,
          holder: '',
          lease: 0,
          landed: false,
          rider: false,
        };
        requests.push(request);
        enqueue(request, entry.forefront ? --front : ++back, nowMs);
        touched.add(entry.domain);
        return 'new';
      });
      placeDomains(touched);
      return answer;
    },
    lease(holder, max, skim, nowMs) {
      call(holder, nowMs);
      returnRetries(nowMs);
      const kind = max > 0 ? share(holder, nowMs) : 'ordinary';
      const leased = kind === 'nothing' ? [] : (kind === 'trial' ? leaseTrial : leaseOrdinary)(holder, max, nowMs);
      const turnsTaken = leased.length;
      for (const name of kind === 'trial'
        ? []
        : skim.filter((one) => leased.some(({ entry }) => entry.domain === one))) {
        for (const request of line(name).slice(0, RIDERS_PER_DOMAIN)) {
          Object.assign(request, { state: 'leased', holder, landed: true, rider: true });
          leased.push(request);
        }
        placeDomains([name]);
      }
      if (leased.length > 0) seenMs.set(holder, nowMs);
      unnamed = leased;
      const records = leased.map(({ entry }) => entry.record);
      const pending = requests.some(({ state }) => ['queued', 'retrying', 'leased'].includes(state));
      const dueMs = [...domains.values()].map((domain) => domain.dueMs).filter((ms) => ms >= 0);
      const retryMs = requests.filter(({ state }) => state === 'retrying').map((request) => request.retryMs);
      const next = Math.min(...dueMs, ...retryMs);
      const nextDueMs = Number.isFinite(next) ? Math.max(0, next - nowMs) : undefined;
      if (max > 0 && turnsTaken === max) return { records, state: 'more', nextDueMs: undefined };
      if (!pending) return { records, state: 'exhausted', nextDueMs: undefined };
      if (kind !== 'ordinary') return { records, state: 'waiting', nextDueMs: 100 };
      if (max === 0 && nextDueMs === 0) return { records, state: 'more', nextDueMs: undefined };
      return { records, state: 'waiting', nextDueMs };
    },
    nameLeases(_holder, ids) {
      unnamed.forEach((request, i) => (request.lease = ids[i]!));
    },
    heldBy: (holder) => held(holder).map(({ lease }) => lease),
    land(holder, landing, nowMs) {
      call(holder, nowMs);
      const request = held(holder).find(({ lease }) => lease === landing.lease);
      if (!request || request.landed) return;
      const domain = domainOf(request.entry.domain);
      if (out(request.entry.domain) >= turns(domain)) domain.readyMs = nowMs;
      request.landed = true;
      domain.delayMs = landing.delayMs ?? domain.delayMs;
      const restMs = Math.max(domain.delayMs, landing.pauseMs ?? 0);
      if (restMs > 0) domain.allowedMs = Math.max(domain.allowedMs, nowMs + restMs);
      placeDomains([request.entry.domain]);
    },
    settle(holder, settlement, nowMs) {
      call(holder, nowMs);
      const request = held(holder).find(({ lease }) => lease === settlement.lease);
      if (!request) return false;
      if (request.rider && (settlement.kind === 'done' || settlement.kind === 'retry')) return false;
      if (settlement.kind !== 'untouched') request.trial = 0;
      if (settlement.kind === 'untouched') enqueue(request, request.order, undefined);
      else if (settlement.kind === 'handed') return false;
      else if (settlement.kind !== 'retry') request.state = settlement.kind;
      else if (settlement.afterMs === 0) enqueue(request, --front, nowMs);
      else {
        request.state = 'retrying';
        request.retryMs = nowMs + settlement.afterMs;
      }
      placeDomains([request.entry.domain]);
      return true;
    },
    release(holder, nowMs) {
      expire(nowMs);
      lost.add(holder);
      return lose(holder, nowMs);
    },
    isLost(holder, nowMs) {
      const silentMs = nowMs - (seenMs.get(holder) ?? nowMs);
      return lost.has(holder) || (silentMs > leaseMs && held(holder).length > 0);
    },
    counters(nowMs) {
      expire(nowMs);
      const count = (state: ModelRequest['state']): number =>
        requests.filter((request) => request.state === state).length;
      return {
        accepted: requests.length,
        queued: count('queued'),
        retrying: count('retrying'),
        leased: count('leased'),
        done: count('done'),
        failed: count('failed'),
        skipped: count('skipped'),
      };
    },
  };
}
