// The domains that a transaction touches: their turns, delays and place in `due`.
// Every change marks the domain; `flush` writes it and adds it to or removes it from `due`, in the order of marking.
import { fingerprintOf } from '../../request/fingerprint.js';
import { SUSPECT_PLACES } from './domain-queue.js';
import type { Pacing } from '../frontier.js';
import type { HotState } from './hot-state.js';
import { MAX_KEY, type Tables } from '../tables/kv.js';
import { type Domain, freshDomain, packDomain, packNumber, unpackDomain, unpackLease } from '../tables/packing.js';
import type { ForgettingIndex, SeenIndex } from './seen-index.js';

export type { Domain };

export interface Domains {
  /** The domain of that name, created if new. */
  named(name: string): Domain;
  byId(id: number): Domain;
  mark(domain: Domain): void;
  turnsOf(domain: Domain): number;
  delayOf(domain: Domain): number;
  /** Returns one turn; whether the domain had none free. Marks it if that must be stored. */
  returnTurn(domain: Domain): boolean;
  /** The domain rests at least this long from now on, or as long as it already had to. */
  rest(domain: Domain, restMs: number): void;
  /** Counts the turns taken from the leases: before an owner reads its first domain. */
  countTurns(): void;
  /** Writes the marked domains. */
  flush(): void;
  /** Drops the cache: the next transaction reads again. */
  forget(): void;
  /** A request of the domain was accepted, or ended: called only in queues that forget. */
  requestAccepted(domain: Domain): void;
  requestEnded(domain: number): void;
}

// Kept between transactions by an owner: enough for the active part of a crawl, a few MB at most.
const MAX_KEPT = 16_384;
/** More than become idle in a typical call, so that idle ones cannot pile up. */
const FORGET_LOOKS = 256;

export function createDomains(options: {
  tables: Tables;
  hot: HotState;
  pacing: Pacing;
  /** Only an owner gives out turns, so it keeps them in memory: ending a visit then rarely changes a row. */
  owned: boolean;
  names: () => SeenIndex;
  /** Set if idle domains without a pending delay are forgotten. */
  forgetfulNames?: ForgettingIndex | undefined;
  nowMs: () => number;
}): Domains {
  const { tables, hot, pacing, owned, names, forgetfulNames, nowMs } = options;
  const byName = new Map<string, Domain>();
  const byId = new Map<number, Domain>();
  let marked: Domain[] = [];
  /** Domain → turns taken, for domains that an owner has not read yet. */
  let unreadTurns = new Map<number, number>();
  /** Domain → unfinished requests; kept only where domains are forgotten. */
  const pending = new Map<number, number>();
  const idle = new Set<Domain>();

  const delayOf = (domain: Domain): number => (domain.delayMs < 0 ? pacing.delayMs : domain.delayMs);
  const turnsOf = (domain: Domain): number => (delayOf(domain) > 0 ? 1 : pacing.turns);

  function keep(domain: Domain): Domain {
    byName.set(domain.name, domain);
    byId.set(domain.id, domain);
    return domain;
  }

  function forget(): void {
    byName.clear();
    byId.clear();
    marked = [];
  }

  function rememberTurns(): void {
    for (const { id, turnsOut } of byId.values()) {
      if (turnsOut > 0) unreadTurns.set(id, turnsOut);
      else unreadTurns.delete(id);
    }
  }

  function mark(domain: Domain): void {
    if (domain.marked) return;
    domain.marked = true;
    marked.push(domain);
  }

  function load(id: number): Domain {
    const known = byId.get(id);
    if (known) return known;
    const row = tables.domains.get(0, id);
    if (!row) throw new Error(`the queue refers to domain ${id}, which it does not contain`);
    const domain = unpackDomain(id, row);
    if (owned) domain.turnsOut = unreadTurns.get(id) ?? 0;
    if (hot.suspects > 0 && domain.ahead > 0) countSuspects(domain);
    return keep(domain);
  }

  function countSuspects(domain: Domain): void {
    tables.places.scan(domain.id, 0, domain.id, (_domain, place) => place < SUSPECT_PLACES && ++domain.suspects > 0);
    domain.isAccused = domain.suspects > 0;
  }

  function create(name: string, hi: number, lo: number): Domain {
    const id = hot.nextDomain++;
    names().add(hi, lo, id);
    const domain = keep(freshDomain(id, hi, lo, name));
    mark(domain);
    return domain;
  }

  function replaceInDue(domain: Domain): void {
    const isReady = domain.queued > 0 && domain.turnsOut < turnsOf(domain);
    const dueMs = isReady ? Math.max(domain.nextAllowedMs, domain.readyMs) : -1;
    const isAccused = domain.suspects > 0;
    if (dueMs === domain.dueMs && !(domain.toBack && isReady) && isAccused === domain.isAccused) return;
    if (domain.dueMs >= 0) tables[domain.isAccused ? 'accused' : 'due'].remove(domain.dueMs, domain.dueTie);
    domain.dueMs = dueMs;
    domain.isAccused = isAccused;
    if (!isReady) return;
    domain.dueTie = hot.nextTie++;
    tables[isAccused ? 'accused' : 'due'].put(dueMs, domain.dueTie, packNumber(domain.id));
  }

  /** Drops idle domains whose rest is over, a few per call: memory stays in proportion to what is pending. */
  function forgetIdle(index: ForgettingIndex): void {
    let looks = FORGET_LOOKS;
    for (const domain of idle) {
      if (looks-- === 0) return;
      idle.delete(domain);
      if (pending.has(domain.id)) continue;
      if (domain.nextAllowedMs > nowMs()) {
        idle.add(domain);
        continue;
      }
      byName.delete(domain.name);
      byId.delete(domain.id);
      tables.domains.remove(0, domain.id);
      index.remove(domain.hi, domain.lo);
    }
  }

  return {
    named(name) {
      const known = byName.get(name);
      if (known) return known;
      const { hi, lo } = fingerprintOf(name);
      const id = names().get(hi, lo);
      return id < 0 ? create(name, hi, lo) : load(id);
    },
    byId: load,
    mark,
    turnsOf,
    delayOf,
    returnTurn(domain) {
      const hadNoneFree = domain.turnsOut >= turnsOf(domain);
      // The rows of a dead owner do not have its turns.
      domain.turnsOut = Math.max(0, domain.turnsOut - 1);
      // Also one that had none free under an earlier pacing.
      const isMissing = domain.queued > 0 && domain.dueMs < 0;
      if (hadNoneFree || isMissing || !owned) mark(domain);
      return hadNoneFree;
    },
    rest(domain, restMs) {
      if (restMs <= 0) return;
      domain.nextAllowedMs = Math.max(domain.nextAllowedMs, nowMs() + restMs);
      mark(domain);
    },
    countTurns() {
      unreadTurns = new Map();
      tables.leases.scan(0, 0, MAX_KEY, (_holder, _lease, row) => {
        const { domain, landed } = unpackLease(row);
        if (!landed) unreadTurns.set(domain, (unreadTurns.get(domain) ?? 0) + 1);
      });
    },
    flush() {
      for (const domain of marked) {
        replaceInDue(domain);
        tables.domains.put(0, domain.id, packDomain(domain, owned ? 0 : domain.turnsOut));
        domain.marked = false;
        domain.toBack = false;
      }
      marked = [];
      if (forgetfulNames) return forgetIdle(forgetfulNames);
      // Only here: within a call a domain must stay the same object.
      if (byId.size > MAX_KEPT) {
        if (owned) rememberTurns();
        forget();
      }
    },
    forget,
    requestAccepted({ id }) {
      if (forgetfulNames) pending.set(id, (pending.get(id) ?? 0) + 1);
    },
    requestEnded(id) {
      const left = (pending.get(id) ?? 0) - 1;
      if (left > 0) return void pending.set(id, left);
      pending.delete(id);
      idle.add(load(id));
    },
  };
}
