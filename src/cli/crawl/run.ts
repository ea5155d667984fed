// Runs one crawl of the command line in its folder: crawler, live progress, signals, result file, report.
// Promise: whatever ends it, the folder can be resumed, and the report says what is in it.
import { access, constants, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../../base/private-files.js';
import { leadsOn } from '../../crawl/navigate/documents.js';
import { readLastRun } from '../../crawl/storage/run-state.js';
import { type BasicCrawler, CrawlError, type Configuration, Dataset, Log, LogLevel } from '../../index.js';
import { createTextWriter } from '../../observe/log-lines.js';
import { type Progress, type ProgressFigures, startProgress } from '../../observe/progress.js';
import type { PageChange } from '../../fresh/page-change.js';
import { hideLogins } from '../../request/login.js';
import { isPageFormat } from '../../store/formats.js';
import { asStorageError } from '../../store/storage-errors.js';
import { configurationFor, FAILED_DATASET, removeLeftovers, SKIPPED_DATASET, type StartMode } from './folder.js';
import { type CrawlSettings, saveSettings } from './settings.js';
import { type DashboardFlags, type OpenedDashboard, startDashboard } from '../dashboard.js';
import { EXIT, UsageError } from '../exit-codes.js';
import type { Outcome } from '../../serve/jobs/store.js';
import { createLoadClock } from '../../serve/jobs/load-clock.js';
import { noUrls } from '../batch/urls.js';
import { createNamedHeaders, type NamedHeaders } from '../named-headers.js';
import { createArtifactWriter } from '../pages/artifacts.js';
import { createCrawler } from './crawler.js';
import { isShell, type PageItem, pageItem } from './page-item.js';
import { failuresOf } from './failures.js';
import { type CrawlReport, createReasons, type FailedItem, type ReasonCount } from './report.js';
import { type ResultFile, writePageFiles, writeResultFile } from './result-file.js';
import { linkRules, seedUrls, urlsOfSitemaps } from './seeds.js';
import { createSkipsWriter } from './skips.js';
import { beginUpdate, siteCopies, updateFigures } from './update.js';
import { complainAsLogged, shown } from '../terminal.js';
import { version } from '../version.js';

export interface CrawlManners extends DashboardFlags {
  /** Show only errors. */
  readonly quiet?: boolean;
  /** Also show the crawler's log. */
  readonly verbose?: boolean;
}

export interface CrawlPlace {
  /** As the user wrote it, for messages. */
  readonly folder: string;
  readonly mode: StartMode;
}

/** Kept with the crawl's state, so that a resumed crawl reports the whole. */
interface KeptState extends Record<string, unknown> {
  leftOut: ReasonCount[];
}

export async function runCrawl(
  settings: CrawlSettings,
  { folder, mode }: CrawlPlace,
  manners: CrawlManners,
): Promise<CrawlReport> {
  const storageFolder = path.resolve(folder);
  const config = configurationFor(storageFolder, mode);
  let lastHost: string | undefined;
  let invalidLines = 0;
  let endedBefore = 0;
  const over = new AbortController();
  const rules = linkRules(settings);
  const hasLists = settings.urls.includes('-') || (settings.lists ?? []).length > 0;
  const headers = settings.header || settings.logins || hasLists ? createNamedHeaders(settings.header) : undefined;
  for (const login of settings.logins ?? []) headers?.name(login);
  const artifacts = createArtifactWriter({ screenshot: settings.screenshot });
  const wishes = {
    links: settings.links,
    markdown: settings.format === 'markdown' || settings.format === 'fit',
    isTable: settings.format === 'csv' || settings.format === 'parquet',
    selector: settings.selector,
    content: settings.content,
    extract: settings.extract,
  };
  const leftOut = { reasons: createReasons() };
  const shells = { count: 0, example: '' };
  const skips = createSkipsWriter(
    (items) => crawler.pushData(items, SKIPPED_DATASET),
    (error) => progress.print(`cannot write what was left out: ${(error as Error).message}\n`),
  );

  const progress = startProgress({
    output: manners.quiet ? { write: () => undefined } : process.stderr,
    read: () => figuresOf(crawler, lastHost, endedBefore),
  });
  const clock = createLoadClock();
  let dashboard: OpenedDashboard | undefined;
  const crawler: BasicCrawler = await createCrawler({
    settings,
    mode,
    hooks: hasDashboard(manners) ? [clock.hook] : [],
    config,
    headers,
    log: logFor(manners, progress),
    async onPage(page, { pushData, enqueueLinks, takeScreenshot, change: seen, request }) {
      lastHost = new URL(page.loadedUrl).host;
      const change = seen && changeOf(seen, page.statusCode, settings.update === true);
      const item = await pageItem(page, wishes);
      if (isShell(page)) {
        shells.count++;
        shells.example ||= item.url;
      }
      if (artifacts && takeScreenshot) await artifacts.write({ url: page.url, screenshot: await takeScreenshot() });
      if (!change?.isSame) await pushData({ ...item, ...change?.field });
      if (leadsOn(page.document, settings)) await enqueueLinks(rules);
      await dashboard?.put(shownPage(item, request.uniqueKey, clock.takenBy(request)));
    },
    async onFailed(request, error, { pushData }) {
      const item = failedItem(request.url, error, request.retryCount);
      await pushData(item, FAILED_DATASET);
      await dashboard?.put(shownFailure(item, request.uniqueKey, clock.takenBy(request)));
    },
    onSkipped: async ({ url, reason }) => {
      // Mail links and the like are not pages.
      if (!/^https?:/.test(url)) return;
      const named = hideLogins(url);
      leftOut.reasons.add(reason, named);
      if (reason === 'robotsTxt') await dashboard?.put({ kind: 'robots', key: `robots ${url}`, url: named });
      if (settings.explainSkips) await skips.add({ url: named, reason });
    },
  }).catch((error: unknown) => {
    progress.close();
    throw error;
  });

  /** Nothing has started: an open standard input must not keep the process alive. */
  const giveUp = (error: unknown): never => {
    progress.close();
    over.abort();
    throw error;
  };
  const sources = { urls: settings.urls, lists: settings.lists, input: process.stdin };
  const seeds = await begun(
    seedUrls(sources, over.signal, (message) => {
      invalidLines++;
      progress.print(`${message}\n`);
    }),
  ).catch(giveUp);
  if (!seeds && mode !== 'resume' && mode !== 'update') giveUp(new UsageError(noUrls(settings.urls.includes('-'))));
  await mkdir(storageFolder, PRIVATE_FOLDER)
    .then(() => access(storageFolder, constants.W_OK))
    .catch((error: unknown) => giveUp(asStorageError(error, folder, 'choose another folder with --out')));
  if (mode === 'update') await beginUpdate(config, storageFolder).catch(giveUp);
  const queue = await crawler.getRequestQueue().catch(giveUp);
  try {
    if (mode === 'fresh') await removeLeftovers(storageFolder);
    await saveSettings(storageFolder, settings);
    const kept = await crawler.useState<KeptState>({ leftOut: [] });
    leftOut.reasons = createReasons(mode === 'update' ? [] : kept.leftOut);
    const before = (await queue.getInfo()).counters;
    endedBefore = before.done + before.failed;
    await addSitemaps(crawler, settings, over.signal, (line) => progress.print(`${line}\n`));
    dashboard = await startDashboard(manners, {
      mode: 'crawl',
      folder: storageFolder,
      isFresh: mode === 'fresh',
      url: settings.urls[0] ?? folder,
      request: shownSettings(settings),
      figures: () => figuresOf(crawler, lastHost, endedBefore),
      stop: () => void crawler.stop(),
    });
    const startedAt = new Date();
    const startedAtMs = performance.now();
    const named = seeds && headers ? naming(seeds, headers) : (seeds ?? []);
    await interruptible(crawler, progress, manners, () => crawler.run(named));
    await skips.flush();
    const durationMs = performance.now() - startedAtMs;
    progress.close();
    kept.leftOut = leftOut.reasons.list();

    const { counters, pendingRequestCount: pending } = await queue.getInfo();
    const { done: pages, failed, skipped } = counters;
    const pagesThisRun = pages - before.done;
    const interrupted = (await readLastRun(storageFolder))?.state === 'interrupted';
    await dashboard?.end(interrupted ? 'cancelled' : 'completed');
    const report: CrawlReport = {
      orcrawl: version(),
      outcome: interrupted ? 'interrupted' : pending > 0 ? 'limit' : 'finished',
      urls: settings.urls,
      startedAt: startedAt.toISOString(),
      endedAt: new Date().toISOString(),
      durationMs: Math.round(durationMs),
      pagesThisRun,
      failedThisRun: failed - before.failed,
      pagesPerSec: Number(((1000 * pagesThisRun) / Math.max(1, durationMs)).toFixed(2)),
      pages,
      failed,
      skipped,
      pending,
      errorPages: await errorPagesOf(config),
      answers: crawler.stats.state.requestsWithStatusCode,
      ...(await failuresOf(config, folder, queue, failed)),
      ...(settings.explainSkips ? await skipsOf(config, folder) : {}),
      ...(settings.update ? { update: await updateFigures(config, folder) } : {}),
      ...((settings.duplicates ?? 'keep') === 'keep' ? {} : { copies: await siteCopies(config) }),
      leftOut: leftOut.reasons.list(),
      invalidLines,
      folder,
      shells: shells.count === 0 ? undefined : shells,
      result: await writeResult(config, folder, settings),
    };
    await writeFile(path.join(storageFolder, 'report.json'), `${JSON.stringify(report, null, 2)}\n`, PRIVATE_FILE);
    return report;
  } finally {
    progress.close();
    over.abort();
    await dashboard?.end('failed').catch(() => undefined);
    await dashboard?.close();
    await crawler.teardown();
  }
}

/** The list once its first URL is known; undefined if there is none. Before that, nothing is created on disk. */
async function begun(urls: AsyncGenerator<string>): Promise<AsyncIterable<string> | undefined> {
  const first = await urls.next();
  if (first.done) return undefined;
  return (async function* () {
    yield first.value;
    yield* urls;
  })();
}

/** Queues what the sitemaps of the given sites list. */
async function addSitemaps(
  crawler: BasicCrawler,
  settings: CrawlSettings,
  over: AbortSignal,
  tell: (line: string) => void,
): Promise<void> {
  if (!settings.sitemap) return;
  for (const url of settings.urls) {
    if (url === '-') continue;
    try {
      const listed = await urlsOfSitemaps(url, settings, over);
      if (listed.length === 0) tell(`no sitemap of ${new URL(url).host} lists a page of the crawl`);
      else await crawler.addRequests(listed, { waitForAllRequestsToBeAdded: true });
    } catch (error) {
      // The crawl itself tells what is wrong with its host.
      tell(`sitemaps of ${new URL(url).host} cannot be read: ${shown((error as Error).message)}`);
    }
  }
}

function writeResult(config: Configuration, folder: string, settings: CrawlSettings): Promise<ResultFile> {
  const { format, inFolder, rawCsv } = settings;
  return Dataset.open<PageItem & Record<string, unknown>>(undefined, { config }).then((dataset) =>
    inFolder && isPageFormat(format)
      ? writePageFiles(dataset, folder, format)
      : writeResultFile(dataset, folder, format, { rawCsv }),
  );
}

/** The seeds as they come; each is named before it can be requested. */
async function* naming(seeds: AsyncIterable<string>, headers: NamedHeaders): AsyncGenerator<string> {
  for await (const url of seeds) {
    yield headers.name(url);
  }
}

/** Whether a page is stored again, and as what: error pages that were not there before either are as they were. */
function changeOf({ kind, visits, duplicateOf }: PageChange, statusCode: number, isUpdate: boolean) {
  const isFirst = visits === 1;
  const isSame = isUpdate && (kind === 'removed' || (kind === 'same' && !isFirst));
  const field = {
    ...(isUpdate ? { change: statusCode >= 400 ? 'missing' : kind } : {}),
    ...(duplicateOf ? { duplicateOf: hideLogins(duplicateOf.url) } : {}),
  };
  return { isSame, field };
}

function failedItem(url: string, error: Error, retries: number): FailedItem {
  const code = error instanceof CrawlError ? error.code : 'HANDLER_FAILED';
  return {
    url: hideLogins(url),
    code,
    message: hideLogins(error.message),
    retries,
    failedAt: new Date().toISOString(),
  };
}

const hasDashboard = ({ dashboard, open }: DashboardFlags): boolean => dashboard === true || open === true;

/** The settings without what may be secret. */
function shownSettings({ header: _, logins: __, ...settings }: CrawlSettings): object {
  return settings;
}

function shownPage(item: PageItem, key: string, ms: number | undefined): Outcome {
  const { url, status, title, contentType: type, bytes } = item;
  const facts = { status, title: title ?? undefined, type, bytes, ms };
  return { kind: 'document', key, url, facts, document: JSON.stringify(item) };
}

function shownFailure({ url, code, message, failedAt }: FailedItem, key: string, ms: number | undefined): Outcome {
  return { kind: 'error', key, facts: { ms }, error: { id: key, timestamp: failedAt, url, code, error: message } };
}

/** The crawler's log goes above the progress line: errors only by default. */
function logFor(manners: CrawlManners, progress: Progress): Log {
  const isColoured = !process.env.NO_COLOR && process.stderr.isTTY === true;
  const toStderr = manners.quiet ? complainAsLogged : progress.print;
  return new Log({
    level: manners.verbose ? LogLevel.INFO : LogLevel.ERROR,
    logger: createTextWriter(
      (line) => void toStderr(line),
      () => isColoured,
    ),
  });
}

async function figuresOf(
  crawler: BasicCrawler,
  host: string | undefined,
  endedBefore: number,
): Promise<ProgressFigures | undefined> {
  const { requestQueue } = crawler;
  if (!requestQueue || !crawler.running) return undefined;
  const { done, failed, queued, retrying } = (await requestQueue.getInfo()).counters;
  const concurrency = crawler.autoscaledPool?.currentConcurrency ?? 0;
  const figures = { done, failed, queued: queued + retrying, concurrency, endedBefore };
  return host === undefined ? figures : { ...figures, host };
}

/** The crawler drains on a signal; this tells the user, and a signal outside the run ends at once. */
async function interruptible(
  crawler: BasicCrawler,
  progress: Progress,
  manners: CrawlManners,
  run: () => Promise<unknown>,
): Promise<void> {
  const onSignal = () => {
    if (!crawler.running) process.exit(EXIT.interrupted);
    if (!manners.quiet) progress.print('Stopping after the pages in progress. Press Ctrl-C again to stop at once.\n');
  };
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    await run();
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

/** Stored error pages, by status. */
async function errorPagesOf(config: Configuration): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const dataset = await Dataset.open<PageItem & Record<string, unknown>>(undefined, { config });
  for await (const { status } of dataset) if (status >= 400) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

async function skipsOf(config: Configuration, folder: string): Promise<{ skippedFile?: ResultFile }> {
  const dataset = await Dataset.open(SKIPPED_DATASET, { config });
  if (((await dataset.getInfo())?.itemCount ?? 0) === 0) return {};
  return { skippedFile: await writeResultFile(dataset, folder, 'jsonl', { name: 'skipped.jsonl' }) };
}
