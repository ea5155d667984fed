// Runs `orcrawl batch`: list in, results out, in the order of the list or as they complete.
// Promise: Ctrl-C keeps the results so far and says how to continue; a reader that exits ends the batch.
import {
  type CacheMode,
  CrawlerMonitor,
  type DisplayMode,
  type DuplicatesRule,
  type RunConfig,
  type RunMemory,
  WebCrawler,
  type WebCrawlerOptions,
} from '../../index.js';
import type { CrawlResult } from '../../crawl/batch/crawl-result.js';
import { type BatchFormat, type BatchOutput, openOutput, readEarlier } from './output.js';
import { type BatchInput, itemsFor, noUrls, urlsOf, without } from './urls.js';
import type { UrlItem } from '../../index.js';
import type { DashboardFlags } from '../dashboard.js';
import { watchBatch } from './dashboard.js';
import type { TaskMonitor } from '../../dispatch/dispatcher.js';
import { EXIT, UsageError } from '../exit-codes.js';
import type { ProxyFor } from '../flags/proxies.js';
import { createArtifactWriter } from '../pages/artifacts.js';
import type { Lack } from '../pages/emptiness.js';
import { isPageFormat } from '../../store/formats.js';
import { dispatcherOf } from './dispatcher.js';
import { hasContent, lackOfResult } from './items.js';
import type { ResultView } from './result-view.js';
import { createNotes } from './notes.js';

export interface BatchSettings {
  readonly inputs: readonly BatchInput[];
  readonly stream: boolean;
  readonly format: BatchFormat;
  readonly fields: readonly string[];
  readonly out?: string | undefined;
  readonly rawCsv?: boolean | undefined;
  readonly resume?: string | undefined;
  readonly permits: number;
  /** Over which the visits are spread. Default 1. */
  readonly processes?: number | undefined;
  readonly maxConnections?: number | undefined;
  readonly memoryThresholdPercent?: number | undefined;
  /** Seconds. */
  readonly delay?: readonly [number, number] | undefined;
  /** What becomes of pages that nearly repeat one before them. Default: nothing is compared. */
  readonly duplicates?: DuplicatesRule | undefined;
  /** Where pages are remembered, if they are. */
  readonly remember?: RunMemory | undefined;
  readonly monitor: DisplayMode | 'none';
  readonly dashboard?: DashboardFlags;
  readonly config: RunConfig & { cacheMode?: CacheMode };
  /** Which engine, and how its browser is started. */
  readonly crawler?: WebCrawlerOptions;
  readonly header?: Readonly<Record<string, string>> | undefined;
  readonly proxyFor?: ProxyFor | undefined;
  /** Folders for pictures and documents. */
  readonly screenshot?: string | undefined;
  readonly pdf?: string | undefined;
}

export async function runBatch(settings: BatchSettings): Promise<number> {
  const done = settings.resume === undefined ? undefined : await readEarlier(settings.resume);
  const monitor = settings.monitor === 'none' ? undefined : new CrawlerMonitor({ displayMode: settings.monitor });
  const beforeShow = () => monitor?.clear();
  const interruption = watchInterruption();
  const watch = await watchBatch(settings, interruption.interrupt);
  const output = watch.over(await openOutput({ ...settings, append: settings.resume, beforeShow }));
  const notes = createNotes(beforeShow);
  const artifacts = createArtifactWriter(settings);
  const over = new AbortController();
  let given = 0;
  const all = counted(urlsOf(settings.inputs, process.stdin, over.signal), () => given++);
  const { header, proxyFor } = settings;
  const usesBrowser = settings.crawler?.engine !== undefined;
  const items = itemsFor(done ? without(all, done) : all, { usesBrowser, header, proxyFor });
  const shown = watch.monitor(monitor);
  let failed = 0;
  let visits: Visits | undefined;
  try {
    visits =
      (settings.processes ?? 1) > 1
        ? (await import('./processes/start.js')).startProcesses(settings, items, shown)
        : await visitHere(settings, items, shown);
    const { results: stream, lackOf } = visits;
    const write: Write = async (result) => {
      if (result.duplicateOf && settings.duplicates === 'skip') return notes.copy();
      const lack = lackOf(result);
      const isWritten = await output.write(result, lack?.isEmpty ? lack.why : undefined);
      await artifacts?.write(result);
      if (!isWritten) notes.unwritable(result.url);
      if (lack) notes.lack(lack.why);
      if (!result.success) notes.failure(result.errorCode);
      if (!result.success || !isWritten || lack?.isEmpty) failed++;
    };
    await (settings.stream ? writeAsTheyCome : writeInOrder)(stream, output, interruption, write);
    await output.close();
  } finally {
    interruption.close();
    over.abort();
    await visits?.close();
    notes.close();
    await watch.close(interruption.happened);
    // An unfinished list must not keep the process alive.
    process.stdin.destroy();
  }
  if (interruption.happened) return EXIT.interrupted;
  if (given === 0) throw new UsageError(noUrls(settings.inputs.some(({ kind }) => kind === 'stdin')));
  return failed > 0 ? EXIT.someFailed : EXIT.done;
}

async function* counted(urls: AsyncIterable<string>, count: () => void): AsyncGenerator<string> {
  for await (const url of urls) {
    count();
    yield url;
  }
}

/** Where results come from. */
export interface Visits {
  readonly results: AsyncIterableIterator<ResultView>;
  readonly lackOf: (result: ResultView) => Lack | undefined;
  close(): Promise<void>;
}

async function visitHere(
  settings: BatchSettings,
  items: AsyncIterable<UrlItem>,
  monitor: TaskMonitor | undefined,
): Promise<Visits> {
  const crawler = await WebCrawler.open({ maxConnections: settings.maxConnections, ...settings.crawler });
  // What is left out has its place in the order, too.
  const duplicates = (settings.duplicates ?? 'keep') !== 'keep' ? ('mark' as const) : undefined;
  const config = { ...settings.config, duplicates, remember: settings.remember };
  const results = crawler.runMany(items, config, dispatcherOf(settings, monitor));
  return {
    results: results[Symbol.asyncIterator](),
    lackOf: (result) => lackIn(result as CrawlResult, settings),
    close: () => crawler.close(),
  };
}

/** What a page lacks, where its content is asked for. */
export function lackIn(
  result: CrawlResult,
  { format, fields, config }: Pick<BatchSettings, 'format' | 'fields' | 'config'>,
): Lack | undefined {
  const wantsContent = isPageFormat(format) || hasContent(fields);
  return result.success && wantsContent ? lackOfResult(result, config.cssSelector) : undefined;
}

interface Interruption {
  readonly happened: boolean;
  /** Resolves to undefined on the first signal. */
  readonly promise: Promise<undefined>;
  /** As a signal would. */
  interrupt(): void;
  close(): void;
}

/** The first Ctrl-C ends the batch cleanly, the second at once. */
function watchInterruption(): Interruption {
  let happened = false;
  let tell!: (value: undefined) => void;
  const promise = new Promise<undefined>((resolve) => (tell = resolve));
  const onSignal = () => {
    if (happened) process.exit(EXIT.interrupted);
    happened = true;
    tell(undefined);
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  return {
    get happened() {
      return happened;
    },
    promise,
    interrupt: onSignal,
    close: () => void process.off('SIGINT', onSignal).off('SIGTERM', onSignal),
  };
}

type Results = AsyncIterableIterator<ResultView>;
type Write = (result: ResultView) => Promise<void>;
type WriteAll = (results: Results, output: BatchOutput, until: Interruption, write: Write) => Promise<void>;

/** The next result; undefined at the end, after a signal, or when the reader is gone. */
async function nextOf(results: Results, output: BatchOutput, until: Interruption): Promise<ResultView | undefined> {
  if (until.happened || output.isLeft) return undefined;
  const next = results.next();
  next.catch(() => undefined);
  const step = await Promise.race([next, until.promise]);
  return step?.done === false ? step.value : undefined;
}

const writeAsTheyCome: WriteAll = async (results, output, until, write) => {
  for (;;) {
    const result = await nextOf(results, output, until);
    if (!result) break;
    await write(result);
  }
  await results.return?.();
};

const writeInOrder: WriteAll = async (results, output, until, write) => {
  const early = new Map<number, ResultView>();
  let next = 0;
  for (;;) {
    const result = await nextOf(results, output, until);
    if (!result) break;
    early.set(result.dispatch.index, result);
    for (let ready = early.get(next); ready; ready = early.get(next)) {
      early.delete(next++);
      await write(ready);
    }
  }
  await results.return?.();
  // Finished results are kept after Ctrl-C, too.
  for (const index of [...early.keys()].sort((a, b) => a - b)) await write(early.get(index)!);
};
