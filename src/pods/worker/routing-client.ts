// The client of a worker in its own pod, with links that belong to other pods sent there first.
// Guarantee 2: a visit is acknowledged only after every store that owns one of its links confirmed it; links for a pod
// that is away go into the own pod's outbox in the same step as the acknowledgement.
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { CrawlError } from '../../errors.js';
import type { Presence, QueueEntry, SettleAnswer, Settlement } from '../../frontier/frontier.js';
import type { FrontierClient } from '../../frontier/client.js';
import type { Log } from '../../observe/log.js';
import { unpackRecord } from '../../request/record.js';
import { podOfDomain, podOfUrl } from '../topology.js';

type SettleParts = Parameters<FrontierClient['settle']>[0];

export interface RoutingFigures {
  leases: number;
  /** Links added to the own pod's store, and to others'. */
  ownLinks: number;
  sentLinks: number;
  sends: number;
  sendMs: number;
  outboxLinks: number;
  /** URLs that were about to be added to a pod that does not own them. */
  misplaced: number;
  /** Links for pods that are lost, dropped because the outbox was full. */
  droppedForLost: number;
}

export interface RoutingClientOptions {
  readonly own: FrontierClient;
  readonly pod: number;
  readonly pods: number;
  /** Takes links to another pod; rejects while it is away. */
  readonly send: (pod: number, entries: readonly QueueEntry[]) => Promise<void>;
  /** Pods that take no more links in this run: a full outbox does not wait for them. */
  readonly isLost?: (pod: number) => boolean;
  readonly log: Log;
  /** Check every URL against its pod, and say which does not belong there. */
  readonly checkAssignment: boolean;
  readonly onSent?: (pod: number, tookMs: number) => void;
  /** Ends the waiting for a store that is full. */
  readonly signal: AbortSignal;
  readonly fullPauseMs?: number;
}

export interface RoutingClient extends FrontierClient {
  readonly figures: Readonly<RoutingFigures>;
}

const FULL_PAUSE_MS = 1_000;

export function createRoutingClient(options: RoutingClientOptions): RoutingClient {
  const { own, pod, pods, log, signal, fullPauseMs = FULL_PAUSE_MS } = options;
  const figures: RoutingFigures = {
    leases: 0,
    ownLinks: 0,
    sentLinks: 0,
    sends: 0,
    sendMs: 0,
    outboxLinks: 0,
    misplaced: 0,
    droppedForLost: 0,
  };

  function check(target: number, entries: readonly QueueEntry[]): void {
    if (!options.checkAssignment) return;
    for (const { record } of entries) {
      const { url } = unpackRecord(record);
      const owner = podOfUrl(url, pods);
      if (owner === target) continue;
      figures.misplaced++;
      log.error(`pod assignment: ${url} belongs to pod ${owner}, not to ${target}`);
    }
  }

  /** Sends what belongs elsewhere; what could not be sent comes back as notes for the outbox. */
  async function sendAll(foreign: ReadonlyMap<number, QueueEntry[]>): Promise<Record<string, string>> {
    const notes: Record<string, string> = {};
    const startedMs = performance.now();
    await Promise.all(
      [...foreign].map(async ([target, entries]) => {
        check(target, entries);
        try {
          await options.send(target, entries);
          figures.sentLinks += entries.length;
          figures.sends++;
          const tookMs = performance.now() - startedMs;
          figures.sendMs += tookMs;
          options.onSent?.(target, tookMs);
        } catch {
          notes[outboxName(target, entries.length)] = packOutbox(entries);
        }
      }),
    );
    return notes;
  }

  /** To the pods that own them. What another pod made of its own is not known here: it counts as new. */
  async function add(entries: readonly QueueEntry[]): Promise<readonly Presence[]> {
    const foreign = new Map<number, QueueEntry[]>();
    const here: QueueEntry[] = [];
    for (const entry of entries) {
      const target = podOfDomain(entry.domain, pods);
      if (target === pod) here.push(entry);
      else foreign.set(target, [...(foreign.get(target) ?? []), entry]);
    }
    for (const [target, some] of foreign) await options.send(target, some);
    const presences = (here.length > 0 ? await own.add(here) : [])[Symbol.iterator]();
    return entries.map(({ domain }) =>
      podOfDomain(domain, pods) === pod ? (presences.next().value as Presence) : 'new',
    );
  }

  async function settle(call: SettleParts, life = own.id): Promise<SettleAnswer> {
    if (life !== own.id) return own.settle(call, life);
    const foreign = new Map<number, QueueEntry[]>();
    const settlements = call.settlements.map((settlement) => splitLinks(settlement, foreign));
    for (const { links } of settlements) if (links) check(pod, links);
    const answer = await patiently(foreign.size === 0 ? () => own.settle({ ...call, settlements }, life) : sendFirst);
    for (const { links } of settlements) figures.ownLinks += links?.length ?? 0;
    return answer;

    async function sendFirst(): Promise<SettleAnswer> {
      const notes = await sendAll(foreign);
      const settleWith = (kept: Record<string, string>): Promise<SettleAnswer> =>
        own.settle({ ...call, settlements, notes: { ...call.notes, ...kept } }, life);
      try {
        const answer = await settleWith(notes);
        figures.outboxLinks += linksIn(notes);
        return answer;
      } catch (error) {
        // What waits for a lost pod is kept as long as there is room, in case its store is restored.
        const kept = Object.fromEntries(
          Object.entries(notes).filter(([name]) => options.isLost?.(podOfName(name)) !== true),
        );
        const dropped = linksIn(notes) - linksIn(kept);
        if (!isOutboxFull(error) || dropped === 0) throw error;
        const answer = await settleWith(kept);
        figures.outboxLinks += linksIn(kept);
        if (figures.droppedForLost === 0) log.error('The outbox is full: links for lost pods are dropped from now on');
        figures.droppedForLost += dropped;
        return answer;
      }
    }
  }

  /** Keeps what belongs here; the rest is gathered by pod. */
  function splitLinks(settlement: Settlement, foreign: Map<number, QueueEntry[]>): Settlement {
    if (pods === 1 || !settlement.links?.length) return settlement;
    const links: QueueEntry[] = [];
    for (const entry of settlement.links) {
      const target = podOfDomain(entry.domain, pods);
      if (target === pod) links.push(entry);
      else {
        const group = foreign.get(target);
        if (group) group.push(entry);
        else foreign.set(target, [entry]);
      }
    }
    return links.length === settlement.links.length ? settlement : { ...settlement, links };
  }

  /** A full store or outbox pauses the pod: the call waits until there is room, and its leases are kept meanwhile. */
  async function patiently(make: () => Promise<SettleAnswer>): Promise<SettleAnswer> {
    for (let tries = 0; ; tries++) {
      try {
        return await make();
      } catch (error) {
        if (!(error instanceof CrawlError) || error.code !== 'QUEUE_FULL' || signal.aborted) throw error;
        if (tries === 0) log.warning(`Paused: ${error.message}`);
        await delay(fullPauseMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  return {
    get id() {
      return own.id;
    },
    figures,
    add,
    async lease(call) {
      const answer = await own.lease(call);
      figures.leases += answer.leases.length;
      return answer;
    },
    settle,
    renew: () => own.renew(),
    isGood: (life) => own.isGood(life),
  };
}

function isOutboxFull(error: unknown): boolean {
  return error instanceof CrawlError && error.code === 'QUEUE_FULL' && /\bOUTBOX\b/.test(String(error.cause));
}

function linksIn(notes: Readonly<Record<string, string>>): number {
  return Object.keys(notes).reduce((sum, name) => sum + linksOfName(name), 0);
}

/** `outbox/POD/LINKS/…`: lua/settle.lua counts by it. */
function outboxName(pod: number, links: number): string {
  return `outbox/${pod}/${links}/${randomBytes(9).toString('base64url')}`;
}

export function podOfName(name: string): number {
  return Number(name.split('/')[1]);
}

export function linksOfName(name: string): number {
  return Number(name.split('/')[2]);
}

type PackedEntry = [hi: number, lo: number, domain: string, record: string, priority: number, forefront: 0 | 1];

export function packOutbox(entries: readonly QueueEntry[]): string {
  return JSON.stringify(
    entries.map(({ fingerprint: { hi, lo }, domain, record, priority, forefront }): PackedEntry => {
      return [hi, lo, domain, record, priority ?? 0, forefront ? 1 : 0];
    }),
  );
}

export function unpackOutbox(text: string): QueueEntry[] {
  return (JSON.parse(text) as PackedEntry[]).map(([hi, lo, domain, record, priority, forefront]) => ({
    fingerprint: { hi, lo },
    domain,
    record,
    priority: priority as QueueEntry['priority'],
    forefront: forefront === 1,
  }));
}
