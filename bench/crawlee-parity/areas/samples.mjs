// Small projects in the style of a guide, one subject each: what a team has most of when it changes the import.
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';

const launchOptions = {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-background-networking'],
};

/** One page in a browser, and what a function finds there. */
const inBrowser =
  (path, look) =>
  async ({ lib, crawl, at, sleep }) => {
    let got;
    const options = {
      launchContext: { launchOptions },
      headless: true,
      browserPoolOptions: { useFingerprints: false },
      requestHandler: async (context) => {
        got = await look(context, { lib, at, sleep });
      },
      failedRequestHandler: (_, error) => {
        got = ['failed', error.message];
      },
    };
    await crawl(lib.PlaywrightCrawler, options, [at(path)]);
    return got;
  };

async function* generated(urls) {
  for (const url of urls) yield { url, userData: { from: 'generator' } };
}

export const scenarios = {
  'sample: three routes, items and a summary': async ({ lib, at }) => {
    const router = lib.createCheerioRouter();
    router.addDefaultHandler(({ enqueueLinks }) => enqueueLinks({ globs: ['**/a', '**/b'], label: 'LIST' }));
    router.addHandler('LIST', ({ enqueueLinks }) => enqueueLinks({ regexps: [/\/dir\//], label: 'DETAIL' }));
    router.addHandler('DETAIL', async ({ request, $, pushData }) => {
      await pushData({ path: new URL(request.loadedUrl).pathname, title: $('title').text(), label: request.label });
    });
    const crawler = new lib.CheerioCrawler({ requestHandler: router });
    const { requestsFinished, requestsFailed } = await crawler.run([at('/')]);
    const { items, total } = await crawler.getData();
    return [requestsFinished, requestsFailed, items, total];
  },
  'sample: a crawler that answers while it runs': async ({ lib, at }) => {
    const waiting = new Map();
    const crawler = new lib.CheerioCrawler({
      keepAlive: true,
      requestHandler: ({ request, $ }) => waiting.get(request.uniqueKey)?.($('title').text()),
    });
    const started = new Promise((resolve) => waiting.set('start', resolve));
    const running = crawler.run([{ url: at('/'), uniqueKey: 'start' }]);
    await started;
    const ask = async (path) => {
      const request = new lib.Request({ url: at(path), uniqueKey: `ask-${path}` });
      const answer = new Promise((resolve) => waiting.set(request.uniqueKey, resolve));
      await crawler.addRequests([request]);
      return answer;
    };
    const answers = [await ask('/a'), await ask('/b')];
    crawler.stop();
    const { requestsFinished } = await running;
    return [answers, requestsFinished];
  },
  'sample: two crawlers with configurations of their own': async ({ lib, at }) => {
    const titles = async (path) => {
      const config = new lib.Configuration({ persistStorage: false });
      const requestHandler = ({ $, pushData }) => pushData({ title: $('title').text() });
      const crawler = new lib.CheerioCrawler({ requestHandler }, config);
      await crawler.run([at(path)]);
      return (await crawler.getData()).items;
    };
    return Promise.all([titles('/a'), titles('/b')]);
  },
  'sample: one crawler fills a named queue, another works it off': async ({ lib, at }) => {
    const requestQueue = await lib.RequestQueue.open('to-do');
    const collecting = new lib.CheerioCrawler({
      requestHandler: async ({ $, request }) => {
        const urls = $('a')
          .toArray()
          .map((link) => new URL($(link).attr('href'), request.loadedUrl).href);
        await requestQueue.addRequests(urls.map((url) => ({ url, label: 'PAGE' })));
      },
    });
    await collecting.run([at('/')]);
    const paths = [];
    const requestHandler = ({ request }) => void paths.push([new URL(request.url).pathname, request.label]);
    await new lib.CheerioCrawler({ requestQueue, requestHandler }).run();
    return [paths.sort(), await requestQueue.isFinished()];
  },
  'sample: one queue for two crawlers at once': async ({ lib, at }) => {
    const requestQueue = await lib.RequestQueue.open('shared');
    await requestQueue.addRequests(Array.from({ length: 20 }, (_, n) => ({ url: at(`/a?n=${n}`) })));
    const seen = [];
    const work = () =>
      new lib.CheerioCrawler({
        requestQueue: requestQueue,
        experiments: { requestLocking: true },
        maxConcurrency: 2,
        requestHandler: ({ request }) => void seen.push(request.url),
      }).run();
    await Promise.all([work(), work()]);
    return [seen.length, new Set(seen).size];
  },
  'sample: requests of an async generator': async ({ lib, at }) => {
    const seen = [];
    const crawler = new lib.BasicCrawler({
      requestHandler: ({ request }) => void seen.push([new URL(request.url).pathname, request.userData.from]),
    });
    await crawler.addRequests(generated([at('/a'), at('/b')]));
    await crawler.run(generated([at('/c')]));
    return seen.sort();
  },
  'sample: addRequests refuses what is no list': async ({ lib }) => {
    const crawler = new lib.BasicCrawler({ requestHandler() {} });
    return crawler.addRequests(new WeakSet()).then(
      () => 'taken',
      (error) => error instanceof Error,
    );
  },
  'sample: addRequests in batches': async ({ lib, at }) => {
    const crawler = new lib.BasicCrawler({ requestHandler() {} });
    const urls = Array.from({ length: 2_500 }, (_, n) => at(`/a?n=${n}`));
    const { addedRequests, waitForAllRequestsToBeAdded } = await crawler.addRequests(urls, {
      waitBetweenBatchesMillis: 1,
    });
    const rest = await waitForAllRequestsToBeAdded;
    const all = await crawler.addRequests(urls, { waitForAllRequestsToBeAdded: true, batchSize: 500 });
    return [
      addedRequests.length,
      rest.length,
      all.addedRequests.length,
      all.addedRequests.every((one) => one.wasAlreadyPresent),
    ];
  },
  'sample: a form is posted': async ({ lib, at, crawl }) => {
    let got;
    const request = {
      url: at('/echo'),
      method: 'POST',
      payload: new URLSearchParams({ q: 'orc', page: '2' }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    };
    const requestHandler = ({ json }) => {
      got = [json.method, json.body, json.headers['content-type']];
    };
    await crawl(lib.HttpCrawler, { requestHandler }, [request]);
    return got;
  },
  'sample: exports with all keys, and of nothing': async ({ lib }) => {
    const crawler = new lib.BasicCrawler({ requestHandler() {} });
    await crawler.exportData('out/none.json');
    await crawler.exportData('out/none.csv');
    await crawler.pushData([
      { a: 1, b: 'x' },
      { b: 'y', c: 2 },
    ]);
    await crawler.exportData('out/all.csv', 'csv', { collectAllKeys: true });
    return ['none.json', 'none.csv', 'all.csv'].map((name) => readFileSync(`out/${name}`, 'utf8'));
  },
  'sample: a table of items with different keys': async ({ lib }) => {
    const crawler = new lib.BasicCrawler({ requestHandler() {} });
    await crawler.pushData([{ a: 1 }, { a: 2, b: true }]);
    await crawler.exportData('out/first.csv');
    return readFileSync('out/first.csv', 'utf8');
  },
  'sample: skipped requests are told to the call and to the crawler': async ({ lib, at, crawl }) => {
    const told = { call: [], crawler: [] };
    const noting =
      (list) =>
      ({ url, reason }) =>
        void list.push([new URL(url).pathname, reason]);
    await crawl(
      lib.CheerioCrawler,
      {
        onSkippedRequest: noting(told.crawler),
        requestHandler: async ({ request, enqueueLinks }) => {
          if (request.label) return;
          const urls = ['/a', '/b', '/dir/c.html'].map(at);
          await enqueueLinks({ urls, limit: 1, label: 'NEXT', onSkippedRequest: noting(told.call) });
        },
      },
      [at('/')],
    );
    return { call: told.call.sort(), crawler: told.crawler.sort() };
  },
  'sample: hooks and handlers share their context': async ({ lib, at, crawl }) => {
    const seen = [];
    await crawl(
      lib.CheerioCrawler,
      {
        maxRequestRetries: 1,
        preNavigationHooks: [(context) => void (context.started = 'pre')],
        postNavigationHooks: [(context) => void (context.loaded = `${context.started} post`)],
        requestHandler: (context) => {
          seen.push(context.loaded);
          throw new Error('again');
        },
        errorHandler: ({ loaded, request }) => void seen.push(['error', loaded, request.retryCount]),
        failedRequestHandler: ({ loaded, $ }) => void seen.push(['failed', loaded, $('title').text()]),
      },
      [at('/a')],
    );
    return seen;
  },
  'sample: a proxy configuration of one’s own': async ({ lib }) => {
    class Mine extends lib.ProxyConfiguration {
      async newUrl(sessionId) {
        return `http://${sessionId}@mine.example:3128`;
      }
    }
    const { hostname, port, username, sessionId } = await new Mine({ proxyUrls: ['http://x.example:1'] }).newProxyInfo(
      's1',
    );
    return [hostname, port, username, sessionId];
  },
  'sample: a value of a store that saves itself': async ({ lib, sleep }) => {
    const store = await lib.KeyValueStore.open();
    const counts = await store.getAutoSavedValue('COUNTS', { pages: 1 });
    counts.pages++;
    lib.Configuration.getEventManager().emit('persistState', { isMigrating: false });
    await sleep(200);
    return [await store.getValue('COUNTS'), (await store.getAutoSavedValue('COUNTS')) === counts];
  },
  'sample: a list of sitemaps goes on with what was under way': async ({ lib, at }) => {
    const open = () => lib.SitemapRequestList.open({ sitemapUrls: [at('/sitemap.xml')], persistStateKey: 'mine' });
    const first = await open();
    const request = await first.fetchNextRequest();
    request.userData.seen = true;
    await first.persistState();
    const second = await open();
    const isEmpty = await second.isEmpty();
    const again = await second.fetchNextRequest();
    return [isEmpty, again.url === request.url, again.userData.seen];
  },
  'sample: errors of one kind, in messages of different length': async ({ lib }) => {
    const tracker = new lib.ErrorTracker({ showErrorCode: false, showStackTrace: false });
    for (const what of ['a button', 'the very small button', 'an image']) {
      tracker.add({ name: 'TimeoutError', message: `waiting for ${what} failed: it is not there` });
    }
    return [tracker.result, tracker.getUniqueErrorCount(), tracker.total];
  },
  'sample: the place of an error is in the user’s file': async ({ lib }) => {
    const tracker = new lib.ErrorTracker({ showErrorCode: false });
    const stack = ['Error: x', '    at read (node:fs:1:2)', '    at go (/app/mine.js:5:6)'].join('\n');
    tracker.add({ name: 'Error', message: 'x', stack });
    return tracker.result;
  },
  'sample: an odd content type among all types': async ({ lib, at, crawl }) => {
    let got;
    const requestHandler = ({ contentType }) => {
      got = contentType.type;
    };
    await crawl(lib.HttpCrawler, { additionalMimeTypes: ['*/*'], requestHandler }, [at('/odd-type')]);
    return got;
  },
  'sample: a stream into a store': async ({ lib }) => {
    const store = await lib.KeyValueStore.open();
    await store.setValue('text', Readable.from(['one ', 'two'].map((text) => Buffer.from(text))), {
      contentType: 'text/plain',
    });
    return [await store.getValue('text'), await store.recordExists('text'), await store.recordExists('other')];
  },
  'sample: pieces below a number of bytes': async ({ lib }) => {
    const item = '{"a":1}';
    return [item.length, item.length + 2, 2 * item.length + 3].map((bytes) =>
      lib.chunkBySize([item, item, item], bytes),
    );
  },
  'sample: a screenshot goes to a store': inBrowser('/a', async ({ page }, { lib }) => {
    const store = await lib.KeyValueStore.open();
    await store.setValue('page', await page.screenshot(), { contentType: 'image/png' });
    const stored = await store.getValue('page');
    return [Buffer.isBuffer(stored), stored.subarray(1, 4).toString()];
  }),
  'sample: a form in a browser': inBrowser('/form', async ({ page }) => {
    await page.fill('input[name=q]', 'browser');
    await Promise.all([page.waitForURL('**/echo'), page.click('#go')]);
    return JSON.parse(await page.textContent('body')).body;
  }),
  'sample: playwrightUtils on a page': inBrowser('/a', async ({ page, request }, { lib, at }) => {
    const { compileScript, gotoExtended, injectFile } = lib.playwrightUtils;
    const title = await compileScript('return page.title();')({ page, request });
    const { writeFileSync } = await import('node:fs');
    writeFileSync('inject.js', 'window.injected = 42;');
    await injectFile(page, 'inject.js', { surviveNavigations: true });
    const before = await page.evaluate(() => window.injected);
    const response = await gotoExtended(page, { url: at('/echo'), method: 'POST', payload: 'hello', headers: {} });
    return [title, before, response.status(), JSON.parse(await response.text()).method];
  }),
};
