// The crawler of a command-line crawl: over HTTP, in a browser, or adaptive, with the same settings and the same handler.
// Promise: whatever fetches a page, its item has the same fields.
import {
  AdaptivePlaywrightCrawler,
  type AdaptivePlaywrightCrawlingContext,
  type BasicCrawler,
  type Configuration,
  type CrawlingContext,
  HttpCrawler,
  type HttpCrawlingContext,
  type LoadedContext,
  PlaywrightCrawler,
  type PlaywrightCrawlingContext,
  type Request,
  ProxyConfiguration,
  type SessionPool,
} from '../../index.js';
import type { Log, SkippedRequestCallback } from '../../index.js';
import { loadDomainList } from '../../politeness/domain-list.js';
import type { DomainRuleOptions } from '../../politeness/domain-rules.js';
import { readCookies } from '../flags/page.js';
import { profileFolder } from '../flags/profiles.js';
import { proxiesOf } from '../flags/proxies.js';
import type { NamedHeaders } from '../named-headers.js';
import type { PageChange } from '../../fresh/page-change.js';
import type { StartMode } from './folder.js';
import type { CrawledPage } from './page-item.js';
import type { CrawlSettings } from './settings.js';

export interface CrawlerParts {
  readonly settings: CrawlSettings;
  readonly mode: StartMode;
  readonly config: Configuration;
  readonly headers: NamedHeaders | undefined;
  readonly log: Log;
  onPage(page: CrawledPage, context: PageTools): Promise<void>;
  /** Called before each request is sent. */
  readonly hooks: readonly ((context: { readonly request: object }) => Promise<void>)[];
  onFailed(request: Request, error: Error, context: CrawlingContext): Promise<void>;
  readonly onSkipped: SkippedRequestCallback;
}

/** What a page's handler may use. */
export interface PageTools {
  readonly pushData: CrawlingContext['pushData'];
  readonly enqueueLinks: CrawlingContext['enqueueLinks'];
  /** Only in a browser. */
  readonly takeScreenshot?: (() => Promise<Buffer>) | undefined;
  /** Only of a crawl that remembers. */
  readonly change?: PageChange | undefined;
  readonly request: Request;
}

type AnyPage = LoadedContext<HttpCrawlingContext> | LoadedContext<AdaptivePlaywrightCrawlingContext>;

export async function createCrawler(parts: CrawlerParts): Promise<BasicCrawler> {
  const { settings, mode, config, headers } = parts;
  const options = {
    ...crawlerOptions(settings, mode),
    preNavigationHooks: [...(headers ? [headers.hook] : []), ...parts.hooks],
    domains: await domainLists(settings),
    log: parts.log,
    async requestHandler(context: AnyPage) {
      // A picture needs the page: asked for now, the adaptive crawler loads it in a browser.
      const live = livePage(context, settings);
      const page = live ? await browserPage(live) : httpPage(context as LoadedContext<HttpCrawlingContext>);
      const takeScreenshot = live && (() => live.page.screenshot({ fullPage: true }) as Promise<Buffer>);
      const { pushData, enqueueLinks } = context as CrawlingContext;
      const { change } = context as LoadedContext<HttpCrawlingContext>;
      await parts.onPage(page, { pushData, enqueueLinks, takeScreenshot, change, request: context.request });
    },
    failedRequestHandler: (context: CrawlingContext, error: Error) => parts.onFailed(context.request, error, context),
    onSkippedRequest: parts.onSkipped,
  };
  if (settings.engine === undefined) {
    // A link to an image or archive is not a failure: it is stored without text. Whose links are followed: run.ts.
    const { documents, acceptMarkdown } = settings;
    return new HttpCrawler(
      {
        ...options,
        additionalMimeTypes: ['*/*'],
        documents: documents !== undefined && documents !== false,
        acceptMarkdown,
      } as never,
      config,
    ) as unknown as BasicCrawler;
  }
  const browserOptions = { ...options, ...browserOptionsOf(settings) } as never;
  const Crawler = settings.engine === 'auto' ? AdaptivePlaywrightCrawler : PlaywrightCrawler;
  return new Crawler(browserOptions, config) as unknown as BasicCrawler;
}

function livePage(context: AnyPage, { engine, screenshot }: CrawlSettings) {
  if (engine === undefined) return undefined;
  const live = context as LoadedContext<PlaywrightCrawlingContext> & { renderingType?: string };
  const isInBrowser = engine === 'browser' || live.renderingType === 'browser' || screenshot !== undefined;
  return isInBrowser && live.page ? live : undefined;
}

function httpPage(context: LoadedContext<HttpCrawlingContext>): CrawledPage {
  const { request, response, contentType, body } = context;
  return {
    url: request.url,
    loadedUrl: request.loadedUrl,
    depth: request.crawlDepth,
    statusCode: response.statusCode,
    contentType: contentType.type,
    encoding: contentType.encoding,
    body: typeof body === 'string' ? Buffer.from(body) : body,
    get content() {
      return context.content;
    },
    document: context.document,
    engine: 'http',
  };
}

async function browserPage(context: LoadedContext<PlaywrightCrawlingContext>): Promise<CrawledPage> {
  const { request, response, page } = context;
  return {
    url: request.url,
    loadedUrl: request.loadedUrl,
    depth: request.crawlDepth,
    statusCode: response?.status() ?? 200,
    contentType: 'text/html',
    encoding: 'utf-8',
    body: Buffer.from(await page.content()),
    get content() {
      return context.content;
    },
    engine: 'browser',
  };
}

/** Two pages per second do not burden a host. */
const DEFAULT_DELAY_SECS = 0.5;

/** A host with this many more repeated pages than new ones is a parked domain or a trap. */
const MAX_SAME_CONTENT = 200;

function crawlerOptions(settings: CrawlSettings, mode: StartMode) {
  const given = {
    maxRequestsPerCrawl: settings.maxPages,
    maxCrawlDepth: settings.depth,
    order: settings.order,
    query: settings.query,
    scorers: settings.scorers,
    enough: settings.enough,
    maxConcurrency: settings.concurrency,
    maxRequestsPerMinute: settings.rate === undefined ? undefined : Math.max(1, Math.round(settings.rate * 60)),
    sameDomainDelaySecs: settings.delay ?? DEFAULT_DELAY_SECS,
    respectRobotsTxtFile: !settings.ignoreRobots,
    paceBy: 'host' as const,
    traps: settings.traps,
    maxRequestsPerHost: settings.maxPerHost,
    maxSameContent: settings.traps === false ? undefined : MAX_SAME_CONTENT,
    maxRequestRetries: settings.retries,
    retryDelayMs: settings.retryDelayMs,
    allowPrivateAddresses: settings.allowPrivate,
    allowPrivateSeeds: !settings.refusePrivate,
    userAgent: settings.userAgent,
    maxBodyBytes: settings.maxBody,
    navigationTimeoutSecs: settings.timeout,
    ignoreSslErrors: settings.insecure,
    proxyConfiguration: proxyConfigurationOf(settings),
    sessionPoolOptions: sessionsOf(settings),
    duplicates: settings.duplicates,
    remember: settings.update ? { revisit: mode === 'update', continues: mode === 'resume', hints: true } : undefined,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<typeof given>;
}

function browserOptionsOf({ headed, userDataDir, actions, engine }: CrawlSettings) {
  return {
    ...(headed && { headless: false }),
    ...(userDataDir !== undefined && { launchContext: { userDataDir: profileFolder(userDataDir) } }),
    // Nobody's handler waits: pages that render after loading are waited for.
    pageOptions: { ...(engine === 'browser' && actions === undefined && { settleMs: SETTLE_MS }), ...actions },
  };
}

const SETTLE_MS = 5_000;

function proxyConfigurationOf({ proxy }: CrawlSettings): ProxyConfiguration | undefined {
  const proxyFor = proxiesOf(proxy === undefined ? {} : { proxy });
  if (!proxyFor) return undefined;
  const newUrlFunction = (_: unknown, { request }: { request?: { url: string } } = {}) =>
    (request && proxyFor(request.url)) ?? null;
  return new ProxyConfiguration({ newUrlFunction });
}

/** Every session begins with the given cookies. */
function sessionsOf({ cookies }: CrawlSettings) {
  if (cookies === undefined) return undefined;
  const given = readCookies(cookies).map((cookie) => ({
    ...cookie,
    url: `https://${(cookie.domain ?? '').replace(/^\./, '')}${cookie.path ?? '/'}`,
  }));
  return {
    createSessionFunction: (sessionPool: SessionPool) => {
      const session = sessionPool.newSession();
      session.setCookies(given, '');
      return session;
    },
  };
}

async function domainLists({ excludeDomains, allowDomains }: CrawlSettings): Promise<DomainRuleOptions> {
  return {
    ...(excludeDomains === undefined ? {} : { exclude: await loadDomainList(excludeDomains) }),
    ...(allowDomains === undefined ? {} : { allow: await loadDomainList(allowDomains) }),
  };
}
