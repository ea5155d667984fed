// Who holds leases, when each was last heard of, and what happens to its work when it is lost:
// everything at once to the front of the queue, suspected of having ended it (suspects.ts).
import { fingerprintOf } from '../../request/fingerprint.js';
import type { HolderId } from '../frontier.js';
import type { Machine } from './machine.js';
import { type LeaseRow, packJson, unpackJson, unpackLease } from '../tables/packing.js';
import { queueBack } from './requests.js';
import { accuse } from './suspects.js';

interface Holder {
  readonly number: number;
  readonly id: HolderId;
  readonly opener: number;
  seenMs: number;
}

export interface Holders {
  /** Renews the holder if it holds anything. False when it was lost and must begin a new life. */
  renew(id: HolderId): boolean;
  /** Its number if it ever leased. */
  numberOf(id: HolderId): number | undefined;
  /** Its number, given when it leases for the first time. */
  enrol(id: HolderId): number;
  /** Loses every holder that fell silent. */
  expire(): void;
  /** Loses one holder; how many leases that were. Its id is refused from now on. */
  lose(id: HolderId): number;
  loseAllOf(opener: number): void;
  /** Gives everything an opener's holders have back untouched. */
  giveBackAllOf(opener: number): void;
  /** Drops the memory of holders lost so long ago that they cannot call any more. */
  forgetLongLost(): void;
  /** Drops what was read: another process, or a failed transaction, may have changed it. */
  distrust(): void;
}

/** A lost process that still lives finds out within its next call; a day is far beyond any call. */
const LOST_KEPT_MS = 86_400_000;
const MAX_NUMBER = 2 ** 32 - 1;

export function createHolders(machine: Machine, options: { opener: () => number; unexpiring?: HolderId }): Holders {
  const { tables, hot } = machine;
  let kept: Map<HolderId, Holder> | undefined;

  function known(): Map<HolderId, Holder> {
    if (kept) return kept;
    kept = new Map();
    tables.holders.scan(0, 0, 0, (_major, number, row) => {
      const { id, opener, seenMs } = unpackJson<Omit<Holder, 'number'>>(row);
      kept!.set(id, { number, id, opener, seenMs });
    });
    return kept;
  }

  function save({ number, ...row }: Holder): void {
    tables.holders.put(0, number, packJson(row));
  }

  function remove(holder: Holder): void {
    known().delete(holder.id);
    tables.holders.remove(0, holder.number);
  }

  function leasesOf(holder: Holder): { lease: number; row: LeaseRow }[] {
    const found: { lease: number; row: LeaseRow }[] = [];
    tables.leases.scan(holder.number, 0, holder.number, (_number, lease, row) => {
      found.push({ lease, row: unpackLease(row) });
    });
    // The last in the queue first: each goes in front of the one before, so their order stays.
    return found.sort((a, b) => b.row.place - a.row.place);
  }

  function loseHolder(holder: Holder): number {
    const leases = leasesOf(holder);
    const together = leases.filter(({ row }) => !row.bulkSkip).length;
    for (const { lease, row } of leases) {
      tables.leases.remove(holder.number, lease);
      // A bulk skip was never asked for.
      if (row.bulkSkip) giveBack(machine, row);
      else loseLease(machine, row, together);
    }
    remove(holder);
    // One holder after the other, so that the order of domains due at the same moment does not depend on chance.
    machine.domains.flush();
    return leases.length;
  }

  function remember(id: HolderId): void {
    const { hi, lo } = fingerprintOf(id);
    tables.lost.put(hi, lo, packJson(machine.nowMs));
  }

  return {
    renew(id) {
      const holder = known().get(id);
      if (!holder) {
        const { hi, lo } = fingerprintOf(id);
        return tables.lost.get(hi, lo) === undefined;
      }
      holder.seenMs = machine.nowMs;
      // An owner's holders end with the owner: nobody reads when they were last seen.
      if (!machine.options.owned) save(holder);
      return true;
    },
    numberOf: (id) => known().get(id)?.number,
    enrol(id) {
      const holder = known().get(id);
      if (holder) return holder.number;
      const enrolled = { number: hot.nextHolder++, id, opener: options.opener(), seenMs: machine.nowMs };
      known().set(id, enrolled);
      save(enrolled);
      return enrolled.number;
    },
    expire() {
      for (const holder of [...known().values()]) {
        if (holder.id === options.unexpiring || machine.nowMs - holder.seenMs <= machine.options.leaseMs) continue;
        if (loseHolder(holder) > 0) remember(holder.id);
      }
    },
    lose(id) {
      const holder = known().get(id);
      remember(id);
      return holder ? loseHolder(holder) : 0;
    },
    loseAllOf(opener) {
      for (const holder of [...known().values()]) {
        if (holder.opener !== opener) continue;
        remember(holder.id);
        loseHolder(holder);
      }
    },
    giveBackAllOf(opener) {
      for (const holder of [...known().values()]) {
        if (holder.opener !== opener) continue;
        for (const { lease, row } of leasesOf(holder)) {
          tables.leases.remove(holder.number, lease);
          giveBack(machine, row);
        }
        remove(holder);
      }
    },
    forgetLongLost() {
      const old: { hi: number; lo: number }[] = [];
      tables.lost.scan(0, 0, MAX_NUMBER, (hi, lo, row) => {
        if (machine.nowMs - unpackJson<number>(row) > LOST_KEPT_MS) old.push({ hi, lo });
      });
      for (const { hi, lo } of old) tables.lost.remove(hi, lo);
    },
    distrust() {
      kept = undefined;
    },
  };
}

/** A lease that was never used goes back as if it had not been given. Its row is already gone. */
export function giveBack(machine: Machine, lease: LeaseRow): void {
  const domain = machine.domains.byId(lease.domain);
  machine.hot.leased--;
  if (!lease.landed) machine.domains.returnTurn(domain);
  queueBack(machine, domain, lease.request, lease.place);
}

function loseLease(machine: Machine, lease: LeaseRow, together: number): void {
  const { domains, hot, nowMs } = machine;
  const domain = domains.byId(lease.domain);
  if (!lease.landed) {
    // Nobody knows whether the server was asked: the delay runs from now.
    if (domains.returnTurn(domain)) domain.readyMs = nowMs;
    domains.rest(domain, domains.delayOf(domain));
  }
  hot.leased--;
  accuse(machine, lease.request, together);
}
