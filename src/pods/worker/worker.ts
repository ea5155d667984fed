// A worker of a pod: the lifecycle of every crawl, on the pod's frontier, with links routed to the pods that own them.
// A fetcher with parsers hands each page over; a parser finishes it, by the same code.
// Promise: whatever it held and did not finish goes back; it ends when it is told to, or when its supervisor is gone.
import { join } from 'node:path';
import { Configuration } from '../../configuration.js';
import { createLinkPolicy } from '../../crawl/polite/link-policy.js';
import { openCrawlServices } from '../../crawl/run/crawl-services.js';
import { type Run, type RunEnd, startRun } from '../../crawl/run/lifecycle.js';
import { resolveOptions } from '../../crawl/options/options.js';
import { Statistics } from '../../crawl/run/statistics.js';
import { HTTP_POOL_OPTIONS } from '../../dispatch/pool-options.js';
import type { Capture } from '../../fetch/engine.js';
import { createRecentFingerprints } from '../../frontier/recent.js';
import type { CheerioCrawlingContext, CrawlingContext } from '../../handle/context.js';
import type { Log } from '../../observe/log.js';
import type { MetricsSnapshot } from '../../observe/metrics.js';
import type { Dictionary, Request } from '../../request/request.js';
import { ContentStore } from '../../store/content/content.js';
import { createDataDirectories } from '../../store/content/data-directories.js';
import { KeyValueStore } from '../../store/records/key-value.js';
import { closeStorages } from '../../store/opened.js';
import type { PodsConfig } from '../config/types.js';
import { watchExcludeFile } from '../config/exclude-list.js';
import { loadHandler } from './handler-module.js';
import { createHandoffEngine, handoffFolder, openHandoff } from './handoff.js';
import { createItemWriters } from './item-writers.js';
import type { WorkerFigures, WorkerPlace } from '../messages.js';
import { countLinks, createPageRecorder } from './page-content.js';
import { createBackpressure } from './parse-queue.js';
import { createPodCrawler } from './pod-crawler.js';
import { podStateDir, settleBatchWaitMs } from '../stores/pod-frontier.js';
import { openProcessFigures } from './process-figures.js';
import { createExtensionTest } from '../config/skipped-extensions.js';
import type { HolderListener } from './reporting-client.js';
import { podOfDomain } from '../topology.js';
import { createWorkerMetrics, type WorkerMetrics } from './metrics.js';
import { openWorkerStore, type WorkerStore } from '../stores/worker-store.js';

export interface WorkerOptions extends HolderListener {
  readonly config: PodsConfig;
  readonly place: WorkerPlace;
  readonly log: Log;
  /** Read once at start: `CRAWLER_DEBUG_POD_ASSIGNMENT`. */
  readonly checkAssignment: boolean;
  readonly allowance: number | undefined;
  /** Ends this process as a crash would: what it wrote and was not acknowledged is cut by its supervisor. */
  readonly onRolledBack: () => void;
}

export interface Worker {
  readonly store: WorkerStore;
  /** Never rejects; everything is closed when it resolves. */
  readonly ended: Promise<RunEnd>;
  figures(): WorkerFigures;
  metrics(): MetricsSnapshot;
  drain(): void;
  abort(): void;
}

/** Longer URLs are traps or mistakes. */
const MAX_URL_CHARACTERS = 2_000;
/** More than the library's: a worker sees links of many pages of many sites. */
const RECENT_FINGERPRINTS = 1_048_576;
/** How often a fetcher looks at the parse queue. */
const PRESSURE_MS = 500;

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
    // What was sent lately is sent again; what is found again shall not pass for known.
    onLinksForgotten: () => recent.clear(),
  });
  const { client } = store;
  const storage = new Configuration({
    storageClientOptions: { localDataDirectory: config.dataDirs[0]! },
    purgeOnStart: false,
  });
  const crawlOptions = crawlOptionsOf(config);
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
    durability: config.durability,
    // The supervisor has brought the segments of dead writers into order, and does so whenever a worker dies.
    isWriterGone: () => false,
    notes: {},
    async note(notes) {
      while (!(await client.settle({ settlements: [], notes })).held);
    },
    warn: (message) => log.warning(message),
  });
  const recorder = createPageRecorder({ content, ...config });
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
    onCapture: seeCapture,
    received: handoff && !isParser ? 'only' : config.storeRawHtml ? 'keep' : undefined,
    ...(isParser ? { engine: createHandoffEngine(handoff!, store.captureOf!) } : {}),
    ...(handoff && !isParser
      ? {
          async handOff(_request, capture) {
            meter.metrics?.fetched(capture.timings.totalMs, capture.wireBytes);
            return handOver(await handoff.write(capture));
          },
        }
      : {}),
  });

  function seeCapture(request: Request, capture: Capture): void {
    recorder.see(request, capture);
    if (!isParser) meter.metrics?.fetched(capture.timings.totalMs, capture.wireBytes);
  }

  async function handlePage(context: CrawlingContext): Promise<void> {
    const startedMs = performance.now();
    const page = context as CheerioCrawlingContext;
    if (handler) await handler(page as never);
    else await page.enqueueLinks({ strategy: 'all' });
    // Nothing was fetched.
    if (page.request.skipNavigation) return;
    // A handler of its own that needs no text may never have had the page scanned: then nobody counts.
    if (!handler || config.extractText !== false) foundLinks += countLinks(page.contentType.type, () => page.content);
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
    openWriter: items.open,
    content,
    settleBatchWaitMs: () => settleBatchWaitMs(config),
    maxEnded: Infinity,
    leaseAhead: true,
    keepAlive: true,
    seedsAreIn: () => false,
  }));

  const metrics = (meter.metrics = createWorkerMetrics({
    place,
    pages: () => (handoff && !isParser ? 0 : stats.state.requestsFinished),
    errors: () => stats.state.errors,
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

  // A store that is away is the run's to report.
  const feeling = pressure && setInterval(() => void feelPressure().catch(() => undefined), PRESSURE_MS);

  async function end(): Promise<RunEnd> {
    stats.startCapturing();
    const how = await run.ended;
    stopping.abort();
    clearInterval(feeling);
    excluded.close();
    for (const close of [opened.close, content.close, items.close, () => closeStorages(storage), store.close]) {
      await Promise.resolve(close()).catch((error: unknown) => log.exception(error, 'closing failed'));
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
      statuses: { ...stats.state.requestsWithStatusCode },
      fetchMs: stats.state.requestTotalFinishedDurationMillis,
      bytes: recorder.bytes,
      ...client.figures,
      backpressure: (pressure?.events.soft ?? 0) + (pressure?.events.hard ?? 0),
      commands: store.commandsSent,
      droppedLinks: [...droppedLinks.values()].reduce((sum, count) => sum + count, 0),
      active: run.pool.currentConcurrency,
      ...process.read(),
    }),
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

function crawlOptionsOf(config: PodsConfig) {
  return resolveOptions('cheerio', {
    maxRequestRetries: config.httpMaxRetries,
    navigationTimeoutSecs: config.httpTimeoutSeconds,
    sameDomainDelaySecs: config.politenessDelaySeconds,
    respectRobotsTxtFile: { userAgent: config.userAgent },
    robotsCacheTtlSecs: config.robotsCacheTtlSeconds,
    maxDelaySecs: config.maxDelaySeconds,
    userAgent: config.userAgent,
    maxBodyBytes: config.maxContentLength,
    maxConnectionsPerAddress: config.maxConnectionsPerAddress,
    slowHostShare: config.slowHostShare,
    slowHostPatienceSecs: config.slowHostPatienceSeconds,
    allowPrivateAddresses: config.allowPrivateAddresses,
    // Redis counts what its domains accept, from whomever; an embedded pod has one worker, which counts.
    maxRequestsPerDomain: config.pods.every(({ kind }) => kind === 'redis') ? undefined : config.maxUrlsPerDomain,
    additionalMimeTypes: ['text/plain'],
    useSessionPool: false,
  });
}
