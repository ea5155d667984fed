// Request, Router, Session, cookies, proxies, events, pools, log, errors: each on its own.
const throws = (fn) => {
  try {
    fn();
    return 'accepted';
  } catch (error) {
    return error.name === 'ArgumentError' || error ? 'refused' : '';
  }
};
const rejects = async (fn) => {
  try {
    await fn();
    return 'accepted';
  } catch {
    return 'refused';
  }
};
// A schema as zod, valibot and others give them.
const SKU = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) =>
      typeof value.sku === 'string'
        ? { value: { ...value, sku: value.sku.toUpperCase() } }
        : { issues: [{ message: 'sku is missing', path: ['sku'] }] },
  },
};
export const scenarios = {
  'request: fields': async ({ lib }) => {
    const r = new lib.Request({ url: 'http://example.com/A?b=2&a=1#frag', userData: { x: 1 } });
    return {
      url: r.url,
      uniqueKey: r.uniqueKey,
      method: r.method,
      headers: r.headers,
      userData: r.userData,
      retryCount: r.retryCount,
      noRetry: r.noRetry,
      errorMessages: r.errorMessages,
      loadedUrl: r.loadedUrl,
      skip: r.skipNavigation,
    };
  },
  'request: uniqueKey normalises': async ({ lib }) =>
    [
      'http://EXAMPLE.com',
      'http://example.com/',
      'http://example.com/a/',
      'http://example.com?b=1&a=2',
      'http://example.com/?utm_source=x&q=1',
      'http://www.example.com/x#y',
      'https://example.com:443/',
      'http://example.com/%7Efoo',
      'http://example.com/a b',
    ].map((url) => new lib.Request({ url }).uniqueKey),
  'request: label in userData': async ({ lib }) => {
    const r = new lib.Request({ url: 'http://example.com', label: 'L' });
    const s = new lib.Request({ url: 'http://example.com', userData: { label: 'M' } });
    r.label = 'N';
    return [r.label, r.userData.label, s.label];
  },
  'request: extended unique key': async ({ lib }) => {
    const make = (payload, method = 'POST') =>
      new lib.Request({ url: 'http://example.com', method, payload, useExtendedUniqueKey: true }).uniqueKey;
    return [
      make('a') === make('a'),
      make('a') === make('b'),
      make(undefined, 'GET').startsWith('GET'),
      make('a').startsWith('POST'),
    ];
  },
  'request: pushErrorMessage': async ({ lib }) => {
    const r = new lib.Request({ url: 'http://example.com' });
    r.pushErrorMessage(new Error('one'), { omitStack: true });
    r.pushErrorMessage('two');
    r.pushErrorMessage({ message: 'three' });
    return r.errorMessages;
  },
  'request: crawlDepth and maxRetries': async ({ lib }) => {
    const r = new lib.Request({ url: 'http://example.com', crawlDepth: 3, maxRetries: 2 });
    return [r.crawlDepth, r.maxRetries];
  },
  'request: state': async ({ lib }) => {
    const r = new lib.Request({ url: 'http://example.com' });
    return [r.state, lib.RequestState.UNPROCESSED];
  },
  'request: refused options': async ({ lib }) => [
    throws(() => new lib.Request({})),
    throws(() => new lib.Request({ url: 5 })),
    throws(() => new lib.Request({ url: 'http://x.example', payload: 'x', method: 'GET' })),
  ],
  'request: unknown methods and options': async ({ lib }) => [
    throws(() => new lib.Request({ url: 'http://x.example', method: 'NONE' })),
    throws(() => new lib.Request({ url: 'http://x.example', foo: 1 })),
  ],
  'request: JSON of a request': async ({ lib }) => {
    const text = JSON.parse(JSON.stringify(new lib.Request({ url: 'http://example.com/', userData: { a: 1 } })));
    return [text.url, text.uniqueKey, text.method, text.retryCount];
  },
  'request: own id': async ({ lib }) => {
    const r = new lib.Request({ url: 'http://example.com', id: 'abc' });
    return r.id;
  },
  'request: handledAt': async ({ lib }) => {
    const r = new lib.Request({ url: 'http://example.com', handledAt: '2024-01-02T03:04:05.000Z' });
    return [r.handledAt, new lib.Request({ url: 'http://example.com' }).handledAt];
  },
  'request: enqueueStrategy': async ({ lib }) => {
    const r = new lib.Request({ url: 'http://example.com', enqueueStrategy: 'same-domain' });
    return r.enqueueStrategy;
  },
  'request: sessionRotationCount': async ({ lib }) => {
    const r = new lib.Request({ url: 'http://example.com' });
    r.sessionRotationCount = 2;
    return r.sessionRotationCount;
  },
  'router: labels and default': async ({ lib, crawl, at }) => {
    const got = [];
    const router = lib.createCheerioRouter();
    router.addDefaultHandler(({ request }) => void got.push(['default', request.url]));
    router.addHandler('L', ({ request }) => void got.push(['L', request.url]));
    await crawl(lib.CheerioCrawler, { requestHandler: router }, [at('/a'), { url: at('/b'), label: 'L' }]);
    return got.sort();
  },
  'router: middlewares': async ({ lib, crawl, at }) => {
    const got = [];
    const router = lib.createBasicRouter();
    router.use(() => void got.push('one'));
    router.use(async () => void got.push('two'));
    router.addDefaultHandler(() => void got.push('handler'));
    await crawl(lib.BasicCrawler, { requestHandler: router }, [at('/a')]);
    return got;
  },
  'router: crawler.router': async ({ lib, at }) => {
    const got = [];
    const crawler = new lib.CheerioCrawler({ maxRequestRetries: 0 });
    crawler.router.addDefaultHandler(({ $ }) => void got.push($('h1').text()));
    await crawler.run([at('/a')]);
    return got;
  },
  'router: no handler': async ({ lib, crawl, at }) => {
    const router = lib.createBasicRouter();
    router.addHandler('X', () => {});
    return rejects(() => crawl(lib.BasicCrawler, { requestHandler: router }, [at('/a')]));
  },
  'router: twice the same label': async ({ lib }) => {
    const router = lib.createBasicRouter();
    router.addHandler('X', () => {});
    return throws(() => router.addHandler('X', () => {}));
  },
  'router: map of handlers': async ({ lib, crawl, at }) => {
    const got = [];
    const router = lib.createBasicRouter({ A: () => void got.push('A'), B: () => void got.push('B') });
    await crawl(lib.BasicCrawler, { requestHandler: router }, [
      { url: at('/a'), label: 'A' },
      { url: at('/b'), label: 'B' },
    ]);
    return got.sort();
  },
  'router: defaultRoute in a map': async ({ lib, crawl, at }) => {
    const got = [];
    const router = lib.createBasicRouter({ [lib.defaultRoute]: () => void got.push('default') });
    await crawl(lib.BasicCrawler, { requestHandler: router }, [{ url: at('/a'), label: 'A' }]);
    return got;
  },
  'router: schema of userData': async ({ lib, crawl, at }) => {
    const got = [];
    const router = lib.createBasicRouter({ P: SKU });
    router.addHandler('P', ({ request }) => void got.push([request.userData.sku, request.label]));
    const failed = [];
    await crawl(
      lib.BasicCrawler,
      {
        maxRequestRetries: 2,
        requestHandler: router,
        failedRequestHandler: ({ request }, error) => void failed.push([request.retryCount, error.constructor.name]),
      },
      [
        { url: at('/a'), label: 'P', userData: { sku: 'x1' } },
        { url: at('/b'), label: 'P', userData: {} },
      ],
    );
    return { got, failed };
  },
  'router: schema of the default route': async ({ lib, crawl, at }) => {
    const got = [];
    const router = lib.createBasicRouter({ [lib.defaultRoute]: SKU });
    router.addDefaultHandler(({ request }) => void got.push(request.userData.sku));
    await crawl(lib.BasicCrawler, { requestHandler: router }, [{ url: at('/a'), userData: { sku: 'q' } }]);
    return got;
  },
  'router: getSchema': async ({ lib }) => {
    const router = lib.createBasicRouter({ P: SKU });
    return [router.getSchema('P') === SKU, router.getSchema('none')];
  },
  'router: getHandler': async ({ lib }) => {
    const router = lib.createBasicRouter();
    const f = () => {};
    router.addHandler('A', f);
    return [router.getHandler('A') === f, throws(() => router.getHandler('none'))];
  },
  'session: new': async ({ lib }) => {
    const pool = await lib.SessionPool.open();
    const s = new lib.Session({ sessionPool: pool, maxAgeSecs: 10, userData: { a: 1 } });
    return [typeof s.id, s.isUsable(), s.isExpired(), s.isBlocked(), s.errorScore, s.usageCount, s.userData];
  },
  'session: markGood and markBad': async ({ lib }) => {
    const pool = await lib.SessionPool.open();
    const s = new lib.Session({ sessionPool: pool });
    const got = [];
    s.markBad();
    got.push([s.errorScore, s.usageCount, s.isUsable()]);
    s.markGood();
    got.push([s.errorScore, s.usageCount]);
    s.markBad();
    s.markBad();
    s.markBad();
    s.markBad();
    got.push([s.errorScore, s.isUsable(), s.isBlocked()]);
    return got;
  },
  'session: retire': async ({ lib }) => {
    const pool = await lib.SessionPool.open();
    const s = new lib.Session({ sessionPool: pool });
    s.retire();
    return [s.isUsable(), s.isBlocked(), s.errorScore];
  },
  'session: retireOnBlockedStatusCodes': async ({ lib }) => {
    const pool = await lib.SessionPool.open();
    const s = new lib.Session({ sessionPool: pool });
    return [
      s.retireOnBlockedStatusCodes(200),
      s.retireOnBlockedStatusCodes(403),
      s.isUsable(),
      new lib.Session({ sessionPool: pool }).retireOnBlockedStatusCodes(500, [500]),
    ];
  },
  'session: setCookie and getCookieString': async ({ lib }) => {
    const pool = await lib.SessionPool.open();
    const s = new lib.Session({ sessionPool: pool });
    s.setCookie('a=1; Path=/', 'https://example.com');
    s.setCookies([{ name: 'b', value: '2' }], 'https://example.com');
    return [
      s.getCookieString('https://example.com'),
      s.getCookieString('https://other.example'),
      s.getCookies('https://example.com').map(({ name, value, path }) => [name, value, path]),
    ];
  },
  'session: setCookies with a domain': async ({ lib }) => {
    const pool = await lib.SessionPool.open();
    const s = new lib.Session({ sessionPool: pool });
    s.setCookies([{ name: 'c', value: '1', domain: 'abc.example.com' }], 'https://www.example.com');
    s.setCookies([{ name: 'd', value: '2', domain: '.example.com' }], 'https://www.example.com');
    return ['https://www.example.com', 'https://abc.example.com', 'https://example.com'].map((u) =>
      s.getCookieString(u),
    );
  },
  'session: getState': async ({ lib }) => {
    const pool = await lib.SessionPool.open();
    const state = new lib.Session({ sessionPool: pool, id: 'x' }).getState();
    return Object.keys(state).sort();
  },
  'pool: getSession and counts': async ({ lib }) => {
    const pool = await lib.SessionPool.open({ maxPoolSize: 2 });
    const a = await pool.getSession();
    await pool.getSession();
    await pool.getSession();
    a.retire();
    return [pool.usableSessionsCount >= 1, pool.retiredSessionsCount];
  },
  'pool: getSession by id': async ({ lib }) => {
    const pool = await lib.SessionPool.open();
    await pool.addSession({ id: 'mine', userData: { a: 1 } });
    return [(await pool.getSession('mine')).userData, await pool.getSession('none')];
  },
  'pool: createSessionFunction': async ({ lib }) => {
    const pool = await lib.SessionPool.open({
      createSessionFunction: (p) => new lib.Session({ sessionPool: p, userData: { made: true } }),
    });
    return (await pool.getSession()).userData;
  },
  'pool: getState': async ({ lib }) => {
    const pool = await lib.SessionPool.open();
    await pool.getSession();
    const state = pool.getState();
    return [Object.keys(state).sort(), state.sessions.length];
  },
  'pool: sessionPoolOptions of a crawler': async ({ lib, crawl, at }) => {
    const ids = new Set();
    await crawl(
      lib.BasicCrawler,
      { sessionPoolOptions: { maxPoolSize: 1 }, requestHandler: ({ session }) => void ids.add(session.id) },
      ['/a', '/b', '/links'].map(at),
    );
    return ids.size;
  },
  'pool: useSessionPool false': async ({ lib, crawl, at }) => {
    let got = 'unset';
    await crawl(
      lib.BasicCrawler,
      {
        useSessionPool: false,
        requestHandler: ({ session }) => {
          got = session;
        },
      },
      [at('/a')],
    );
    return got ?? null;
  },
  'pool: SessionError rotates': async ({ lib, crawl, at }) => {
    const ids = [];
    const { final } = await crawl(
      lib.BasicCrawler,
      {
        maxSessionRotations: 2,
        maxRequestRetries: 0,
        requestHandler({ session }) {
          ids.push(session.id);
          throw new lib.SessionError('blocked');
        },
      },
      [at('/a')],
    );
    return [ids.length, new Set(ids).size, final.requestsFailed];
  },
  'cookies: persistCookiesPerSession': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.HttpCrawler,
      {
        additionalMimeTypes: ['application/json'],
        persistCookiesPerSession: true,
        sessionPoolOptions: { maxPoolSize: 1 },
        requestHandler: ({ json, request }) => {
          if (request.url.includes('echo')) got = json.cookie;
        },
      },
      [at('/set-cookie'), at('/echo')],
    );
    return got;
  },
  'cookies: request.headers.Cookie': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.HttpCrawler,
      {
        additionalMimeTypes: ['application/json'],
        requestHandler: ({ json }) => {
          got = json.cookie;
        },
      },
      [{ url: at('/echo'), headers: { Cookie: 'mine=1; b=2' } }],
    );
    return got;
  },
  'cookies: merged from headers and jar': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.HttpCrawler,
      {
        additionalMimeTypes: ['application/json'],
        sessionPoolOptions: { maxPoolSize: 1 },
        requestHandler: ({ json, request }) => {
          if (request.url.includes('echo')) got = json.cookie;
        },
      },
      [at('/set-cookie'), { url: at('/echo'), headers: { cookie: 'mine=1; one=override' } }],
    );
    return got;
  },
  'cookies: a hook sets session cookies': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.HttpCrawler,
      {
        additionalMimeTypes: ['application/json'],
        preNavigationHooks: [({ session, request }) => session.setCookies([{ name: 'h', value: '1' }], request.url)],
        requestHandler: ({ json }) => {
          got = json.cookie;
        },
      },
      [at('/echo')],
    );
    return got;
  },
  'proxy: newUrl rotates': async ({ lib }) => {
    const p = new lib.ProxyConfiguration({ proxyUrls: ['http://a.example:1', 'http://b.example:2'] });
    return [await p.newUrl(), await p.newUrl(), await p.newUrl()];
  },
  'proxy: newUrl keeps a session': async ({ lib }) => {
    const p = new lib.ProxyConfiguration({ proxyUrls: ['http://a.example:1', 'http://b.example:2'] });
    return [(await p.newUrl('s')) === (await p.newUrl('s'))];
  },
  'proxy: newProxyInfo': async ({ lib }) => {
    const p = new lib.ProxyConfiguration({ proxyUrls: ['http://user:pw@a.example:8000'] });
    return p.newProxyInfo('s1');
  },
  'proxy: newProxyInfo without login': async ({ lib }) => {
    const p = new lib.ProxyConfiguration({ proxyUrls: ['http://a.example:8000'] });
    return p.newProxyInfo('s1');
  },
  'proxy: newUrlFunction': async ({ lib }) => {
    const p = new lib.ProxyConfiguration({ newUrlFunction: (s) => `http://x.example:1/${s ?? ''}` });
    return [await p.newUrl('q'), await p.newUrl()];
  },
  'proxy: tieredProxyUrls': async ({ lib }) => {
    const p = new lib.ProxyConfiguration({ tieredProxyUrls: [['http://a.example:1'], ['http://b.example:2']] });
    const r = new lib.Request({ url: 'http://x.example' });
    return p.newUrl('s', { request: r });
  },
  'proxy: tieredProxyUrls without a request': async ({ lib }) => {
    const p = new lib.ProxyConfiguration({ tieredProxyUrls: [['http://a.example:1'], ['http://b.example:2']] });
    return rejects(() => p.newUrl());
  },
  'proxy: socks is accepted': async ({ lib }) =>
    throws(() => new lib.ProxyConfiguration({ proxyUrls: ['socks5://a.example:1080'] })),
  'proxy: no proxies at all': async ({ lib }) => throws(() => new lib.ProxyConfiguration({})),
  'proxy: refused options': async ({ lib }) => [
    throws(() => new lib.ProxyConfiguration({ proxyUrls: [] })),
    throws(() => new lib.ProxyConfiguration({ proxyUrls: ['not a url'] })),
    throws(
      () => new lib.ProxyConfiguration({ proxyUrls: ['http://a.example:1'], newUrlFunction: () => 'http://x.example' }),
    ),
  ],
  'events: crawler.events': async ({ lib, at }) => {
    const got = [];
    const crawler = new lib.BasicCrawler({ requestHandler() {} });
    crawler.events.on(lib.EventType.PERSIST_STATE, (data) => void got.push(typeof data));
    await crawler.run([at('/a')]);
    crawler.events.emit(lib.EventType.PERSIST_STATE, { isMigrating: false });
    return got.length > 0;
  },
  'events: types': async ({ lib }) => lib.EventType && Object.entries(lib.EventType).sort(),
  'events: LocalEventManager': async ({ lib }) => {
    const m = new lib.LocalEventManager();
    let n = 0;
    const f = () => void n++;
    m.on('x', f);
    m.emit('x');
    m.emit('x');
    m.off('x', f);
    m.emit('x');
    return n;
  },
  'events: init and close': async ({ lib }) => {
    const m = new lib.LocalEventManager();
    const before = m.isInitialized();
    await m.init();
    const during = m.isInitialized();
    await m.close();
    return [before, during, m.isInitialized()];
  },
  'events: waitForAllListenersToComplete': async ({ lib, sleep }) => {
    const m = new lib.LocalEventManager();
    let done = false;
    m.on('x', async () => {
      await sleep(50);
      done = true;
    });
    m.emit('x');
    await m.waitForAllListenersToComplete();
    return done;
  },
  'autoscaled: runs tasks': async ({ lib }) => {
    let n = 0;
    const pool = new lib.AutoscaledPool({
      maxConcurrency: 2,
      runTaskFunction: async () => void n++,
      isTaskReadyFunction: async () => n < 5,
      isFinishedFunction: async () => n >= 5,
    });
    await pool.run();
    return n;
  },
  'autoscaled: abort': async ({ lib, sleep }) => {
    let n = 0;
    const pool = new lib.AutoscaledPool({
      maxConcurrency: 1,
      runTaskFunction: async () => {
        await sleep(10);
        if (++n === 3) await pool.abort();
      },
      isTaskReadyFunction: async () => true,
      isFinishedFunction: async () => false,
    });
    await pool.run();
    return n >= 3;
  },
  'autoscaled: a task that throws rejects': async ({ lib }) => {
    let n = 0;
    const pool = new lib.AutoscaledPool({
      runTaskFunction: async () => {
        n++;
        throw new Error('task');
      },
      isTaskReadyFunction: async () => n < 1,
      isFinishedFunction: async () => false,
    });
    return pool.run().then(
      () => 'resolved',
      (e) => e.message,
    );
  },
  'autoscaled: pause and resume': async ({ lib, sleep }) => {
    let n = 0;
    const pool = new lib.AutoscaledPool({
      maxConcurrency: 1,
      runTaskFunction: async () => {
        n++;
        await sleep(5);
      },
      isTaskReadyFunction: async () => n < 10,
      isFinishedFunction: async () => n >= 10,
    });
    const run = pool.run();
    await pool.pause();
    const paused = n;
    await sleep(100);
    const still = n === paused;
    pool.resume();
    await run;
    return [still, n];
  },
  'autoscaled: concurrency properties': async ({ lib }) => {
    const pool = new lib.AutoscaledPool({
      minConcurrency: 2,
      maxConcurrency: 5,
      desiredConcurrency: 3,
      runTaskFunction: async () => {},
      isTaskReadyFunction: async () => false,
      isFinishedFunction: async () => true,
    });
    pool.maxConcurrency = 7;
    return [pool.minConcurrency, pool.maxConcurrency, pool.desiredConcurrency, pool.currentConcurrency];
  },
  'log: levels': async ({ lib }) => [
    lib.LogLevel.OFF,
    lib.LogLevel.ERROR,
    lib.LogLevel.SOFT_FAIL,
    lib.LogLevel.WARNING,
    lib.LogLevel.INFO,
    lib.LogLevel.DEBUG,
    lib.LogLevel.PERF,
  ],
  'log: a child with a prefix': async ({ lib }) => {
    const child = lib.log.child({ prefix: 'X' });
    return [
      child.getOptions().prefix,
      typeof child.info,
      typeof child.softFail,
      typeof child.perf,
      typeof child.exception,
      typeof child.deprecated,
      typeof child.setLevel,
      typeof child.getLevel,
    ];
  },
  'log: own logger class': async ({ lib }) => {
    const lines = [];
    class Mine extends lib.Logger {
      _log(level, message, data) {
        lines.push([level, message, data]);
      }
    }
    const log = new lib.Log({ level: lib.LogLevel.INFO, logger: new Mine() });
    log.info('hello', { a: 1 });
    log.debug('not shown');
    return lines;
  },
  'log: LoggerJson and LoggerText exist': async ({ lib }) => [
    typeof new lib.LoggerJson()._log,
    typeof new lib.LoggerText()._log,
  ],
  'log: own Log given to a crawler': async ({ lib, at }) => {
    const lines = [];
    class Mine extends lib.Logger {
      _log(level, message) {
        lines.push(level);
      }
    }
    const log = new lib.Log({ level: lib.LogLevel.INFO, logger: new Mine() });
    const crawler = new lib.BasicCrawler({ log, requestHandler: ({ log }) => log.info('mine') });
    await crawler.run([at('/a')]);
    return lines.length > 0;
  },
  'errors: classes': async ({ lib }) => [
    new lib.CriticalError('x') instanceof lib.NonRetryableError,
    new lib.MissingRouteError('x') instanceof lib.CriticalError,
    new lib.SessionError('x') instanceof lib.RetryRequestError,
    typeof new lib.RetryRequestError().message,
    typeof new lib.SessionError().message,
  ],
  'statistics: own instance': async ({ lib }) => {
    const s = new lib.Statistics();
    s.startJob('a');
    s.finishJob('a', 0);
    s.startJob('b');
    s.failJob('b', 1);
    const { requestsFinished, requestsFailed } = s.state;
    const c = s.calculate();
    return [requestsFinished, requestsFailed, c.requestsTotal, typeof c.requestAvgFinishedDurationMillis];
  },
  'statistics: toJSON': async ({ lib }) =>
    Object.keys(new lib.Statistics().toJSON())
      .filter((k) => /^request|^crawler|stats/.test(k))
      .sort(),
  'enum: BrowserName and friends': async ({ lib }) => [
    Object.values(lib.BrowserName).sort(),
    Object.values(lib.DeviceCategory).sort(),
    Object.values(lib.OperatingSystemsName).sort(),
  ],
  'enum: EnqueueStrategy': async ({ lib }) => Object.entries(lib.EnqueueStrategy).sort(),
  'enum: constants': async ({ lib }) => [
    lib.BLOCKED_STATUS_CODES,
    lib.MAX_POOL_SIZE,
    lib.PERSIST_STATE_KEY,
    lib.EVENT_SESSION_RETIRED,
  ],
  'options: an unknown option is refused': async ({ lib }) =>
    throws(() => new lib.BasicCrawler({ requestHandler() {}, nonsense: 1 })),
  'options: a wrong type is refused': async ({ lib }) => [
    throws(() => new lib.BasicCrawler({ requestHandler: 1 })),
    throws(() => new lib.BasicCrawler({ requestHandler() {}, maxRequestRetries: 'x' })),
    throws(() => new lib.CheerioCrawler({ requestHandler() {}, navigationTimeoutSecs: 'x' })),
  ],
  'options: httpClient of got-scraping': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.CheerioCrawler,
      {
        httpClient: new lib.GotScrapingHttpClient(),
        requestHandler: ({ $ }) => {
          got = $('h1').text();
        },
      },
      [at('/a')],
    );
    return got;
  },
  'state: RecoverableState': async ({ lib }) => {
    const s = new lib.RecoverableState({ defaultState: { n: 1 }, persistStateKey: 'RS', persistenceEnabled: true });
    await s.initialize();
    s.currentValue.n = 5;
    await s.persistState();
    const again = new lib.RecoverableState({ defaultState: { n: 1 }, persistStateKey: 'RS', persistenceEnabled: true });
    await again.initialize();
    return again.currentValue;
  },
  'state: crawler.useState with a name': async ({ lib, crawl, at }) => {
    const { crawler } = await crawl(
      lib.BasicCrawler,
      {
        async requestHandler({ crawler }) {
          const s = await crawler.useState({ a: 0 });
          s.a = 3;
        },
      },
      [at('/a')],
    );
    return (await crawler.useState({})).a;
  },
  'tandem: RequestManagerTandem': async ({ lib, at }) => {
    const list = await lib.RequestList.open(null, [at('/a')]);
    const queue = await lib.RequestQueue.open();
    await queue.addRequest({ url: at('/b') });
    const t = new lib.RequestManagerTandem(list, queue);
    const got = [];
    for (let r; (r = await t.fetchNextRequest());) {
      got.push(r.url);
      await t.markRequestHandled(r);
    }
    return got.sort();
  },
};
