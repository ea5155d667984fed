// What a review of the first release found different or missing, one script for each finding that no other area has.
const launchOptions = {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-background-networking'],
};
const PW = {
  launchContext: { launchOptions },
  headless: true,
  requestHandlerTimeoutSecs: 40,
  browserPoolOptions: { useFingerprints: false },
};

/** What a handler of a crawler gives back for one page. */
const handled =
  (Kind, path, look, options = {}) =>
  async (tools) => {
    let got;
    const given = typeof options === 'function' ? options(tools) : options;
    const requestHandler = async (context) => {
      got = await look(context, tools);
    };
    const failedRequestHandler = (_, error) => {
      got = ['failed', error.name];
    };
    await tools.crawl(tools.lib[Kind], { requestHandler, failedRequestHandler, ...given }, [tools.at(path)]);
    return got;
  };

const echoed = async ({ sendRequest }, { at }, options) => {
  const { body } = await sendRequest({ url: at('/echo'), ...options });
  return JSON.parse(String(body));
};

async function drain(list) {
  const got = [];
  for (let request = await list.fetchNextRequest(); request; request = await list.fetchNextRequest()) {
    got.push(request.url);
    await list.markRequestHandled(request);
  }
  return got;
}

export const scenarios = {
  'sitemap: foreign hosts by strategy': async ({ lib, at }) => {
    const got = {};
    for (const enqueueStrategy of ['same-hostname', 'same-domain', 'same-origin', 'all']) {
      const sitemapUrls = [at('/sitemap.xml')];
      const list = await lib.SitemapRequestList.open({
        sitemapUrls,
        enqueueStrategy,
        persistStateKey: enqueueStrategy,
      });
      got[enqueueStrategy] = (await drain(list)).sort();
      await list.teardown();
    }
    return got;
  },
  'sitemap: a list goes on from its state': async ({ lib, at }) => {
    const open = () =>
      lib.SitemapRequestList.open({ sitemapUrls: [at('/sitemap-index.xml')], persistStateKey: 'my-list' });
    const first = await open();
    const done = await first.fetchNextRequest();
    await first.markRequestHandled(done);
    const taken = await first.fetchNextRequest();
    await first.persistState();
    const second = await open();
    const rest = await drain(second);
    return [done.url, taken.url, rest.includes(done.url), rest.includes(taken.url), rest.length];
  },
  'sitemap: a finished list stays finished': async ({ lib, at }) => {
    const open = () => lib.SitemapRequestList.open({ sitemapUrls: [at('/sitemap.xml')], persistStateKey: 'done-list' });
    const first = await open();
    const all = await drain(first);
    await first.persistState();
    await first.teardown();
    const second = await open();
    const rest = await drain(second);
    return [all.length, rest, await second.isFinished(), second.handledCount()];
  },
  'sitemap: a list without a key is saved, too': async ({ lib, at }) => {
    const open = () => lib.SitemapRequestList.open({ sitemapUrls: [at('/sitemap.xml')] });
    const first = await open();
    await drain(first);
    await first.persistState();
    return (await drain(await open())).length;
  },
  'sitemap: the state is saved by the event': async ({ lib, at, sleep }) => {
    const list = await lib.SitemapRequestList.open({ sitemapUrls: [at('/sitemap.xml')], persistStateKey: 'by-event' });
    await drain(list);
    lib.Configuration.getEventManager().emit('persistState', { isMigrating: false });
    await sleep(300);
    return (await (await lib.KeyValueStore.open()).getValue('by-event')) !== null;
  },
  'sitemap: the pages of discovered sitemaps': async ({ lib, at }) => {
    const urls = [];
    for await (const url of lib.discoverValidSitemaps([at('/a')])) urls.push(url);
    const pages = [];
    for await (const page of lib.parseSitemap(urls.map((url) => ({ type: 'url', url })))) pages.push(page.loc);
    return pages.sort();
  },
  'sitemap: a list as requestList of a crawler': async ({ lib, crawl, at }) => {
    const seen = [];
    const requestList = await lib.SitemapRequestList.open({ sitemapUrls: [at('/sitemap.xml')] });
    await crawl(lib.CheerioCrawler, { requestList, requestHandler: ({ request }) => void seen.push(request.url) });
    return seen.sort();
  },
  'links: respectRobotsTxtFile of the call': async ({ lib, at }) => {
    const seen = [];
    const skipped = [];
    const crawler = new lib.CheerioCrawler({
      maxRequestRetries: 0,
      async requestHandler({ request, enqueueLinks }) {
        seen.push(request.url);
        if (request.label !== 'START') return;
        const robotsTxtFile = await lib.RobotsTxtFile.find(request.url);
        const onSkippedRequest = ({ url, reason }) => void skipped.push([url, reason]);
        const urls = [at('/private/1'), at('/b')];
        await enqueueLinks({ urls, robotsTxtFile, respectRobotsTxtFile: true, onSkippedRequest });
      },
    });
    await crawler.run([{ url: at('/a'), label: 'START' }]);
    return [seen, skipped];
  },
  'links: respectRobotsTxtFile false of the call': async ({ lib, at }) => {
    const seen = [];
    const crawler = new lib.CheerioCrawler({
      maxRequestRetries: 0,
      async requestHandler({ request, enqueueLinks }) {
        seen.push(request.url);
        if (request.label !== 'START') return;
        const robotsTxtFile = await lib.RobotsTxtFile.find(request.url);
        await enqueueLinks({ urls: [at('/private')], robotsTxtFile, respectRobotsTxtFile: false });
      },
    });
    await crawler.run([{ url: at('/a'), label: 'START' }]);
    return seen;
  },
  'links: robotsTxtFile with an agent': async ({ lib, at }) => {
    const skipped = [];
    const robotsTxtFile = lib.RobotsTxtFile.from(at('/robots.txt'), 'User-agent: mine\nDisallow: /b\n');
    const crawler = new lib.CheerioCrawler({
      maxRequestRetries: 0,
      async requestHandler({ request, enqueueLinks }) {
        if (request.label !== 'START') return;
        const respectRobotsTxtFile = { userAgent: 'mine' };
        const onSkippedRequest = ({ url, reason }) => void skipped.push([url, reason]);
        await enqueueLinks({ urls: [at('/a'), at('/b')], robotsTxtFile, respectRobotsTxtFile, onSkippedRequest });
      },
    });
    await crawler.run([{ url: at('/a'), label: 'START' }]);
    return skipped;
  },
  'links: what is over the limit is told, in order': async ({ lib, at }) => {
    const skipped = [];
    const crawler = new lib.CheerioCrawler({
      maxRequestRetries: 0,
      async requestHandler({ request, enqueueLinks }) {
        if (request.label !== 'START') return;
        const onSkippedRequest = ({ url, reason }) => void skipped.push([url, reason]);
        await enqueueLinks({ urls: [at('/a'), at('/b'), at('/item/1'), at('/item/2')], limit: 2, onSkippedRequest });
      },
    });
    await crawler.run([{ url: at('/'), label: 'START' }]);
    return skipped;
  },
  'queue: maxNewRequests and requestsOverLimit': async ({ lib, at }) => {
    const queue = await lib.RequestQueue.open();
    await queue.addRequest({ url: at('/a') });
    const urls = ['/a', '/b', '/item/1', '/item/2'].map((path) => ({ url: at(path) }));
    const result = await queue.addRequestsBatched(urls, { maxNewRequests: 2 });
    const over = (result.requestsOverLimit ?? []).map((one) => one.url ?? one);
    return [result.addedRequests.map(({ wasAlreadyPresent }) => wasAlreadyPresent), over];
  },
  'queue: requestsOverLimit without a limit': async ({ lib, at }) => {
    const queue = await lib.RequestQueue.open();
    const { requestsOverLimit } = await queue.addRequestsBatched([at('/a')]);
    return requestsOverLimit;
  },
  'basic: sendRequest with an encoding': handled('BasicCrawler', '/a', async ({ sendRequest }, { at }) => {
    const { body } = await sendRequest({ url: at('/latin1'), encoding: 'latin1' });
    return body.includes('caf\xe9') || body.includes('Caf\xe9');
  }),
  'basic: sendRequest with a sessionToken': handled('BasicCrawler', '/a', async (context, tools) => {
    return (await echoed(context, tools, { sessionToken: { mine: 1 } })).method;
  }),
  'basic: sendRequest with headerGeneratorOptions': handled('BasicCrawler', '/a', async (context, tools) => {
    const headerGeneratorOptions = { browsers: ['chrome'], operatingSystems: ['linux'] };
    return (await echoed(context, tools, { headerGeneratorOptions })).hasAgent;
  }),
  'basic: sendRequest as JSON': handled('BasicCrawler', '/a', async ({ sendRequest }, { at }) => {
    return (await sendRequest({ url: at('/json'), responseType: 'json' })).body;
  }),
  'basic: sendRequest as a buffer': handled('BasicCrawler', '/a', async ({ sendRequest }, { at }) => {
    const { body } = await sendRequest({ url: at('/bytes'), responseType: 'buffer' });
    return [Buffer.isBuffer(body), body.length];
  }),
  'http: all fields of the response': handled('HttpCrawler', '/redirect/1', async ({ response }) => [
    response.statusCode,
    response.statusMessage,
    response.complete,
    response.httpVersion,
    response.rawHeaders.length > 0,
    response.redirectUrls.map(String),
    typeof response.on,
    response.url,
  ]),
  'cookies: a host-only cookie of a parent': async ({ lib }) => {
    const session = new lib.Session({ sessionPool: await lib.SessionPool.open() });
    session.setCookies([{ name: 'h', value: '1' }], 'https://example.com');
    return ['https://example.com', 'https://www.example.com'].map((url) => session.getCookieString(url));
  },
  'cookies: a jar given to a session': async ({ lib }) => {
    const sessionPool = await lib.SessionPool.open();
    const first = new lib.Session({ sessionPool });
    first.setCookies([{ name: 'j', value: '1' }], 'https://example.com');
    const second = new lib.Session({ sessionPool, cookieJar: first.cookieJar });
    return second.getCookieString('https://example.com');
  },
  'session: scores after good and bad': async ({ lib }) => {
    const session = new lib.Session({ sessionPool: await lib.SessionPool.open(), maxErrorScore: 2 });
    const scores = [];
    for (const step of ['markBad', 'markGood', 'markBad', 'markBad', 'markBad', 'markGood']) {
      session[step]();
      scores.push([session.errorScore, session.isUsable(), session.usageCount]);
    }
    return scores;
  },
  'proxy: info has a username': async ({ lib }) => {
    const proxies = new lib.ProxyConfiguration({ proxyUrls: ['http://me:pw@proxy.example:8000'] });
    const { username, password, hostname, port } = await proxies.newProxyInfo('s1');
    return [username, password, hostname, String(port)];
  },
  'dataset: hidden and empty items': async ({ lib }) => {
    const dataset = await lib.Dataset.open();
    await dataset.pushData([{ '#error': 1, a: 2 }, {}, { b: 3 }]);
    return (await dataset.getData()).items;
  },
  'basic: requestList of a crawler': async ({ lib, at }) => {
    const requestList = await lib.RequestList.open(null, [at('/a')]);
    const crawler = new lib.BasicCrawler({ requestList, requestHandler() {} });
    await crawler.run();
    return crawler.requestList === requestList;
  },
  'basic: loadSignals of systemStatusOptions': async ({ lib, crawl, at }) => {
    const told = [];
    const signal = {
      name: 'mine',
      overloadedRatio: 0.5,
      start: async () => void told.push('start'),
      stop: async () => void told.push('stop'),
      getSample: () => [],
    };
    const autoscaledPoolOptions = { systemStatusOptions: { loadSignals: [signal] } };
    await crawl(lib.BasicCrawler, { autoscaledPoolOptions, requestHandler() {} }, [at('/a')]);
    return told;
  },
  'basic: derived classes see every request': async ({ lib, at }) => {
    const got = [];
    class Mine extends lib.BasicCrawler {
      async _runRequestHandler(context) {
        got.push('before');
        await super._runRequestHandler(context);
        got.push('after');
      }
    }
    await new Mine({ requestHandler: () => void got.push('handler') }).run([at('/a')]);
    return got;
  },
  'basic: derived classes clean up after every visit': async ({ lib, at }) => {
    const got = [];
    class Mine extends lib.BasicCrawler {
      async _cleanupContext({ request }) {
        got.push(`clean ${new URL(request.url).pathname}`);
      }
    }
    const options = {
      maxConcurrency: 1,
      maxRequestRetries: 1,
      requestHandler({ request }) {
        got.push('handler');
        if (request.url.endsWith('/b')) throw new Error('no');
      },
      errorHandler: () => void got.push('error'),
      failedRequestHandler: () => void got.push('failed'),
    };
    await new Mine(options).run([at('/a')]);
    await new Mine(options).run([at('/b')]);
    return got;
  },
  'basic: derived classes have a word on failures': async ({ lib, at }) => {
    const got = new Set();
    class Mine extends lib.BasicCrawler {
      _getMessageFromError(error, ...more) {
        const message = super._getMessageFromError(error, ...more);
        got.add(message.split('\n')[0]);
        return message;
      }
      tell(error) {
        return this._getMessageFromError(error);
      }
    }
    const requestHandler = () => {
      throw new TypeError('a bug');
    };
    const crawler = new Mine({ maxRequestRetries: 0, requestHandler });
    crawler.tell(new SyntaxError('asked'));
    await crawler.run([at('/a')]);
    return [...got];
  },
  'basic: derived classes prepare before a run': async ({ lib, at }) => {
    const got = [];
    class Mine extends lib.BasicCrawler {
      async _init() {
        got.push('init');
        await super._init();
      }
    }
    await new Mine({ requestHandler: () => void got.push('handler') }).run([at('/a')]);
    return got;
  },
  'http: derived classes change cookies': async ({ lib, at }) => {
    let got;
    class Mine extends lib.HttpCrawler {
      _applyCookies(context, options, before, after) {
        super._applyCookies(context, options, before, after);
        options.headers = { ...options.headers, Cookie: `${options.headers.Cookie}; mine=1` };
        got = [before, after];
      }
    }
    const preNavigationHooks = [({ request }) => void (request.headers = { cookie: 'a=1; b=2' })];
    const requestHandler = ({ json }) => void got.push(json.cookie);
    const url = at('/echo');
    await new Mine({ preNavigationHooks, requestHandler }).run([{ url, headers: { cookie: 'a=1' } }]);
    return got;
  },
  'http: derived classes parse pages': async ({ lib, at }) => {
    let got;
    class Mine extends lib.HttpCrawler {
      async _parseHTML(response, isXml, { request }) {
        let text = '';
        for await (const piece of response) text += piece;
        return { title: /<title>(.*)<\/title>/.exec(text)[1], isXml, of: new URL(request.url).pathname };
      }
    }
    const requestHandler = ({ title, isXml, of }) => void (got = [title, isXml, of]);
    await new Mine({ requestHandler }).run([at('/a')]);
    return got;
  },
  'playwright: derived classes load pages': async ({ lib, at }) => {
    const got = [];
    class Mine extends lib.PlaywrightCrawler {
      async _navigationHandler(context, gotoOptions) {
        got.push(typeof gotoOptions.timeout);
        const response = await super._navigationHandler(context, gotoOptions);
        got.push(response.status());
        return response;
      }
    }
    const requestHandler = async ({ page, response, request }) => {
      got.push(await page.title(), response.status(), new URL(request.loadedUrl).pathname);
    };
    await new Mine({ ...PW, requestHandler }).run([at('/a')]);
    return got;
  },
  'basic: the web server that is told to end': async ({ lib, at, sleep }) => {
    const crawler = new lib.BasicCrawler({ keepAlive: true, requestHandler() {} });
    const running = crawler.run();
    await crawler.addRequests([at('/a')]);
    while (crawler.stats.state.requestsFinished < 1) await sleep(20);
    await crawler.teardown();
    return (await running).requestsFinished;
  },
  'router: a map of schemas': async ({ lib }) => {
    const schema = {
      '~standard': {
        version: 1,
        vendor: 'mine',
        validate: (value) =>
          typeof value?.sku === 'string' ? { value } : { issues: [{ message: 'no sku', path: ['sku'] }] },
      },
    };
    const router = lib.createCheerioRouter({ P: schema });
    router.addHandler('P', () => {});
    router.addDefaultHandler(() => {});
    return [typeof router.getHandler('P'), typeof lib.defaultRoute, router.getSchema('P') === schema];
  },
  'robots: find with a signal': async ({ lib, at }) => {
    const signal = AbortSignal.timeout(5_000);
    const robots = await lib.RobotsTxtFile.find(at('/a'), undefined, { timeoutMillis: 5_000, signal });
    return robots.getSitemaps();
  },
  'log: a logger of JSON lines': async ({ lib }) => {
    const logger = new lib.LoggerJson();
    const line = JSON.parse(logger._log ? (logger._log(lib.LogLevel.INFO, 'hello', { a: 1 }) ?? '{}') : '{}');
    return [logger instanceof lib.Logger, typeof line];
  },
  'config: a storageClient of one crawler': async ({ lib, at }) => {
    const storageClient = new lib.MemoryStorage({ persistStorage: false });
    const config = new lib.Configuration({ storageClient, persistStorage: false });
    const crawler = new lib.BasicCrawler({ requestHandler: ({ pushData }) => pushData({ a: 1 }) }, config);
    await crawler.run([at('/a')]);
    const { id } = await storageClient.datasets().getOrCreate('default');
    return [(await crawler.getData()).items, typeof id];
  },
  'events: aborting and migrating can be listened to': async ({ lib, sleep }) => {
    const got = [];
    const events = lib.Configuration.getEventManager();
    for (const name of ['migrating', 'aborting', 'persistState', 'systemInfo']) events.on(name, () => got.push(name));
    events.emit(lib.EventType.MIGRATING);
    events.emit(lib.EventType.ABORTING);
    events.emit(lib.EventType.PERSIST_STATE, { isMigrating: false });
    await sleep(20);
    return [...new Set(got)].sort();
  },
  'utils: extractUrls of plain names': async ({ lib }) =>
    lib.extractUrls({ string: 'https://a.example/x, https://b.example/y?z=1 and http://c.example' }),
  'playwright: downloads are listed': async (tools) => {
    const look = async ({ page, listDownloads }) => {
      await page.click('a');
      for (let i = 0; i < 40 && (await listDownloads()).length === 0; i++) await tools.sleep(50);
      const [download] = await listDownloads();
      return [
        download.suggestedFilename(),
        (await (await import('node:fs/promises')).stat(await download.path())).size,
      ];
    };
    const launchContext = { launchOptions: { ...launchOptions, acceptDownloads: true } };
    return handled('PlaywrightCrawler', '/download-page', look, { ...PW, launchContext })(tools);
  },
  'playwright: downloads without acceptDownloads': async (tools) => {
    const look = async ({ page, listDownloads }) => {
      await page.click('a');
      for (let i = 0; i < 40 && (await listDownloads()).length === 0; i++) await tools.sleep(50);
      const [download] = await listDownloads();
      return (await download.failure()) === null;
    };
    return handled('PlaywrightCrawler', '/download-page', look, PW)(tools);
  },
  'playwright: infiniteScroll scrolls at least once': handled(
    'PlaywrightCrawler',
    '/tall',
    async ({ page, infiniteScroll }) => {
      await infiniteScroll({ timeoutSecs: 1, waitForSecs: 0.5 });
      return page.evaluate(() => window.scrolls > 0);
    },
    PW,
  ),
  'playwright: clicks keep to the strategy': async ({ lib, at }) => {
    const seen = [];
    const crawler = new lib.PlaywrightCrawler({
      ...PW,
      maxRequestRetries: 0,
      async requestHandler({ request, enqueueLinksByClickingElements }) {
        if (request.label !== 'START') return;
        const { processedRequests } = await enqueueLinksByClickingElements({ selector: 'button', label: 'NEXT' });
        seen.push(...processedRequests.map(({ uniqueKey }) => uniqueKey));
      },
      failedRequestHandler() {},
    });
    await crawler.run([{ url: at('/clicks'), label: 'START' }]);
    return seen.sort();
  },
  'playwright: saveSnapshot without a page': handled(
    'PlaywrightCrawler',
    '/a',
    async ({ saveSnapshot }, { lib }) => {
      await saveSnapshot({ key: 'ONLY', saveScreenshot: false });
      const store = await lib.KeyValueStore.open();
      return [(await store.getValue('ONLY.html'))?.includes('Page A'), await store.getValue('ONLY.jpg')];
    },
    PW,
  ),
  'playwright: useFingerprints false is accepted': handled('PlaywrightCrawler', '/a', ({ page }) => page.title(), PW),
  'playwright: operationTimeoutSecs is accepted': handled('PlaywrightCrawler', '/a', ({ page }) => page.title(), {
    ...PW,
    browserPoolOptions: { useFingerprints: false, operationTimeoutSecs: 20 },
  }),
  'adaptive: shouldPropagateError and resultComparator': async ({ lib, crawl, at }) => {
    const { crawler } = await crawl(
      lib.AdaptivePlaywrightCrawler,
      {
        launchContext: { launchOptions },
        headless: true,
        renderingTypeDetectionRatio: 1,
        resultComparator: () => true,
        shouldPropagateError: () => false,
        requestHandler: ({ pushData }) => pushData({ a: 1 }),
      },
      [at('/a')],
    );
    return (await crawler.getData()).items;
  },
  'adaptive: enqueueLinks without a selector waits': async ({ lib, crawl, at }) => {
    const seen = [];
    await crawl(
      lib.AdaptivePlaywrightCrawler,
      {
        launchContext: { launchOptions },
        headless: true,
        async requestHandler({ request, enqueueLinks }) {
          seen.push(request.url);
          if (request.label) await enqueueLinks();
        },
      },
      [{ url: at('/dynamic'), label: 'S' }],
    );
    return [...new Set(seen)].sort();
  },
  'pool: retireBrowserByPage': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.PlaywrightCrawler,
      {
        ...PW,
        async requestHandler({ page, crawler, browserController }) {
          crawler.browserPool.retireBrowserByPage(page);
          got = [typeof browserController.id, crawler.browserPool.retiredBrowserControllers.has(browserController)];
        },
      },
      [at('/a')],
    );
    return got;
  },
  'state: useState is saved with the event': async ({ lib, sleep }) => {
    lib.Configuration.getGlobalConfig().set('persistStateIntervalMillis', 300);
    const state = await lib.useState('my-state', { hello: 'world' });
    state.hello = 'foo';
    const same = (await lib.useState('my-state', { hello: 'world' })) === state;
    const manager = lib.Configuration.getEventManager();
    await manager.init();
    await new Promise((resolve) => manager.on('persistState', () => resolve()));
    await sleep(100);
    return [same, await lib.KeyValueStore.getValue('my-state')];
  },
};
