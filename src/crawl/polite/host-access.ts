// A polite crawl's access to a host: reads its robots.txt, and records every request sent to it.
// Each ends with a line in the visit log and a rest for its domain; one robots.txt request serves all waiters.
import type { ErrorCode } from '../../errors.js';
import type { HolderId, Lease } from '../../frontier/frontier.js';
import { delayOf, type PaceRules } from '../../politeness/delay.js';
import type { HostRecord, HostStore } from '../../politeness/hosts.js';
import { afterReading, type RobotsAnswer, type RobotsPolicy, standingOf } from '../../politeness/robots/cache.js';
import type { VisitKind, VisitLog } from '../../politeness/visit-log.js';
import { createHostCache, type KnownHost, originOf } from './host-cache.js';
import type { TakenLease } from '../run/lease-feed.js';
import type { ReadRobots } from './robots-reader.js';
import type { Time } from '../time.js';
import { HostTurn, leaseCheck, type Turn, type TurnHosts } from '../run/turn.js';

export interface HostAccessParts {
  readonly store: HostStore;
  /** Other processes work on the same hosts. */
  readonly shared: boolean;
  /** The rules of an origin: overrides for single domains are in them. */
  readonly policyOf: (origin: string) => RobotsPolicy;
  readonly paceOf: (origin: string) => PaceRules;
  readonly readRobots: ReadRobots;
  /** No reading takes longer. */
  readonly readTimeoutMs: number;
  /** The user seeded this URL: its host may be a private address. False when that changes nothing. */
  readonly allowHost: (url: string) => Promise<boolean>;
  readonly visitLog: VisitLog | undefined;
  readonly signal: AbortSignal;
  readonly time: Time;
}

/** The result of a reading: nothing was sent (`refused`), unknown (`lost`), or the host as it is now. */
export type Reading =
  | { readonly kind: 'refused' }
  | { readonly kind: 'lost' }
  /** Aborted in favour of others: nothing was learned, and it will be requested again. */
  | { readonly kind: 'put-off' }
  | { readonly kind: 'read'; readonly host: KnownHost; readonly pauseMs: number };

export interface ReadOptions {
  readonly seeded: boolean;
  /** The domain has one turn, so there is no other reader now. */
  readonly isPaced: boolean;
  readonly isGood: () => boolean;
}

export interface HostAccess {
  known(origin: string): Promise<KnownHost> | KnownHost;
  atHand(origin: string): KnownHost | undefined;
  save(host: KnownHost, record: HostRecord): KnownHost;
  /** The store's current value: another process may have written it just before. */
  fresh(origin: string): Promise<KnownHost>;
  read(taken: TakenLease, host: KnownHost, url: string, options: ReadOptions): Promise<Reading>;
  /** Requests a robots.txt for a host of another owner; undefined if unknown. */
  ask(taken: TakenLease, url: string, isGood: () => boolean): Promise<RobotsAnswer | undefined>;
  /** Takes note of what came of a reading. */
  note(host: KnownHost, answer: RobotsAnswer, isSeed?: boolean): { readonly host: KnownHost; readonly pauseMs: number };
  turn(lease: Lease, life: HolderId, host: KnownHost): Turn;
}

/** How often to look whether another process has read a robots.txt. */
const POLL_MS = 100;
/** Endings of requests that never left the machine. */
export const STAYED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'ADDRESS_REFUSED',
  'ADDRESS_BUSY',
  'DNS_NOT_FOUND',
  'LEASE_LOST',
  'REQUEST_INVALID',
]);

export function createHostAccess(parts: HostAccessParts): HostAccess {
  const { policyOf, paceOf, visitLog, store, signal, time } = parts;
  const book = createHostCache({ store, policyOf, shared: parts.shared, now: time.monotonicMs });
  const flights = new Map<string, Promise<Reading>>();
  const nowMs = visitLog?.now ?? time.monotonicMs;

  const known = (origin: string) => book.look(origin) ?? book.read(origin);

  function writeLine(
    { lease, life }: TakenLease,
    kind: VisitKind,
    startMs: number,
    status: number | string,
    restMs: number,
  ): void {
    const { domain, delayMs } = lease;
    visitLog?.write({ startMs, endMs: nowMs(), domain, kind, status, restMs, alone: delayMs > 0, holder: life });
  }

  const turnHosts: TurnHosts<KnownHost, TakenLease> = {
    current: (host) => book.look(host.origin) ?? host,
    save: (host, record) => void book.save(host.origin, record),
    nowMs,
    wallMs: time.wallMs,
    note(left, startMs, ending, restMs) {
      const status = 'failure' in ending ? ending.failure : ending.statusCode;
      if (!STAYED.has(status as ErrorCode)) writeLine(left, 'page', startMs, status, restMs);
    },
  };

  function note(host: KnownHost, answer: RobotsAnswer, isSeed = false): { host: KnownHost; pauseMs: number } {
    const { record, pauseMs } = afterReading(host.record, answer, policyOf(host.origin), time.wallMs(), isSeed);
    return { host: book.save(host.origin, record), pauseMs };
  }

  async function readNow(taken: TakenLease, host: KnownHost, url: string, options: ReadOptions): Promise<Reading> {
    if (!options.isGood()) return { kind: 'lost' };
    const checkLease = leaseCheck(options.isGood);
    let startMs = nowMs();
    // Seeding an address allows that host, and not where its robots.txt leads.
    const isOwn = originOf(url) === host.origin;
    const isSeeded = options.seeded && isOwn;
    let reading = await parts.readRobots(url, signal, checkLease, taken.lease.delayMs, isSeeded);
    if (isRefused(reading.status) && isSeeded && (await parts.allowHost(url))) {
      startMs = nowMs();
      reading = await parts.readRobots(url, signal, checkLease, taken.lease.delayMs);
    }
    const { answer, status } = reading;
    if (signal.aborted || status === 'LEASE_LOST') return { kind: 'lost' };
    if (isRefused(status) && isOwn) return { kind: 'refused' };
    visitLog?.count(`robots.txt ${status}`);
    if (isPutOff(answer)) {
      const { record, crawlDelaySecs } = host;
      writeLine(taken, 'robots', startMs, status, delayOf(record, crawlDelaySecs, paceOf(host.origin)));
      // Unchanged, but others need not wait for this reading any more.
      book.save(host.origin, record);
      return { kind: 'put-off' };
    }
    const noted = note(host, answer, options.seeded);
    const delayMs = delayOf(noted.host.record, noted.host.crawlDelaySecs, paceOf(host.origin));
    if (!STAYED.has(status as ErrorCode)) {
      writeLine(taken, 'robots', startMs, status, Math.max(delayMs, noted.pauseMs));
    }
    return { kind: 'read', ...noted };
  }

  /** Without turns that keep them apart, one of all processes reads and the others wait for it. */
  async function readOrWait(taken: TakenLease, host: KnownHost, url: string, options: ReadOptions): Promise<Reading> {
    const { origin } = host;
    const endsMs = time.monotonicMs() + parts.readTimeoutMs;
    while (parts.shared) {
      const isClaimed = await store.claim(origin, parts.readTimeoutMs);
      // Also after a claim: another process may have read since `host` was looked up, which ended its own claim.
      const now = await book.read(origin);
      const isSettled = standingOf(now.record, origin, policyOf(origin), time.wallMs()).kind !== 'read';
      if (isSettled && isClaimed) book.save(origin, now.record);
      if (isSettled) return { kind: 'read', host: now, pauseMs: 0 };
      if (isClaimed) break;
      if (signal.aborted) return { kind: 'lost' };
      if (time.monotonicMs() > endsMs) break;
      await time.wait(POLL_MS);
    }
    return readNow(taken, host, url, options);
  }

  return {
    known,
    atHand: (origin) => book.look(origin),
    fresh: (origin) => book.read(origin),
    async ask(taken, url, isGood) {
      if (!isGood()) return undefined;
      const startMs = nowMs();
      const { answer, status } = await parts.readRobots(url, signal, leaseCheck(isGood));
      if (signal.aborted || status === 'LEASE_LOST') return undefined;
      visitLog?.count(`robots.txt ${status}`);
      const { record, crawlDelaySecs, origin } = await known(originOf(url));
      if (!STAYED.has(status as ErrorCode)) {
        writeLine(taken, 'robots', startMs, status, delayOf(record, crawlDelaySecs, paceOf(origin)));
      }
      return answer;
    },
    save: (host, record) => book.save(host.origin, record),
    note,
    async read(taken, host, url, options) {
      if (options.isPaced) return readNow(taken, host, url, options);
      const { origin } = host;
      let flight = flights.get(origin);
      if (!flight) {
        flight = readOrWait(taken, host, url, options).finally(() => flights.delete(origin));
        flights.set(origin, flight);
      }
      return flight;
    },
    turn: (lease, life, host) => new HostTurn(turnHosts, host, paceOf(host.origin), { lease, life }),
  };
}

/** Whether a robots.txt was not read because its slot was needed for others. */
export function isPutOff(answer: RobotsAnswer): boolean {
  return answer.kind === 'failure' && answer.code === 'FETCH_SLOW';
}

function isRefused(status: number | string): boolean {
  return status === 'ADDRESS_REFUSED';
}
