// The domains a transaction touches: their turns, delays and place in `due`.
// Whoever changes one marks it; `flush` writes it and puts it in or takes it out of `due`, in the order of marking.
import { fingerprintOf } from '../request/fingerprint.js';
import type { Pacing } from './frontier.js';
import type { HotState } from './hot-state.js';
import type { Tables } from './kv.js';
import { type Domain, freshDomain, packDomain, packNumber, unpackDomain } from './packing.js';
import type { ForgettingIndex, SeenIndex } from './seen-index.js';

export type { Domain };

export interface Domains {
  /** The domain of that name, made when it is new. */
  named(name: string): Domain;
  byId(id: number): Domain;
  mark(domain: Domain): void;
  turnsOf(domain: Domain): number;
  delayOf(domain: Domain): number;
  /** Writes what was marked. */
  flush(): void;
  /** Forgets what it read: the next transaction reads anew. */
  forget(): void;
  /** A request of the domain was accepted, or ended: told only where what ended is forgotten. */
  requestAccepted(domain: Domain): void;
  requestEnded(domain: number): void;
}

// Kept between transactions by an owner: enough for what a crawl works on at a time, some MB at most.
const MAX_KEPT = 16_384;
/** More than become idle in a typical call, so that the idle ones cannot pile up. */
const FORGET_LOOKS = 256;

export function createDomains(options: {
  tables: Tables;
  hot: HotState;
  pacing: Pacing;
  names: () => SeenIndex;
  /** Given when domains with nothing to do and no rest to keep are forgotten. */
  forgetfulNames?: ForgettingIndex | undefined;
  nowMs?: () => number;
}): Domains {
  const { tables, hot, pacing, names, forgetfulNames, nowMs = () => 0 } = options;
  const byName = new Map<string, Domain>();
  const byId = new Map<number, Domain>();
  let marked: Domain[] = [];
  /** Domain → requests accepted and not ended; kept only where domains are forgotten. */
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
    return keep(unpackDomain(id, row));
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
    if (dueMs === domain.dueMs && !(domain.toBack && isReady)) return;
    if (domain.dueMs >= 0) tables.due.remove(domain.dueMs, domain.dueTie);
    domain.dueMs = dueMs;
    if (!isReady) return;
    domain.dueTie = hot.nextTie++;
    tables.due.put(dueMs, domain.dueTie, packNumber(domain.id));
  }

  /** Drops idle domains whose rest is over, a few a call: what is kept stays in proportion to what is pending. */
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
    flush() {
      for (const domain of marked) {
        replaceInDue(domain);
        tables.domains.put(0, domain.id, packDomain(domain));
        domain.marked = false;
        domain.toBack = false;
      }
      marked = [];
      if (forgetfulNames) return forgetIdle(forgetfulNames);
      // Only here: inside a call the same domain must stay the same object.
      if (byId.size > MAX_KEPT) forget();
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
