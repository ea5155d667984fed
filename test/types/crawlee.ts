// Scripts in the style of Crawlee's documentation must compile with nothing but the import changed. Checked by
// `npm run typecheck`; nothing here runs.
import { z } from 'zod';
import {
  AdaptivePlaywrightCrawler,
  type AdaptivePlaywrightCrawlerOptions,
  type BaseHttpClient,
  BasicCrawler,
  Browser,
  BrowserName,
  BrowserPool,
  type CheerioAPI,
  CheerioCrawler,
  type CheerioCrawlingContext,
  Configuration,
  createCheerioRouter,
  createPlaywrightRouter,
  Dataset,
  DeviceCategory,
  type ErrorHandler,
  EventType,
  FileDownload,
  type FileDownloadRequestHandler,
  GotScrapingHttpClient,
  HttpCrawler,
  ImpitHttpClient,
  KeyValueStore,
  type LoadSignal,
  log,
  LogLevel,
  MemoryStorage,
  NonRetryableError,
  OperatingSystemsName,
  PlaywrightCrawler,
  PlaywrightPlugin,
  type PlaywrightRequestHandler,
  ProxyConfiguration,
  PuppeteerPlugin,
  Request,
  RequestList,
  RequestQueue,
  RetryRequestError,
  RobotsTxtFile,
  Session,
  type SkippedRequestReason,
  Snapshotter,
  social,
  Statistics,
  SystemStatus,
} from '../../src/crawlee/entry.js';

export async function documentedScripts(): Promise<void> {
  const proxyConfiguration = new ProxyConfiguration({
    tieredProxyUrls: [[null], ['http://a.example:8000', 'http://b.example:8000']],
  });
  const httpClient: BaseHttpClient = new GotScrapingHttpClient();
  const router = createCheerioRouter();
  router.addDefaultHandler(async ({ $, enqueueLinks, log: own, request }) => {
    own.info($('title').text());
    await enqueueLinks({ globs: ['https://example.com/**'], label: 'DETAIL', strategy: 'same-domain' });
    if (request.retryCount > 2) throw new NonRetryableError('enough');
  });
  router.addHandler('DETAIL', async ({ $, pushData, session, sendRequest, proxyInfo }) => {
    if ($('.blocked').length > 0) session?.retire();
    const { body } = await sendRequest({ url: 'https://example.com/api', responseType: 'json' });
    await pushData({ body, proxy: proxyInfo?.hostname });
    throw new RetryRequestError('again');
  });
  const crawler = new CheerioCrawler({
    requestHandler: router,
    proxyConfiguration,
    httpClient,
    additionalMimeTypes: ['application/json'],
    ignoreSslErrors: true,
    maxRequestsPerMinute: 100,
    maxRequestRetries: 2,
    requestHandlerTimeoutSecs: 30,
    useSessionPool: true,
    persistCookiesPerSession: true,
    sessionPoolOptions: { maxPoolSize: 10, sessionOptions: { maxUsageCount: 5, maxErrorScore: 1 } },
    autoscaledPoolOptions: { desiredConcurrency: 2, snapshotterOptions: { maxBlockedMillis: 100 } },
    statisticsOptions: { logIntervalSecs: 30, saveErrorSnapshots: true },
    experiments: { requestLocking: true },
    preNavigationHooks: [
      async ({ request }, gotOptions) => {
        request.headers = { ...request.headers, 'x-test': '1' };
        gotOptions.headers = { 'user-agent': 'mine' };
      },
    ],
    onSkippedRequest: ({ url, reason }: { url: string; reason: SkippedRequestReason }) => log.info(`${url}: ${reason}`),
    failedRequestHandler: async ({ request }, error) => log.error(`${request.url}: ${error.message}`),
  });
  crawler.events.on(EventType.PERSIST_STATE, () => undefined);
  const final = await crawler.run(['https://example.com', { url: 'https://example.com/a', label: 'DETAIL' }]);
  log.info(`${final.requestsFinished}`);
  await crawler.exportData('./result.csv');

  const inBrowser: PlaywrightRequestHandler = async ({ page, browserController, crawler: own, parseWithCheerio }) => {
    own.browserPool.retireBrowserByPage(page);
    const $: CheerioAPI = await parseWithCheerio('h1', 1_000);
    log.info($('h1').text(), { title: await page.title(), browser: browserController.browser?.version() });
  };
  const routes = createPlaywrightRouter();
  routes.addDefaultHandler(inBrowser);
  routes.addHandler('AGAIN', async ({ page, crawler: own }) => own.browserPool.retireBrowserByPage(page));
  await new PlaywrightCrawler({
    requestHandler: routes,
    headless: true,
    launchContext: { launchOptions: { args: ['--no-sandbox'] }, useIncognitoPages: true },
    browserPoolOptions: {
      useFingerprints: true,
      fingerprintOptions: {
        fingerprintGeneratorOptions: {
          browsers: [{ name: BrowserName.edge, minVersion: 96 }],
          devices: [DeviceCategory.desktop],
          operatingSystems: [OperatingSystemsName.windows],
        },
      },
      operationTimeoutSecs: 30,
      preLaunchHooks: [(_pageId, launchContext) => void launchContext.launchOptions],
    },
  }).run();
  await new AdaptivePlaywrightCrawler({
    renderingTypeDetectionRatio: 0.1,
    async requestHandler({ querySelector, enqueueLinks, pushData }) {
      await pushData({ price: (await querySelector('.price')).text() });
      await enqueueLinks({ selector: 'a.next' });
    },
  }).run();
  const download: FileDownloadRequestHandler = async ({ body, request }) => {
    await KeyValueStore.setValue(request.uniqueKey, body);
  };
  await new FileDownload({ requestHandler: download }).run();
  await new HttpCrawler({
    httpClient,
    requestHandler: async ({ body, contentType }) => log.info(contentType.type, { body }),
  }).run();

  const config = new Configuration({
    storageClient: new MemoryStorage(),
    systemInfoV2: true,
    logLevel: LogLevel.DEBUG,
  });
  Configuration.set('systemInfoV2', true);
  Configuration.useStorageClient(new MemoryStorage({ persistStorage: false }));
  const requestQueue = await RequestQueue.open('mine', { config });
  await requestQueue.addRequests([{ url: 'https://example.com' }], { forefront: true });
  const requestList = await RequestList.open('list', [new Request({ url: 'https://example.com', userData: { a: 1 } })]);
  await new BasicCrawler(
    { requestList, requestQueue, requestHandler: async ({ request }) => log.info(request.url) },
    config,
  ).run();
  const dataset = await Dataset.open('items');
  await dataset.pushData([{ a: 1 }]);
  await dataset.forEach(async (item, index) => log.info(`${index}`, { item }));

  const slow: LoadSignal = {
    name: 'slow',
    overloadedRatio: 0.2,
    start: async () => undefined,
    stop: async () => undefined,
    getSample: () => [{ createdAt: new Date(), isOverloaded: false }],
  };
  const status = new SystemStatus({ snapshotter: new Snapshotter({ config }), loadSignals: [slow] });
  log.info(`${status.getCurrentStatus().isSystemIdle}`);
  const stats = new Statistics({ logIntervalSecs: 10 });
  stats.startJob(1);
  stats.finishJob(1, 0);
  const pool = new BrowserPool({ browserPlugins: [new PlaywrightPlugin({ launch: async () => undefined })] });
  await pool.destroy();
  log.info(social.emailsFromText('a@example.com').join());
  new Session({ sessionPool: crawler.sessionPool });
}

export const handler = async ({ $, request }: CheerioCrawlingContext<{ sku: string }>): Promise<void> => {
  log.info(request.userData.sku, { title: $('title').text() });
};

/** Classes of a team's own. */
export class Loading extends PlaywrightCrawler {
  protected override async _navigationHandler(
    ...[context, options]: Parameters<PlaywrightCrawler['_navigationHandler']>
  ): ReturnType<PlaywrightCrawler['_navigationHandler']> {
    await context.page.bringToFront();
    return super._navigationHandler(context, { ...options, waitUntil: 'commit' });
  }
}

export class Parsing extends HttpCrawler {
  protected override async _parseHTML(...[response, isXml]: Parameters<HttpCrawler['_parseHTML']>): Promise<object> {
    return { isXml, pieces: await response.toArray() };
  }
}

/** Parts of projects that worked at run time and did not compile. */
export async function starterProjects(): Promise<void> {
  const failed: ErrorHandler = async ({ request }, error) => log.error(`${request.url}: ${error.message}`);
  const router = createCheerioRouter({ PRODUCT: z.object({ sku: z.string() }) });
  router.addHandler('PRODUCT', async ({ request }) => log.info(request.userData.sku));
  createCheerioRouter().addHandler('OFFER', z.object({ price: z.number() }), async ({ request }) => {
    const { price }: { price: number } = request.userData;
    log.info(`${price}`);
  });
  const httpClient = new ImpitHttpClient({ browser: Browser.Firefox });
  await new CheerioCrawler({ httpClient, requestHandler: router, failedRequestHandler: failed }).run();

  const options: AdaptivePlaywrightCrawlerOptions = {
    renderingTypeDetectionRatio: 0.1,
    resultChecker: ({ datasetItems }) => datasetItems.every(({ item }) => Boolean(item['heading'])),
    resultComparator: (one, other) => one.datasetItems.length === other.datasetItems.length,
    shouldPropagateError: (error) => error instanceof NonRetryableError,
    requestHandler: async ({ querySelector, pushData }) =>
      pushData({ heading: (await querySelector('h1', 1_000)).text() }),
  };
  await new AdaptivePlaywrightCrawler(options).run();

  const crawler = new PlaywrightCrawler({
    httpClient,
    launchContext: {
      launchOptions: { args: ['--mute-audio'], locale: 'de-DE', viewport: { width: 800, height: 600 } },
    },
    requestHandler: async ({ page, crawler: own }) => own.browserPool.retireBrowserByPage(page),
  });
  await crawler.run();
  await new BasicCrawler({
    requestHandler: async ({ crawler: own }) => own.setStatusMessage('half of it', { level: 'INFO' }),
  }).run();
  await RobotsTxtFile.find('https://example.com', undefined, {
    timeoutMillis: 1_000,
    signal: AbortSignal.timeout(500),
  });
  await new BrowserPool({ browserPlugins: [new PuppeteerPlugin({ launch: async () => undefined })] }).destroy();
}
