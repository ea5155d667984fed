// HTTP clients of the user, results of handlers, snapshots of errors, launchers and the pool of a crawler.
import { Readable } from 'node:stream';

/** A client that answers by itself. */
const client = (body, asked = []) => {
  const head = (request) => {
    asked.push([String(request.url), request.method]);
    return { request, url: String(request.url), statusCode: 200, redirectUrls: [], trailers: {}, complete: true };
  };
  const headers = { 'content-type': 'text/html; charset=utf-8' };
  const none = { percent: 1, transferred: 0 };
  return {
    sendRequest: async (request) => ({ ...head(request), headers, body: `sent ${request.responseType}` }),
    stream: async (request) => ({
      ...head(request),
      headers,
      stream: Readable.from([Buffer.from(body)]),
      downloadProgress: none,
      uploadProgress: none,
    }),
  };
};

const launch = {
  launchContext: { launchOptions: { executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] } },
  headless: true,
  requestHandlerTimeoutSecs: 40,
};

export const scenarios = {
  'client: pages of a client of the user': async ({ lib, crawl, at }) => {
    const asked = [];
    const got = [];
    await crawl(
      lib.CheerioCrawler,
      {
        httpClient: client('<title>mine</title>', asked),
        requestHandler: ({ $, response }) => void got.push($('title').text(), response.statusCode),
      },
      [at('/a')],
    );
    return { got, asked };
  },
  'client: sendRequest of a client of the user': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.HttpCrawler,
      {
        httpClient: client('x'),
        requestHandler: async ({ sendRequest }) => void (got = (await sendRequest()).body),
      },
      [at('/a')],
    );
    return got;
  },
  'client: an error of the client': async ({ lib, crawl, at }) => {
    const messages = [];
    const broken = { ...client('x'), stream: () => Promise.reject(new Error('no luck')) };
    const { final } = await crawl(
      lib.HttpCrawler,
      {
        httpClient: broken,
        requestHandler() {},
        failedRequestHandler: (_context, error) => void messages.push(error.message),
      },
      [at('/a')],
    );
    return { messages, failed: final.requestsFailed };
  },
  'result: RequestHandlerResult': async ({ lib }) => {
    const result = new lib.RequestHandlerResult(lib.Configuration.getGlobalConfig(), 'STATE');
    await result.pushData([{ a: 1 }, { a: 2 }]);
    await result.addRequests(['http://a.example/', { url: 'http://b.example/', label: 'B' }]);
    await result.addRequests([{ requestsFromUrl: 'http://c.example/list' }]);
    const store = await result.getKeyValueStore();
    await store.setValue('k', 5);
    return [
      result.datasetItems,
      result.enqueuedUrls,
      result.enqueuedUrlLists,
      result.keyValueStoreChanges,
      await store.getValue('k'),
    ];
  },
  'result: rendering type of an unknown page': async ({ lib }) => {
    const predictor = new lib.RenderingTypePredictor({ detectionRatio: 0.1 });
    await predictor.initialize();
    return predictor.predict(new lib.Request({ url: 'http://a.example/' }));
  },
  'result: rendering type of similar pages': async ({ lib }) => {
    const predictor = new lib.RenderingTypePredictor({ detectionRatio: 0.1 });
    await predictor.initialize();
    const page = (path) => new lib.Request({ url: `http://a.example/${path}` });
    for (const id of [1, 2, 3]) {
      predictor.storeResult(page(`article/${id}`), 'static');
      predictor.storeResult(page(`app/${id}`), 'clientOnly');
    }
    return [predictor.predict(page('article/4')).renderingType, predictor.predict(page('app/4')).renderingType];
  },
  'errors: a snapshot of the first of a kind': async ({ lib, crawl, at }) => {
    const { crawler } = await crawl(
      lib.CheerioCrawler,
      {
        statisticsOptions: { saveErrorSnapshots: true },
        requestHandler() {
          throw new TypeError('oh no');
        },
      },
      [at('/a')],
    );
    const keys = [];
    await (await lib.KeyValueStore.open()).forEachKey((key) => void keys.push(key.replace(/_[0-9a-f]{30}_/, '_HASH_')));
    const told = JSON.stringify(crawler.stats.errorTracker.result).includes('firstErrorHtmlUrl');
    return [keys.filter((key) => key.startsWith('ERROR')).length, told];
  },
  'launcher: options of a plugin': async ({ lib }) => {
    const launcher = new lib.PlaywrightLauncher({
      userAgent: 'me',
      useIncognitoPages: true,
      launcher: { launch: async () => ({}), name: () => 'chromium' },
      launchOptions: { args: ['--a'], headless: true },
    });
    const plugin = launcher.createBrowserPlugin();
    return [plugin.launchOptions.headless, plugin.launchOptions.args, plugin.useIncognitoPages, plugin.name];
  },
  'launcher: a proxy of an unknown kind': async ({ lib }) => {
    try {
      new lib.PlaywrightLauncher({ proxyUrl: 'ftp://a.example', launcher: {} });
      return 'accepted';
    } catch {
      return 'refused';
    }
  },
  'pool: events of a crawler': async ({ lib, at }) => {
    const got = [];
    const crawler = new lib.PlaywrightCrawler({
      ...launch,
      maxRequestRetries: 0,
      browserPoolOptions: { useFingerprints: false },
      requestHandler: () => void got.push('handler'),
    });
    crawler.browserPool.on('browserLaunched', (controller) => void got.push(typeof controller.id));
    crawler.browserPool.on('pageCreated', (page) => void got.push(typeof page.goto));
    await crawler.run([at('/a')]);
    return got;
  },
  'pool: the controller of a page': async ({ lib, crawl, at }) => {
    let got;
    const { crawler } = await crawl(
      lib.PlaywrightCrawler,
      {
        ...launch,
        browserPoolOptions: { useFingerprints: false },
        requestHandler: ({ page, browserController, crawler: own }) => {
          got = own.browserPool.getBrowserControllerByPage(page) === browserController;
        },
      },
      [at('/a')],
    );
    return [got, typeof crawler.launchContext];
  },
};
