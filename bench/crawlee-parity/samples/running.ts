// After the guides on configuration, scaling, errors, routing and running a crawler within something else.
import {
  AutoscaledPool,
  BasicCrawler,
  CheerioCrawler,
  type CheerioCrawlingContext,
  Configuration,
  createCheerioRouter,
  CriticalError,
  type ErrorHandler,
  EventType,
  HttpCrawler,
  Log,
  log,
  LogLevel,
  LoggerText,
  MissingRouteError,
  NonRetryableError,
  Request,
  RetryRequestError,
  Router,
} from 'crawlee';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathOf, type Samples } from '../site.js';

interface ListData {
  page: number;
}
interface DetailData {
  sku: string;
}

export const scenarios: Samples = {
  'sample: routes with types of their own': async ({ at }) => {
    const found: string[] = [];
    const router = createCheerioRouter<CheerioCrawlingContext>();
    router.use(async ({ request }) => {
      found.push(`middleware ${request.label}`);
    });
    router.addHandler<ListData>('LIST', async ({ request, addRequests }) => {
      found.push(`list ${request.userData.page.toFixed(1)}`);
      await addRequests([{ url: at('/b'), label: 'DETAIL', userData: { sku: 'x-1' } satisfies DetailData }]);
    });
    router.addHandler<DetailData>('DETAIL', async ({ request, $ }) => {
      found.push(`detail ${request.userData.sku.toUpperCase()} ${$('h1').text()}`);
    });
    router.addDefaultHandler(async (context) => {
      found.push(`default ${context.request.label}`);
    });
    const crawler = new CheerioCrawler({ requestHandler: router, maxConcurrency: 1 });
    await crawler.run([{ url: at('/a'), label: 'LIST', userData: { page: 2 } satisfies ListData }, at('/')]);
    return found.sort();
  },
  'sample: a label without a route': async ({ at }) => {
    const router = Router.create<CheerioCrawlingContext>();
    router.addHandler('KNOWN', async () => undefined);
    const kinds: boolean[] = [];
    const crawler = new CheerioCrawler({
      requestHandler: router,
      maxRequestRetries: 0,
      failedRequestHandler: (_, error) => {
        kinds.push(error instanceof MissingRouteError, error instanceof CriticalError);
      },
    });
    const run = crawler.run([{ url: at('/a'), label: 'UNKNOWN' }]);
    const outcome = await run.then(
      ({ requestsFailed }) => requestsFailed,
      (error: unknown) => error instanceof MissingRouteError,
    );
    return [kinds, outcome];
  },
  'sample: errors, and what comes after them': async ({ at }) => {
    const told: string[] = [];
    const errorHandler: ErrorHandler<CheerioCrawlingContext> = async ({ request }, error) => {
      told.push(`error ${pathOf(request.url)} ${request.retryCount} ${error.message}`);
    };
    const crawler = new CheerioCrawler({
      maxRequestRetries: 1,
      maxConcurrency: 1,
      errorHandler,
      async requestHandler({ request, $ }) {
        if (request.label === 'FINAL') throw new NonRetryableError('not again');
        if (request.label === 'AGAIN' && request.retryCount < 3) throw new RetryRequestError('once more');
        if (request.label === 'BAD') throw new TypeError('bad');
        told.push(`done ${$('h1').text()} ${request.retryCount}`);
      },
      async failedRequestHandler({ request, log: own }, error) {
        own.debug(error.message);
        const isFinal = error instanceof NonRetryableError;
        told.push(`failed ${pathOf(request.url)} ${isFinal} ${request.errorMessages.length}`);
      },
    });
    const stats = await crawler.run([
      { url: at('/a'), label: 'FINAL' },
      { url: at('/b'), label: 'AGAIN' },
      { url: at('/dir/c.html'), label: 'BAD' },
    ]);
    return [told.sort(), stats.requestsFailed, stats.retryHistogram.length];
  },
  'sample: pages that fail at first': async ({ at }) => {
    const crawler = new HttpCrawler({
      maxRequestRetries: 3,
      navigationTimeoutSecs: 5,
      async requestHandler({ request, pushData }) {
        await pushData({ retries: request.retryCount, errors: request.errorMessages.length });
      },
    });
    const { requestsFinished, requestsFailed } = await crawler.run([at('/flaky/2')]);
    return [requestsFinished, requestsFailed, (await crawler.getData()).items];
  },
  'sample: hooks and handlers share their context': async ({ at }) => {
    const seen: unknown[] = [];
    type Mine = CheerioCrawlingContext & { started?: string; loaded?: string };
    const crawler = new CheerioCrawler({
      maxRequestRetries: 1,
      preNavigationHooks: [
        async (context: Mine, gotOptions) => {
          context.started = 'pre';
          gotOptions.headers = { 'x-hook': '1' };
        },
      ],
      postNavigationHooks: [
        async (context: Mine) => {
          context.loaded = `${context.started} post`;
        },
      ],
      requestHandler: async (context: Mine) => {
        seen.push(context.loaded);
        throw new Error('again');
      },
      errorHandler: async ({ loaded, request }: Mine) => {
        seen.push(['error', loaded, request.retryCount]);
      },
      failedRequestHandler: async ({ loaded, $ }: Mine) => {
        seen.push(['failed', loaded, $('title').text()]);
      },
    });
    await crawler.run([at('/a')]);
    return seen;
  },
  'sample: a crawler that answers while it runs': async ({ at }) => {
    const waiting = new Map<string, (title: string) => void>();
    const crawler = new CheerioCrawler({
      keepAlive: true,
      requestHandler: async ({ request, $ }) => {
        waiting.get(request.uniqueKey)?.($('title').text());
      },
    });
    const started = new Promise<string>((resolve) => waiting.set('start', resolve));
    const running = crawler.run([{ url: at('/'), uniqueKey: 'start' }]);
    await started;
    const ask = async (path: string) => {
      const request = new Request({ url: at(path), uniqueKey: `ask-${path}` });
      const answer = new Promise<string>((resolve) => waiting.set(request.uniqueKey, resolve));
      await crawler.addRequests([request]);
      return answer;
    };
    const answers = [await ask('/a'), await ask('/b')];
    crawler.stop();
    const { requestsFinished } = await running;
    return [answers, requestsFinished];
  },
  'sample: a crawler behind a web server': async ({ at }) => {
    const open = new Map<string, (title: string) => void>();
    const crawler = new CheerioCrawler({
      keepAlive: true,
      async requestHandler({ request, $ }) {
        open.get(request.uniqueKey)?.($('title').text());
        open.delete(request.uniqueKey);
      },
    });
    let asked = 0;
    const server = createServer((request, response) => {
      const url = new URL(request.url ?? '', 'http://localhost').searchParams.get('url') ?? '';
      const uniqueKey = `${asked++}`;
      open.set(uniqueKey, (title) => response.end(JSON.stringify({ title })));
      void crawler.addRequests([{ url, uniqueKey }]);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const running = crawler.run([at('/')]);
    const answers: string[] = [];
    for (const path of ['/a', '/b', '/a']) {
      const response = await fetch(`http://127.0.0.1:${port}/?url=${encodeURIComponent(at(path))}`);
      answers.push(((await response.json()) as { title: string }).title);
    }
    crawler.stop();
    await running;
    server.close();
    return answers;
  },
  'sample: two crawlers with configurations of their own': async ({ at }) => {
    const titles = async (path: string) => {
      const config = new Configuration({ persistStorage: false });
      const crawler = new CheerioCrawler(
        {
          requestHandler: async ({ $, pushData }) => {
            await pushData({ title: $('title').text() });
          },
        },
        config,
      );
      await crawler.run([at(path)]);
      return (await crawler.getData()).items;
    };
    return Promise.all([titles('/a'), titles('/b')]);
  },
  'sample: the global configuration': async ({ at }) => {
    const config = Configuration.getGlobalConfig();
    config.set('persistStateIntervalMillis', 10_000);
    Configuration.set('defaultDatasetId', 'mine');
    const crawler = new CheerioCrawler({ requestHandler: ({ pushData }) => pushData({ a: 1 }) });
    crawler.log.setLevel(LogLevel.OFF);
    await crawler.run([at('/a')]);
    const { items } = await crawler.getData();
    return [config.get('persistStateIntervalMillis'), config.get('defaultDatasetId'), items];
  },
  'sample: options of scaling': async ({ at }) => {
    let [open, most] = [0, 0];
    const crawler = new CheerioCrawler({
      minConcurrency: 2,
      maxConcurrency: 3,
      maxRequestsPerMinute: 600,
      autoscaledPoolOptions: {
        desiredConcurrency: 3,
        scaleUpStepRatio: 0.1,
        snapshotterOptions: { maxBlockedMillis: 500, eventLoopSnapshotIntervalSecs: 1 },
        systemStatusOptions: { maxEventLoopOverloadedRatio: 0.9 },
      },
      async requestHandler() {
        most = Math.max(most, ++open);
        await new Promise((resolve) => setTimeout(resolve, 50));
        open--;
      },
    });
    const { requestsFinished } = await crawler.run(Array.from({ length: 9 }, (_, n) => at(`/item/${n}`)));
    return [requestsFinished, most <= 3, crawler.autoscaledPool?.maxConcurrency];
  },
  'sample: a pool of tasks': async () => {
    const left = [1, 2, 3, 4, 5];
    const done: number[] = [];
    const pool = new AutoscaledPool({
      maxConcurrency: 2,
      runTaskFunction: async () => {
        const next = left.shift();
        if (next !== undefined) done.push(next * 2);
      },
      isTaskReadyFunction: async () => left.length > 0,
      isFinishedFunction: async () => left.length === 0,
    });
    await pool.run();
    return done;
  },
  'sample: events and the log': async ({ at }) => {
    const lines: string[] = [];
    class Lines extends LoggerText {
      override _log(level: LogLevel, message: string): string {
        lines.push(`${LogLevel[level]} ${message}`);
        return message;
      }
    }
    const events: string[] = [];
    const manager = Configuration.getEventManager();
    manager.on(EventType.PERSIST_STATE, () => void events.push('persist'));
    const own = new Log({ level: LogLevel.INFO, logger: new Lines(), prefix: 'Mine' });
    const crawler = new CheerioCrawler({
      log: own,
      async requestHandler({ log: requestLog, request }) {
        requestLog.info(`at ${pathOf(request.url)}`);
        log.child({ prefix: 'Other' }).debug('not shown');
      },
    });
    await crawler.run([at('/a')]);
    manager.emit(EventType.PERSIST_STATE, { isMigrating: false });
    return [lines.filter((line) => line.includes(' at ') || line.includes('at /')).length, events.length > 0];
  },
  'sample: skipped requests are told to the call and to the crawler': async ({ at }) => {
    const told: Record<string, string[]> = { call: [], crawler: [] };
    const noting = (to: string) => (skipped: { url: string; reason: string }) => {
      told[to]?.push(`${pathOf(skipped.url)} ${skipped.reason}`);
    };
    const crawler = new CheerioCrawler({
      onSkippedRequest: noting('crawler'),
      requestHandler: async ({ request, enqueueLinks }) => {
        if (request.label) return;
        const urls = ['/a', '/b', '/dir/c.html'].map(at);
        await enqueueLinks({ urls, limit: 1, label: 'NEXT', onSkippedRequest: noting('call') });
      },
    });
    await crawler.run([at('/')]);
    return { call: told['call']?.sort(), crawler: told['crawler']?.sort() };
  },
  'sample: robots.txt is obeyed': async ({ at }) => {
    const skipped: string[] = [];
    const crawler = new CheerioCrawler({
      respectRobotsTxtFile: true,
      onSkippedRequest: async ({ url, reason }) => {
        skipped.push(`${pathOf(url)} ${reason}`);
      },
      requestHandler: async ({ enqueueLinks }) => {
        await enqueueLinks({ urls: [at('/private'), at('/b')] });
      },
    });
    const { requestsFinished } = await crawler.run([at('/a')]);
    return [requestsFinished, [...new Set(skipped)]];
  },
  'sample: a crawler of a project’s own': async ({ at }) => {
    class TitleCrawler extends BasicCrawler {
      readonly titles: string[] = [];
      constructor(limit: number) {
        super({
          maxRequestsPerCrawl: limit,
          maxConcurrency: 1,
          requestHandler: async ({ sendRequest }) => {
            const { body } = await sendRequest();
            this.titles.push(/<title>(.*?)<\/title>/.exec(body)?.[1] ?? '');
          },
        });
      }
    }
    const crawler = new TitleCrawler(2);
    await crawler.run([at('/a'), at('/b')]);
    return [crawler.titles, crawler.stats.state.requestsFinished];
  },
  'sample: an odd content type among all types': async ({ at }) => {
    let got: string | undefined;
    const crawler = new HttpCrawler({
      additionalMimeTypes: ['*/*'],
      requestHandler: async ({ contentType }) => {
        got = contentType.type;
      },
    });
    await crawler.run([at('/odd-type')]);
    return got;
  },
};
