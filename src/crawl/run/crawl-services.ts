// Opens what the visits of one run share: engine, sessions, politeness, and the services that attempts ask.
// The same for a crawler in its own process and for a worker of a pod.
import type { Configuration } from '../../configuration.js';
import { asCrawlError } from '../../errors.js';
import type { Capture, Engine, FetchOrder } from '../../fetch/engine.js';
import type { SlowShare } from '../../dispatch/slow-share.js';
import { sendRequest } from '../../fetch/http/send-request.js';
import type { RequestQueue } from '../../frontier/queue/request-queue.js';
import type { ContextCrawler, CrawlingContext } from '../../handle/context.js';
import type { SkipReason } from '../../handle/enqueue-links.js';
import type { Log } from '../../observe/log.js';
import { decodeBody, detectEncoding } from '../../parse/encoding/encoding.js';
import type { Request } from '../../request/request.js';
import { parseUrl } from '../../request/url.js';
import type { Session } from '../../session/session.js';
import type { SessionPool } from '../../session/session-pool.js';
import type { BrowserCrawl, BrowserCrawlParts } from '../browser/crawl.js';
import type { Gate } from '../polite/gate.js';
import { createHttpSide, type HttpSideParts } from '../navigate/http-side.js';
import { cookiesOf, createNavigation, isSeededAddress, type NavigationParts } from '../navigate/navigate.js';
import { navigationRulesOf } from '../navigate/rules.js';
import type { CrawlerKind, ResolvedOptions } from '../options/options.js';
import { addFile, addPage } from '../page/page-context.js';
import type { LinkPolicy } from '../polite/link-policy.js';
import type { Politeness, PoliteQueue } from '../polite/politeness.js';
import { systemTime, type Time } from '../time.js';
import type { Navigate } from './attempt.js';
import type { HandlerServices, LinkServices, PlacedServices, VisitServices } from './services.js';
import type { Statistics } from './statistics.js';
import { openSlowShare } from './slow-hosts.js';
import { createPlainTurn } from './turn.js';
import { createVisitContext, type ContextServices, type StorageServices } from './visit-context.js';

export interface CrawlServicesParts extends Pick<LinkServices, 'roomForRequests' | 'onSkipped'>, StorageServices {
  readonly kind: CrawlerKind;
  readonly options: ResolvedOptions;
  readonly log: Log;
  readonly stats: Statistics;
  readonly queue: PoliteQueue & Pick<RequestQueue, 'isKnown' | 'glance'>;
  /** The public object, for handlers' `crawler`. */
  readonly crawler: ContextCrawler;
  readonly policy: LinkPolicy;
  readonly requestHandler: HandlerServices<CrawlingContext>['request'];
  readonly sessionPool: SessionPool | undefined;
  /** Private hosts that the user named himself. Without it naming one changes nothing. */
  readonly privateHosts?: {
    list(): Promise<string[]>;
    /** Remembers one for a resumed run. */
    note(host: string): Promise<void>;
  };
  /** Where browsers keep their files, for crawls that use some. */
  readonly config?: Configuration;
  readonly time?: Time;
  /** Asked before the rules of hosts and lists. */
  readonly refuseLink?: (url: string) => SkipReason | undefined;
  /** What a handled request's visit stores of its page. */
  readonly pageOf?: VisitServices['pageOf'];
  /** Whether another pod looks after a domain. */
  readonly isElsewhere?: (domain: string) => boolean;
  /** Told of every response that is handled, before its handler. */
  readonly onCapture?: (request: Request, capture: Capture) => void;
  /** In place of the HTTP engine: then nothing leaves the machine, and nobody need be polite. */
  readonly engine?: Engine;
  /** Whether captures have the body as received. */
  readonly received?: FetchOrder['received'];
  /** Hands a usable response on instead of handling it here. */
  readonly handOff?: NavigationParts<object>['handOff'];
}

export interface CrawlServices {
  readonly services: PlacedServices<CrawlingContext>;
  /** The gate of a polite crawl, given to its run. */
  readonly openGate: ((services: VisitServices<CrawlingContext>) => Gate) | undefined;
  /** Keeps slow hosts to their share of the run's slots. */
  readonly slowShare: SlowShare | undefined;
  close(): Promise<void>;
}

export async function openCrawlServices(parts: CrawlServicesParts): Promise<CrawlServices> {
  const { options, queue, log, stats, policy, sessionPool, privateHosts, time = systemTime } = parts;
  // Loaded with the first run: importing the package stays cheap.
  const { createHttpEngine } = await import('../../fetch/http/engine.js');
  const { allowPrivateAddresses, maxConnectionsPerAddress } = options;
  const slowShare = openSlowShare(options, queue.paceBy);
  const http = createHttpEngine({ allowPrivateAddresses, maxConnectionsPerAddress, watch: slowShare });
  const engine = parts.engine ?? http;
  const knownPrivateHosts = options.allowPrivateSeeds ? ((await privateHosts?.list()) ?? []) : [];
  for (const host of knownPrivateHosts) http.allowHost(`http://${host}/`);
  const allowHost = async (url: string) => {
    if (!privateHosts || !options.allowPrivateSeeds || !http.allowHost(url)) return false;
    await privateHosts.note(new URL(url).host);
    // Always asked again: another seed of the host may have been refused just before it was allowed.
    return true;
  };
  // Its parts are loaded for those who use them.
  const politeness: Politeness | undefined =
    options.polite && !parts.engine
      ? await (
          await import('../polite/politeness.js')
        ).openPoliteness({
          options,
          queue,
          engine,
          allowHost,
          policy,
          isElsewhere: parts.isElsewhere,
          proxyConfiguration: options.proxyConfiguration,
          log,
          time,
        })
      : undefined;
  let gate: Gate | undefined;
  const ownUserAgentFor = (url: string) => policy.overrideFor(url).userAgent;
  const userAgentFor = (url: string) => ownUserAgentFor(url) ?? options.userAgent;
  const onStatus = (statusCode: number) => stats.registerStatusCode(statusCode);
  const close = async () => {
    await politeness?.close();
    await parts.engine?.close();
    await http.close();
  };
  const rules = navigationRulesOf(options);
  const { refuseVisit } = policy;
  const httpSideParts = {
    rules,
    preNavigationHooks: options.preNavigationHooks,
    postNavigationHooks: options.postNavigationHooks,
    userAgentFor,
    refuseVisit,
    checksType: true,
    received: parts.received,
  };
  const shared = { rules, allowHost, refuseVisit, onStatus };
  const browserParts: BrowserCrawlParts | undefined = options.browser &&
    parts.config && { ...shared, options, config: parts.config, sessionPool, http, httpSideParts, ownUserAgentFor };
  const browsers = browserParts && (await openBrowsers(browserParts, knownPrivateHosts, close));

  function navigationOfKind(): Navigate {
    if (parts.kind === 'basic') return withoutNavigation;
    // Whoever else wants the capture may want its body later.
    const lends = parts.kind !== 'file' && !parts.onCapture && !parts.handOff && !parts.received;
    const side = createHttpSide<object>({ ...httpSideParts, lends, add: adderFor(parts) });
    return createNavigation({ ...shared, engine, sideOf: () => side, handOff: parts.handOff });
  }

  const links: LinkServices = {
    queue,
    maxCrawlDepth: Number.isFinite(options.maxCrawlDepth) ? options.maxCrawlDepth : undefined,
    roomForRequests: parts.roomForRequests,
    refuseLink: (url, depth) => parts.refuseLink?.(url) ?? gate?.refusal(url) ?? policy.refuseLink(url, depth),
    releaseLink: policy.giveBack,
    onSkipped: parts.onSkipped,
  };
  const forContexts: ContextServices = {
    crawler: parts.crawler,
    log,
    links,
    storage: { openKeyValueStore: parts.openKeyValueStore, useState: parts.useState },
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
  };
  const services: PlacedServices<CrawlingContext> = {
    log,
    navigate: browsers?.navigate ?? navigationOfKind(),
    handlers: {
      timeoutMs: options.requestHandlerTimeoutMs,
      request: parts.requestHandler,
      error: options.errorHandler,
      failed: options.failedRequestHandler,
    },
    identity: identityOf(browsers?.sessionPool ?? sessionPool, options.proxyConfiguration),
    turn: { plain: createPlainTurn(options.maxDelayMs, options.sameDomainDelayMs), isPaced: options.polite },
    links,
    limits: options,
    time,
    openContext: (request, identity, transaction) => createVisitContext(forContexts, request, identity, transaction),
    stats,
    pageOf: parts.pageOf,
  };
  return {
    services,
    slowShare,
    openGate: politeness && ((visitServices) => (gate = politeness.openGate(visitServices))),
    async close() {
      await browsers?.close();
      await close();
    },
  };
}

interface Sessions {
  getSession(id?: string): Promise<Session | undefined>;
  release?(session: Session): void;
}

function identityOf(
  sessions: Sessions | undefined,
  proxies: ResolvedOptions['proxyConfiguration'],
): VisitServices['identity'] {
  if (!sessions && !proxies) return undefined;
  return {
    async bind(request) {
      const wanted = request.sessionId === undefined ? undefined : await sessions?.getSession(request.sessionId);
      const session = wanted ?? (await sessions?.getSession());
      const proxyInfo = await proxies?.newProxyInfo(session?.id, { request });
      return { session, proxyInfo };
    },
    release: (session) => sessions?.release?.(session),
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
    const browsers = await (await import('../browser/crawl.js')).openBrowserCrawl(parts);
    for (const host of privateHosts) browsers.pool.relay?.allowHost(host);
    return browsers;
  } catch (error) {
    await closeRest();
    throw error;
  }
}

function adderFor({ kind, options, onCapture }: CrawlServicesParts): HttpSideParts<object>['add'] {
  if (kind === 'file') return addFile;
  if (!onCapture) return (visit, capture) => addPage(visit, capture, options);
  return (visit, capture) => {
    onCapture(visit.request, capture);
    return addPage(visit, capture, options);
  };
}

/** The handler itself asks the domain: its whole run is the turn. */
const withoutNavigation: Navigate = async (visit, handle) => {
  visit.beginTurn();
  await handle();
  visit.endTurn();
  return { kind: 'handled' };
};
