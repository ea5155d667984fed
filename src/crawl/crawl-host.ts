// What all visits of one run share, composed: engine, sessions, politeness and the host that attempts ask.
// One composition for every placement: a crawler in its own process, and a fetcher of a pod.
import type { Configuration } from '../configuration.js';
import { asCrawlError } from '../errors.js';
import type { Capture, Engine } from '../fetch/engine.js';
import { sendRequest } from '../fetch/http/send-request.js';
import type { SlowShare } from '../dispatch/slow-share.js';
import type { RequestQueue } from '../frontier/request-queue.js';
import type { ContextCrawler } from '../handle/context.js';
import type { SkippedRequestCallback, SkipReason } from '../handle/enqueue-links.js';
import type { Log } from '../observe/log.js';
import { decodeBody, detectEncoding } from '../parse/encoding/encoding.js';
import type { Dictionary, Request } from '../request/request.js';
import { parseUrl } from '../request/url.js';
import type { SessionPool } from '../session/session-pool.js';
import type { KeyValueStore } from '../store/key-value.js';
import type { Admission } from './admission.js';
import type { AttemptHost, Navigate } from './attempt.js';
import { createPlainDeparture } from './departure.js';
import type { Gate } from './gate.js';
import { cookiesOf, createHttpNavigation, type HttpVisitParts, isSeededAddress } from './http-visit.js';
import type { BrowserCrawl, BrowserCrawlParts } from './browser-crawl.js';
import type { CrawlerKind, ResolvedOptions } from './options.js';
import { dressFile, dressPage } from './page-context.js';
import type { Politeness, PoliteQueue } from './politeness.js';
import { openSlowShare } from './slow-hosts.js';
import type { Statistics } from './statistics.js';

/** What the run gives its attempts itself. */
type FromTheRun = 'land' | 'onFatal' | 'signal';

export interface CrawlHostParts {
  readonly kind: CrawlerKind;
  readonly options: ResolvedOptions;
  readonly log: Log;
  readonly stats: Statistics;
  readonly queue: PoliteQueue & Pick<RequestQueue, 'isKnown' | 'glance'>;
  /** The public object, for handlers' `crawler`. */
  readonly crawler: ContextCrawler;
  readonly admission: Admission;
  readonly requestHandler: AttemptHost['requestHandler'];
  readonly sessionPool: SessionPool | undefined;
  /** Private hosts that the user named himself. Without it naming one changes nothing. */
  readonly privateHosts?: {
    list(): Promise<string[]>;
    /** Remembers one for a resumed run. */
    note(host: string): Promise<void>;
  };
  /** Where browsers keep their files, for crawls that use some. */
  readonly config?: Configuration;
  readonly roomForRequests: () => number;
  /** Asked before the rules of hosts and lists. */
  readonly refuseLink?: (url: string) => SkipReason | undefined;
  readonly onSkipped: SkippedRequestCallback;
  readonly openKeyValueStore: (name?: string) => Promise<KeyValueStore>;
  readonly useState: <State extends Dictionary>(initial?: State) => Promise<State>;
  /** What a handled request's visit stores of its page. */
  readonly pageOf?: AttemptHost['pageOf'];
  /** Whether another pod looks after a domain. */
  readonly isElsewhere?: (domain: string) => boolean;
  /** Told of every response that is handled, before its handler. */
  readonly onCapture?: (request: Request, capture: Capture) => void;
  /** In place of the HTTP engine: then nothing leaves the machine, and nobody need be polite. */
  readonly engine?: Engine;
  /** Whether captures have the body as received. */
  readonly received?: HttpVisitParts['received'];
  /** Hands a usable response on instead of handling it here. */
  readonly handOff?: HttpVisitParts['handOff'];
}

export interface CrawlHost {
  readonly host: Omit<AttemptHost, FromTheRun>;
  /** The gate of a polite crawl, given to its run. */
  readonly openGate: ((host: AttemptHost) => Gate) | undefined;
  /** Keeps slow hosts to their share of the run's slots. */
  readonly slowShare: SlowShare | undefined;
  close(): Promise<void>;
}

export async function openCrawlHost(parts: CrawlHostParts): Promise<CrawlHost> {
  const { options, queue, log, stats, admission, sessionPool, privateHosts } = parts;
  // Loaded with the first run: importing the package stays cheap.
  const { createHttpEngine } = await import('../fetch/http/engine.js');
  const { allowPrivateAddresses, maxConnectionsPerAddress } = options;
  const slowShare = openSlowShare(options, queue.paceBy);
  const http = createHttpEngine({ allowPrivateAddresses, maxConnectionsPerAddress, watch: slowShare });
  const engine = parts.engine ?? http;
  const knownPrivateHosts = (await privateHosts?.list()) ?? [];
  for (const host of knownPrivateHosts) http.allowHost(`http://${host}/`);
  const allowHost = async (url: string) => {
    if (!privateHosts) return false;
    await privateHosts.note(new URL(url).host);
    http.allowHost(url);
    // Always asked again: another seed of the host may have been refused just before it was allowed.
    return true;
  };
  // Its parts are loaded for those who use them.
  const politeness: Politeness | undefined =
    options.polite && !parts.engine
      ? await (
          await import('./politeness.js')
        ).openPoliteness({
          options,
          queue,
          engine,
          allowHost,
          admission,
          isElsewhere: parts.isElsewhere,
          proxyConfiguration: options.proxyConfiguration,
          log,
        })
      : undefined;
  let gate: Gate | undefined;
  const userAgentFor = (url: string) => admission.overrideFor(url).userAgent ?? options.userAgent;
  const { refuseVisit } = admission;
  const onStatus = (statusCode: number) => stats.registerStatusCode(statusCode);
  const close = async () => {
    await politeness?.close();
    await parts.engine?.close();
    await http.close();
  };
  const browserParts = options.browser &&
    parts.config && {
      options,
      config: parts.config,
      sessionPool,
      allowHost,
      onStatus,
      http: (dress: HttpVisitParts['dress']) =>
        createHttpNavigation({ engine, options, allowHost, refuseVisit, userAgentFor, dress, onStatus }),
    };
  const browsers = browserParts && (await openBrowsers(browserParts, knownPrivateHosts, close));
  const host: CrawlHost['host'] = {
    crawler: parts.crawler,
    log,
    queue,
    maxCrawlDepth: Number.isFinite(options.maxCrawlDepth) ? options.maxCrawlDepth : undefined,
    roomForRequests: parts.roomForRequests,
    refuseLink: (url, depth) => parts.refuseLink?.(url) ?? gate?.refusal(url) ?? admission.refuseLink(url, depth),
    releaseLink: admission.giveBack,
    onSkipped: parts.onSkipped,
    openKeyValueStore: parts.openKeyValueStore,
    useState: parts.useState,
    sendRequest: (sendOptions, { request, session, proxyUrl }) => {
      const send = () =>
        sendRequest(http, sendOptions, {
          cookies: session && options.persistCookiesPerSession ? cookiesOf(session) : undefined,
          proxyUrl,
          headers: { 'user-agent': options.userAgent, ...session?.headerSet },
          timeoutMs: options.navigationTimeoutMs,
          maxBodyBytes: options.maxBodyBytes,
          maxRedirects: options.maxRedirects,
          ignoreTlsErrors: options.ignoreSslErrors,
          decode: (body, contentType) => decodeBody(body, detectEncoding(body, contentType)),
        });
      const logged = () => loggedSend(politeness, sendOptions.url ?? request.url, send);
      return logged().catch(async (error: unknown) => {
        if (!(await isSeededAddress(error, request, allowHost))) throw error;
        return logged();
      });
    },
    limits: options,
    handlerTimeoutMs: options.requestHandlerTimeoutMs,
    navigate: browsers?.navigate ?? navigationOf(parts, engine, onStatus, allowHost, userAgentFor),
    requestHandler: parts.requestHandler,
    errorHandler: options.errorHandler,
    failedRequestHandler: options.failedRequestHandler,
    sessionPool: browsers ? browsers.sessionPool : sessionPool,
    proxyConfiguration: options.proxyConfiguration,
    pageOf: parts.pageOf,
    stats,
    random: Math.random,
    departure: createPlainDeparture(options.maxDelayMs, options.sameDomainDelayMs),
  };
  return {
    host,
    slowShare,
    openGate: politeness && ((attemptHost) => (gate = politeness.openGate(attemptHost))),
    async close() {
      await browsers?.close();
      await close();
    },
  };
}

/** A handler's own request is paced by nobody; a polite crawl's log tells of it all the same. */
async function loggedSend<T extends { statusCode: number }>(
  politeness: Politeness | undefined,
  url: string,
  send: () => Promise<T>,
): Promise<T> {
  const ended = politeness && parseUrl(url) ? politeness.sending(url) : undefined;
  try {
    const sent = await send();
    ended?.(sent.statusCode);
    return sent;
  } catch (error) {
    ended?.(asCrawlError(error, 'REQUEST_INVALID').code);
    throw error;
  }
}

/** Its parts are loaded for those who use them; without a browser nothing else stays open. */
async function openBrowsers(
  parts: BrowserCrawlParts,
  privateHosts: readonly string[],
  closeRest: () => Promise<void>,
): Promise<BrowserCrawl> {
  try {
    const browsers = await (await import('./browser-crawl.js')).openBrowserCrawl(parts);
    for (const host of privateHosts) browsers.pool.relay?.allowHost(host);
    return browsers;
  } catch (error) {
    await closeRest();
    throw error;
  }
}

function navigationOf(
  parts: CrawlHostParts,
  engine: Engine,
  onStatus: (statusCode: number) => void,
  allowHost: (url: string) => Promise<boolean>,
  userAgentFor: (url: string) => string,
): Navigate {
  const { kind, options, onCapture } = parts;
  if (kind === 'basic') return withoutNavigation;
  return createHttpNavigation({
    engine,
    options,
    allowHost,
    refuseVisit: parts.admission.refuseVisit,
    userAgentFor,
    dress:
      kind === 'file'
        ? dressFile
        : (visit, capture) => {
            onCapture?.(visit.request, capture);
            return dressPage(visit, capture, options);
          },
    received: parts.received,
    handOff: parts.handOff,
    onStatus,
  });
}

/** The handler itself asks the domain: its whole run is the turn. */
const withoutNavigation: Navigate = async (visit, handle) => {
  visit.depart();
  await handle();
  visit.land();
  return { kind: 'handled' };
};
