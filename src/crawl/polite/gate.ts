// The gate of a polite crawl: may this request be sent, and what must happen first?
// A host's robots.txt comes first; forbidden URLs are skipped without using a turn, many at a time; a host that is
// down, or whose robots.txt cannot be read, is left alone until its retry time.
import { type CrawlError, type ErrorCode, HostRefusedError } from '../../errors.js';
import { type Landing, type Lease, MAX_BULK_SKIP_DOMAINS, type QueueEntry } from '../../frontier/frontier.js';
import { entryOf } from '../../frontier/entry.js';
import type { PaceBy } from '../../request/url.js';
import { delayOf } from '../../politeness/delay.js';
import { standingOf } from '../../politeness/robots/cache.js';
import { unpackRecord } from '../../request/record.js';
import type { RefusalReason } from './link-policy.js';
import { type KnownHost, originOf } from './host-cache.js';
import { createHostAccess, type HostAccess, type HostAccessParts, isPutOff, type Reading } from './host-access.js';
import type { TakenLease } from '../run/lease-feed.js';
import {
  createRobotsRelay,
  createReply,
  type RobotsRelay,
  RELAY_POLL_MS,
  RELAY_PATIENCE_MS,
  robotsRelayOf,
} from './robots-relay.js';
import type { FinishedVisit } from '../run/settler.js';
import { landingOf, type Turn } from '../run/turn.js';

/** A lease that was let through, or one that has ended here. */
export type GateDecision =
  { readonly kind: 'go'; readonly turn: Turn | undefined } | { readonly kind: 'ended'; readonly visit: FinishedVisit };

export interface Gate {
  /** Decides about a leased request; may spend its turn on robots.txt. */
  admit(taken: TakenLease, isGood: () => boolean): Promise<GateDecision>;
  /** Settles requests that shared another's turn: those that must never be sent end here. */
  bulkSkip(bulkSkips: readonly Lease[]): Promise<FinishedVisit[]>;
  /** The domains of which the next lease should bring bulk skips. */
  bulkSkipDomains(): readonly string[] | undefined;
  /** Why a link need not even be queued, if the rules of its host are at hand. */
  refusal(url: string): 'robotsTxt' | undefined;
}

export interface GateParts extends HostAccessParts {
  readonly paceBy: PaceBy;
  /** Which queue a URL is paced in. */
  readonly laneOf: (url: string) => string;
  /** Whether others look after a queue, with a host store of their own: a pod of the crawl that is not ours. */
  readonly isElsewhere?: (lane: string) => boolean;
  /** Why a URL must not be requested, regardless of its host's rules. */
  readonly refuseVisit: (url: string) => RefusalReason | undefined;
  readonly land: (landing: Landing) => void;
  /** Ends a request that must not be sent, and informs user code. */
  readonly refuse: (lease: Lease, error: CrawlError) => Promise<FinishedVisit>;
  readonly onSkipped: (skipped: { url: string; reason: GateSkip }) => void;
  /** What is recorded of a request that is skipped here. */
  readonly fateOfSkip?: ((lease: Lease, reason: GateSkip) => FinishedVisit['page']) | undefined;
  /** Called once per host, when its URLs begin to fail. */
  readonly onTrouble: (origin: string, code: ErrorCode, why: string) => void;
}

/** Why the gate leaves a URL out. */
export type GateSkip = 'robotsTxt' | 'crawlDelay' | RefusalReason;

type Refusal =
  | { readonly kind: 'skip'; readonly reason: GateSkip }
  | { readonly kind: 'fail'; readonly code: ErrorCode; readonly why: string };

type Verdict =
  | Refusal
  | { readonly kind: 'go' }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'read'; readonly url: string };

const GO: Verdict = Object.freeze({ kind: 'go' });
/** With many turns, a lease continues after reading; no chain of redirects needs more readings. */
const MAX_READINGS = 8;
const MAX_TROUBLED = 10_000;

export function createGate(parts: GateParts): Gate {
  const { policyOf, paceOf, visitLog } = parts;
  const hosts: HostAccess = createHostAccess(parts);
  const bulkSkipped = new Set<string>();
  const troubled = new Set<string>();

  const delayAt = (host: KnownHost) => delayOf(host.record, host.crawlDelaySecs, paceOf(host.origin));

  function decide(host: KnownHost, url: string): Verdict {
    const reason = parts.refuseVisit(url);
    if (reason) return { kind: 'skip', reason };
    const policy = policyOf(host.origin);
    const standing = standingOf(host.record, host.origin, policy, parts.time.wallMs());
    switch (standing.kind) {
      case 'down':
        return { kind: 'fail', code: 'HOST_DOWN', why: standing.why };
      case 'unreachable':
        return { kind: 'fail', code: standing.code ?? 'ROBOTS_UNREACHABLE', why: standing.why };
      case 'read':
      case 'wait':
        return standing;
      case 'rules':
        if (policy.agent === undefined) return GO;
        if (!host.isAllowed(url)) return { kind: 'skip', reason: 'robotsTxt' };
        return (host.crawlDelaySecs ?? 0) * 1_000 > paceOf(host.origin).maxDelayMs
          ? { kind: 'skip', reason: 'crawlDelay' }
          : GO;
      default:
        return standing satisfies never;
    }
  }

  async function admit(taken: TakenLease, isGood: () => boolean): Promise<GateDecision> {
    const { lease, life } = taken;
    const { url, skipNavigation, seeded } = unpackRecord(lease.record);
    const relay = robotsRelayOf(lease);
    if (relay) return ended(await runRobotsRelay(taken, url, relay, isGood));
    if (skipNavigation) return { kind: 'go', turn: undefined };
    const go = (host: KnownHost): GateDecision => ({ kind: 'go', turn: hosts.turn(lease, life, host) });
    let host = await hosts.known(originOf(url));
    for (let readings = 0; ; readings++) {
      const verdict = decide(host, url);
      if (verdict.kind === 'skip' || verdict.kind === 'fail') {
        startBulkSkip(lease.domain);
        return ended(await endWithout(lease, url, host.origin, verdict));
      }
      if (verdict.kind === 'wait') return ended(putBack(lease, host, verdict.ms));
      if (verdict.kind === 'go') {
        // Its turn was taken before its domain was known to need pacing: others may hold turns, too.
        const isLate = lease.delayMs === 0 && delayAt(host) > 0;
        return isLate ? ended(putBack(lease, host, 0)) : go(host);
      }
      if (parts.refuseVisit(verdict.url) === 'DOMAIN_EXCLUDED') {
        const message = `it has moved to ${verdict.url}, which is excluded`;
        host = hosts.note(host, { kind: 'failure', code: 'REDIRECT_INVALID', message }).host;
        continue;
      }
      const isPaced = lease.delayMs > 0;
      if (isPaced && parts.laneOf(verdict.url) !== lease.domain)
        return ended(sendRobotsRelay(lease, host, verdict.url));
      const reading = await hosts.read(taken, host, verdict.url, { seeded: seeded === true, isPaced, isGood });
      // The page's own error is clearer than that of its robots.txt.
      if (reading.kind === 'refused') return go(host);
      if (reading.kind === 'lost') return ended(untouched(lease));
      if (reading.kind === 'put-off') return ended(putBack(lease, host, 0));
      host = reading.host;
      if (isPaced || reading.pauseMs > 0 || readings >= MAX_READINGS) {
        return ended(putBack(lease, host, reading.pauseMs));
      }
    }
  }

  /** Back to its place, and its domain rests as if it had been asked: it was, or must not be. */
  function putBack(lease: Lease, host: KnownHost, pauseMs: number): FinishedVisit {
    parts.land({ lease: lease.id, ...landingOf(delayAt(host), pauseMs) });
    return untouched(lease);
  }

  async function endWithout(lease: Lease, url: string, origin: string, refusal: Refusal): Promise<FinishedVisit> {
    if (refusal.kind === 'skip') {
      const { reason } = refusal;
      visitLog?.count(`skipped ${reason}`);
      return {
        settlement: { kind: 'skipped', lease: lease.id, reason },
        items: [],
        page: parts.fateOfSkip?.(lease, reason),
        onSettled: (held) => {
          if (held) parts.onSkipped({ url, reason });
        },
      };
    }
    const { code, why } = refusal;
    visitLog?.count(`failed ${code}`);
    if (!troubled.has(origin)) {
      if (troubled.size >= MAX_TROUBLED) troubled.clear();
      troubled.add(origin);
      parts.onTrouble(origin, code, why);
    }
    // The host was tried often enough: its URLs are not tried again one by one.
    return parts.refuse(lease, new HostRefusedError(why, { code }));
  }

  function startBulkSkip(domain: string): void {
    if (bulkSkipped.has(domain)) return;
    if (bulkSkipped.size >= MAX_BULK_SKIP_DOMAINS) bulkSkipped.delete(bulkSkipped.values().next().value!);
    bulkSkipped.add(domain);
  }

  /** Asks for a robots.txt in the queue of the domain it was moved to, and waits for the answer. */
  function sendRobotsRelay(lease: Lease, host: KnownHost, url: string): FinishedVisit {
    const nowMs = parts.time.wallMs();
    const hop = host.record.hop!;
    const { askedAtMs } = hop;
    if (askedAtMs !== undefined && nowMs - askedAtMs < RELAY_PATIENCE_MS) return putBack(lease, host, RELAY_POLL_MS);
    if (askedAtMs !== undefined) {
      const message = `its new location, ${url}, was not read in time`;
      return putBack(lease, hosts.note(host, { kind: 'failure', code: 'FETCH_TIMEOUT', message }).host, 0);
    }
    hosts.save(host, { ...host.record, hop: { ...hop, askedAtMs: nowMs } });
    const relay = createRobotsRelay(url, host.origin, nowMs);
    parts.land({ lease: lease.id, ...landingOf(delayAt(host), RELAY_POLL_MS) });
    return {
      settlement: { kind: 'untouched', lease: lease.id, links: [entryOf(relay, true, parts.paceBy)] },
      items: [],
    };
  }

  async function runRobotsRelay(
    taken: TakenLease,
    url: string,
    { sender, reply }: RobotsRelay,
    isGood: () => boolean,
  ): Promise<FinishedVisit> {
    const { lease } = taken;
    const done = (links: QueueEntry[] = []): FinishedVisit => ({
      settlement: { kind: 'skipped', lease: lease.id, reason: 'robots.txt', links },
      items: [],
    });
    const rest = async (): Promise<void> => {
      const here = await hosts.known(originOf(url));
      parts.land({ lease: lease.id, ...landingOf(delayAt(here), 0) });
    };
    if (!reply && parts.isElsewhere?.(parts.laneOf(sender))) {
      const answer = await hosts.ask(taken, url, isGood);
      if (!answer) return untouched(lease);
      await rest();
      if (isPutOff(answer)) return untouched(lease);
      const back = createReply(url, sender, answer, policyOf(sender).agent ?? '*', parts.time.wallMs());
      return done([entryOf(back, true, parts.paceBy)]);
    }
    const host = await hosts.fresh(sender);
    // Answered meanwhile, or given up.
    if (host.record.hop?.url !== (reply?.url ?? url)) return done();
    if (reply) {
      hosts.note(host, reply.answer);
      return done();
    }
    const reading: Reading = await hosts.read(taken, host, url, { seeded: false, isPaced: true, isGood });
    if (reading.kind === 'lost') return untouched(lease);
    await rest();
    return reading.kind === 'put-off' ? untouched(lease) : done();
  }

  return {
    admit,
    async bulkSkip(bulkSkips) {
      const visits: FinishedVisit[] = [];
      const endedIn = new Set<string>();
      for (const lease of bulkSkips) {
        const { url, skipNavigation } = unpackRecord(lease.record);
        const isPage = !skipNavigation && robotsRelayOf(lease) === undefined;
        const host = isPage ? await hosts.known(originOf(url)) : undefined;
        const verdict = host ? decide(host, url) : GO;
        if (verdict.kind === 'skip' || verdict.kind === 'fail') {
          endedIn.add(lease.domain);
          visits.push(await endWithout(lease, url, host!.origin, verdict));
        } else visits.push(untouched(lease));
      }
      // Nothing to skip among them: the next turn need not bring any.
      for (const { domain } of bulkSkips) if (!endedIn.has(domain)) bulkSkipped.delete(domain);
      return visits;
    },
    bulkSkipDomains: () => (bulkSkipped.size === 0 ? undefined : [...bulkSkipped]),
    refusal(url) {
      const origin = originOf(url);
      const policy = policyOf(origin);
      if (policy.agent === undefined) return undefined;
      const host = hosts.atHand(origin);
      if (!host || host.isAllowed(url)) return undefined;
      if (standingOf(host.record, host.origin, policy, parts.time.wallMs()).kind !== 'rules') return undefined;
      visitLog?.count('link left out robotsTxt');
      return 'robotsTxt';
    },
  };
}

function ended(visit: FinishedVisit): GateDecision {
  return { kind: 'ended', visit };
}

function untouched(lease: Lease): FinishedVisit {
  return { settlement: { kind: 'untouched', lease: lease.id }, items: [] };
}
