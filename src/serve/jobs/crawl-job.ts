// A crawl of the API as a run of the library's crawlers over the job's own queue.
// Promise: each page's outcome is kept before its visit settles, under the request's key: after a crash it is there once.
import path from 'node:path';
import { sitemapUrls } from '../../crawl/map/map.js';
import { type CrawlOrderOptions, orderOptions } from '../../crawl/order/options.js';
import { createLinkOrder } from '../../crawl/order/order.js';
import { systemTime } from '../../crawl/time.js';
import type { Priority } from '../../request/request.js';
import { foundAt } from '../../request/found.js';
import { AdaptivePlaywrightCrawler, Configuration, CrawlError, HttpCrawler, Log, LogLevel } from '../../index.js';
import { PlaywrightCrawler, RequestQueue } from '../../index.js';
import type { HttpCrawlingContext, PlaywrightCrawlingContext } from '../../index.js';
import type { CrawlRequest } from '../api/schemas.js';
import { actOn, type LivePage, nothingTaken, PHONE_AGENT, preparePage } from '../pages/actions.js';
import { documentOf, pageSource } from '../pages/document.js';
import { needsBrowser, pageWish } from '../pages/formats.js';
import { DEFAULT_TIMEOUT_MS, headersOf, languageOf } from '../pages/run-config.js';
import { openJobCopies } from './copies.js';
import { createLinkRule } from './link-rules.js';
import { createLoadClock } from './load-clock.js';
import { createOutcomeWriter } from './outcome-writer.js';
import { factsOf } from './rows.js';
import type { JobRun, JobTools } from './runner.js';
import type { Job } from './store.js';

export const DEFAULT_LIMIT = 10_000;
const HANDLER_SECS = 300;
const TEXT_TYPE = /^(?:text\/|application\/(?:json|xml|xhtml\+xml)|.*\+(?:xml|json)$)/;

type AnyContext = HttpCrawlingContext | PlaywrightCrawlingContext;
type AnyCrawler = HttpCrawler<AnyContext> | PlaywrightCrawler<AnyContext> | AdaptivePlaywrightCrawler<AnyContext>;

export function startCrawlJob(job: Job, tools: JobTools): JobRun {
  const { store, fetcher, redisUrl } = tools;
  const writer = createOutcomeWriter(store, job.id, (outcomes) => tools.onPages(job.id, outcomes));
  const request = job.request as CrawlRequest;
  const wish = pageWish(request.scrapeOptions ?? {}, fetcher.abilities, job.id);
  const follows = createLinkRule(request);
  const limit = request.limit ?? DEFAULT_LIMIT;
  const { options } = wish;
  const config = new Configuration({
    storageClientOptions: { localDataDirectory: crawlFolder(tools.dataDir, job.id) },
    purgeOnStart: false,
    persistStorage: true,
  });
  const copies = openJobCopies(request.duplicates, crawlFolder(tools.dataDir, job.id), wish);
  const clock = createLoadClock();
  let crawler: AnyCrawler | undefined;
  let share = tools.share();

  /** Headers may be secrets: they go to the origin that the request named, not to whatever its pages link to. */
  const home = new URL(request.url).origin;
  const headers = headersOf(wish);
  function addHeaders(context: AnyContext, order: { headers?: Record<string, string> }): void {
    const isHome = new URL(context.request.url).origin === home;
    if (order.headers) Object.assign(order.headers, isHome ? headers : languageOf(wish));
  }

  /** False for a near copy that is left out, with its links. */
  async function keepPage(context: AnyContext): Promise<boolean> {
    const { request: asked } = context;
    const taken = nothingTaken();
    const page = livePageOf(context);
    if (page && needsBrowser(wish)) {
      if (options.waitFor) await page.waitForTimeout(options.waitFor);
      await actOn(page, wish, taken);
    }
    const loadedUrl = page?.url() ?? asked.loadedUrl ?? asked.url;
    const fetched = await bodyOf(context, page);
    const source = pageSource({ url: asked.url, loadedUrl, ...fetched }, wish);
    const duplicateOf = await copies?.see(asked.uniqueKey, source);
    if (duplicateOf && copies!.skips) return false;
    const document = documentOf(source, wish, taken);
    if (duplicateOf) document.metadata.duplicateOf = duplicateOf;
    if (fetched.statusCode >= 400) document.metadata.error = `status ${fetched.statusCode}`;
    await fetcher.finish(document, source, wish, job.owner);
    await writer.put({
      kind: 'document',
      key: asked.uniqueKey,
      url: asked.url,
      facts: factsOf(document.metadata, { bytes: fetched.body.length, ms: clock.takenBy(asked) }),
      document: JSON.stringify(document),
    });
    return true;
  }

  async function requestHandler(context: AnyContext): Promise<void> {
    const isKept = await keepPage(context);
    if (!isKept || sitemapMode(request) === 'only') return;
    await context.enqueueLinks({
      strategy: 'all',
      transformRequestFunction: (link) => {
        if (!follows(link.url) || copies?.leavesOut(link.url)) return false;
        return request.ignoreQueryParameters ? { ...link, url: withoutQuery(link.url) } : link;
      },
    });
  }

  const order = orderOf(request);
  const crawlerOptions = {
    ...order,
    maxRequestsPerCrawl: limit,
    maxCrawlDepth: request.maxDiscoveryDepth ?? request.maxDepth ?? undefined,
    maxConcurrency: Math.min(request.maxConcurrency ?? share, share),
    sameDomainDelaySecs: request.delay ?? 0,
    respectRobotsTxtFile: request.robotsUserAgent ? { userAgent: request.robotsUserAgent } : !request.ignoreRobotsTxt,
    allowPrivateAddresses: tools.allowPrivate,
    ignoreSslErrors: options.skipTlsVerification ?? false,
    maxRequestRetries: 2,
    requestHandlerTimeoutSecs: HANDLER_SECS,
    navigationTimeoutSecs: (options.timeout ?? DEFAULT_TIMEOUT_MS) / 1000,
    blockedStatusCodes: [],
    useSessionPool: false,
    log: new Log({ level: LogLevel.OFF }),
    ...(options.mobile && { userAgent: PHONE_AGENT }),
    async failedRequestHandler({ request: failed }: { request: HttpCrawlingContext['request'] }, error: Error) {
      const code = error instanceof CrawlError ? error.code : 'HANDLER_FAILED';
      const trouble = {
        id: failed.id,
        timestamp: new Date().toISOString(),
        url: failed.url,
        code,
        error: error.message,
      };
      await writer.put({ kind: 'error', key: failed.uniqueKey, facts: { ms: clock.takenBy(failed) }, error: trouble });
    },
    async onSkippedRequest({ url, reason }: { url: string; reason: string }) {
      if (reason === 'robotsTxt') await writer.put({ kind: 'robots', key: `robots ${url}`, url });
    },
  };

  async function open(): Promise<AnyCrawler> {
    const requestQueue =
      redisUrl === undefined ? undefined : await RequestQueue.open(queueName(job.id), { config, redisUrl });
    const all = { ...crawlerOptions, ...(requestQueue && { requestQueue }), requestHandler: requestHandler as never };
    if (!fetcher.abilities.browser) {
      return new HttpCrawler(
        { ...all, additionalMimeTypes: ['*/*'], preNavigationHooks: [clock.hook, addHeaders] } as never,
        config,
      );
    }
    const hooks = [
      clock.hook,
      async (context: AnyContext, order: { headers?: Record<string, string> }) => {
        if (needsBrowser(wish)) await preparePage(livePageOf(context)!, wish);
        addHeaders(context, order);
      },
    ];
    const inBrowser = { ...all, preNavigationHooks: hooks } as never;
    return needsBrowser(wish)
      ? new PlaywrightCrawler(inBrowser, config)
      : new AdaptivePlaywrightCrawler(inBrowser, config);
  }

  async function seeds(signal: AbortSignal): Promise<(string | { url: string; priority: Priority })[]> {
    const mode = sitemapMode(request);
    const listed =
      mode === 'skip'
        ? []
        : await sitemapUrls(
            new URL(request.url),
            { allowPrivateAddresses: tools.allowPrivate, signal },
            false,
            limit,
          ).catch(() => []);
    const kept = listed.filter(follows).map((url) => (request.ignoreQueryParameters ? withoutQuery(url) : url));
    const priorities = createLinkOrder(orderOptions(order), systemTime)?.prioritiesOn?.({ url: request.url });
    const first = mode === 'only' && kept.length > 0 ? kept : [request.url, ...kept];
    return priorities
      ? foundAt(
          first.map((url) => ({ url, priority: priorities(url, 0) })),
          [],
        )
      : foundAt(first, []);
  }

  return {
    async run(signal) {
      crawler = await open();
      const abort = (): void => void crawler?.teardown();
      signal.addEventListener('abort', abort, { once: true });
      try {
        const first = await seeds(signal);
        if (!signal.aborted) await crawler.run(first as never);
      } finally {
        signal.removeEventListener('abort', abort);
        await crawler.teardown();
        await writer.close();
        await copies?.close();
        if (redisUrl !== undefined) await crawler.requestQueue?.close();
      }
    },
    async total() {
      const queue = crawler?.running ? crawler.requestQueue : undefined;
      if (!queue) return undefined;
      const { counters } = await queue.getInfo();
      return Math.min(limit, counters.accepted - counters.skipped);
    },
    async figures() {
      const queue = crawler?.running ? crawler.requestQueue : undefined;
      if (!queue) return undefined;
      const { queued, retrying } = (await queue.getInfo()).counters;
      return { queued: queued + retrying, concurrency: crawler?.autoscaledPool?.currentConcurrency ?? 0 };
    },
    setShare(slots) {
      share = slots;
      const pool = crawler?.autoscaledPool;
      if (pool) pool.maxConcurrency = Math.max(1, Math.min(request.maxConcurrency ?? slots, slots));
    },
  };
}

/** The part of a body that says in which order pages come, and when there are enough. */
export function orderOf({ order, query, scorers, enough }: CrawlRequest): CrawlOrderOptions {
  return { order, query, scorers: scorers as CrawlOrderOptions['scorers'], enough: enough as boolean | undefined };
}

const queueName = (id: string): string => `serve-${id}`;

/** The queue of a job that is removed. */
export async function dropCrawlQueue(id: string, redisUrl: string): Promise<void> {
  const config = new Configuration({ persistStorage: false });
  await (await RequestQueue.open(queueName(id), { config, redisUrl })).drop();
}

export const crawlFolder = (dataDir: string, id: string): string => path.join(dataDir, 'crawls', id);

function sitemapMode({ sitemap, ignoreSitemap, sitemapOnly }: CrawlRequest): 'skip' | 'include' | 'only' {
  return sitemap ?? (sitemapOnly ? 'only' : ignoreSitemap ? 'skip' : 'include');
}

function withoutQuery(text: string): string {
  const url = new URL(text);
  url.search = '';
  return url.href;
}

/** The page of a browser; undefined for what came over HTTP alone. */
function livePageOf(context: AnyContext): LivePage | undefined {
  const { renderingType } = context as { renderingType?: string };
  return renderingType !== 'static' && 'page' in context ? (context.page as LivePage) : undefined;
}

async function bodyOf(
  context: AnyContext,
  page: LivePage | undefined,
): Promise<{ statusCode: number; contentType: string; body: string | Buffer }> {
  if (page) {
    const { response } = context as PlaywrightCrawlingContext;
    return { statusCode: response?.status() ?? 200, contentType: 'text/html', body: await page.content() };
  }
  const { response, contentType, body } = context as HttpCrawlingContext;
  const isText = TEXT_TYPE.test(contentType.type);
  const header = response.headers['content-type'];
  return {
    statusCode: response.statusCode,
    contentType: typeof header === 'string' ? header : contentType.type,
    body: isText ? body : Buffer.alloc(0),
  };
}
