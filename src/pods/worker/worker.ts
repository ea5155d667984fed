// A pod worker: the common crawl lifecycle on the pod's frontier, with links routed to the pods that own them.
// A fetcher with parsers hands each page over; a parser finishes it with the same code.
// Promise: unfinished requests return to the queue; it exits when told to, or when its supervisor is gone.
import { join } from 'node:path';
import { Configuration } from '../../configuration.js';
import { leadsOn } from '../../crawl/navigate/documents.js';
import { createLinkPolicy } from '../../crawl/polite/link-policy.js';
import { openCrawlServices } from '../../crawl/run/crawl-services.js';
import type { FetchEvent } from '../../crawl/run/report/fetch-events.js';
import { type Run, type RunEnd, startRun } from '../../crawl/run/lifecycle.js';
import { Statistics } from '../../crawl/run/report/statistics.js';
import { HTTP_POOL_OPTIONS } from '../../dispatch/pool-options.js';
import type { Rendering } from '../../crawl/browser/rendering.js';
import type { Capture, Engine } from '../../fetch/engine.js';
import { createRecentFingerprints } from '../../frontier/recent.js';
import type { CheerioCrawlingContext, CrawlingContext } from '../../handle/context.js';
import { countOf, countText, rateText } from '../../observe/figures.js';
import type { Log } from '../../observe/log.js';
import type { MetricsSnapshot } from '../../observe/metrics.js';
import type { Dictionary, Request } from '../../request/request.js';
import { ContentStore } from '../../store/content/content.js';
import { createDataDirectories } from '../../store/content/data-directories.js';
import { KeyValueStore } from '../../store/records/key-value.js';
import { closeStorages } from '../../store/opened.js';
import type { PodsConfig } from '../config/types.js';
import { watchExcludeFile } from '../config/exclude-list.js';
import { crawlOptionsOf, loadRendering } from './crawl-options.js';
import { loadHandler } from './handler-module.js';
import { createHandoffEngine, handoffFolder, openHandoff } from './handoff.js';
import { createFateRecorder, recordLostWorkers } from './fates.js';
import { createItemWriters } from './item-writers.js';
import { BLOCKS_FD, type WorkerFigures, type WorkerPlace } from '../messages.js';
import { countLinks, createPageRecorder, type PageRecorder } from './page-content.js';
import { createBackpressure } from './parse-queue.js';
import { createPodCrawler } from './pod-crawler.js';
import { openPodMemory } from './pod-memory.js';
import { createPodWatch } from '../watch/pod-watch.js';
import { podStateDir, settleBatchWaitMs } from '../stores/pod-frontier.js';
import { openProcessFigures } from './process-figures.js';
import { createExtensionTest } from '../config/skipped-extensions.js';
import type { HolderListener } from './reporting-client.js';
import { podOfDomain, portsOf } from '../topology.js';
import { createWorkerMetrics, type WorkerMetrics } from './metrics.js';
import { openWorkerStore, type WorkerStore } from '../stores/worker-store.js';

export interface WorkerOptions extends HolderListener {
  readonly config: PodsConfig;
  readonly place: WorkerPlace;
  readonly log: Log;
  /** Read once at start: `CRAWLER_DEBUG_POD_ASSIGNMENT`. */
  readonly checkAssignment: boolean;
  readonly allowance: number | undefined;
  /** Blocks of the event loop beyond this are reported to the supervisor; undefined: as in a script. */
  readonly blockedLoopMs?: number | undefined;
  /** Ends this process as a crash would: what it wrote and was not acknowledged is cut by its supervisor. */
  readonly onRolledBack: () => void;
}

export interface Worker {
  readonly store: WorkerStore;
  /** Never rejects; everything is closed when it resolves. */
  readonly ended: Promise<RunEnd>;
  figures(): WorkerFigures;
  metrics(): MetricsSnapshot;
  /** In a watch: this pod's part of the budget. */
  setShare(part: number): void;
  drain(): void;
  abort(): void;
}

/** Longer URLs are traps or mistakes. */
const MAX_URL_CHARACTERS = 2_000;
/** More than in a script: a worker sees links from many sites. */
const RECENT_FINGERPRINTS = 1_048_576;
/** How often a fetcher looks at the parse queue. */
const PRESSURE_MS = 500;
/** How often a worker logs its rate. */
const TELL_MS = 10_000;

export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { config, place, log } = options;
  const stopping = new AbortController();
  const meter: { metrics?: WorkerMetrics } = {};
  const started: { run?: Run } = {};
  const recent = createRecentFingerprints({ size: RECENT_FINGERPRINTS });
  const handler = config.handler === undefined ? undefined : await loadHandler(config.handler);
  const excluded = await watchExcludeFile(config.excludeFile, log);
  const store = await openWorkerStore({
    ...options,
    signal: stopping.signal,
    onSent: (pod, tookMs) => meter.metrics?.sent(pod, tookMs),
    onArrived: () => started.run?.notify(),
    // Recent links are sent again; links found again must not count as known.
    onLinksForgotten: () => recent.clear(),
  });
  const storage = new Configuration({
    storageClientOptions: { localDataDirectory: config.dataDirs[0]! },
    purgeOnStart: false,
  });
  const crawlOptions = crawlOptionsOf(config, handler?.scoreLink);
  const directories = createDataDirectories(
    config.dataDirs,
    (message) => log.warning(message),
    (message) => log.error(message),
  );
  const items = createItemWriters(directories, place.pod * config.fetchersPerPod + place.id);
  const content = await ContentStore.open({
    dataDirs: config.dataDirs,
    directories,
    storeRawHtml: config.storeRawHtml,
    extractText: config.extractText !== false,
    layout: config.contentLayout,
    durability: config.durability === 'process' ? 'process' : 'machine',
    // The supervisor has repaired the segments of dead writers, and does so whenever a worker dies.
    isWriterGone: () => false,
    notes: {},
    async note(notes) {
      while (!(await store.client.settle({ settlements: [], notes })).held);
    },
    warn: (message) => log.warning(message),
  });
  const isRemembering = config.remember || config.duplicates !== 'keep' || config.watch !== undefined;
  const memory = isRemembering
    ? await openPodMemory({
        config,
        place,
        log,
        notes: async () => (await store.overview()).notes,
        add: (entries) => store.client.add(entries),
        importance: handler?.importance,
        onConfirmed: (request, capture) => recorder.confirm(request, capture),
      })
    : undefined;
  const watching =
    config.watch && memory
      ? createPodWatch({
          ...{ watch: config.watch, config, memory, log },
          own: store.client,
          pod: place.pod,
          notify: () => started.run?.notify(),
        })
      : undefined;
  const client = watching?.client ?? store.client;
  const recorder: PageRecorder = createPageRecorder({ ...config, content, remembering: memory?.remembering });
  const fateOf = config.recordFates ? createFateRecorder(config.crawl) : undefined;
  const stats = new Statistics();
  const queue = {
    client,
    recent,
    leaseMs: store.leaseMs,
    overview: store.overview,
    isKnown: recent.has,
    glance: (fingerprint: Parameters<typeof recent.has>[0]) =>
      recent.has(fingerprint) ? ('pending' as const) : ('new' as const),
    paceBy: 'domain' as const,
    access: 'shared' as const,
    folder: podStateDir(config, place.pod),
    visitsFolder: join(config.logDir, 'visits', `pod_${place.pod}`),
  };
  const policy = createLinkPolicy(crawlOptions);
  const useState = async <State extends Dictionary>(initial?: State) =>
    (await KeyValueStore.open(undefined, { config: storage })).getAutoSavedValue(
      `STATE_${place.role}_${place.pod}_${place.id}`,
      initial ?? ({} as State),
    );
  const isSkippedFile = createExtensionTest(config.skipExtensions);
  const droppedLinks = new Map<string, number>();
  let foundLinks = 0;
  const isParser = place.role === 'parser';
  const handoff = config.parsersPerPod > 0 ? await openHandoff(handoffFolder(config, place.pod)) : undefined;
  const rendering = isParser ? undefined : await loadRendering(config, storage);
  const browsers: { opened?: Rendering } = {};
  const openRendering = rendering && ((http: Engine) => (browsers.opened = rendering(http)));
  const opened = await openCrawlServices({
    kind: 'cheerio',
    options: crawlOptions,
    log,
    stats,
    queue,
    crawler: createPodCrawler({
      config: storage,
      log,
      stats,
      add: (entries) => client.add(entries),
      useState,
      pool: () => started.run?.pool,
    }),
    policy: {
      ...policy,
      refuseVisit: (url) => excluded.refusal(url) ?? policy.refuseVisit?.(url),
    },
    requestHandler: handlePage,
    sessionPool: undefined,
    roomForRequests: () => Infinity,
    refuseLink(url) {
      if (config.seededUrlsOnly || url.length > MAX_URL_CHARACTERS || isSkippedFile(url)) return 'filters';
      return excluded.refusal(url);
    },
    onSkipped({ url, reason }) {
      droppedLinks.set(reason, (droppedLinks.get(reason) ?? 0) + 1);
      log.debug(`Left out ${url} (${reason})`);
    },
    openKeyValueStore: (name) => KeyValueStore.open(name, { config: storage }),
    useState,
    isElsewhere: (domain) => podOfDomain(domain, config.pods.length) !== place.pod,
    pageOf: recorder.take,
    remembering: memory?.remembering,
    fateOf,
    onFetch: isParser ? undefined : seeFetch,
    onFailedAttempt: (...failure) => meter.metrics?.failed(...failure),
    onCapture: seeCapture,
    received: handoff && !isParser ? 'only' : config.storeRawHtml ? 'keep' : undefined,
    openRendering,
    ...(isParser ? { engine: createHandoffEngine(handoff!, store.captureOf!) } : {}),
    ...(handoff && !isParser
      ? {
          async handOff(_request, capture) {
            meter.metrics?.received(capture.wireBytes);
            return handOver(await handoff.write(capture));
          },
        }
      : {}),
  });

  function seeFetch(event: FetchEvent): void {
    meter.metrics?.fetched(event);
    log.debug(
      `${event.kind === 'robots' ? 'robots.txt: ' : ''}${event.result} in ${Math.round(event.tookMs)} ms: ${event.url}`,
    );
  }

  function seeCapture(request: Request, capture: Capture): void {
    recorder.see(request, capture);
    if (!isParser) meter.metrics?.received(capture.wireBytes);
  }

  async function handlePage(context: CrawlingContext): Promise<void> {
    const startedMs = performance.now();
    const page = context as CheerioCrawlingContext;
    if (handler) await handler.handle(page as never);
    else if (leadsOn(page.document, config)) await page.enqueueLinks({ strategy: 'all' });
    // Nothing was fetched.
    if (page.request.skipNavigation) return;
    await watching?.tell(page);
    // A custom handler may never have scanned the page: then links are not counted.
    if (!handler || config.extractText !== false) foundLinks += countLinks(page, () => page.content);
    log.debug(`Handled ${page.request.url} in ${Math.round(performance.now() - startedMs)} ms`);
    await recorder.record(page.request, page.contentType.type, () => page.content);
    meter.metrics?.parsed(performance.now() - startedMs);
  }

  const process = openProcessFigures();
  const pressure =
    handoff && !isParser
      ? createBackpressure({
          soft: config.parseQueueSoftLimit,
          hard: config.parseQueueHardLimit,
          maxBytes: config.parseQueueMaxBytes,
        })
      : undefined;
  const run = (started.run = startRun({
    queue,
    services: opened.services,
    openGate: opened.openGate,
    slowShare: opened.slowShare,
    config: storage,
    poolOptions: {
      ...HTTP_POOL_OPTIONS,
      minConcurrency: isParser ? config.parserWorkers : config.fetcherWorkers,
      maxConcurrency: isParser ? config.parserWorkers : config.fetcherWorkers,
      ...(pressure ? { isTaskReadyFunction: async () => pressure.mayStart() } : {}),
      log,
    },
    ...(options.blockedLoopMs !== undefined && {
      blockedLoopMs: options.blockedLoopMs,
      reportBlocksTo: BLOCKS_FD,
    }),
    openWriter: items.open,
    content,
    settleBatchWaitMs: () => settleBatchWaitMs(config),
    maxEnded: Infinity,
    leaseAhead: true,
    keepAlive: true,
    seedsAreIn: () => false,
  }));

  watching?.start();

  const metrics = (meter.metrics = createWorkerMetrics({
    place,
    pages: () => (handoff && !isParser ? 0 : stats.state.requestsFinished),
    handled: () => stats.state.requestsFinished,
    redisPorts: portsOf(config),
    skipped: () => droppedLinks,
    active: () => run.pool.currentConcurrency,
    misplaced: () => client.figures.misplaced,
    foundLinks: () => foundLinks,
    ownLinks: () => client.figures.ownLinks,
    sentLinks: () => client.figures.sentLinks,
    pressure: () => pressure?.events ?? { soft: 0, hard: 0 },
    slowHosts: () => opened.slowShare?.figures,
  }));

  async function feelPressure(): Promise<void> {
    const { parsing, parseBytes } = await store.redis!.pod.reading();
    const mayStart = pressure!.mayStart();
    pressure!.see({ entries: parsing, bytes: parseBytes });
    if (!mayStart && pressure!.mayStart()) run.pool.notify();
  }

  /** A line in the worker's own log now and then: how fast it is. */
  let told = { atMs: performance.now(), pages: 0 };
  const telling = setInterval(() => {
    const now = { atMs: performance.now(), pages: stats.state.requestsFinished };
    const perSec = ((now.pages - told.pages) * 1_000) / (now.atMs - told.atMs);
    const { requestsFailed, requestsRetries } = stats.state;
    log.info(
      `${countOf(now.pages, 'page')} (${rateText(perSec)}/s), ${run.pool.currentConcurrency} in progress, ` +
        `${countText(requestsFailed)} failed, ${countOf(requestsRetries, 'retry', 'retries')}`,
    );
    told = now;
  }, TELL_MS);

  // The run reports an unreachable store.
  const feeling = pressure && setInterval(() => void feelPressure().catch(() => undefined), PRESSURE_MS);

  // One process of a pod is enough; the orchestrator restarts it when it dies.
  const lostWorkers =
    fateOf && !isParser && place.id === 0
      ? recordLostWorkers({
          fateOf,
          count: async () => (await store.reading()).lostWorkers,
          notes: async () => (await store.overview()).notes,
          record: run.record,
          log,
        })
      : undefined;

  async function end(): Promise<RunEnd> {
    stats.startCapturing();
    const how = await run.ended;
    stopping.abort();
    clearInterval(feeling);
    clearInterval(telling);
    excluded.close();
    const closeStored = () => closeStorages(storage);
    for (const close of [
      lostWorkers?.close,
      watching?.close,
      opened.close,
      content.close,
      items.close,
      memory?.close,
      closeStored,
      store.close,
    ]) {
      await Promise.resolve(close?.()).catch((error: unknown) => log.exception(error, 'closing failed'));
    }
    return how;
  }

  return {
    store,
    ended: end(),
    metrics: () => metrics.snapshot(),
    figures: () => ({
      pages: stats.state.requestsFinished,
      failed: stats.state.requestsFailed,
      retries: stats.state.requestsRetries,
      errors: { ...stats.state.errors },
      // A parser meets each response again that a fetcher has counted.
      statuses: isParser ? {} : { ...stats.state.requestsWithStatusCode },
      bytes: recorder.bytes,
      ...client.figures,
      backpressure: (pressure?.events.soft ?? 0) + (pressure?.events.hard ?? 0),
      commands: store.commandsSent,
      droppedLinks: [...droppedLinks.values()].reduce((sum, count) => sum + count, 0),
      active: run.pool.currentConcurrency,
      watched: watching?.watched ?? 0,
      ...process.read(browsers.opened?.memoryBytes),
    }),
    setShare: (part) => watching?.setShare(part),
    drain() {
      run.stop();
    },
    abort() {
      stopping.abort();
      run.abort();
    },
  };
}

function handOver({ name, bytes }: { name: string; bytes: number }) {
  return { kind: 'handed' as const, capture: name, bytes };
}
