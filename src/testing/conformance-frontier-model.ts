// The frontier as plain lists: the reference that random histories are compared with.
// No effort is made to be fast; every rule of the port is one line here.
import {
  type Counters,
  type Landing,
  LOST_LEASES_BEFORE_BACKOFF,
  LOST_LEASES_BEFORE_GIVING_UP,
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
  lost: number;
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

  const of = (domain: string): ModelRequest[] => requests.filter(({ entry }) => entry.domain === domain);
  const out = (domain: string): number =>
    of(domain).filter(({ state, landed }) => state === 'leased' && !landed).length;
  /** A delay means one turn. */
  const turns = ({ delayMs }: ModelDomain): number => (delayMs > 0 ? 1 : pacing.turns);
  const held = (holder: string): ModelRequest[] =>
    requests.filter((request) => request.state === 'leased' && request.holder === holder);

  function domainOf(name: string): ModelDomain {
    const domain = domains.get(name) ?? { delayMs: pacing.delayMs, allowedMs: 0, readyMs: 0, tie: 0, dueMs: -1 };
    domains.set(name, domain);
    return domain;
  }

  /** The queue of a domain in the order it is served. */
  function line(name: string): ModelRequest[] {
    const priority = ({ entry }: ModelRequest): number => entry.priority ?? 0;
    return of(name)
      .filter(({ state }) => state === 'queued')
      .sort((a, b) => priority(b) - priority(a) || a.order - b.order);
  }

  /** Gives each domain that became due, or is due at another time than before, its place among equals. */
  function placeDomains(names: Iterable<string>): void {
    for (const name of names) {
      const domain = domainOf(name);
      const isReady = line(name).length > 0 && out(name) < turns(domain);
      const dueMs = isReady ? Math.max(domain.allowedMs, domain.readyMs) : -1;
      if (dueMs !== domain.dueMs && isReady) domain.tie = ++ties;
      domain.dueMs = dueMs;
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
      request.lost++;
      if (request.lost >= LOST_LEASES_BEFORE_GIVING_UP) request.state = 'failed';
      else if (request.lost > LOST_LEASES_BEFORE_BACKOFF) {
        request.state = 'retrying';
        request.retryMs = nowMs + Math.min(60_000, 1_000 * 2 ** (request.lost - LOST_LEASES_BEFORE_BACKOFF - 1));
      } else enqueue(request, --front, nowMs);
    }
    placeDomains(losing.map(({ entry }) => entry.domain));
    seenMs.delete(holder);
    return losing.length;
  }

  /** Of those lost together the first served stays first. */
  const place = ({ entry, order }: ModelRequest): number => -(entry.priority ?? 0) * 1e9 + order;

  function expire(nowMs: number): void {
    for (const [holder, ms] of [...seenMs]) {
      if (nowMs - ms > leaseMs && lose(holder, nowMs) > 0) lost.add(holder);
    }
  }

  function call(holder: string, nowMs: number): void {
    expire(nowMs);
    if (seenMs.has(holder)) seenMs.set(holder, nowMs);
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
          lost: 0,
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
      const leased: ModelRequest[] = [];
      while (leased.length < max) {
        const due = [...domains].filter(([, domain]) => domain.dueMs >= 0 && domain.dueMs <= nowMs);
        due.sort(([, a], [, b]) => a.dueMs - b.dueMs || a.tie - b.tie);
        const next = due[0];
        if (!next) break;
        const [name, domain] = next;
        const request = line(name)[0]!;
        Object.assign(request, { state: 'leased', holder, landed: false, rider: false });
        leased.push(request);
        // To the back of the line if it may be asked again at once; otherwise it keeps how long it was ready.
        if (line(name).length > 0 && out(name) < turns(domain)) {
          domain.readyMs = nowMs;
          domain.dueMs = nowMs;
          domain.tie = ++ties;
        } else domain.dueMs = -1;
      }
      const turnsTaken = leased.length;
      for (const name of skim.filter((one) => leased.some(({ entry }) => entry.domain === one))) {
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
