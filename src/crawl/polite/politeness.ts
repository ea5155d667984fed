// Polite mode of one run: the host store next to the queue, the visit log, and the gate that uses them.
// Loaded only when a crawl is polite; closed when its run ends.
import path from 'node:path';
import type { ErrorCode } from '../../errors.js';
import type { Engine } from '../../fetch/engine.js';
import { systemClock } from '../../frontier/embedded/clock.js';
import type { RequestQueue } from '../../frontier/queue/request-queue.js';
import type { Log } from '../../observe/log.js';
import type { PaceRules } from '../../politeness/delay.js';
import { createMemoryHosts, type HostStore, packHost, unpackHost } from '../../politeness/hosts.js';
import type { RobotsPolicy } from '../../politeness/robots/cache.js';
import { openVisitLog } from '../../politeness/visit-log.js';
import { domainOf } from '../../request/url.js';
import type { ProxyConfiguration } from '../../session/proxy.js';
import type { LinkPolicy } from './link-policy.js';
import { refuse, skippedUnasked } from '../run/attempt.js';
import type { BaseContext, VisitServices } from '../run/services.js';
import { createGate, type Gate, type GateParts } from './gate.js';
import { type HostAccessParts, STAYED } from './host-access.js';
import type { ResolvedOptions } from '../options/options.js';
import { createRobotsReader } from './robots-reader.js';
import type { Time } from '../time.js';

export interface Politeness {
  /** The gate of a run. */
  openGate<Context extends BaseContext>(services: VisitServices<Context>): Gate;
  /** A handler sends its own request; called with the status or the failure's code when it has ended. */
  sending(url: string): (status: number | ErrorCode) => void;
  close(): Promise<void>;
}

/** What politeness needs of a queue: how it is shared and paced, and where its files are. */
export type PoliteQueue = Pick<RequestQueue, 'access' | 'folder' | 'visitsFolder' | 'paceBy'> &
  Partial<Pick<RequestQueue, 'openHosts'>>;

export interface PolitenessParts {
  readonly options: ResolvedOptions;
  readonly queue: PoliteQueue;
  readonly engine: Engine;
  readonly allowHost: (url: string) => Promise<boolean>;
  readonly policy: LinkPolicy;
  /** See the gate's. */
  readonly isElsewhere?: GateParts['isElsewhere'];
  readonly proxyConfiguration: ProxyConfiguration | undefined;
  readonly log: Log;
  readonly time: Time;
}

/** In the log, in place of a holder id in the queue. */
const SENDER = 'handler';
/** The time limit for robots.txt, independent of that for pages. */
const MAX_READ_TIMEOUT_MS = 30_000;

export async function openPoliteness(parts: PolitenessParts): Promise<Politeness> {
  const { options, queue, log } = parts;
  const shared = queue.access === 'shared';
  const store = await openHosts(queue, log);
  const visitLog =
    queue.visitsFolder === undefined
      ? undefined
      : await openVisitLog({
          folder: queue.visitsFolder,
          bootId: systemClock.bootId,
          onError: (error) => log.exception(error, 'could not write the visit log'),
        });
  const readTimeoutMs = Math.min(options.navigationTimeoutMs, MAX_READ_TIMEOUT_MS);
  const readRobots = createRobotsReader({
    engine: parts.engine,
    userAgentFor: (url) => parts.policy.overrideFor(url).userAgent ?? options.userAgent,
    timeoutMs: readTimeoutMs,
    ignoreTlsErrors: options.ignoreSslErrors,
    proxyUrl: async (url) => parts.proxyConfiguration?.newUrl(undefined, { request: { url } }),
    time: parts.time,
  });
  return {
    openGate: (services) =>
      createGate({
        store,
        shared,
        ...rulesByOrigin(options, parts.policy),
        isElsewhere: parts.isElsewhere,
        refuseVisit: parts.policy.refuseVisit ?? (() => undefined),
        readRobots,
        readTimeoutMs,
        allowHost: parts.allowHost,
        visitLog,
        paceBy: queue.paceBy,
        laneOf: (url) => domainOf(url, queue.paceBy),
        land: services.turn.land,
        refuse: (lease, error) => refuse(services, lease, error),
        fateOfSkip: services.fateOf && ((lease, code) => skippedUnasked(services, lease, code)),
        onSkipped: (skipped) => void services.links?.onSkipped(skipped),
        onTrouble: (origin, code, why) => log.warning(`Requests to ${origin} fail for now: ${why}`, { code }),
        signal: services.signal,
        time: parts.time,
      }),
    sending(url) {
      if (!visitLog) return () => undefined;
      const startMs = visitLog.now();
      return (status) => {
        if (STAYED.has(status as ErrorCode)) return;
        const line = { startMs, endMs: visitLog.now(), domain: domainOf(url, queue.paceBy), status };
        visitLog.write({ ...line, kind: 'sent', restMs: 0, alone: false, holder: SENDER });
      };
    },
    async close() {
      await visitLog?.close();
      await store.close();
    },
  };
}

/** The crawl's rules, and for domains with settings of their own those. */
function rulesByOrigin(
  options: ResolvedOptions,
  { overrideFor }: LinkPolicy,
): Pick<HostAccessParts, 'policyOf' | 'paceOf'> {
  const policy: RobotsPolicy = {
    agent: options.robotsAgent,
    ttlMs: options.robotsCacheTtlMs,
    retryMs: options.retryDelayMs,
    maxDelayMs: options.maxDelayMs,
  };
  const pace: PaceRules = {
    minDelayMs: options.sameDomainDelayMs,
    maxDelayMs: options.maxDelayMs,
    backoffMs: options.retryDelayMs,
    adaptiveFactor: options.adaptiveDelay,
  };
  return {
    policyOf(origin) {
      const { ignoreRobots, userAgent } = overrideFor(origin);
      if (ignoreRobots) return { ...policy, agent: undefined };
      return userAgent === undefined || policy.agent === undefined ? policy : { ...policy, agent: userAgent };
    },
    paceOf(origin) {
      const { delaySecs } = overrideFor(origin);
      return delaySecs === undefined ? pace : { ...pace, minDelayMs: delaySecs * 1_000 };
    },
  };
}

async function openHosts(queue: PoliteQueue, log: Log): Promise<HostStore> {
  if (queue.openHosts !== undefined) return queue.openHosts();
  if (queue.folder === undefined) return createMemoryHosts();
  const { openLmdbHosts } = await import('../../store/hosts-lmdb.js');
  return openLmdbHosts({
    folder: path.join(queue.folder, 'hosts'),
    shared: queue.access === 'shared',
    bootId: systemClock.bootId,
    pack: packHost,
    unpack: unpackHost,
    onError: (error) => log.exception(error, 'could not save host records'),
  });
}
