// Opens what the visits of one run share: engine, sessions, politeness, and the services for attempts.
// The same for a crawler in its own process and for a pod worker.
import type { Configuration } from '../../configuration.js';
import { asCrawlError } from '../../errors.js';
import type { Capture, Engine, FetchOrder } from '../../fetch/engine.js';
import type { SlowShare } from '../../dispatch/slow-share.js';
import { sendRequest, type SendSetting } from '../../fetch/http/send-request.js';
import type { Remembering } from '../../fresh/remembering.js';
import type { RequestQueue } from '../../frontier/queue/request-queue.js';
import type { ContextCrawler, CrawlingContext } from '../../handle/context.js';
import type { SkipReason } from '../../handle/enqueue-links.js';
import type { RouterHandler } from '../../handle/router.js';
import type { Log } from '../../observe/log.js';
import { decodeBody, detectEncoding } from '../../parse/encoding/encoding.js';
import type { Request } from '../../request/request.js';
import { parseUrl } from '../../request/url.js';
import type { Session } from '../../session/session.js';
import type { SessionPool } from '../../session/session-pool.js';
import type { BrowserCrawl, BrowserCrawlParts } from '../browser/crawl.js';
import type { Rendering } from '../browser/rendering.js';
import type { Gate } from '../polite/gate.js';
import { createHttpSide, type HttpSideParts } from '../navigate/http-side.js';
import { cookiesOf, createNavigation, isSeededAddress, type NavigationParts } from '../navigate/navigate.js';
import { navigationRulesOf } from '../navigate/rules.js';
import { openShownHeaders } from '../navigate/shown-headers.js';
import { type CrawlerKind, type ResolvedOptions, timerMs } from '../options/options.js';
import { createLinkOrder } from '../order/order.js';
import { addFile, addPage } from '../page/page-context.js';
import type { LinkPolicy } from '../polite/link-policy.js';
import type { Politeness, PoliteQueue } from '../polite/politeness.js';
import { systemTime, type Time } from '../time.js';
import type { Navigate, Visit } from './attempt.js';
import { type OnFetch, tellingEngine } from './report/fetch-events.js';
import type { HandlerServices, LinkServices, PlacedServices, VisitServices } from './services.js';
import type { Statistics } from './report/statistics.js';
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
  readonly fateOf?: VisitServices['fateOf'];
  /** Told of every request that leaves the machine. */
  readonly onFetch?: OnFetch | undefined;
  readonly onFailedAttempt?: VisitServices['onFailedAttempt'];
  /** Whether another pod looks after a domain. */
  readonly isElsewhere?: (domain: string) => boolean;
  /** What is remembered of pages, if anything is. */
  readonly remembering?: Remembering | undefined;
  /** Told of every response that is handled, before its handler. */
  readonly onCapture?: (request: Request, capture: Capture) => void;
  /** Replaces the HTTP engine: nothing leaves the machine, so politeness is off. */
  readonly engine?: Engine;
  /** Shows pages in browsers, some or all; robots.txt stays with the HTTP engine that it is given. */
  readonly openRendering?: ((http: Engine) => Rendering) | undefined;
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
  const client = createHttpEngine({
    allowPrivateAddresses,
    maxConnectionsPerAddress,
    watch: slowShare,
    allowH2: options.http2,
  });
  const http = tellingEngine(client, time, parts.onFetch);
  const rendering = parts.openRendering?.(http);
  const { httpClient } = options;
  const byClient =
    httpClient && (await import('../../crawlee/http/client-engine.js')).createClientEngine(httpClient, http);
  const pages = byClient?.engine ?? http;
  const engine = parts.engine ?? rendering?.engine ?? pages;
  const knownPrivateHosts = options.allowPrivateSeeds ? ((await privateHosts?.list()) ?? []) : [];
  for (const host of knownPrivateHosts) http.allowHost(`http://${host}/`);
  const allowHost = async (url: string) => {
    if (!privateHosts || !options.allowPrivateSeeds || !http.allowHost(url)) return false;
    await privateHosts.note(new URL(url).host);
    // Always asked again: another seed of the host may have been refused just before it was allowed.
    return true;
  };
  // Its parts are loaded on first use.
  const politeness: Politeness | undefined =
    options.polite && !parts.engine
      ? await (
          await import('../polite/politeness.js')
        ).openPoliteness({
          options,
          queue,
          engine: http,
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
  const shown = await openShownHeaders({
    options,
    chosenUserAgentFor: (url) => ownUserAgentFor(url) ?? (options.hasOwnUserAgent ? options.userAgent : undefined),
  });
  const onStatus = (statusCode: number) => stats.registerStatusCode(statusCode);
  const close = async () => {
    await politeness?.close();
    await rendering?.close();
    await parts.engine?.close();
    await byClient?.close();
    await http.close();
  };
  const rules = navigationRulesOf(options);
  const { refuseVisit } = policy;
  const documentWish = options.documents
    ? ('all' as const)
    : options.acceptMarkdown
      ? ('markdown' as const)
      : undefined;
  const httpSideParts = {
    rules,
    preNavigationHooks: options.preNavigationHooks,
    postNavigationHooks: options.postNavigationHooks,
    userAgentFor,
    shown,
    refuseVisit,
    checksType: true,
    documents: documentWish ? () => documentWish : undefined,
    acceptsMarkdown: options.acceptMarkdown ? () => true : undefined,
    received: parts.received,
    ...(rendering && { more: (visit: Visit) => rendering.more(visit) }),
    conditionsFor: parts.remembering && ((request: Request) => parts.remembering!.conditionsFor(request)),
  };
  const shared = { rules, allowHost, refuseVisit, onStatus };
  const browserParts: BrowserCrawlParts | undefined = options.browser &&
    parts.config && {
      ...shared,
      options,
      config: parts.config,
      sessionPool,
      http: pages,
      httpSideParts,
      ownUserAgentFor,
    };
  const browsers = browserParts && (await openBrowsers(browserParts, knownPrivateHosts, close));

  function navigationOfKind(): Navigate {
    if (parts.kind === 'basic') return withoutNavigation;
    // Whoever else wants the capture may want its body later.
    const lends = parts.kind !== 'file' && !parts.onCapture && !parts.handOff && !parts.received;
    const side = createHttpSide<object>({ ...httpSideParts, lends, add: adderFor(parts) });
    const notModified = notModifiedOf(parts);
    return createNavigation({ ...shared, engine, sideOf: () => side, handOff: parts.handOff, notModified });
  }

  /** With `skip`, nobody follows links to mirrors and print versions, once a site has shown that they are. */
  function copyRefusal(url: string): 'nearDuplicate' | undefined {
    return options.duplicates === 'skip' && parts.remembering?.isCopy(url) ? 'nearDuplicate' : undefined;
  }

  const links: LinkServices = {
    queue,
    maxCrawlDepth: Number.isFinite(options.maxCrawlDepth) ? options.maxCrawlDepth : undefined,
    roomForRequests: parts.roomForRequests,
    refuseLink: (url, depth) =>
      parts.refuseLink?.(url) ?? gate?.refusal(url) ?? copyRefusal(url) ?? policy.refuseLink(url, depth),
    releaseLink: policy.giveBack,
    onSkipped: parts.onSkipped,
    obeysRobots: options.robotsAgent !== undefined,
    order: createLinkOrder(options, time),
  };
  const forContexts: ContextServices = {
    crawler: parts.crawler,
    log,
    links,
    storage: { openKeyValueStore: parts.openKeyValueStore, useState: parts.useState },
    sendRequest: async (sendOptions, { request, session, proxyUrl }) => {
      const usual = shown.instead?.(sendOptions.url ?? request.url, session) ?? {
        'user-agent': options.userAgent,
        ...session?.headerSet,
      };
      const headers = { ...usual };
      await shown.change(headers, usual, sendOptions, session);
      const setting: SendSetting = {
        cookies: session && cookiesOf(session, options.persistCookiesPerSession),
        proxyUrl,
        headers,
        timeoutMs: options.navigationTimeoutMs,
        maxBodyBytes: options.maxBodyBytes,
        maxRedirects: options.maxRedirects,
        ignoreTlsErrors: options.ignoreSslErrors,
        decode: (body, contentType) => decodeBody(body, detectEncoding(body, contentType)),
      };
      const send = () => byClient?.sendRequest(sendOptions, setting) ?? sendRequest(http, sendOptions, setting);
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
      timeoutMsOf: routeTimeouts(parts.requestHandler),
      request: parts.requestHandler,
      error: options.errorHandler,
      failed: options.failedRequestHandler,
      isFailedFatal: true,
    },
    identity: identityOf(browsers?.sessionPool ?? sessionPool, options.proxyConfiguration),
    turn: { plain: createPlainTurn(options.maxDelayMs, options.sameDomainDelayMs), isPaced: options.polite },
    links,
    limits: options,
    time,
    openContext: (request, identity, transaction, mark) =>
      createVisitContext(forContexts, request, identity, transaction, mark),
    stats,
    pageOf: parts.pageOf,
    remembering: parts.remembering,
    fateOf: parts.fateOf,
    onFailedAttempt: parts.onFailedAttempt,
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

/** The limits of routes, where the handler is a router. */
function routeTimeouts(handler: unknown): ((label: string | undefined) => number | undefined) | undefined {
  const { getTimeoutSecs } = handler as Partial<RouterHandler>;
  if (!getTimeoutSecs) return undefined;
  return (label) => {
    const secs = getTimeoutSecs(label);
    return secs === undefined ? undefined : timerMs(secs);
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

/** A handler's own request is not paced, but a polite crawl still logs it. */
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

/** Its parts are loaded on first use; without a browser nothing else stays open. */
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

function adderFor({ kind, options, onCapture, remembering }: CrawlServicesParts): HttpSideParts<object>['add'] {
  if (kind === 'file') return addFile;
  if (!onCapture) return (visit, capture) => addPage(visit, capture, options, remembering);
  return (visit, capture) => {
    onCapture(visit.request, capture);
    return addPage(visit, capture, options, remembering);
  };
}

/** A 304 ends the visit of a page that is remembered, unless its handler wants to know. */
function notModifiedOf({ remembering, options }: CrawlServicesParts): NavigationParts<object>['notModified'] {
  if (!remembering) return undefined;
  return (request, capture) => {
    const answer = remembering.notModified(request, capture);
    if (answer === 'again') return { kind: 'askAgain' };
    return answer === 'unchanged' && !options.remember?.handleUnchanged ? { kind: 'unchanged' } : undefined;
  };
}

/** The handler itself asks the domain: its whole run is the turn. */
const withoutNavigation: Navigate = async (visit, handle) => {
  visit.beginTurn();
  await handle();
  visit.endTurn();
  return { kind: 'handled' };
};
