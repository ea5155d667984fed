// The placements of the navigation suite: each crawler, the batches and a pod's worker, all within this process.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  AdaptivePlaywrightCrawler,
  CheerioCrawler,
  HttpCrawler,
  PlaywrightCrawler,
  RateLimiter,
  Request,
  SemaphoreDispatcher,
  WebCrawler,
} from '../../src/index.js';
import { entryOf } from '../../src/frontier/entry.js';
import { Log, LogLevel } from '../../src/observe/log.js';
import { readPodsConfig } from '../../src/pods/config/config.js';
import { makeDirectory } from '../../src/store/content/data-directories.js';
import { startWorker } from '../../src/pods/worker/worker.js';
import type {
  NavigationEnd,
  NavigationPlacement,
  NavigationRequest,
  NavigationSettings,
} from '../../src/testing/index.js';
import { browserPath, shellPath } from './browser.js';
import { memoryConfig, silent, temporaryFolder } from './crawl.js';

const DELAY_SECS = 0.02;
const PATIENCE_MS = 150_000;

interface SeenContext {
  request: Request;
  response?: { statusCode?: number; status?: () => number };
  title: string | null;
  crawler: object;
}

/** What a handler was given. */
function handledEnd({ request, response, title, crawler }: SeenContext): NavigationEnd {
  const { url, uniqueKey, loadedUrl } = request;
  return {
    end: 'handled',
    url,
    uniqueKey,
    loadedUrl,
    redirectChain: request.redirectChain,
    statusCode: response?.statusCode ?? response?.status?.(),
    title,
    crawler: crawler ? functionsOf(crawler) : [],
  };
}

function functionsOf(crawler: object): string[] {
  const names = new Set<string>();
  for (let at = crawler; at && at !== Object.prototype; at = Object.getPrototypeOf(at) as object) {
    for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  }
  return [...names];
}

function optionsOf(settings: NavigationSettings, isPaced: boolean) {
  return {
    log: silent,
    maxRequestRetries: settings.maxRetries,
    retryDelayMs: 20,
    navigationTimeoutSecs: settings.timeoutMs / 1000,
    maxBodyBytes: settings.maxBodyBytes,
    domains: {
      ...(settings.exclude.length > 0 ? { exclude: settings.exclude } : {}),
      ...(Object.keys(settings.agents).length > 0
        ? {
            overrides: Object.fromEntries(
              Object.entries(settings.agents).map(([at, userAgent]) => [at, { userAgent }]),
            ),
          }
        : {}),
    },
    userAgent: settings.userAgent,
    respectRobotsTxtFile: settings.respectRobots,
    retryOnBlocked: settings.retryOnBlocked,
    maxSessionRotations: 1,
    allowPrivateAddresses: settings.allowPrivateAddresses,
    sameDomainDelaySecs: isPaced ? DELAY_SECS : 0,
  };
}

type AnyCrawler = new (options: never, config: never) => { run(requests: never): Promise<unknown> };

function script(
  name: string,
  Crawler: AnyCrawler,
  engine: NavigationPlacement['engine'],
  isPaced: boolean,
  browserOf: (settings: NavigationSettings) => string | undefined = () => shellPath,
): NavigationPlacement {
  return {
    name,
    family: 'script',
    engine,
    isPaced,
    async visit(requests, settings) {
      const ends: NavigationEnd[] = [];
      const options = {
        ...optionsOf(settings, isPaced),
        ...(engine === 'http' ? {} : { launchContext: { launchOptions: { executablePath: browserOf(settings) } } }),
        maxConcurrency: engine === 'http' ? 20 : 4,
        preNavigationHooks: [
          (_: unknown, order: { headers?: Record<string, string> }) => {
            if (order.headers) Object.assign(order.headers, settings.hookHeaders);
          },
        ],
        async requestHandler(context: SeenContext & { content: { title: string }; contentType?: { type: string } }) {
          const isMarkup = context.contentType === undefined || context.contentType.type === 'text/html';
          const title = context.request.skipNavigation || !isMarkup ? null : context.content.title;
          const { request, response, crawler } = context;
          ends.push(handledEnd({ request, response, title, crawler }));
        },
        failedRequestHandler({ request }: { request: Request }, error: Error) {
          ends.push({ end: 'failed', url: request.url, code: (error as { code?: string }).code ?? error.message });
        },
        onSkippedRequest({ url, reason }: { url: string; reason: string }) {
          ends.push({ end: 'skipped', url, reason });
        },
      };
      await new Crawler(options as never, memoryConfig() as never).run(requests as never);
      return ends;
    },
  };
}

function batch(name: string, engine: 'http' | 'browser' | 'auto', isPaced: boolean): NavigationPlacement {
  return {
    name,
    family: 'batch',
    engine: engine === 'auto' ? 'adaptive' : engine,
    isPaced,
    async visit(requests, settings) {
      await using crawler = await WebCrawler.open({
        engine,
        ...(engine === 'http' ? {} : { browser: { executablePath: shellPath } }),
        log: silent,
        allowPrivateAddresses: settings.allowPrivateAddresses,
        hooks: { beforeRequest: ({ headers }) => void Object.assign(headers, settings.hookHeaders) },
      });
      const items = requests.map(({ url, method, payload, headers }) => ({
        url,
        config: { method, body: payload, headers },
      }));
      const rateLimiter = isPaced ? new RateLimiter({ baseDelayMs: DELAY_SECS * 1000, codes: [599] }) : undefined;
      const results = await crawler.runMany(
        items,
        {
          maxRetries: settings.maxRetries,
          pageTimeoutMs: settings.timeoutMs * 3,
          userAgent: settings.userAgent,
          respectRobots: settings.respectRobots,
        },
        new SemaphoreDispatcher({ permits: engine === 'http' ? 20 : 4, rateLimiter }),
      );
      return results.map((result) => ({
        end: result.success ? 'handled' : 'failed',
        url: result.url,
        loadedUrl: result.loadedUrl,
        redirectChain: result.redirectChain,
        statusCode: result.statusCode,
        title: result.metadata?.title ?? null,
        code: result.errorCode,
      }));
    },
  };
}

/** A worker of an embedded pod. What fails or is left out there is told to the log and the metrics only. */
function pod(): NavigationPlacement {
  return { name: 'a pod', family: 'pod', engine: 'http', isPaced: true, visit: visitOnPod };
}

async function visitOnPod(
  requests: readonly NavigationRequest[],
  settings: NavigationSettings,
): Promise<readonly NavigationEnd[]> {
  const ends: NavigationEnd[] = [];
  const folder = await temporaryFolder();
  await makeDirectory(path.join(folder, 'data'));
  await writeFile(path.join(folder, 'exclude.txt'), `${settings.exclude.join('\n')}\n`);
  await writeFile(path.join(folder, 'seeds.txt'), 'http://127.0.0.1/\n');
  const lines = [
    'pods:',
    '  - path: store0',
    `data_dirs: [${folder}/data]`,
    `log_dir: ${folder}/logs`,
    'seed_file: seeds.txt',
    'email: test@example.com',
    'politeness_delay_seconds: 0',
    'enable_cpu_affinity: false',
    `allow_private_addresses: ${settings.allowPrivateAddresses}`,
    `http_max_retries: ${settings.maxRetries}`,
    `http_timeout_seconds: ${settings.timeoutMs / 1000}`,
    `max_content_length: ${settings.maxBodyBytes}`,
    `handler: ${fileURLToPath(new URL('./navigation-handler.mjs', import.meta.url))}`,
    ...(settings.userAgent === undefined ? [] : [`user_agent_template: '${settings.userAgent} ({email})'`]),
    ...(settings.exclude.length === 0 ? [] : ['exclude_file: exclude.txt']),
  ];
  await writeFile(path.join(folder, 'crawl.yaml'), `${lines.join('\n')}\n`);
  const config = await readPodsConfig(path.join(folder, 'crawl.yaml'));
  const shared = globalThis as { navigationHandled?: (seen: SeenContext) => void };
  shared.navigationHandled = (seen) => void ends.push(handledEnd(seen));
  const worker = await startWorker({
    config,
    place: { role: 'fetcher', pod: 0, id: 0 },
    log: new Log({ level: LogLevel.DEBUG, logger: { write: ({ message }) => note(message) } }),
    checkAssignment: true,
    allowance: undefined,
    onHolder: () => undefined,
    onRolledBack: () => undefined,
    onProgress: () => undefined,
  });

  /** `Request failed and reached maximum retries: URL (CODE: …)` and `Left out URL (REASON)`. */
  function note(message: string): void {
    const failure = /^Request failed and reached maximum retries: (\S+) \((\w+)/.exec(message);
    if (failure) ends.push({ end: 'failed', url: failure[1]!, code: failure[2] });
    const skip = /^Left out (\S+) \((\w+)\)/.exec(message);
    if (skip) ends.push({ end: 'skipped', url: skip[1]!, reason: skip[2] });
  }

  const entries = requests.map((request) => entryOf(new Request({ ...request, headers: { ...request.headers } })));
  await worker.store.client.add(entries);
  const endsAtMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const { queued, retrying, leased } = (await worker.store.overview()).counters;
    if (queued + retrying + leased === 0) break;
    if (performance.now() > endsAtMs) throw new Error(`the pod did not end: ${JSON.stringify(ends)}`);
    await new Promise((resume) => setTimeout(resume, 100));
  }
  worker.drain();
  await worker.ended;
  return ends;
}

export const httpPlacements: readonly NavigationPlacement[] = [
  script('HttpCrawler', HttpCrawler as never, 'http', false),
  script('CheerioCrawler with a delay', CheerioCrawler as never, 'http', true),
  batch('WebCrawler', 'http', false),
  batch('WebCrawler with a rate limiter', 'http', true),
  pod(),
];

/** Two thirds of the cases are visited together, with excluded addresses. */
const chromiumForMost = ({ exclude }: NavigationSettings) => (exclude.length > 0 ? browserPath : shellPath);

/** The headless shell, if there is one, loads all pages but most of the first placement. */
export const browserPlacements: readonly NavigationPlacement[] = [
  script('PlaywrightCrawler', PlaywrightCrawler as never, 'browser', false, chromiumForMost),
  script('PlaywrightCrawler with a delay', PlaywrightCrawler as never, 'browser', true),
  script('AdaptivePlaywrightCrawler', AdaptivePlaywrightCrawler as never, 'adaptive', false),
  script('AdaptivePlaywrightCrawler with a delay', AdaptivePlaywrightCrawler as never, 'adaptive', true),
  batch('WebCrawler in a browser', 'browser', false),
  batch('WebCrawler in whatever the page needs', 'auto', true),
];
