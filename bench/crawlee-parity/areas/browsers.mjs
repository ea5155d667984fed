// PlaywrightCrawler and AdaptivePlaywrightCrawler on Debian's Chromium.
const launch = {
  launchContext: {
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-background-networking'],
    },
  },
  headless: true,
};
const PW = { ...launch, requestHandlerTimeoutSecs: 40, browserPoolOptions: { useFingerprints: false } };
export const scenarios = {
  'playwright: page and title': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.PlaywrightCrawler,
      {
        ...PW,
        async requestHandler({ page, request, response }) {
          got = [await page.title(), request.loadedUrl, response.status()];
        },
      },
      [at('/a')],
    );
    return got;
  },
  'playwright: enqueueLinks': async ({ lib, crawl, at }) => {
    const seen = [];
    await crawl(
      lib.PlaywrightCrawler,
      {
        ...PW,
        async requestHandler({ request, enqueueLinks }) {
          seen.push(request.url);
          await enqueueLinks();
        },
      },
      [at('/')],
    );
    return seen.sort();
  },
  'playwright: parseWithCheerio': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.PlaywrightCrawler,
      {
        ...PW,
        async requestHandler({ parseWithCheerio }) {
          const $ = await parseWithCheerio();
          got = $('h1').text();
        },
      },
      [at('/a')],
    );
    return got;
  },
  'playwright: parseWithCheerio with a selector waits': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.PlaywrightCrawler,
      {
        ...PW,
        async requestHandler({ parseWithCheerio }) {
          const $ = await parseWithCheerio('.ready');
          got = $('.ready').text();
        },
      },
      [at('/dynamic')],
    );
    return got;
  },
  'playwright: parseWithCheerio sees shadow roots': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.PlaywrightCrawler,
      {
        ...PW,
        async requestHandler({ parseWithCheerio }) {
          const $ = await parseWithCheerio();
          got = [$('.in').text(), $('.deep').text()];
        },
      },
      [at('/shadow')],
    );
    return got;
  },
  'playwright: parseWithCheerio sees frames': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.PlaywrightCrawler,
      {
        ...PW,
        async requestHandler({ parseWithCheerio, page }) {
          await page.waitForLoadState('networkidle');
          const $ = await parseWithCheerio();
          got = [
            $('h1')
              .map((_, e) => $(e).text())
              .get(),
            $('title').length,
          ];
        },
      },
      [at('/frames')],
    );
    return got;
  },
  'playwright: waitForSelector': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.PlaywrightCrawler,
      {
        ...PW,
        async requestHandler({ waitForSelector, page }) {
          await waitForSelector('.ready');
          got = await page.textContent('.ready');
        },
      },
      [at('/dynamic')],
    );
    return got;
  },
  'playwright: hooks': async ({ lib, crawl, at }) => {
    const got = [];
    await crawl(
      lib.PlaywrightCrawler,
      {
        ...PW,
        preNavigationHooks: [
          async ({ page }, goto) => {
            goto.waitUntil = 'domcontentloaded';
            got.push(page.url());
          },
        ],
        postNavigationHooks: [async ({ page }) => void got.push(await page.title())],
        requestHandler() {},
      },
      [at('/a')],
    );
    return got;
  },
  'playwright: status 500': async ({ lib, crawl, at }) => {
    const got = [];
    await crawl(
      lib.PlaywrightCrawler,
      {
        ...PW,
        requestHandler: ({ response }) => void got.push(response.status()),
        failedRequestHandler: () => void got.push('failed'),
      },
      [at('/status/500')],
    );
    return got;
  },
  'playwright: status 404': async ({ lib, crawl, at }) => {
    const got = [];
    await crawl(
      lib.PlaywrightCrawler,
      {
        ...PW,
        requestHandler: ({ response }) => void got.push(response.status()),
        failedRequestHandler: () => void got.push('failed'),
      },
      [at('/none')],
    );
    return got;
  },
  'playwright: launchOptions locale and viewport': async ({ lib, crawl, at }) => {
    let got;
    const launchContext = {
      launchOptions: {
        ...launch.launchContext.launchOptions,
        locale: 'de-DE',
        timezoneId: 'Europe/Berlin',
        viewport: { width: 800, height: 600 },
      },
    };
    await crawl(
      lib.PlaywrightCrawler,
      {
        ...PW,
        launchContext,
        async requestHandler({ page }) {
          got = [
            page.viewportSize(),
            await page.evaluate(() => [navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone]),
          ];
        },
      },
      [at('/a')],
    );
    return got;
  },
  'playwright: browserPoolOptions hooks': async ({ lib, crawl, at }) => {
    const got = [];
    const mark = (name) => () => void got.push(name);
    await crawl(
      lib.PlaywrightCrawler,
      {
        ...PW,
        browserPoolOptions: {
          useFingerprints: false,
          preLaunchHooks: [mark('preLaunch')],
          postLaunchHooks: [mark('postLaunch')],
          prePageCreateHooks: [mark('prePageCreate')],
          postPageCreateHooks: [mark('postPageCreate')],
          prePageCloseHooks: [mark('prePageClose')],
          postPageCloseHooks: [mark('postPageClose')],
        },
        requestHandler: mark('handler'),
      },
      [at('/a')],
    );
    return got;
  },
  'playwright: crawler.browserPool': async ({ lib, crawl, at }) => {
    const { crawler } = await crawl(lib.PlaywrightCrawler, { ...PW, requestHandler() {} }, [at('/a')]);
    return typeof crawler.browserPool;
  },
  'playwright: browserController.browser': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.PlaywrightCrawler,
      {
        ...PW,
        requestHandler: ({ browserController }) => {
          got = typeof browserController.browser.version;
        },
      },
      [at('/a')],
    );
    return got;
  },
  'playwright: saveSnapshot': async ({ lib, crawl, at }) => {
    await crawl(
      lib.PlaywrightCrawler,
      {
        ...PW,
        async requestHandler({ saveSnapshot }) {
          await saveSnapshot({ key: 'SN' });
        },
      },
      [at('/a')],
    );
    const s = await lib.KeyValueStore.open();
    const keys = [];
    await s.forEachKey((k) => void (k.startsWith('SN') && keys.push(k)));
    return keys.sort();
  },
  'playwright: blockRequests and injectJQuery': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.PlaywrightCrawler,
      {
        ...PW,
        preNavigationHooks: [({ blockRequests }) => blockRequests()],
        async requestHandler({ page, injectJQuery }) {
          await injectJQuery();
          got = await page.evaluate(() => window.$('h1').text());
        },
      },
      [at('/a')],
    );
    return got;
  },
  'playwright: infiniteScroll ends': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.PlaywrightCrawler,
      {
        ...PW,
        async requestHandler({ infiniteScroll }) {
          await infiniteScroll({ timeoutSecs: 2, waitForSecs: 1 });
          got = 'ended';
        },
      },
      [at('/a')],
    );
    return got;
  },
  'playwright: skipNavigation': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.PlaywrightCrawler,
      {
        ...PW,
        async requestHandler({ page }) {
          got = page.url();
        },
      },
      [{ url: at('/a'), skipNavigation: true }],
    );
    return got;
  },
  'playwright: POST': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.PlaywrightCrawler,
      {
        ...PW,
        async requestHandler({ page }) {
          const t = await page.textContent('body');
          got = [JSON.parse(t).method, JSON.parse(t).body];
        },
      },
      [{ url: at('/echo'), method: 'POST', payload: 'hello' }],
    );
    return got;
  },
  'playwright: cookies of the session': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.PlaywrightCrawler,
      {
        ...PW,
        preNavigationHooks: [({ session, request }) => session.setCookies([{ name: 's', value: '1' }], request.url)],
        async requestHandler({ page }) {
          got = JSON.parse(await page.textContent('body')).cookie;
        },
      },
      [at('/echo')],
    );
    return got;
  },
  'playwright: launchPlaywright': async ({ lib, at }) => {
    const browser = await lib.launchPlaywright({
      launchOptions: { ...launch.launchContext.launchOptions, headless: true },
    });
    const page = await browser.newPage();
    await page.goto(at('/a'));
    const title = await page.title();
    await browser.close();
    return title;
  },
  'adaptive: a static page': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.AdaptivePlaywrightCrawler,
      {
        ...launch,
        async requestHandler({ parseWithCheerio }) {
          const $ = await parseWithCheerio('.ready');
          got = $('.ready').text();
        },
      },
      [at('/static-for-adaptive')],
    );
    return got;
  },
  'adaptive: a dynamic page': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.AdaptivePlaywrightCrawler,
      {
        ...launch,
        async requestHandler({ parseWithCheerio }) {
          const $ = await parseWithCheerio('.ready');
          got = $('.ready').text();
        },
      },
      [at('/dynamic')],
    );
    return got;
  },
  'adaptive: querySelector': async ({ lib, crawl, at }) => {
    // The handler may run twice, without a browser and with one: what it pushed is what counts.
    const { crawler } = await crawl(
      lib.AdaptivePlaywrightCrawler,
      {
        ...launch,
        async requestHandler({ querySelector, pushData }) {
          await pushData({ text: (await querySelector('.ready')).text() });
        },
      },
      [at('/dynamic')],
    );
    return (await crawler.getData()).items;
  },
  'adaptive: enqueueLinks waits for links': async ({ lib, crawl, at }) => {
    const seen = [];
    await crawl(
      lib.AdaptivePlaywrightCrawler,
      {
        ...launch,
        async requestHandler({ request, enqueueLinks }) {
          seen.push(request.url);
          if (request.label) await enqueueLinks({ selector: 'a' });
        },
      },
      [{ url: at('/dynamic'), label: 'S' }],
    );
    return [...new Set(seen)].sort();
  },
  'adaptive: options': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.AdaptivePlaywrightCrawler,
      {
        ...launch,
        renderingTypeDetectionRatio: 0.1,
        resultChecker: () => true,
        requestHandler: async ({ pushData }) => {
          await pushData({ a: 1 });
          got = 'ok';
        },
      },
      [at('/a')],
    );
    return got;
  },
};
