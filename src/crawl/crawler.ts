// A crawler, composed: it opens the storages, binds sessions and engine to a run of the lifecycle, and keeps
// the promises around it (fresh start or resume, statistics, signals). The public classes only wrap it.
import type { Configuration } from '../configuration.js';
import type { AutoscaledPool } from '../dispatch/autoscaled-pool.js';
import { type AutoscaledPoolOptions, HTTP_POOL_OPTIONS, resolvePoolOptions } from '../dispatch/pool-options.js';
import type { SlowFigures, SlowShare } from '../dispatch/slow-share.js';
import { CrawlError } from '../errors.js';
import type { Counters, Lease } from '../frontier/frontier.js';
import type {
  AddRequestsBatchedOptions,
  AddRequestsBatchedResult,
  RequestsLike,
} from '../frontier/queue/request-queue.js';
import { RequestList } from '../frontier/queue/request-list.js';
import { RequestQueue } from '../frontier/queue/request-queue.js';
import type { AnyData, ContextCrawler, CrawlingContext, HttpCrawlingContext } from '../handle/context.js';
import type { SkippedRequestCallback } from '../handle/enqueue-links.js';
import { Router, type RouterHandler } from '../handle/router.js';
import { checkUserData } from '../handle/user-data-schema.js';
import { countText } from '../observe/figures.js';
import { announce, EventType } from '../observe/events.js';
import { log as rootLog, type Log } from '../observe/log.js';
import { unpackRecord } from '../request/record.js';
import type { Dictionary, Source } from '../request/request.js';
import { SessionPool } from '../session/session-pool.js';
import type { Dataset } from '../store/dataset/dataset.js';
import type { KeyValueStore } from '../store/records/key-value.js';
import { createLinkPolicy } from './polite/link-policy.js';
import { openCrawlServices } from './run/crawl-services.js';
import type { HandlerServices } from './run/services.js';
import { ROUNDING_MS } from './run/turn.js';
import { type Run, type RunEnd, startRun } from './run/lifecycle.js';
import { checkLogSettings } from './options/log-settings.js';
import { enoughOf } from './order/order.js';
import { resolveOptions, type CrawlerKind, type OptionsOfKind, type ResolvedOptions } from './options/options.js';
import { INTERRUPTED_EXIT_CODE, watchSignals } from './run/signals.js';
import { closingLine, enoughLine, isNothingNew } from './run/report/closing-line.js';
import { type FinalStatistics, Statistics } from './run/report/statistics.js';
import { withSnapshots } from './run/report/error-snapshots.js';
import { startStatusMessages } from './run/report/status-message.js';
import { createSeeding } from './run/seeding.js';
import type { FinishedVisit } from './run/settler.js';
import { NO_SLOW_HOSTS } from './run/slow-hosts.js';
import { openCrawlMemory } from './storage/page-memory.js';
import { createStorages } from './storage/storages.js';
import { systemTime, type Time } from './time.js';

/** How a run begins. */
export interface RunOptions extends AddRequestsBatchedOptions {
  /** Whether a second `run` empties the default queue first. Default true. */
  purgeRequestQueue?: boolean;
}

/** How long visits may go on after a signal before they are broken off and given back. */
const DRAIN_MS = 10_000;
/** Of a foreign list: enough that the crawl does not wait for it. */
const MIN_AHEAD = 100;

export type ComposedCrawler = ReturnType<typeof composeCrawler>;

/** @param self the public object, for handlers' `crawler` */
export function composeCrawler<Kind extends CrawlerKind>(
  kind: Kind,
  given: OptionsOfKind[Kind] | undefined,
  config: Configuration,
  self: ContextCrawler,
  time: Time = systemTime,
) {
  const options = resolveOptions(kind, given);
  checkLogSettings(config);
  const log = options.log ?? rootLog.child({ prefix: options.owner });
  const router: RouterHandler<AnyData> = Router.create();
  const requestHandler = options.requestHandler ?? router;
  const stats = new Statistics(options.statisticsOptions, time);
  const poolOptions = {
    ...(kind === 'basic' ? {} : HTTP_POOL_OPTIONS),
    ...options.autoscaledPoolOptions,
    minConcurrency: options.minConcurrency,
    maxConcurrency: options.maxConcurrency,
    maxTasksPerMinute: options.maxRequestsPerMinute,
    log,
  };
  checkParts(poolOptions, options);
  const policy = createLinkPolicy(options);
  const storages = createStorages(options, config, log);
  let sessionPool: SessionPool | undefined;
  let slowShare: SlowShare | undefined;
  let run: Run | undefined;
  /** Of the last run: scripts look at it afterwards. */
  let lastPool: AutoscaledPool | undefined;
  let hasFinishedBefore = false;
  let running = false;
  let current: Promise<FinalStatistics> | undefined;
  let runs = 0;
  let interrupted = false;
  /** Calls made between `run()` and the moment the run exists. */
  let asked: 'stop' | 'abort' | undefined;
  let seedError: CrawlError | undefined;
  const seeding = createSeeding(storages.queue, () => run?.notify(), time);

  /** Requests of the crawl itself could not be added: a run without them would look complete and not be. */
  function onSeedError(error: CrawlError): void {
    if (run) run.fail(error);
    else seedError ??= error;
  }

  /** Labels with a schema: an array's requests that do not fit are refused here, not at their visit. */
  async function checkLabels(requests: RequestsLike): Promise<void> {
    const { schemas, getSchema } = requestHandler as Partial<RouterHandler>;
    if (!schemas?.size || !Array.isArray(requests)) return;
    for (const source of requests as Source[]) {
      if (typeof source === 'string') continue;
      const { userData = {}, label = (userData as Dictionary).label as string | undefined } = source;
      const schema = getSchema!(label);
      if (schema) await checkUserData(schema, userData, label);
    }
  }

  async function addRequests(
    requests: RequestsLike,
    addOptions: AddRequestsBatchedOptions = {},
  ): Promise<AddRequestsBatchedResult> {
    await checkLabels(requests);
    // Before the run exists nothing was visited, also right after `run()` was called: these are seeds.
    if (!run) return seeding.add(requests, addOptions, onSeedError);
    // Later, what is added may come from a page: it may neither name private addresses nor end the crawl. Who awaits the
    // rest gets the error.
    return seeding.add(requests, { ...addOptions, seeded: false }, (error) => {
      if (error.class === 'fatal') onSeedError(error);
      else log.exception(error, 'could not add requests');
    });
  }

  async function runCrawl(requests?: RequestsLike, runOptions: RunOptions = {}): Promise<FinalStatistics> {
    if (running) {
      throw new CrawlError('OPTION_INVALID', 'this crawler is already running: use crawler.addRequests()');
    }
    running = true;
    asked = undefined;
    current = runOnce(requests, runOptions).finally(() => {
      running = false;
      hasFinishedBefore = true;
      run = undefined;
    });
    return current;
  }

  /**
   * How far ahead of the crawl a foreign list is read; undefined: all of it. Its end is told to the list then, which keeps
   * its own state. An order of ours, or domains that take turns, need to know all requests.
   */
  function aheadOf(list: object): number | undefined {
    if (list instanceof RequestList || options.polite || options.order !== 'bfs') return undefined;
    return Math.max(MIN_AHEAD, 4 * options.maxConcurrency);
  }

  async function runOnce(requests: RequestsLike | undefined, runOptions: RunOptions): Promise<FinalStatistics> {
    const { purgeRequestQueue = true, ...addOptions } = runOptions;
    if (runs++ > 0) {
      if (purgeRequestQueue) await storages.emptyDefaultQueue();
      stats.reset();
    }
    interrupted = false;
    const queue = await storages.begin(stats);
    let end: RunEnd = { kind: 'aborted' };
    let left: Counters | undefined;
    try {
      const { sameDomainDelayMs: delayMs } = options;
      queue.setPacing({ delayMs: delayMs > 0 ? delayMs + ROUNDING_MS : 0, turns: Infinity });
      if (requests !== undefined) {
        await checkLabels(requests);
        await seeding.add(requests, addOptions, onSeedError);
      }
      for (const list of [options.requestList, options.requestManager]) {
        if (list && !(list instanceof RequestQueue)) seeding.copy(list, onSeedError, aheadOf(list));
      }
      end = await work(queue, queue.endedEarlier + options.maxRequestsPerCrawl);
    } finally {
      await seeding.stopCopying();
      left = (await queue.overview().catch(() => undefined))?.counters;
      const finished = end.kind === 'exhausted' || end.kind === 'limit' || (end.kind === 'stopped' && !interrupted);
      announce(config, EventType.PERSIST_STATE, { isMigrating: false });
      await storages.end(finished ? 'finished' : 'interrupted', end.kind === 'limit', stats);
    }
    if (end.kind === 'failed') throw end.error;
    if (interrupted) process.exitCode ??= INTERRUPTED_EXIT_CODE;
    const final = stats.final();
    log.info(closingLine(final, interrupted, end.kind, left));
    if (requests !== undefined && left && isNothingNew(final, end, left)) {
      log.warning(
        `Nothing was crawled: the queue had all of these requests already (${countText(left.done)} done). ` +
          'Give this crawler a requestQueue of its own, or the requests another uniqueKey.',
      );
    }
    return final;
  }

  async function work(queue: RequestQueue, maxEnded: number): Promise<RunEnd> {
    const remembered = options.remember && (await openCrawlMemory(options.remember, options, config, queue, time));
    if (remembered && options.remember?.revisit) {
      if (options.remember.hints !== false) await remembered.readHints(options.userAgent);
      await seeding.add(remembered.revisits(), { seeded: false }, onSeedError);
    }
    sessionPool = options.useSessionPool ? await storages.openSessionPool(options) : undefined;
    const opened = await openCrawlServices({
      config,
      time,
      kind,
      options,
      log,
      stats,
      queue,
      crawler: self,
      policy,
      requestHandler: watched((options.streamHandler as typeof requestHandler | undefined) ?? requestHandler),
      sessionPool,
      privateHosts: {
        list: async () => [...(await storages.privateHosts(queue)), ...(remembered?.privateHosts() ?? [])],
        async note(host) {
          await storages.notePrivateHost(queue, host);
          await remembered?.notePrivateHost(host);
        },
      },
      roomForRequests: () => storages.roomForRequests(queue, maxEnded),
      onSkipped,
      openKeyValueStore: storages.openKeyValueStore,
      useState: storages.useState,
      remembering: remembered?.remembering,
    }).catch(async (error: unknown) => {
      await remembered?.close();
      await sessionPool?.teardown();
      throw error;
    });
    ({ slowShare } = opened);
    stats.startCapturing();
    const started = (run = startRun({
      queue,
      services: opened.services,
      openGate: opened.openGate,
      slowShare,
      blockedLoopMs: options.blockedLoopMs,
      config,
      poolOptions,
      openWriter: storages.openVisitWriter,
      maxEnded,
      // What is leased ahead was the best when it was leased.
      leaseAhead: options.maxRequestsPerMinute === Infinity && options.order === 'bfs',
      settlesFirst: options.order !== 'bfs',
      keepAlive: options.keepAlive,
      seedsAreIn: () => !seeding.isUnderWay,
      onEnded: seeding.isAsking ? ({ fingerprint }) => seeding.onEnded(fingerprint) : undefined,
      refuseLease: policy.refuseVisit && refuseLease,
    }));
    lastPool = started.pool;
    if (seedError) started.fail(seedError);
    seedError = undefined;
    if (asked === 'stop') started.stop();
    if (asked === 'abort') started.abort();
    const signals = watchSignals((signal) => drain(started, signal));
    const endSaving = storages.saveStatisticsRegularly(stats, time);
    const status = startStatusMessages({ options, log, stats, crawler: self, queue, pool: started.pool, time });
    try {
      return await started.ended;
    } finally {
      signals.close();
      await status.close();
      endSaving();
      stats.stopCapturing();
      await opened.close();
      await remembered?.close();
      await sessionPool?.teardown();
    }
  }

  /** Changes are reported within the visit: what is pushed there is stored once. */
  function told(handler: typeof requestHandler): HandlerServices<CrawlingContext>['request'] {
    const { onChange, statisticsOptions } = options;
    const given = handler as HandlerServices<CrawlingContext>['request'];
    const handle = withSnapshots(given, stats, statisticsOptions.saveErrorSnapshots);
    if (!onChange) return handle;
    return async (context) => {
      await handle(context);
      const { change } = context as HttpCrawlingContext;
      if (change && change.kind !== 'same') await onChange(context as never);
    };
  }

  /** Pages are compared after their handler, and only if requested. */
  function watched(handler: typeof requestHandler): HandlerServices<CrawlingContext>['request'] {
    const handle = told(handler);
    const enough = enoughOf(options);
    if ((options.maxSameContent === Infinity && !enough) || kind === 'basic' || kind === 'file') return handle;
    return async (context) => {
      await handle(context);
      const page = context as HttpCrawlingContext;
      policy.see(page);
      if (!enough || page.request.skipNavigation || !enough.see(page.content.title, page.content.text)) return;
      log.info(enoughLine(enough.figures));
      asked ??= 'stop';
      run?.stop();
    };
  }

  function drain(started: Run, signal: NodeJS.Signals): void {
    interrupted = true;
    announce(config, EventType.ABORTING);
    // Whoever paused on hearing it wanted a rest, and gets one: the run ends.
    started.pool.resume();
    log.warning(`${signal}: finishing pages in progress. Press again to exit at once; the next run continues.`);
    started.stop();
    const cancel = time.after(DRAIN_MS, () => started.abort());
    void started.ended.finally(cancel);
  }

  function refuseLease({ id, record }: Lease): FinishedVisit | undefined {
    const { url } = unpackRecord(record);
    const reason = policy.refuseVisit!(url);
    if (!reason) return undefined;
    return {
      settlement: { kind: 'skipped', lease: id, reason },
      items: [],
      onSettled: (held) => {
        if (held) void onSkipped({ url, reason });
      },
    };
  }

  const onSkipped: SkippedRequestCallback = (skipped) => {
    if (skipped.reason === 'limit') log.warningOnce('Links beyond maxRequestsPerCrawl are not queued');
    return options.onSkippedRequest ? tellUser(options.onSkippedRequest, skipped) : undefined;
  };

  async function tellUser(listener: SkippedRequestCallback, skipped: Parameters<SkippedRequestCallback>[0]) {
    try {
      await listener(skipped);
    } catch (error) {
      log.exception(error as Error, 'onSkippedRequest threw');
    }
  }

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
      asked ??= 'stop';
      run?.stop();
    },
    async teardown(): Promise<void> {
      asked = 'abort';
      run?.abort();
      await current?.catch(() => undefined);
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
    get hasFinishedBefore() {
      return hasFinishedBefore;
    },
    get sessionPool() {
      return sessionPool;
    },
    get autoscaledPool() {
      return run?.pool ?? lastPool;
    },
    get slowHosts(): SlowFigures {
      return slowShare?.figures ?? NO_SLOW_HOSTS;
    },
  };
}

/** Options that are checked where they are used, checked before anything starts. */
function checkParts(poolOptions: Partial<AutoscaledPoolOptions>, options: ResolvedOptions): void {
  const never = async () => false;
  resolvePoolOptions({
    runTaskFunction: never,
    isTaskReadyFunction: never,
    isFinishedFunction: never,
    ...poolOptions,
  });
  if (options.useSessionPool) new SessionPool(options.sessionPoolOptions);
}
