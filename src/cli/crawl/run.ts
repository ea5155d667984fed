// Runs one crawl of the command line in its folder: crawler, live progress, signals, result file, report.
// Promise: whatever ends it, the folder can be resumed, and the report says what is in it.
import { lookup } from 'node:dns/promises';
import { access, constants, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../../base/private-files.js';
import { readLastRun } from '../../crawl/storage/run-state.js';
import { CrawlError, type Configuration, Dataset, HttpCrawler, Log, LogLevel } from '../../index.js';
import type { SkippedRequestCallback } from '../../index.js';
import { createTextWriter } from '../../observe/log-lines.js';
import { type Progress, type ProgressFigures, startProgress } from '../../observe/progress.js';
import { loadDomainList } from '../../politeness/domain-list.js';
import type { DomainRuleOptions } from '../../politeness/domain-rules.js';
import { hideLogins } from '../../request/login.js';
import { parsePattern } from '../../request/pattern.js';
import { asStorageError } from '../../store/storage-errors.js';
import { configurationFor, FAILED_DATASET, removeLeftovers, SKIPPED_DATASET, type StartMode } from './folder.js';
import { type CrawlSettings, saveSettings } from './settings.js';
import { EXIT, UsageError } from '../exit-codes.js';
import { createNamedHeaders, type NamedHeaders } from '../named-headers.js';
import { type PageItem, pageItem } from './page-item.js';
import { type CrawlReport, createReasons, type FailedItem, type ReasonCount } from './report.js';
import { type ResultFile, writeResultFile } from './result-file.js';
import { seedUrls } from './seeds.js';
import { complainAsLogged } from '../terminal.js';
import { version } from '../version.js';

export interface CrawlManners {
  /** Only errors are shown. */
  readonly quiet?: boolean;
  /** The crawler's log is shown, too. */
  readonly verbose?: boolean;
}

export interface CrawlPlace {
  /** As the person wrote it, for messages. */
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
  const headers =
    settings.header || settings.logins || settings.urls.includes('-') ? createNamedHeaders(settings.header) : undefined;
  for (const login of settings.logins ?? []) headers?.name(login);

  const progress = startProgress({
    output: manners.quiet ? { write: () => undefined } : process.stderr,
    read: () => figuresOf(crawler, lastHost, endedBefore),
  });
  const leftOut = { reasons: createReasons() };
  const crawler: HttpCrawler = new HttpCrawler(
    {
      ...crawlerOptions(settings),
      ...(headers ? { preNavigationHooks: [headers.hook] } : {}),
      domains: await domainLists(settings),
      log: logFor(manners, progress),
      async requestHandler(context) {
        lastHost = new URL(context.request.loadedUrl).host;
        await context.pushData({ ...pageItem(context, settings.links === true, settings.format === 'markdown') });
        await context.enqueueLinks(rules);
      },
      async failedRequestHandler({ request, pushData }, error) {
        await pushData(failedItem(request.url, error, request.retryCount), FAILED_DATASET);
      },
      onSkippedRequest: (async ({ url, reason }) => {
        // Links to mail addresses and the like are no pages anybody would miss.
        if (!/^https?:/.test(url)) return;
        const named = hideLogins(url);
        leftOut.reasons.add(reason, named);
        if (settings.explainSkips) await crawler.pushData({ url: named, reason }, SKIPPED_DATASET);
      }) satisfies SkippedRequestCallback,
    },
    config,
  );

  /** Nothing has begun: an open standard input must not keep the process. */
  const giveUp = (error: unknown): never => {
    progress.close();
    over.abort();
    throw error;
  };
  const seeds = await begun(
    seedUrls(settings.urls, process.stdin, over.signal, (message) => {
      invalidLines++;
      progress.print(`${message}\n`);
    }),
  ).catch(giveUp);
  if (!seeds && mode !== 'resume') giveUp(new UsageError('no URLs on standard input: give some, one a line'));
  await mkdir(storageFolder, PRIVATE_FOLDER)
    .then(() => access(storageFolder, constants.W_OK))
    .catch((error: unknown) => giveUp(asStorageError(error, folder, 'choose another folder with --out')));
  const queue = await crawler.getRequestQueue().catch(giveUp);
  try {
    if (mode === 'fresh') await removeLeftovers(storageFolder);
    await saveSettings(storageFolder, settings);
    const kept = await crawler.useState<KeptState>({ leftOut: [] });
    leftOut.reasons = createReasons(kept.leftOut);
    const before = (await queue.getInfo()).counters;
    endedBefore = before.done + before.failed;
    void tellUnknownHosts(settings.urls, over.signal, (line) => progress.print(`${line}\n`));
    const startedAt = new Date();
    const startedAtMs = performance.now();
    const named = seeds && headers ? naming(seeds, headers) : (seeds ?? []);
    await interruptible(crawler, progress, manners, () => crawler.run(named));
    const durationMs = performance.now() - startedAtMs;
    progress.close();
    kept.leftOut = leftOut.reasons.list();

    const { counters, pendingRequestCount: pending } = await queue.getInfo();
    const { done: pages, failed, skipped } = counters;
    const pagesThisRun = pages - before.done;
    const interrupted = (await readLastRun(storageFolder))?.state === 'interrupted';
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
      ...(await failuresOf(config, folder, failed)),
      ...(settings.explainSkips ? await skipsOf(config, folder) : {}),
      leftOut: leftOut.reasons.list(),
      invalidLines,
      folder,
      result: await writeResultFile(
        await Dataset.open<PageItem & Record<string, unknown>>(undefined, { config }),
        folder,
        settings.format,
        { rawCsv: settings.rawCsv },
      ),
    };
    await writeFile(path.join(storageFolder, 'report.json'), `${JSON.stringify(report, null, 2)}\n`, PRIVATE_FILE);
    return report;
  } finally {
    progress.close();
    over.abort();
    await crawler.teardown();
  }
}

/** The list once its first URL is known; undefined when there is none. Before that, nothing is made on the disk. */
async function begun(urls: AsyncGenerator<string>): Promise<AsyncIterable<string> | undefined> {
  const first = await urls.next();
  if (first.done) return undefined;
  return (async function* () {
    yield first.value;
    yield* urls;
  })();
}

/** A list of names longer than this is no typing of a person's. */
const MAX_LOOKED_UP = 10;

/** Says at once which of the hosts on the command line have no address: the crawl itself asks again for a while. */
async function tellUnknownHosts(
  urls: readonly string[],
  over: AbortSignal,
  tell: (line: string) => void,
): Promise<void> {
  const hosts = new Set(urls.slice(0, MAX_LOOKED_UP).flatMap((url) => (url === '-' ? [] : [new URL(url).hostname])));
  for (const host of hosts) {
    if (host.startsWith('[')) continue;
    const error = await lookup(host).then(
      () => undefined,
      (reason: unknown) => reason as NodeJS.ErrnoException,
    );
    if (error?.code === 'ENOTFOUND' && !over.aborted) {
      tell(`${host} has no address (DNS_NOT_FOUND): is the name right? It is asked for again for a while.`);
    }
  }
}

/** Two pages a second are no burden for a host. */
const DEFAULT_DELAY_SECS = 0.5;

/** A host that says the same on so many pages more than it says something new is a parked domain or a trap. */
const MAX_SAME_CONTENT = 200;

async function domainLists({ excludeDomains, allowDomains }: CrawlSettings): Promise<DomainRuleOptions> {
  return {
    ...(excludeDomains === undefined ? {} : { exclude: await loadDomainList(excludeDomains) }),
    ...(allowDomains === undefined ? {} : { allow: await loadDomainList(allowDomains) }),
  };
}

function crawlerOptions(settings: CrawlSettings) {
  const given = {
    maxRequestsPerCrawl: settings.maxPages,
    maxCrawlDepth: settings.depth,
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
    // A link to a picture or an archive is no failure: it is stored without text.
    additionalMimeTypes: ['*/*'],
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<typeof given>;
}

/** The seeds as they come; each is named before anything of it can be asked for. */
async function* naming(seeds: AsyncIterable<string>, headers: NamedHeaders): AsyncGenerator<string> {
  for await (const url of seeds) {
    yield headers.name(url);
  }
}

function linkRules({ strategy, include = [], exclude = [] }: CrawlSettings) {
  const included = include.map(parsePattern);
  return {
    ...(strategy === undefined ? {} : { strategy }),
    globs: included.filter((pattern) => typeof pattern === 'string'),
    regexps: included.filter((pattern) => typeof pattern !== 'string'),
    exclude: exclude.map(parsePattern),
  };
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

/** The crawler's log goes above the progress line: errors only, unless more is asked for. */
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
  crawler: HttpCrawler,
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

/** The crawler itself drains on a signal; here the person is told, and a signal outside of the run ends at once. */
async function interruptible(
  crawler: HttpCrawler,
  progress: Progress,
  manners: CrawlManners,
  run: () => Promise<unknown>,
): Promise<void> {
  const onSignal = () => {
    if (!crawler.running) process.exit(EXIT.interrupted);
    if (!manners.quiet) progress.print('Stopping: pages under way are finished first. Ctrl-C again ends at once.\n');
  };
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    await run();
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

/** Stored pages that say that there is none, by status. */
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

async function failuresOf(
  config: Configuration,
  folder: string,
  failed: number,
): Promise<{ failures: ReasonCount[]; failedFile?: ResultFile }> {
  if (failed === 0) return { failures: [] };
  const dataset = await Dataset.open<FailedItem>(FAILED_DATASET, { config });
  const reasons = createReasons();
  for await (const { url, code, message } of dataset) {
    reasons.add(code, url, message.includes(url) ? message : `${url}: ${message}`);
  }
  return {
    failures: reasons.list(),
    failedFile: await writeResultFile(dataset, folder, 'jsonl', { name: 'failed.jsonl' }),
  };
}
