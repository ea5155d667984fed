// Runs `orcrawl batch`: list in, results out, in the order of the list or as they complete.
// Promise: Ctrl-C keeps what was done and says how to finish the rest; a reader that leaves ends the work.
import {
  type CacheMode,
  type CrawlResult,
  CrawlerMonitor,
  type DisplayMode,
  MemoryAdaptiveDispatcher,
  RateLimiter,
  type RunConfig,
  WebCrawler,
  type WebCrawlerOptions,
} from '../../index.js';
import { type BatchFormat, type BatchOutput, openOutput, readEarlier } from './output.js';
import { type BatchInput, itemsFor, urlsOf, without } from './urls.js';
import { EXIT } from '../exit-codes.js';

export interface BatchSettings {
  readonly inputs: readonly BatchInput[];
  readonly stream: boolean;
  readonly format: BatchFormat;
  readonly fields: readonly string[];
  readonly out?: string | undefined;
  readonly rawCsv?: boolean | undefined;
  readonly resume?: string | undefined;
  readonly permits: number;
  readonly maxConnections?: number | undefined;
  readonly memoryThresholdPercent?: number | undefined;
  /** Seconds. */
  readonly delay?: readonly [number, number] | undefined;
  readonly monitor: DisplayMode | 'none';
  readonly config: RunConfig & { cacheMode?: CacheMode };
  /** Which engine, and how its browser is started. */
  readonly crawler?: WebCrawlerOptions;
}

export async function runBatch(settings: BatchSettings): Promise<number> {
  const done = settings.resume === undefined ? undefined : await readEarlier(settings.resume);
  const output = await openOutput({ ...settings, append: settings.resume });
  const over = new AbortController();
  const interruption = watchInterruption();
  const crawler = await WebCrawler.open({ maxConnections: settings.maxConnections, ...settings.crawler });
  const all = urlsOf(settings.inputs, process.stdin, over.signal);
  const items = itemsFor(done ? without(all, done) : all, settings.crawler?.engine !== undefined);
  const results = crawler.runMany(items, settings.config, dispatcherOf(settings));
  let failed = 0;
  try {
    const stream = results[Symbol.asyncIterator]();
    const count = (result: CrawlResult) => {
      if (!result.success) failed++;
    };
    await (settings.stream ? writeAsTheyCome : writeInOrder)(stream, output, interruption, count);
    await output.close();
  } finally {
    interruption.close();
    over.abort();
    await crawler.close();
    // A list that has not ended must not keep the process.
    process.stdin.destroy();
  }
  if (interruption.happened) return EXIT.interrupted;
  return failed > 0 ? EXIT.someFailed : EXIT.done;
}

function dispatcherOf(settings: BatchSettings): MemoryAdaptiveDispatcher {
  const { delay, monitor, permits, memoryThresholdPercent } = settings;
  return new MemoryAdaptiveDispatcher({
    maxSessionPermit: permits,
    memoryThresholdPercent,
    rateLimiter: delay && new RateLimiter({ baseDelayMs: [delay[0] * 1000, delay[1] * 1000] }),
    monitor: monitor === 'none' ? undefined : new CrawlerMonitor({ displayMode: monitor }),
  });
}

interface Interruption {
  readonly happened: boolean;
  /** Resolves to undefined with the first signal. */
  readonly promise: Promise<undefined>;
  close(): void;
}

/** The first Ctrl-C ends the batch in order, the second at once. */
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
    close: () => void process.off('SIGINT', onSignal).off('SIGTERM', onSignal),
  };
}

type Results = AsyncIterableIterator<CrawlResult>;
type Write = (
  results: Results,
  output: BatchOutput,
  until: Interruption,
  count: (result: CrawlResult) => void,
) => Promise<void>;

/** The next result; undefined at the end, after a signal, and when nobody reads. */
async function nextOf(results: Results, output: BatchOutput, until: Interruption): Promise<CrawlResult | undefined> {
  if (until.happened || output.isLeft) return undefined;
  const next = results.next();
  next.catch(() => undefined);
  const step = await Promise.race([next, until.promise]);
  return step?.done === false ? step.value : undefined;
}

const writeAsTheyCome: Write = async (results, output, until, count) => {
  for (;;) {
    const result = await nextOf(results, output, until);
    if (!result) break;
    count(result);
    await output.write(result);
  }
  await results.return?.();
};

const writeInOrder: Write = async (results, output, until, count) => {
  const early = new Map<number, CrawlResult>();
  let next = 0;
  for (;;) {
    const result = await nextOf(results, output, until);
    if (!result) break;
    count(result);
    early.set(result.dispatch.index, result);
    for (let ready = early.get(next); ready; ready = early.get(next)) {
      early.delete(next++);
      await output.write(ready);
    }
  }
  await results.return?.();
  // After Ctrl-C: what was done is kept, too.
  for (const index of [...early.keys()].sort((a, b) => a - b)) await output.write(early.get(index)!);
};
