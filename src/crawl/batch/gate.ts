// The gate of a batch: URLs whose config respects robots.txt pass the gate of polite crawls, all others pass by.
// Promise: what a robots.txt forbids is never requested and ends as ROBOTS_DENIED; rules are fetched as the URL itself
// would be, under its user agent and through its proxy.
import { createRecentMap } from '../../base/recent-map.js';
import type { RateLimiter } from '../../dispatch/rate-limiter.js';
import { CrawlError } from '../../errors.js';
import type { Engine } from '../../fetch/engine.js';
import type { Lease } from '../../frontier/frontier.js';
import type { Log } from '../../observe/log.js';
import type { HostStore } from '../../politeness/hosts.js';
import { domainOf } from '../../request/url.js';
import { refuse } from '../run/attempt.js';
import type { VisitServices } from '../run/services.js';
import { createLimitedTurn, type Turn } from '../run/turn.js';
import { type BatchContext, MAX_DELAY_MS } from './services.js';
import type { BatchTask } from './tasks.js';
import type { Gate } from '../polite/gate.js';
import { defaultUserAgent } from '../user-agent.js';
import type { ResolvedRunConfig } from './run-config.js';

export interface BatchGateParts {
  readonly engine: Engine;
  readonly allowHost: (url: string) => Promise<boolean>;
  readonly limiter: RateLimiter | undefined;
  readonly log: Log;
  /** What is known of hosts under one identity; shared by the batches of a crawler, so that rules are read once. */
  readonly hostsOf: (identity: string) => Promise<HostStore>;
  /** Other processes read and write them, too. */
  readonly shared?: boolean;
  /** The URL a lease is for; undefined when it is a relay of a gate. */
  readonly taskOf: (lease: Lease) => BatchTask | undefined;
  readonly onDenied: (task: BatchTask, error: CrawlError) => void;
}

/** Beyond this many user agents, rules are compiled again. */
const MAX_GATES = 64;
const READ_TIMEOUT_MS = 30_000;
const RULES_TTL_MS = 86_400_000;
/** A robots.txt that fails is read again after 1 and 5 s: a batch ends sooner than a crawl. */
const RETRY_MS = 200;
const FIRST_BACKOFF_MS = 1_000;
export function createBatchGate(parts: BatchGateParts, services: VisitServices<BatchContext>): Gate {
  const { limiter } = parts;
  const gates = createRecentMap<string, Promise<Gate>>(MAX_GATES);
  /** Who waits for a robots.txt that was moved to another domain. */
  const relays = new Map<string, Gate>();

  function gateFor(config: ResolvedRunConfig): Promise<Gate> {
    const identity = JSON.stringify([agentOf(config), config.proxy ?? null, config.ignoreSslErrors ?? false]);
    let gate = gates.get(identity);
    if (!gate) gates.set(identity, (gate = openGate(config, identity)));
    return gate;
  }

  async function openGate(config: ResolvedRunConfig, identity: string): Promise<Gate> {
    const userAgent = agentOf(config);
    // Loaded on first use.
    const [{ createGate }, { createRobotsReader }] = await Promise.all([
      import('../polite/gate.js'),
      import('../polite/robots-reader.js'),
    ]);
    const policy = { agent: userAgent, ttlMs: RULES_TTL_MS, retryMs: RETRY_MS, maxDelayMs: MAX_DELAY_MS };
    const pace = {
      minDelayMs: limiter?.baseDelayMs[0] ?? 0,
      maxDelayMs: MAX_DELAY_MS,
      backoffMs: FIRST_BACKOFF_MS,
      adaptiveFactor: 0,
    };
    return createGate({
      store: await parts.hostsOf(identity),
      shared: parts.shared ?? false,
      policyOf: () => policy,
      paceOf: () => pace,
      refuseVisit: () => undefined,
      readRobots: createRobotsReader({
        engine: parts.engine,
        userAgentFor: () => userAgent,
        timeoutMs: READ_TIMEOUT_MS,
        ignoreTlsErrors: config.ignoreSslErrors ?? false,
        proxyUrl: async () => config.proxy,
        time: services.time,
      }),
      readTimeoutMs: READ_TIMEOUT_MS,
      allowHost: parts.allowHost,
      visitLog: undefined,
      paceBy: 'domain',
      laneOf: (url) => domainOf(url),
      land: services.turn.land,
      refuse: (lease, error) => refuse(services, lease, error),
      onSkipped: () => undefined,
      onTrouble: (origin, code, why) => parts.log.warning(`Requests to ${origin} fail for now: ${why}`, { code }),
      signal: services.signal,
      time: services.time,
    });
  }

  /** The turn of a domain that the batch's limiter paces, too. */
  function limited({ domain, delayMs }: Lease, turn: Turn | undefined): Turn | undefined {
    return limiter
      ? createLimitedTurn(turn ?? services.turn.plain, limiter, domain, parts.shared ? delayMs : undefined)
      : turn;
  }

  const keyOf = ({ fingerprint }: Pick<Lease, 'fingerprint'>) => `${fingerprint.hi}.${fingerprint.lo}`;

  return {
    async admit(taken, isGood) {
      const { lease } = taken;
      const task = parts.taskOf(lease);
      if (task && !task.config.respectRobots) return { kind: 'go', turn: limited(lease, undefined) };
      const gate = task ? await gateFor(task.config) : relays.get(keyOf(lease));
      if (!gate) return { kind: 'ended', visit: abandoned(lease) };
      const decision = await gate.admit(taken, isGood);
      if (decision.kind === 'go') return { kind: 'go', turn: limited(lease, decision.turn) };
      const { settlement } = decision.visit;
      for (const link of settlement.links ?? []) relays.set(keyOf(link), gate);
      if (settlement.kind !== 'untouched') relays.delete(keyOf(lease));
      if (task && settlement.kind === 'skipped') parts.onDenied(task, deniedFor(settlement.reason));
      return decision;
    },
    bulkSkip: async () => [],
    // Bulk skips are for queues of millions; a batch has few of a domain at a time.
    bulkSkipDomains: () => undefined,
    refusal: () => undefined,
  };
}

function agentOf({ userAgent, headers }: ResolvedRunConfig): string {
  return userAgent ?? headers?.['user-agent'] ?? defaultUserAgent();
}

function deniedFor(reason: string): CrawlError {
  const why = reason === 'crawlDelay' ? 'requires a delay over an hour' : 'forbids it';
  return new CrawlError('ROBOTS_DENIED', `the robots.txt of its host ${why}`);
}

/** A relay without waiters. */
function abandoned({ id }: Lease) {
  return { settlement: { kind: 'skipped' as const, lease: id, reason: 'robots.txt' }, items: [] };
}
