// A worker's client of its pod's queue, in a watch: the queue holds visits that are due, and links that nobody knows yet.
// Promise: a link becomes a remembered page in the step that takes it from the queue, and is visited within the budget
// like any other; a visit that failed or was skipped is planned anew in the step that ends it; none is made twice.
import { FAILED_SECS } from '../../crawl/watch/watch.js';
import type { LmdbMemory } from '../../fresh/memory/memory-lmdb.js';
import type { KnownPage, PageVisit } from '../../fresh/memory/memory.js';
import { foundPage } from '../../fresh/memory/new-page.js';
import { pageKeyOf } from '../../fresh/remembering.js';
import type { Lease, SettleAnswer, Settlement } from '../../frontier/frontier.js';
import type { Fingerprint } from '../../request/fingerprint.js';
import { packRecord, unpackRecord } from '../../request/record.js';
import type { RoutingClient } from '../worker/routing-client.js';

export interface WatchClientParts {
  readonly own: RoutingClient;
  readonly memory: Pick<LmdbMemory, 'find' | 'stage' | 'settle' | 'plan'>;
  readonly nowSecs: () => number;
}

export interface WatchClient extends RoutingClient {
  /** Plans pages whose visit ended and left nothing to remember. */
  planForgotten(): Promise<void>;
}

/** A visit in this worker's hands. */
interface Held {
  readonly key: Fingerprint;
  readonly dueAt: number;
  readonly name: string;
}

/** Batches of links are acknowledged beside those of visits: the memory counts them apart. */
const LANE = '~watch';
/** How often one call may take links out of the queue before visits are due. */
const ROUNDS = 20;
/** By then the memory has what a visit left. */
const SETTLED_SECS = 5;
const DUE = /^due (\d{1,10}) /;

export function createWatchClient({ own, memory, nowSecs }: WatchClientParts): WatchClient {
  const held = new Map<number, Held>();
  let ended: (Held & { readonly atSecs: number })[] = [];
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work, work);
    turn = mine.catch(() => undefined);
    return mine;
  };

  /** Ends leases, and makes true what is remembered with that. */
  function settleWith(
    visits: readonly PageVisit[],
    call: Parameters<RoutingClient['settle']>[0],
    life: string,
  ): Promise<SettleAnswer> {
    return inTurn(async () => {
      const noted = await memory.stage(visits, LANE);
      const notes = { ...call.notes, [noted.key]: noted.note };
      const answer = await own.settle({ ...call, notes }, life);
      memory.settle(visits, answer.held);
      return answer;
    });
  }

  /** The visits among them; links are remembered and leave the queue, and so do visits that were made or moved. */
  async function visitsAmong(leases: readonly Lease[], life: string): Promise<Lease[]> {
    const visits: Lease[] = [];
    const others: Settlement[] = [];
    const found: PageVisit[] = [];
    for (const lease of leases) {
      const request = unpackRecord(lease.record);
      const { url, uniqueKey: name = '', crawlDepth = 0 } = request;
      // What is not a page's GET is no link: a handler wants it asked for.
      if (request.payload !== undefined || (request.method ?? 'GET') !== 'GET' || request.skipNavigation) {
        visits.push(lease);
        continue;
      }
      const key = pageKeyOf({ target: url, keepUrlFragment: false });
      const known = memory.find(key);
      const dueAt = Number(DUE.exec(name)?.[1] ?? 0);
      if (dueAt > 0 && known?.page.nextVisitAt === dueAt) {
        held.set(lease.id, { key, dueAt, name });
        // Stored and remembered under its URL, not under the name of one visit.
        visits.push({
          ...lease,
          record: packRecord({ ...request, uniqueKey: undefined } as typeof request, undefined),
        });
        continue;
      }
      others.push({ kind: 'skipped', lease: lease.id, reason: 'watched' });
      if (known || dueAt > 0) continue;
      const names = { url: url.replace(/#.*/s, '') };
      found.push({ key, request: lease.fingerprint, page: foundPage(nowSecs(), crawlDepth), names });
    }
    if (others.length > 0) await settleWith(found, { settlements: others }, life);
    return visits;
  }

  return {
    get id() {
      return own.id;
    },
    figures: own.figures,
    add: (entries) => own.add(entries),
    renew: () => own.renew(),
    isGood: (life) => own.isGood(life),
    async lease(call) {
      for (let round = 1; ; round++) {
        const answer = await own.lease(call);
        if (answer.leases.length === 0) return answer;
        const leases = await visitsAmong(answer.leases, own.id);
        if (leases.length > 0 || round === ROUNDS) return { ...answer, leases };
      }
    },
    async settle(call, life = own.id) {
      const later: PageVisit[] = [];
      const over: Held[] = [];
      const settlements = call.settlements.map((settlement): Settlement => {
        const visit = held.get(settlement.lease);
        if (!visit) return settlement;
        held.delete(settlement.lease);
        if (settlement.kind === 'done') over.push(visit);
        if (settlement.kind === 'failed' || settlement.kind === 'skipped') {
          const known = memory.find(visit.key);
          if (known) later.push({ key: visit.key, request: visit.key, ...plannedAt(known, nowSecs() + FAILED_SECS) });
        }
        const { record } = settlement;
        return record === undefined
          ? settlement
          : { ...settlement, record: packRecord(unpackRecord(record), visit.name) };
      });
      const whole = { ...call, settlements };
      const answer = await (later.length > 0 ? settleWith(later, whole, life) : own.settle(whole, life));
      const atSecs = nowSecs();
      if (answer.held) ended.push(...over.map((visit) => ({ ...visit, atSecs })));
      return answer;
    },
    async planForgotten() {
      const nowAt = nowSecs();
      const old = ended.filter(({ atSecs }) => atSecs <= nowAt - SETTLED_SECS);
      ended = ended.filter(({ atSecs }) => atSecs > nowAt - SETTLED_SECS);
      for (const { key, dueAt } of old) {
        if (memory.find(key)?.page.nextVisitAt === dueAt) await memory.plan(key, nowAt + FAILED_SECS);
      }
    },
  };
}

function plannedAt({ page, names }: KnownPage, nextVisitAt: number): KnownPage {
  return { page: { ...page, nextVisitAt }, names };
}
