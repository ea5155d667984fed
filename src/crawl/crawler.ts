// A crawler, composed: it opens the storages, binds sessions and engine to a run of the lifecycle, and keeps
// the promises around it (fresh start or resume, statistics, signals). The public classes only wear it.
import type { Configuration } from '../configuration.js';
import { HTTP_POOL_OPTIONS } from '../dispatch/pool-options.js';
import { CrawlError } from '../errors.js';
import type { HttpEngine } from '../fetch/http/engine.js';
import { sendRequest } from '../fetch/http/send-request.js';
import type { AddRequestsBatchedOptions, AddRequestsBatchedResult, RequestsLike } from '../frontier/request-queue.js';
import { RequestQueue } from '../frontier/request-queue.js';
import type { AnyData, ContextCrawler } from '../handle/context.js';
import type { SkippedRequestCallback } from '../handle/enqueue-links.js';
import { Router, type RouterHandler } from '../handle/router.js';
import { log as rootLog, type Log } from '../observe/log.js';
import { decodeBody, detectEncoding } from '../parse/encoding.js';
import type { Dictionary, Request } from '../request/request.js';
import type { SessionPool } from '../session/session-pool.js';
import type { Dataset } from '../store/dataset.js';
import type { KeyValueStore } from '../store/key-value.js';
import type { AttemptHost, Navigate } from './attempt.js';
import { cookiesOf, createHttpNavigation } from './http-visit.js';
import { type Run, type RunEnd, startRun } from './lifecycle.js';
import { resolveOptions, type CrawlerKind, type OptionsOfKind, type ResolvedOptions } from './options.js';
import { dressFile, dressPage } from './page-context.js';
import { INTERRUPTED_EXIT_CODE, watchSignals } from './signals.js';
import { type FinalStatistics, Statistics } from './statistics.js';
import { startStatusMessages } from './status-message.js';
import { createStorages } from './storages.js';

export interface RunOptions extends AddRequestsBatchedOptions {
  /** Whether a second `run` empties the default queue first. Default true. */
  purgeRequestQueue?: boolean;
}

/** How long visits may go on after a signal before they are broken off and given back. */
const DRAIN_MS = 10_000;

export type ComposedCrawler = ReturnType<typeof composeCrawler>;

/** @param self the public object, for handlers' `crawler` */
export function composeCrawler<Kind extends CrawlerKind>(
  kind: Kind,
  given: OptionsOfKind[Kind] | undefined,
  config: Configuration,
  self: ContextCrawler,
) {
  const options = resolveOptions(kind, given);
  const log = options.log ?? rootLog.child({ prefix: options.owner });
  const router: RouterHandler<AnyData> = Router.create();
  const requestHandler = options.requestHandler ?? router;
  const stats = new Statistics(options.statisticsOptions);
  const storages = createStorages(options, config, log);
  let sessionPool: SessionPool | undefined;
  let run: Run | undefined;
  let running = false;
  let runs = 0;
  let seeding = 0;
  let interrupted = false;

  async function addRequests(
    requests: RequestsLike,
    addOptions: AddRequestsBatchedOptions = {},
  ): Promise<AddRequestsBatchedResult> {
    const queue = await storages.queue();
    seeding++;
    try {
      // While the crawl runs, what is added may come from a page: it may not name private addresses.
      const added = await queue.addRequestsBatched(requests, { seeded: !running, ...addOptions });
      seeding++;
      void added.waitForAllRequestsToBeAdded.catch(onSeedError).finally(() => {
        seeding--;
        run?.notify();
      });
      run?.notify();
      return added;
    } finally {
      seeding--;
    }
  }

  function onSeedError(error: unknown): void {
    const failure =
      error instanceof CrawlError ? error : new CrawlError('REQUEST_INVALID', String(error), { cause: error });
    if (run) run.fail(failure);
    else log.exception(failure, 'requests could not be added');
  }

  async function runCrawl(requests?: RequestsLike, runOptions: RunOptions = {}): Promise<FinalStatistics> {
    if (running) {
      throw new CrawlError('OPTION_INVALID', 'this crawler is running already: add to it with crawler.addRequests()');
    }
    const { purgeRequestQueue = true, ...addOptions } = runOptions;
    if (runs++ > 0) {
      if (purgeRequestQueue) await storages.emptyDefaultQueue();
      stats.reset();
    }
    interrupted = false;
    const queue = await storages.begin(stats);
    queue.setPacing({ delayMs: options.sameDomainDelayMs, turns: Infinity });
    if (requests !== undefined) await addRequests(requests, addOptions);
    seedFromList(queue);
    running = true;
    let end: RunEnd = { kind: 'aborted' };
    try {
      end = await work(queue);
    } finally {
      running = false;
      run = undefined;
      const finished = end.kind === 'exhausted' || end.kind === 'limit' || (end.kind === 'stopped' && !interrupted);
      await storages.end(finished ? 'finished' : 'interrupted', stats);
    }
    if (end.kind === 'failed') throw end.error;
    if (interrupted) process.exitCode ??= INTERRUPTED_EXIT_CODE;
    return stats.final();
  }

  /** Requests of a list or foreign manager go into the queue in the background. */
  function seedFromList(queue: RequestQueue): void {
    const list =
      options.requestList ?? (options.requestManager instanceof RequestQueue ? undefined : options.requestManager);
    if (!list) return;
    async function* requests(): AsyncGenerator<Request> {
      for (let next = await list!.fetchNextRequest(); next; next = await list!.fetchNextRequest()) {
        yield next;
        if ('markRequestHandled' in list!)
          await (list.markRequestHandled as (request: Request) => Promise<unknown>)(next);
      }
    }
    seeding++;
    void queue
      .addRequestsBatched(requests(), { waitForAllRequestsToBeAdded: true })
      .catch(onSeedError)
      .finally(() => {
        seeding--;
        run?.notify();
      });
  }

  async function work(queue: RequestQueue): Promise<RunEnd> {
    // Loaded with the first run: importing the package stays cheap.
    const { createHttpEngine } = await import('../fetch/http/engine.js');
    const engine = createHttpEngine({ allowPrivateAddresses: options.allowPrivateAddresses });
    sessionPool = options.useSessionPool ? await storages.openSessionPool(options) : undefined;
    for (const host of await storages.privateHosts(queue)) engine.allowHost(`http://${host}/`);
    const allowHost = async (url: string) => {
      const isNew = await storages.notePrivateHost(queue, new URL(url).host);
      engine.allowHost(url);
      return isNew;
    };
    const navigate = navigationOf(kind, options, engine, stats, allowHost);
    const host: Omit<AttemptHost, 'land' | 'onFatal' | 'signal'> = {
      crawler: self,
      log,
      queue,
      maxCrawlDepth: Number.isFinite(options.maxCrawlDepth) ? options.maxCrawlDepth : undefined,
      roomForRequests: () => storages.roomForRequests(queue, options.maxRequestsPerCrawl),
      onSkipped,
      openKeyValueStore: storages.openKeyValueStore,
      useState: storages.useState,
      sendRequest: (sendOptions, identity) =>
        sendRequest(engine, sendOptions, {
          cookies: identity.session ? cookiesOf(identity.session) : undefined,
          proxyUrl: identity.proxyUrl,
          headers: { 'user-agent': options.userAgent, ...identity.session?.headerSet },
          timeoutMs: options.navigationTimeoutMs,
          maxBodyBytes: options.maxBodyBytes,
          maxRedirects: options.maxRedirects,
          ignoreTlsErrors: options.ignoreSslErrors,
          decode: (body, contentType) => decodeBody(body, detectEncoding(body, contentType)),
        }),
      limits: options,
      handlerTimeoutMs: options.requestHandlerTimeoutMs,
      navigate,
      requestHandler: (options.streamHandler as typeof requestHandler | undefined) ?? requestHandler,
      errorHandler: options.errorHandler,
      failedRequestHandler: options.failedRequestHandler,
      sessionPool,
      proxyConfiguration: options.proxyConfiguration,
      stats,
      random: Math.random,
    };
    stats.startCapturing();
    const current = (run = startRun({
      queue,
      host,
      config,
      poolOptions: {
        ...(kind === 'basic' ? {} : HTTP_POOL_OPTIONS),
        ...options.autoscaledPoolOptions,
        minConcurrency: options.minConcurrency,
        maxConcurrency: options.maxConcurrency,
        maxTasksPerMinute: options.maxRequestsPerMinute,
        log,
      },
      openWriter: storages.openVisitWriter,
      maxEnded: options.maxRequestsPerCrawl,
      leaseAhead: options.sameDomainDelayMs === 0 && options.maxRequestsPerMinute === Infinity,
      keepAlive: options.keepAlive,
      seedsAreIn: () => seeding === 0,
    }));
    const signals = watchSignals((signal) => drain(current, signal));
    const saving = storages.saveStatisticsRegularly(stats);
    const status = startStatusMessages({ options, log, stats, crawler: self, queue, pool: current.pool });
    try {
      return await current.ended;
    } finally {
      signals.close();
      await status.close();
      clearInterval(saving);
      stats.stopCapturing();
      await engine.close();
      await sessionPool?.teardown();
    }
  }

  function drain(current: Run, signal: NodeJS.Signals): void {
    interrupted = true;
    log.warning(
      `${signal}: finishing what is under way. Once more ends at once; a later run continues where this one stopped.`,
    );
    current.stop();
    const timer = setTimeout(() => current.abort(), DRAIN_MS);
    void current.ended.finally(() => clearTimeout(timer));
  }

  const onSkipped: SkippedRequestCallback = async (skipped) => {
    if (skipped.reason === 'limit') log.warningOnce('Links beyond maxRequestsPerCrawl are not queued');
    try {
      await options.onSkippedRequest?.(skipped);
    } catch (error) {
      log.exception(error as Error, 'onSkippedRequest threw');
    }
  };

  return {
    options,
    log: log as Log,
    router,
    stats,
    config,
    addRequests,
    run: runCrawl,
    stop(reason?: string): void {
      if (reason !== undefined) log.info(`Stopping: ${reason}`);
      run?.stop();
    },
    async teardown(): Promise<void> {
      const current = run;
      current?.abort();
      await current?.ended;
      await storages.close();
    },
    pushData: async (data: Dictionary | readonly Dictionary[], name?: string) =>
      (await storages.openDataset(name)).pushData(data as Dictionary),
    getDataset: (name?: string): Promise<Dataset> => storages.openDataset(name),
    getKeyValueStore: (name?: string): Promise<KeyValueStore> => storages.openKeyValueStore(name),
    useState: storages.useState,
    get running() {
      return running;
    },
    get requestQueue() {
      return storages.openedQueue;
    },
    getRequestQueue: storages.queue,
    get sessionPool() {
      return sessionPool;
    },
    get autoscaledPool() {
      return run?.pool;
    },
  };
}

function navigationOf(
  kind: CrawlerKind,
  options: ResolvedOptions,
  engine: HttpEngine,
  stats: Statistics,
  allowHost: (url: string) => Promise<boolean>,
): Navigate {
  if (kind === 'basic') return withoutNavigation;
  return createHttpNavigation({
    engine,
    options,
    allowHost,
    dress: kind === 'file' ? dressFile : (visit, capture) => dressPage(visit, capture, options),
    onStatus: (statusCode) => stats.registerStatusCode(statusCode),
  });
}

/** The handler itself asks the domain: its whole run is the turn. */
const withoutNavigation: Navigate = async (visit, handle) => {
  visit.depart();
  await handle();
  visit.land();
  return { kind: 'handled' };
};
