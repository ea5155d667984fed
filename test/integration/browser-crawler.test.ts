// PlaywrightCrawler with a real Chromium on loopback: hooks, tools, sessions, retries and the address guard.
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  AdaptivePlaywrightCrawler,
  Configuration,
  KeyValueStore,
  PlaywrightCrawler,
  ProxyConfiguration,
} from '../../src/index.js';
import type { PlaywrightCrawlerOptions } from '../../src/index.js';
import { startProxy } from '../../src/testing/proxy.js';
import { APP, ARTICLE, CLICKS, LIST } from '../support/browser-pages.js';
import {
  browserPath,
  browserProcesses,
  echo,
  serveSite,
  shellPath,
  shortestRestMs,
  type Site,
} from '../support/browser.js';

describe.skipIf(browserPath === undefined)('PlaywrightCrawler', () => {
  let site: Site;
  let config: Configuration;

  beforeAll(async () => {
    site = await serveSite({
      '/': '<title>home</title><script>document.write("<a href=/one>1</a><a href=/two>2</a><a href=http://other.test/>3</a>")</script>',
      '/late': `<title>Loading</title><body><script>
        render = () => { document.title = 'Done'; document.body.innerHTML = '<p class=ready>ready now</p>'; };
      </script>`,
      '/one': '<title>one</title>',
      '/two': '<title>two</title><img src="/picture.png">',
      '/list': LIST,
      '/clicks': CLICKS,
      '/crash': '<title>crash</title>',
      '/hop': (_, response) => response.writeHead(302, { location: '/one' }).end(),
      '/away': (_, response) => response.writeHead(302, { location: site.url.replace('127.0.0.1', '127.0.0.2') }).end(),
      '/empty404': (_, response) => response.writeHead(404).end(),
      '/file': (_, response) =>
        response.writeHead(200, { 'content-type': 'application/zip', 'content-disposition': 'attachment' }).end('zip'),
      '/cookie': (request, response) =>
        response
          .writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'seen=1' })
          .end(`<title>${request.headers.cookie ?? 'none'}</title>`),
      '/echo': echo,
      // Grows to 3 MB, and says that it did not.
      '/large': `<title>large</title><script>
        for (let i = 0; i < 30; i++) document.body.append(Object.assign(document.createElement('p'), { textContent: 'x'.repeat(100000) }));
        document.createTreeWalker = () => ({ nextNode: () => null });
        Object.defineProperty(CharacterData.prototype, 'length', { get: () => 0 });
      </script>`.replace('<script>', '<body><script>'),
    });
  });
  afterAll(() => site.close());
  afterEach(() => expect(browserProcesses()).toEqual([]));

  const crawl = async (urls: Parameters<PlaywrightCrawler['run']>[0], options: PlaywrightCrawlerOptions) => {
    config = new Configuration({ persistStorage: false });
    const failures: [string, string][] = [];
    const crawler = new PlaywrightCrawler(
      {
        launchContext: { launchOptions: { executablePath: shellPath } },
        maxConcurrency: 3,
        maxRequestRetries: 0,
        retryDelayMs: 1,
        failedRequestHandler: ({ request }, error) =>
          void failures.push([request.url.replace(site.url, ''), (error as { code?: string }).code ?? error.message]),
        ...options,
      },
      config,
    );
    const stats = await crawler.run(urls);
    const { items } = await crawler.getData();
    return { items, failures: Object.fromEntries(failures), stats, crawler };
  };

  it('keeps the content that a handler took out of its context up to date', async () => {
    const { items } = await crawl([`${site.url}/late`], {
      async requestHandler({ content, page, waitForSelector, pushData }) {
        const before = content.title;
        await page.evaluate('void setTimeout(render, 50)');
        await waitForSelector('.ready');
        await pushData({ before, after: content.title, text: content.text, hasMain: content.main().markdown });
      },
    });
    expect(items).toMatchObject([{ before: 'Loading', after: 'Done', text: expect.stringContaining('ready now') }]);
  });

  it('does what pageOptions ask for before the handler, in their order', async () => {
    const { items } = await crawl([`${site.url}/late`], {
      pageOptions: {
        steps: [{ js: 'setTimeout(render, 50)' }, { waitFor: 'css:.ready' }, { js: "document.title += ' and more'" }],
      },
      requestHandler: async ({ content, pushData }) => pushData({ title: content.title }),
    });
    expect(items).toEqual([{ title: 'Done and more' }]);
  });

  it('fails a page whose DOM passes maxBodyBytes, before anything of it is read', async () => {
    let handled = 0;
    const { failures } = await crawl([`${site.url}/large`], {
      maxBodyBytes: 1_000_000,
      requestHandler: () => void handled++,
    });
    expect([handled, failures]).toEqual([0, { '/large': 'BODY_TOO_LARGE' }]);
    await crawl([`${site.url}/large`], { requestHandler: () => void handled++ });
    expect(handled).toBe(1);
  });

  it('follows links of the live document and reuses pages, hooks around each navigation', async () => {
    const steps: string[] = [];
    const pages = new Set<unknown>();
    const { items } = await crawl([site.url], {
      maxConcurrency: 1,
      browserPoolOptions: {
        preLaunchHooks: [(_, { launchOptions }) => void (launchOptions.args = ['--user-agent=hooked/1'])],
        postLaunchHooks: [(_, { pid }) => void steps.push(`launched ${typeof pid}`)],
        postPageCreateHooks: [(page) => void steps.push(`page ${page.url()}`)],
      },
      preNavigationHooks: [
        async ({ page, blockRequests }, gotoOptions) => {
          pages.add(page);
          gotoOptions.waitUntil = 'domcontentloaded';
          await blockRequests();
          steps.push('pre');
        },
      ],
      postNavigationHooks: [async ({ response }) => void steps.push(`post ${response?.status()}`)],
      async requestHandler({ page, content, enqueueLinks, pushData, request }) {
        steps.push('handler');
        const agent = await page.evaluate('navigator.userAgent');
        await pushData({ title: await page.title(), content: content.title, url: request.loadedUrl, agent });
        await enqueueLinks();
      },
    });
    expect(items.map(({ title }) => title).sort()).toEqual(['home', 'one', 'two']);
    expect(items.every(({ title, content }) => title === content)).toBe(true);
    expect(items.every(({ agent }) => agent === 'hooked/1')).toBe(true);
    expect(steps.slice(0, 5)).toEqual(['launched number', 'page about:blank', 'pre', 'post 200', 'handler']);
    expect(steps.filter((step) => step.startsWith('page'))).toHaveLength(1);
    expect(pages.size).toBe(1);
    expect(site.asked).not.toContain('/picture.png');
  });

  it('scrolls endless lists, reads frames and shadow roots, clicks without leaving, and saves snapshots', async () => {
    const { items, crawler } = await crawl([`${site.url}/list`, `${site.url}/clicks`], {
      maxCrawlDepth: 0,
      async requestHandler({ request, page, content, ...context }) {
        if (request.url.endsWith('/list')) {
          await context.infiniteScroll({ waitForSecs: 1 });
          await context.pushData({ count: await page.locator('li').count() });
          await context.saveSnapshot({ key: 'LIST' });
          return;
        }
        const $ = await context.parseWithCheerio();
        const urls: string[] = [];
        await context.enqueueLinksByClickingElements({
          selector: 'button',
          waitForPageIdleSecs: 0.5,
          transformRequestFunction: ({ url }) => {
            urls.push(new URL(url).pathname);
            return false;
          },
        });
        await context.pushData({ text: $('p').text(), urls: urls.sort(), title: content.title });
      },
    });
    expect(items).toContainEqual({ count: 30 });
    expect(items).toContainEqual({ text: 'inside a shadowinside a frame', urls: ['/a', '/b', '/c'], title: 'clicks' });
    const store = await KeyValueStore.open(undefined, { config: crawler.config });
    expect(await store.getValue<Buffer>('LIST.jpg')).toSatisfy((jpeg: Buffer) => jpeg.length > 1000);
    expect(await store.getValue('LIST.html')).toContain('item 30');
  });

  it('sends method, body and headers of a request, follows redirects within the strategy, and names failures', async () => {
    const skipped: string[] = [];
    const dead = await serveSite({});
    const deadPort = dead.port;
    await dead.close();
    const { items, failures } = await crawl(
      [
        { url: `${site.url}/echo`, method: 'POST', payload: 'a=1', headers: { 'X-Own': 'mine' } },
        `${site.url}/hop`,
        { url: `${site.url}/away`, enqueueStrategy: 'same-hostname' } as never,
        `${site.url}/empty404`,
        `${site.url}/file`,
        `http://127.0.0.1:${deadPort}/`,
        'http://no-such-host.invalid/',
      ],
      {
        onSkippedRequest: ({ reason }) => void skipped.push(reason),
        async requestHandler({ page, pushData, request, response }) {
          await pushData({
            title: await page.title(),
            loaded: new URL(request.loadedUrl).pathname,
            status: response?.status(),
          });
        },
      },
    );
    expect(items).toContainEqual({ title: 'POST a=1 mine', loaded: '/echo', status: 200 });
    expect(items).toContainEqual({ title: 'one', loaded: '/one', status: 200 });
    expect(items.map(({ status }) => status).sort()).toEqual([200, 200, 404]);
    expect(skipped).toEqual(['redirect']);
    expect(failures).toEqual({
      '/file': 'CONTENT_TYPE',
      [`http://127.0.0.1:${deadPort}/`]: 'CONNECT_REFUSED',
      'http://no-such-host.invalid/': 'DNS_NOT_FOUND',
    });
  });

  it('retries a page whose renderer crashes, and a handler that times out leaves no page', async () => {
    let crashes = 0;
    const { items, failures, stats } = await crawl([`${site.url}/crash`, `${site.url}/one`], {
      maxRequestRetries: 2,
      requestHandlerTimeoutSecs: 3,
      async requestHandler({ page, request, pushData }) {
        if (request.url.endsWith('/one')) return void (await page.evaluate('for (;;);'));
        if (crashes++ === 0) await page.goto('chrome://crash').catch(() => page.waitForTimeout(60_000));
        await pushData({ crashes });
      },
    });
    expect(items).toEqual([{ crashes: 2 }]);
    expect(failures).toEqual({ '/one': 'HANDLER_TIMEOUT' });
    expect(stats.requestsFinished).toBe(1);
  });

  it('keeps the cookies of a session, also for sendRequest', async () => {
    const { items } = await crawl(
      [1, 2].map((n) => ({ url: `${site.url}/cookie?${n}` })),
      {
        maxConcurrency: 1,
        async requestHandler({ page, pushData, sendRequest }) {
          const { body } = await sendRequest({ url: `${site.url}/cookie?sent` });
          await pushData({ page: await page.title(), sent: /<title>(.*)<\/title>/.exec(body)?.[1] });
        },
      },
    );
    expect(items).toEqual([
      { page: 'none', sent: 'none' },
      { page: 'seen=1', sent: 'seen=1' },
    ]);
  });

  it('goes through the proxy of its session, with its credentials', async () => {
    await using first = await startProxy({ auth: { username: 'ann', password: 'p w' } });
    await using second = await startProxy();
    const { items, failures } = await crawl([`${site.url}/one`, `${site.url}/cookie?proxied`], {
      proxyConfiguration: new ProxyConfiguration({ proxyUrls: [first.url, second.url] }),
      requestHandler: async ({ request, proxyInfo, pushData }) => pushData({ url: request.url, proxy: proxyInfo?.url }),
    });
    expect(failures).toEqual({});
    expect(new Set(items.map(({ proxy }) => proxy)).size).toBe(2);
    for (const { url, proxy } of items) {
      const seen = [first, second].filter(({ requests }) => requests.some(({ target }) => target === url));
      expect(seen.map((one) => one.url)).toEqual([proxy]);
    }
    expect(first.requests.filter(({ status }) => status === 200).map(({ username }) => username)).toContain('ann');
  });

  it('refuses private addresses to everything a page does', async () => {
    const reached: string[] = [];
    const inside = createServer((socket) => {
      reached.push('tcp');
      socket.destroy();
    });
    await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve));
    const udp = createSocket('udp4', () => reached.push('udp'));
    await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve));
    const tcpPort = (inside.address() as AddressInfo).port;
    const target = `127.0.0.1:${tcpPort}`;
    const evil = await serveSite({
      '/': `<title>evil</title><link rel="prefetch" href="http://${target}/prefetch"><link rel="preconnect" href="http://${target}">
        <img src="http://${target}/image"><iframe src="http://${target}/frame"></iframe><img src="/redirect">
        <iframe src="http://localhost:${tcpPort}/named"></iframe><iframe src="http://2130706433:${tcpPort}/spelled"></iframe>
        <script>
          const attempts = [
            fetch('http://${target}/fetch', { mode: 'no-cors' }),
            new Promise((done, fail) => { const socket = new WebSocket('ws://${target}/socket'); socket.onopen = done; socket.onerror = fail; }),
            new Promise((done, fail) => { const worker = new Worker(URL.createObjectURL(new Blob(["fetch('http://${target}/worker', { mode: 'no-cors' }).then(() => postMessage(1), () => postMessage(0))"]))); worker.onmessage = ({ data }) => data ? done() : fail(); }),
          ];
          navigator.sendBeacon('http://${target}/beacon', 'x');
          const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${udp.address().port}' }] });
          peer.createDataChannel('x'); peer.createOffer().then((offer) => peer.setLocalDescription(offer));
          Promise.allSettled(attempts).then((all) => setTimeout(() => document.title = all.map(({ status }) => status).join(), 500));
        </script>`,
      '/redirect': (_, response) => response.writeHead(302, { location: `http://${target}/redirected` }).end(),
      '/document': (_, response) => response.writeHead(302, { location: `http://${target}/document` }).end(),
    });
    try {
      const { items, failures } = await crawl([`${evil.url}/`, `${evil.url}/document`], {
        async requestHandler({ page, pushData }) {
          await page.waitForFunction('document.title.includes(",")');
          await pushData({ title: await page.title() });
        },
      });
      expect(items).toEqual([{ title: 'rejected,rejected,rejected' }]);
      expect(failures).toEqual({ [`${evil.url}/document`]: 'ADDRESS_REFUSED' });
      expect(reached).toEqual([]);
    } finally {
      await evil.close();
      inside.close();
      udp.close();
    }
  });

  it('adapts: HTTP for pages that show themselves, the browser for shells and for handlers that ask for a page', async () => {
    const items: unknown[] = [];
    const app = await serveSite({ '/article': ARTICLE, '/app': APP, '/asks': ARTICLE });
    const crawler = new AdaptivePlaywrightCrawler(
      {
        launchContext: { launchOptions: { executablePath: browserPath } },
        maxRequestRetries: 0,
        async requestHandler(context) {
          const { request, parseWithCheerio, pushData, renderingType } = context;
          await pushData({ path: new URL(request.url).pathname, early: renderingType });
          const asked = request.url.endsWith('/asks') ? await context.page.title() : '';
          const $ = await parseWithCheerio('h1');
          items.push([new URL(request.url).pathname, renderingType, $('h1').text(), asked]);
        },
      },
      new Configuration({ persistStorage: false }),
    );
    await crawler.run(['/article', '/app', '/asks'].map((route) => app.url + route));
    await app.close();
    expect(items.sort()).toEqual([
      ['/app', 'browser', 'Rendered by script', ''],
      ['/article', 'static', 'Plain article', ''],
      ['/asks', 'browser', 'Plain article', 'article'],
    ]);
    // What the first, static run of /asks had added is gone.
    expect((await crawler.getData()).items).toHaveLength(3);
  });

  it('paces redirects, and the second request of a page that needs scripts, like any other', async () => {
    const isWelcome = (cookie = '') => cookie.includes('welcome');
    const paced = await serveSite({
      '/hop': (_, response) => response.writeHead(302, { location: '/one' }).end(),
      '/one': ARTICLE,
      '/app': APP,
      '/wall': ({ headers }, response) =>
        isWelcome(headers.cookie)
          ? response.writeHead(200, { 'content-type': 'text/html' }).end(ARTICLE)
          : response.writeHead(302, { location: '/wall', 'set-cookie': 'welcome=1' }).end(),
    });
    const titles: string[] = [];
    const options: PlaywrightCrawlerOptions = {
      launchContext: { launchOptions: { executablePath: browserPath } },
      sameDomainDelaySecs: 0.3,
      maxRequestRetries: 0,
      requestHandler: async ({ page, request }) =>
        void titles.push(`${await page.title()} ${new URL(request.loadedUrl).pathname}`),
    };
    await crawl([`${paced.url}/hop`, `${paced.url}/wall`], options);
    expect(titles.sort()).toEqual(['article /one', 'article /wall']);
    expect([...paced.asked].sort()).toEqual(['/hop', '/one', '/wall', '/wall']);
    const adaptive = new AdaptivePlaywrightCrawler(
      {
        ...options,
        requestHandler: ({ renderingType, request }) =>
          void titles.push(`${renderingType} ${new URL(request.url).pathname}`),
      },
      new Configuration({ persistStorage: false }),
    );
    const { requestsFinished, retryHistogram } = await adaptive.run([`${paced.url}/app`, `${paced.url}/one`]);
    await paced.close();
    expect(titles.slice(2).sort()).toEqual(['browser /app', 'static /one']);
    // Coming back with a browser is not a retry.
    expect([requestsFinished, retryHistogram]).toEqual([2, [2]]);
    expect(paced.asked.slice(4).sort()).toEqual(['/app', '/app', '/one']);
    // The adaptive crawl began when the first had ended: its own pace begins with it.
    const second = { ...paced, log: paced.log.slice(4) };
    expect(shortestRestMs({ ...paced, log: paced.log.slice(0, 4) })).toBeGreaterThanOrEqual(299);
    expect(shortestRestMs(second)).toBeGreaterThanOrEqual(299);
  });

  it('ends before anything starts when the browser is missing or an option is wrong', async () => {
    await expect(
      crawl([site.url], { launchContext: { launchOptions: { executablePath: '/none' } } }),
    ).rejects.toMatchObject({ code: 'BROWSER_MISSING' });
    expect(() => new PlaywrightCrawler({ launchContext: { useChrom: true } as never })).toThrow(
      /did you mean "useChrome"/,
    );
    expect(() => new PlaywrightCrawler({ browserPoolOptions: { prePageCloseHooks: 1 } as never })).toThrow(
      /"prePageCloseHooks" must be/,
    );
  });
});
