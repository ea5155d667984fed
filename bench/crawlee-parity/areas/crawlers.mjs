// BasicCrawler, HttpCrawler and CheerioCrawler: contexts, hooks, errors, retries, limits.
export const scenarios = {
  'basic: run with URLs': async ({ lib, crawl, at }) => {
    const seen = [];
    const { final } = await crawl(lib.BasicCrawler, { requestHandler: ({ request }) => void seen.push(request.url) }, [
      at('/a'),
      at('/b'),
    ]);
    return { seen: seen.sort(), finished: final.requestsFinished, failed: final.requestsFailed };
  },
  'basic: run with Request objects and userData': async ({ lib, crawl, at }) => {
    const seen = [];
    const requests = [
      new lib.Request({ url: at('/a'), userData: { n: 1 } }),
      { url: at('/b'), label: 'L', userData: { n: 2 } },
    ];
    await crawl(
      lib.BasicCrawler,
      { requestHandler: ({ request }) => void seen.push([request.url, request.label, request.userData.n]) },
      requests,
    );
    return seen.sort();
  },
  'basic: sendRequest': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.BasicCrawler,
      {
        async requestHandler({ sendRequest }) {
          const { statusCode, body } = await sendRequest();
          got = [statusCode, typeof body, body.includes('Page A')];
        },
      },
      [at('/a')],
    );
    return got;
  },
  'basic: sendRequest overrides the URL': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.BasicCrawler,
      {
        async requestHandler({ sendRequest }) {
          const r = await sendRequest({ url: at('/json'), responseType: 'json' });
          got = r.body;
        },
      },
      [at('/a')],
    );
    return got;
  },
  'basic: sendRequest posts JSON': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.BasicCrawler,
      {
        async requestHandler({ sendRequest }) {
          got = JSON.parse((await sendRequest({ url: at('/echo'), method: 'POST', json: { a: 1 } })).body);
        },
      },
      [at('/a')],
    );
    return [got.method, got.body, got.type];
  },
  'basic: sendRequest posts a form': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.BasicCrawler,
      {
        async requestHandler({ sendRequest }) {
          got = JSON.parse((await sendRequest({ url: at('/echo'), method: 'POST', form: { a: 'x y' } })).body);
        },
      },
      [at('/a')],
    );
    return [got.method, got.body, got.type];
  },
  'basic: sendRequest with headers': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.BasicCrawler,
      {
        async requestHandler({ sendRequest }) {
          got = JSON.parse((await sendRequest({ url: at('/echo'), headers: { 'X-Mine': 'yes' } })).body);
        },
      },
      [at('/a')],
    );
    return got.custom;
  },
  'basic: sendRequest with searchParams': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.BasicCrawler,
      {
        async requestHandler({ sendRequest }) {
          got = JSON.parse((await sendRequest({ url: at('/echo'), searchParams: { q: 'a b', n: 2 } })).body);
        },
      },
      [at('/a')],
    );
    return got.path;
  },
  'basic: sendRequest answers 404 without throwing': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.BasicCrawler,
      {
        async requestHandler({ sendRequest }) {
          got = (await sendRequest({ url: at('/none') })).statusCode;
        },
      },
      [at('/a')],
    );
    return got;
  },
  'basic: sendRequest with throwHttpErrors': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.BasicCrawler,
      {
        async requestHandler({ sendRequest }) {
          try {
            await sendRequest({ url: at('/none'), throwHttpErrors: true });
            got = 'no error';
          } catch (error) {
            got = 'error';
          }
        },
      },
      [at('/a')],
    );
    return got;
  },
  'basic: sendRequest with followRedirect false': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.BasicCrawler,
      {
        async requestHandler({ sendRequest }) {
          got = (await sendRequest({ url: at('/redirect/1'), followRedirect: false })).statusCode;
        },
      },
      [at('/a')],
    );
    return got;
  },
  'basic: sendRequest with retry, decompress, http2, https and useHeaderGenerator': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.BasicCrawler,
      {
        async requestHandler({ sendRequest }) {
          got = (
            await sendRequest({
              url: at('/a'),
              retry: { limit: 0 },
              decompress: true,
              http2: false,
              https: { rejectUnauthorized: false },
              useHeaderGenerator: false,
              headerGeneratorOptions: { devices: ['desktop'] },
            })
          ).statusCode;
        },
      },
      [at('/a')],
    );
    return got;
  },
  'basic: sendRequest with username and password': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.BasicCrawler,
      {
        async requestHandler({ sendRequest }) {
          got = JSON.parse(
            (await sendRequest({ url: at('/echo'), username: 'me', password: 'pw' })).body,
          ).authorization;
        },
      },
      [at('/a')],
    );
    return got;
  },
  'basic: pushData and getData': async ({ lib, crawl, at }) => {
    const { crawler } = await crawl(lib.BasicCrawler, { requestHandler: ({ pushData }) => pushData({ a: 1 }) }, [
      at('/a'),
    ]);
    return (await crawler.getData()).items;
  },
  'basic: pushData of an array': async ({ lib, crawl, at }) => {
    const { crawler } = await crawl(
      lib.BasicCrawler,
      { requestHandler: ({ pushData }) => pushData([{ a: 1 }, { a: 2 }]) },
      [at('/a')],
    );
    return (await crawler.getData()).items;
  },
  'basic: pushData to a named dataset': async ({ lib, crawl, at }) => {
    await crawl(lib.BasicCrawler, { requestHandler: ({ pushData }) => pushData({ a: 1 }, 'named') }, [at('/a')]);
    return (await (await lib.Dataset.open('named')).getData()).items;
  },
  'basic: addRequests of the context': async ({ lib, crawl, at }) => {
    const seen = [];
    await crawl(
      lib.BasicCrawler,
      {
        async requestHandler({ request, addRequests }) {
          seen.push(request.url);
          if (request.url.endsWith('/a')) await addRequests([at('/b'), { url: at('/dir/c.html'), label: 'C' }]);
        },
      },
      [at('/a')],
    );
    return seen.sort();
  },
  'basic: useState is shared and kept': async ({ lib, crawl, at }) => {
    await crawl(
      lib.BasicCrawler,
      {
        async requestHandler({ useState }) {
          const state = await useState({ count: 0 });
          state.count++;
        },
      },
      [at('/a'), at('/b')],
    );
    let count;
    await crawl(
      lib.BasicCrawler,
      {
        async requestHandler({ crawler }) {
          count = (await crawler.useState({ count: -1 })).count;
        },
      },
      [at('/links')],
    );
    return count;
  },
  'basic: getKeyValueStore of the context': async ({ lib, crawl, at }) => {
    await crawl(
      lib.BasicCrawler,
      {
        async requestHandler({ getKeyValueStore }) {
          await (await getKeyValueStore()).setValue('k', { a: 1 });
        },
      },
      [at('/a')],
    );
    return (await lib.KeyValueStore.open()).getValue('k');
  },
  'basic: a thrown error fails the request': async ({ lib, crawl, at }) => {
    const failed = [];
    const { final } = await crawl(
      lib.BasicCrawler,
      {
        requestHandler() {
          throw new Error('no');
        },
        failedRequestHandler: ({ request }, error) =>
          void failed.push([request.url, error.message, request.retryCount, request.errorMessages.length]),
      },
      [at('/a')],
    );
    return { failed, finished: final.requestsFinished, count: final.requestsFailed };
  },
  'basic: retries up to maxRequestRetries': async ({ lib, crawl, at }) => {
    let calls = 0;
    const { final } = await crawl(
      lib.BasicCrawler,
      {
        maxRequestRetries: 2,
        requestHandler() {
          calls++;
          throw new Error('no');
        },
      },
      [at('/a')],
    );
    return { calls, failed: final.requestsFailed };
  },
  'basic: maxRetries of a request': async ({ lib, crawl, at }) => {
    let calls = 0;
    await crawl(
      lib.BasicCrawler,
      {
        maxRequestRetries: 3,
        requestHandler() {
          calls++;
          throw new Error('no');
        },
      },
      [{ url: at('/a'), maxRetries: 1 }],
    );
    return calls;
  },
  'basic: noRetry of a request': async ({ lib, crawl, at }) => {
    let calls = 0;
    await crawl(
      lib.BasicCrawler,
      {
        maxRequestRetries: 3,
        requestHandler({ request }) {
          calls++;
          request.noRetry = true;
          throw new Error('no');
        },
      },
      [at('/a')],
    );
    return calls;
  },
  'basic: NonRetryableError': async ({ lib, crawl, at }) => {
    let calls = 0;
    await crawl(
      lib.BasicCrawler,
      {
        maxRequestRetries: 3,
        requestHandler() {
          calls++;
          throw new lib.NonRetryableError('no');
        },
      },
      [at('/a')],
    );
    return calls;
  },
  'basic: RetryRequestError retries without counting': async ({ lib, crawl, at }) => {
    let calls = 0;
    const { final } = await crawl(
      lib.BasicCrawler,
      {
        maxRequestRetries: 0,
        requestHandler() {
          if (++calls < 4) throw new lib.RetryRequestError('again');
        },
      },
      [at('/a')],
    );
    return { calls, finished: final.requestsFinished };
  },
  'basic: CriticalError ends the run': async ({ lib, crawl, at }) => {
    try {
      await crawl(
        lib.BasicCrawler,
        {
          requestHandler() {
            throw new lib.CriticalError('stop all');
          },
        },
        [at('/a'), at('/b')],
      );
      return 'resolved';
    } catch (error) {
      return error.message;
    }
  },
  'basic: errorHandler before each retry': async ({ lib, crawl, at }) => {
    const told = [];
    await crawl(
      lib.BasicCrawler,
      {
        maxRequestRetries: 2,
        requestHandler() {
          throw new Error('no');
        },
        errorHandler: ({ request }, error) => void told.push([request.retryCount, error.message]),
      },
      [at('/a')],
    );
    return told;
  },
  'basic: errorHandler can stop retries': async ({ lib, crawl, at }) => {
    let calls = 0;
    await crawl(
      lib.BasicCrawler,
      {
        maxRequestRetries: 3,
        requestHandler() {
          calls++;
          throw new Error('no');
        },
        errorHandler: ({ request }) => {
          request.noRetry = true;
        },
      },
      [at('/a')],
    );
    return calls;
  },
  'basic: failedRequestHandler that throws rejects the run': async ({ lib, crawl, at }) => {
    try {
      await crawl(
        lib.BasicCrawler,
        {
          requestHandler() {
            throw new Error('no');
          },
          failedRequestHandler() {
            throw new Error('worse');
          },
        },
        [at('/a')],
      );
      return 'resolved';
    } catch (error) {
      return error.message;
    }
  },
  'basic: requestHandlerTimeoutSecs': async ({ lib, crawl, at, sleep }) => {
    const failed = [];
    await crawl(
      lib.BasicCrawler,
      {
        requestHandlerTimeoutSecs: 0.3,
        requestHandler: () => sleep(1500),
        failedRequestHandler: (_, error) => void failed.push(error instanceof Error),
      },
      [at('/a')],
    );
    return failed;
  },
  'basic: maxRequestsPerCrawl': async ({ lib, crawl, at }) => {
    let calls = 0;
    const { final } = await crawl(
      lib.BasicCrawler,
      { maxRequestsPerCrawl: 2, requestHandler: () => void calls++ },
      ['/a', '/b', '/links', '/many'].map(at),
    );
    return { calls, finished: final.requestsFinished };
  },
  'basic: maxConcurrency 1 handles one at a time': async ({ lib, crawl, at, sleep }) => {
    let [now, most] = [0, 0];
    await crawl(
      lib.BasicCrawler,
      {
        maxConcurrency: 1,
        async requestHandler() {
          most = Math.max(most, ++now);
          await sleep(20);
          now--;
        },
      },
      ['/a', '/b', '/links'].map(at),
    );
    return most;
  },
  'basic: minConcurrency starts as many': async ({ lib, at, sleep }) => {
    let [now, most] = [0, 0];
    const crawler = new lib.BasicCrawler({
      minConcurrency: 3,
      maxConcurrency: 3,
      async requestHandler() {
        most = Math.max(most, ++now);
        await sleep(100);
        now--;
      },
    });
    await crawler.run(['/a', '/b', '/links', '/many'].map(at));
    return most;
  },
  'basic: stop() ends early': async ({ lib, at }) => {
    let calls = 0;
    const crawler = new lib.BasicCrawler({
      maxConcurrency: 1,
      requestHandler() {
        calls++;
        crawler.stop();
      },
    });
    await crawler.run(['/a', '/b', '/links', '/many'].map(at));
    return calls < 4;
  },
  'basic: keepAlive waits for more': async ({ lib, at, sleep }) => {
    const seen = [];
    const crawler = new lib.BasicCrawler({
      keepAlive: true,
      requestHandler: ({ request }) => void seen.push(request.url),
    });
    const run = crawler.run([at('/a')]);
    await sleep(1500);
    await crawler.addRequests([at('/b')]);
    await sleep(1500);
    await crawler.teardown();
    await Promise.race([run, sleep(3000)]);
    return seen;
  },
  'basic: run twice with purge': async ({ lib, at }) => {
    let calls = 0;
    const crawler = new lib.BasicCrawler({ requestHandler: () => void calls++ });
    await crawler.run([at('/a')]);
    await crawler.run([at('/a')]);
    return calls;
  },
  'basic: hasFinishedBefore': async ({ lib, at }) => {
    const crawler = new lib.BasicCrawler({ requestHandler() {} });
    const before = crawler.hasFinishedBefore;
    await crawler.run([at('/a')]);
    return [before, crawler.hasFinishedBefore, crawler.running];
  },
  'basic: equal URLs once': async ({ lib, crawl, at }) => {
    let calls = 0;
    await crawl(lib.BasicCrawler, { requestHandler: () => void calls++ }, [
      at('/a'),
      at('/a'),
      at('/a#x'),
      { url: at('/a'), uniqueKey: 'other' },
    ]);
    return calls;
  },
  'basic: keepUrlFragment': async ({ lib, crawl, at }) => {
    let calls = 0;
    await crawl(lib.BasicCrawler, { requestHandler: () => void calls++ }, [
      { url: at('/a#x'), keepUrlFragment: true },
      { url: at('/a#y'), keepUrlFragment: true },
    ]);
    return calls;
  },
  'basic: useExtendedUniqueKey': async ({ lib, crawl, at }) => {
    let calls = 0;
    await crawl(lib.BasicCrawler, { requestHandler: () => void calls++ }, [
      { url: at('/a'), method: 'POST', payload: 'x', useExtendedUniqueKey: true },
      { url: at('/a'), method: 'POST', payload: 'y', useExtendedUniqueKey: true },
    ]);
    return calls;
  },
  'basic: requestList': async ({ lib, crawl, at }) => {
    const seen = [];
    const requestList = await lib.RequestList.open(null, [at('/a'), at('/b')]);
    await crawl(lib.BasicCrawler, { requestList, requestHandler: ({ request }) => void seen.push(request.url) });
    return seen;
  },
  'basic: requestList and queue together': async ({ lib, crawl, at }) => {
    const seen = [];
    const requestList = await lib.RequestList.open(null, [at('/a')]);
    const requestQueue = await lib.RequestQueue.open();
    await requestQueue.addRequest({ url: at('/b') });
    await crawl(lib.BasicCrawler, {
      requestList,
      requestQueue,
      requestHandler: ({ request }) => void seen.push(request.url),
    });
    return seen.sort();
  },
  'basic: statistics': async ({ lib, crawl, at }) => {
    const { crawler } = await crawl(
      lib.BasicCrawler,
      {
        maxRequestRetries: 1,
        requestHandler({ request }) {
          if (request.url.endsWith('/b')) throw new Error('no');
        },
      },
      [at('/a'), at('/b')],
    );
    const { requestsFinished, requestsFailed, requestsRetries, requestRetryHistogram } = {
      ...crawler.stats.state,
      requestRetryHistogram: crawler.stats.requestRetryHistogram,
    };
    return {
      requestsFinished,
      requestsFailed,
      requestsRetries,
      histogram: [...requestRetryHistogram].map((n) => n ?? 0),
    };
  },
  'basic: statusMessageCallback is a function option': async ({ lib, crawl, at, sleep }) => {
    const told = [];
    await crawl(
      lib.BasicCrawler,
      {
        statusMessageLoggingInterval: 0.1,
        statusMessageCallback: ({ state, crawler }) => void told.push([typeof state.requestsFinished, !!crawler]),
        requestHandler: () => sleep(500),
      },
      [at('/a')],
    );
    return told[0];
  },
  'basic: setStatusMessage': async ({ lib, crawl, at }) => {
    await crawl(
      lib.BasicCrawler,
      {
        async requestHandler({ crawler }) {
          await crawler.setStatusMessage('working', { level: 'INFO' });
        },
      },
      [at('/a')],
    );
    return 'ok';
  },
  'basic: errorTracker counts errors': async ({ lib, crawl, at }) => {
    const { crawler } = await crawl(
      lib.BasicCrawler,
      {
        maxRequestRetries: 1,
        requestHandler() {
          throw new TypeError('bad thing');
        },
      },
      [at('/a'), at('/b')],
    );
    return [
      crawler.stats.errorTracker.total,
      crawler.stats.errorTracker.getUniqueErrorCount(),
      crawler.stats.errorTrackerRetry.total,
    ];
  },
  'basic: autoscaledPool after run': async ({ lib, crawl, at }) => {
    const { crawler } = await crawl(lib.BasicCrawler, { requestHandler() {} }, [at('/a')]);
    return [
      typeof crawler.autoscaledPool,
      typeof crawler.autoscaledPool?.abort,
      crawler.autoscaledPool?.maxConcurrency,
    ];
  },
  'basic: crawler.requestQueue and getRequestQueue': async ({ lib, crawl, at }) => {
    const { crawler } = await crawl(lib.BasicCrawler, { requestHandler() {} }, [at('/a')]);
    return [!!crawler.requestQueue, typeof crawler.getRequestQueue, !!(await crawler.getRequestQueue())];
  },
  'basic: context.id, log and session': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.BasicCrawler,
      {
        requestHandler: ({ id, log, session, crawler }) => {
          got = [typeof id, typeof log.info, typeof session?.id, crawler.constructor.name];
        },
      },
      [at('/a')],
    );
    return got;
  },
  'basic: skipNavigation has no effect': async ({ lib, crawl, at }) => {
    let calls = 0;
    await crawl(lib.BasicCrawler, { requestHandler: () => void calls++ }, [{ url: at('/a'), skipNavigation: true }]);
    return calls;
  },
  'basic: exportData to JSON': async ({ lib, crawl, at }) => {
    const { readFileSync } = await import('node:fs');
    const { crawler } = await crawl(
      lib.BasicCrawler,
      { requestHandler: ({ pushData }) => pushData({ a: 1, b: 'x' }) },
      [at('/a')],
    );
    const items = await crawler.exportData('out.json');
    return { items, file: readFileSync('out.json', 'utf8').trim() };
  },
  'basic: exportData to CSV': async ({ lib, crawl, at }) => {
    const { readFileSync } = await import('node:fs');
    const { crawler } = await crawl(
      lib.BasicCrawler,
      { requestHandler: ({ pushData }) => pushData({ a: 1, b: 'x,"y"' }) },
      [at('/a')],
    );
    await crawler.exportData('out.csv');
    return readFileSync('out.csv', 'utf8').trim().split(/\r?\n/);
  },
  'http: body, contentType, response, json': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.HttpCrawler,
      {
        requestHandler: ({ body, contentType, response, json }) => {
          got = [Buffer.isBuffer(body), contentType, response.statusCode, response.url, json];
        },
      },
      [at('/a')],
    );
    return got;
  },
  'http: JSON is parsed': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.HttpCrawler,
      {
        additionalMimeTypes: ['application/json'],
        requestHandler: ({ json, contentType }) => {
          got = [json, contentType.type];
        },
      },
      [at('/json')],
    );
    return got;
  },
  'http: JSON without additionalMimeTypes': async ({ lib, crawl, at }) => {
    const { final } = await crawl(lib.HttpCrawler, { requestHandler() {} }, [at('/json')]);
    return [final.requestsFinished, final.requestsFailed];
  },
  'http: other content types fail': async ({ lib, crawl, at }) => {
    const { final } = await crawl(lib.HttpCrawler, { requestHandler() {} }, [at('/pdf')]);
    return [final.requestsFinished, final.requestsFailed];
  },
  'http: additionalMimeTypes with a star': async ({ lib, crawl, at }) => {
    const types = [];
    await crawl(
      lib.HttpCrawler,
      { additionalMimeTypes: ['*/*'], requestHandler: ({ contentType }) => void types.push(contentType.type) },
      [at('/pdf'), at('/image.png'), at('/text')],
    );
    return types.sort();
  },
  'http: response fields': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.HttpCrawler,
      {
        requestHandler: ({ response }) => {
          got = {
            message: response.statusMessage,
            complete: response.complete,
            http: response.httpVersion,
            raw: Array.isArray(response.rawHeaders),
            on: typeof response.on,
            type: response.headers['content-type'],
          };
        },
      },
      [at('/a')],
    );
    return got;
  },
  'http: redirectUrls of the response': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.HttpCrawler,
      {
        requestHandler: ({ response, request }) => {
          got = [request.url, request.loadedUrl, response.url, (response.redirectUrls ?? []).map(String)];
        },
      },
      [at('/redirect/2')],
    );
    return got;
  },
  'http: 404 reaches the handler': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.HttpCrawler,
      {
        requestHandler: ({ response }) => {
          got = response.statusCode;
        },
      },
      [at('/none')],
    );
    return got;
  },
  'http: 500 fails': async ({ lib, crawl, at }) => {
    const failed = [];
    await crawl(
      lib.HttpCrawler,
      {
        requestHandler() {},
        failedRequestHandler: ({ response }, error) =>
          void failed.push([response?.statusCode, /500/.test(error.message)]),
      },
      [at('/status/500')],
    );
    return failed;
  },
  'http: 403 and 429 are blocked': async ({ lib, crawl, at }) => {
    let calls = 0;
    const { final } = await crawl(lib.HttpCrawler, { maxSessionRotations: 0, requestHandler: () => void calls++ }, [
      at('/status/403'),
      at('/status/429'),
      at('/status/401'),
    ]);
    return [calls, final.requestsFailed];
  },
  'http: ignoreHttpErrorStatusCodes': async ({ lib, crawl, at }) => {
    const codes = [];
    await crawl(
      lib.HttpCrawler,
      { ignoreHttpErrorStatusCodes: [500], requestHandler: ({ response }) => void codes.push(response.statusCode) },
      [at('/status/500')],
    );
    return codes;
  },
  'http: ignoreHttpErrorStatusCodes with text/plain': async ({ lib, crawl, at }) => {
    const codes = [];
    await crawl(
      lib.HttpCrawler,
      { ignoreHttpErrorStatusCodes: [500], requestHandler: ({ response }) => void codes.push(response.statusCode) },
      [at('/status/500?type=text/plain')],
    );
    return codes;
  },
  'http: additionalHttpErrorStatusCodes': async ({ lib, crawl, at }) => {
    const { final } = await crawl(lib.HttpCrawler, { additionalHttpErrorStatusCodes: [404], requestHandler() {} }, [
      at('/none'),
    ]);
    return final.requestsFailed;
  },
  'http: preNavigationHooks change headers': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.HttpCrawler,
      {
        additionalMimeTypes: ['application/json'],
        preNavigationHooks: [
          ({ request }, options) => {
            request.headers = { 'x-hook': 'yes' };
            options.headers = { ...options.headers, 'x-options': 'too' };
          },
        ],
        requestHandler: ({ json }) => {
          got = json.custom;
        },
      },
      [at('/echo')],
    );
    return got;
  },
  'http: postNavigationHooks see the response': async ({ lib, crawl, at }) => {
    const got = [];
    await crawl(
      lib.HttpCrawler,
      {
        postNavigationHooks: [({ response }) => void got.push(response.statusCode)],
        requestHandler: () => void got.push('handler'),
      },
      [at('/a')],
    );
    return got;
  },
  'http: a hook that throws fails the request': async ({ lib, crawl, at }) => {
    const { final } = await crawl(
      lib.HttpCrawler,
      {
        preNavigationHooks: [
          () => {
            throw new Error('hook');
          },
        ],
        requestHandler() {},
      },
      [at('/a')],
    );
    return final.requestsFailed;
  },
  'http: skipNavigation': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.HttpCrawler,
      {
        requestHandler: ({ request }) => {
          got = [request.url, request.loadedUrl];
        },
      },
      [{ url: at('/reset'), skipNavigation: true }],
    );
    return got;
  },
  'http: POST with payload': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.HttpCrawler,
      {
        additionalMimeTypes: ['application/json'],
        requestHandler: ({ json }) => {
          got = [json.method, json.body, json.custom];
        },
      },
      [{ url: at('/echo'), method: 'POST', payload: 'hello', headers: { 'x-a': 'b' } }],
    );
    return got;
  },
  'http: navigationTimeoutSecs': async ({ lib, crawl, at }) => {
    const { final } = await crawl(lib.HttpCrawler, { navigationTimeoutSecs: 0.3, requestHandler() {} }, [
      at('/slow/1500'),
    ]);
    return final.requestsFailed;
  },
  'http: reset connections fail': async ({ lib, crawl, at }) => {
    const { final } = await crawl(lib.HttpCrawler, { requestHandler() {} }, [at('/reset')]);
    return final.requestsFailed;
  },
  'http: redirect loop fails': async ({ lib, crawl, at }) => {
    const { final } = await crawl(lib.HttpCrawler, { requestHandler() {} }, [at('/redirect-loop')]);
    return final.requestsFailed;
  },
  'http: gzip': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.HttpCrawler,
      {
        requestHandler: ({ body }) => {
          got = body.toString().includes('Zipped');
        },
      },
      [at('/gzip')],
    );
    return got;
  },
  'http: flaky server succeeds after retries': async ({ lib, crawl, at }) => {
    let got;
    const { final } = await crawl(
      lib.HttpCrawler,
      {
        maxRequestRetries: 3,
        requestHandler: ({ request }) => {
          got = request.retryCount;
        },
      },
      [at('/flaky/2')],
    );
    return [got, final.requestsFinished];
  },
  'cheerio: $ and title': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.CheerioCrawler,
      {
        requestHandler: ({ $, request }) => {
          got = [$('title').text(), $('h1').text(), request.loadedUrl];
        },
      },
      [at('/a')],
    );
    return got;
  },
  'cheerio: body is a string': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.CheerioCrawler,
      {
        requestHandler: ({ body }) => {
          got = typeof body;
        },
      },
      [at('/a')],
    );
    return got;
  },
  'cheerio: XML': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.CheerioCrawler,
      {
        requestHandler: ({ $ }) => {
          got = $('item')
            .map((_, el) => $(el).text())
            .get();
        },
      },
      [at('/xml')],
    );
    return got;
  },
  'cheerio: latin1 by header': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.CheerioCrawler,
      {
        requestHandler: ({ $, contentType }) => {
          got = [$('title').text(), $('h1').text(), contentType];
        },
      },
      [at('/latin1')],
    );
    return got;
  },
  'cheerio: suggestResponseEncoding': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.CheerioCrawler,
      {
        suggestResponseEncoding: 'windows-1250',
        requestHandler: ({ $ }) => {
          got = $('title').text();
        },
      },
      [at('/win1250')],
    );
    return got;
  },
  'cheerio: forceResponseEncoding with an iconv name': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.CheerioCrawler,
      {
        forceResponseEncoding: 'win1250',
        requestHandler: ({ $ }) => {
          got = $('title').text();
        },
      },
      [at('/win1250')],
    );
    return got;
  },
  'cheerio: a page without content type': async ({ lib, crawl, at }) => {
    let got;
    const { final } = await crawl(
      lib.CheerioCrawler,
      {
        requestHandler: ({ $, contentType }) => {
          got = [$?.('h1').text(), contentType?.type];
        },
      },
      [at('/no-type')],
    );
    return { got, failed: final.requestsFailed };
  },
  'cheerio: an invalid content type': async ({ lib, crawl, at }) => {
    const { final } = await crawl(lib.CheerioCrawler, { requestHandler() {} }, [at('/odd-type')]);
    return final.requestsFailed;
  },
  'cheerio: parseWithCheerio': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.CheerioCrawler,
      {
        async requestHandler({ parseWithCheerio }) {
          const $ = await parseWithCheerio();
          got = $('h1').text();
        },
      },
      [at('/a')],
    );
    return got;
  },
  'cheerio: waitForSelector of a missing element throws': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.CheerioCrawler,
      {
        async requestHandler({ waitForSelector }) {
          await waitForSelector('h1');
          try {
            await waitForSelector('.none', 300);
            got = 'found';
          } catch {
            got = 'threw';
          }
        },
      },
      [at('/a')],
    );
    return got;
  },
  'cheerio: an empty page': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.CheerioCrawler,
      {
        requestHandler: ({ $ }) => {
          got = [$('h1').length, $.html()];
        },
      },
      [at('/empty')],
    );
    return got;
  },
  'cheerio: extract with a map': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.CheerioCrawler,
      {
        requestHandler: ({ $ }) => {
          got = $.extract({ title: 'title', links: [{ selector: 'a', value: 'href' }] });
        },
      },
      [at('/a')],
    );
    return got;
  },
  'cheerio: response of a redirect': async ({ lib, crawl, at }) => {
    let got;
    await crawl(
      lib.CheerioCrawler,
      {
        requestHandler: ({ request, $ }) => {
          got = [request.url, request.loadedUrl, $('h1').text()];
        },
      },
      [at('/redirect/3')],
    );
    return got;
  },
};
