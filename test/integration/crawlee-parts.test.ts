// Parts of Crawlee that scripts use by themselves, and what its crawlers keep of errors.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  anonymizeProxySugar,
  CheerioCrawler,
  createCheerioRouter,
  Configuration,
  expandShadowRoots,
  htmlToText,
  KeyValueStore,
  MinimumSpeedStream,
  PlaywrightLauncher,
  RenderingTypePredictor,
  Request,
  RequestHandlerResult,
  RequestQueue,
  SessionError,
} from '../../src/crawlee/entry.js';

const config = () => new Configuration({ persistStorage: false });

describe('RequestHandlerResult', () => {
  it('keeps calls in place of carrying them out', async () => {
    const result = new RequestHandlerResult(config(), 'STATE');
    await result.pushData([{ a: 1 }, { a: 2 }], 'things');
    await result.addRequests(['http://a.example/', { url: 'http://b.example/', label: 'B' }]);
    await result.addRequests([{ requestsFromUrl: 'http://c.example/list', label: 'L' }]);
    const store = await result.getKeyValueStore();
    await store.setValue('key', 5);
    expect(result.datasetItems).toEqual([
      { item: { a: 1 }, datasetIdOrName: 'things' },
      { item: { a: 2 }, datasetIdOrName: 'things' },
    ]);
    expect(result.enqueuedUrls).toEqual([{ url: 'http://a.example/' }, { url: 'http://b.example/', label: 'B' }]);
    expect(result.enqueuedUrlLists).toEqual([{ listUrl: 'http://c.example/list', label: 'L' }]);
    expect(result.keyValueStoreChanges).toEqual({ default: { key: { changedValue: 5, options: undefined } } });
    expect(await store.getValue('key')).toBe(5);
  });
});

describe('RenderingTypePredictor', () => {
  it('judges a page by pages with similar URLs and the same label', async () => {
    const predictor = new RenderingTypePredictor({
      detectionRatio: 0.1,
      persistenceOptions: { persistenceEnabled: false },
    });
    await predictor.initialize();
    const page = (url: string, label?: string) => new Request({ url, ...(label === undefined ? {} : { label }) });
    expect(predictor.predict(page('http://a.example/'))).toEqual({
      renderingType: 'clientOnly',
      detectionProbabilityRecommendation: 1,
    });
    for (const id of [1, 2, 3]) {
      predictor.storeResult(page(`http://a.example/article/${id}`), 'static');
      predictor.storeResult([page(`http://a.example/app/view-${id}`)], 'clientOnly');
    }
    expect(predictor.predict(page('http://a.example/article/77'))).toEqual({
      renderingType: 'static',
      detectionProbabilityRecommendation: 0.1,
    });
    expect(predictor.predict(page('http://a.example/app/view-9')).renderingType).toBe('clientOnly');
    expect(predictor.predict(page('http://a.example/article/1', 'OTHER')).detectionProbabilityRecommendation).toBe(1);
  });
});

describe('MinimumSpeedStream', () => {
  it('fails a download that hardly moves, and lets others through', async () => {
    const never = new Readable({ read: () => undefined });
    const slow = MinimumSpeedStream({ minSpeedKbps: 1, checkProgressInterval: 20, historyLengthMs: 100 });
    await expect(pipeline(never, slow, new PassThrough())).rejects.toThrow(/too slow/);
    const fast = MinimumSpeedStream({ minSpeedKbps: 1, checkProgressInterval: 20 });
    let bytes = 0;
    await pipeline(Readable.from([Buffer.alloc(9_000)]), fast, async (pieces) => {
      for await (const piece of pieces) bytes += (piece as Buffer).length;
    });
    expect(bytes).toBe(9_000);
  });
});

describe('launchers and pages', () => {
  it('a launcher makes a plugin by its context and configuration', () => {
    const launcher = new PlaywrightLauncher(
      { userAgent: 'me', useIncognitoPages: true, proxyUrl: 'http://p.example:1', launchOptions: { args: ['--a'] } },
      new Configuration({ headless: false, disableBrowserSandbox: true }),
    );
    const { launchOptions, useIncognitoPages, proxyUrl } = launcher.createBrowserPlugin();
    expect(launchOptions).toMatchObject({ headless: false, args: ['--a', '--no-sandbox', '--user-agent=me'] });
    expect([useIncognitoPages, proxyUrl]).toEqual([true, 'http://p.example:1']);
    expect(() => new PlaywrightLauncher({ proxyUrl: 'ftp://p.example' })).toThrow(/proxyUrl/);
  });

  it('a proxy without a login needs no helper', async () => {
    expect((await anonymizeProxySugar('http://p.example:1'))[0]).toBeUndefined();
    const [url, close] = await anonymizeProxySugar('http://p.example:1', 'user', 'pass');
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    await close();
  });

  it('shadow roots are put in place', () => {
    const inner = { shadowRoot: null, innerHTML: '' };
    const host = { innerHTML: 'x', shadowRoot: { innerHTML: '<b>in</b>', querySelectorAll: () => [] as unknown[] } };
    const document = {
      body: { querySelectorAll: () => [host, inner] },
      get documentElement() {
        return { outerHTML: `<p>${host.innerHTML}</p>` };
      },
    };
    expect(expandShadowRoots(document)).toBe('<p>x<b>in</b></p>');
  });
});

describe('small things', () => {
  it('have the words and forms of Crawlee', async () => {
    expect(new SessionError('no').message).toBe('Detected a session error, rotating session... \nno');
    expect(htmlToText('<table><tr><th>A</th><td>B</td></tr></table>')).toBe('AB');
    expect(htmlToText('<pre>  a\n  b</pre>')).toBe('a\n  b');
    const store = await KeyValueStore.open(null, { config: config() });
    expect(store.getPublicUrl('key')).toMatch(/^file:.*\/key_value_stores\/default\/key$/);
  });

  it('a list that names a request twice adds it once', async () => {
    const queue = await RequestQueue.open(null, { config: config() });
    const { addedRequests } = await queue.addRequestsBatched([
      'http://a.example/',
      'http://b.example/',
      'http://a.example/',
    ]);
    expect(addedRequests.map(({ wasAlreadyPresent }) => wasAlreadyPresent)).toEqual([false, false]);
  });
});

describe('saveErrorSnapshots', () => {
  let server: Server;
  let origin: string;
  beforeAll(async () => {
    server = createServer((request, response) => {
      response.setHeader('content-type', 'text/html').end(`<p>${request.url}</p>`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it('saves the page of the first error of each kind, and says where', async () => {
    const here = config();
    const crawler = new CheerioCrawler(
      {
        maxRequestRetries: 0,
        maxConcurrency: 1,
        statisticsOptions: { saveErrorSnapshots: true },
        requestHandler: () => {
          throw new TypeError('no such thing here');
        },
      },
      here,
    );
    await crawler.run([`${origin}/one`, `${origin}/two`]);
    const kinds: { count: number; firstErrorHtmlUrl?: string }[] = [];
    const collect = (node: object): void => {
      for (const value of Object.values(node) as object[]) {
        if ('count' in value) kinds.push(value as never);
        else collect(value);
      }
    };
    collect(crawler.stats.errorTracker.result);
    expect(kinds).toHaveLength(1);
    expect(kinds[0]).toMatchObject({ count: 2, firstErrorHtmlUrl: expect.stringMatching(/ERROR_SNAPSHOT_.*\.html$/) });
    const store = await KeyValueStore.open(null, { config: here });
    const keys: string[] = [];
    await store.forEachKey((key) => void keys.push(key));
    const saved = keys.filter((key) => key.startsWith('ERROR_SNAPSHOT'));
    expect(saved).toHaveLength(1);
    expect(await store.getValue(saved[0]!)).toContain('/one');
    expect(crawler.stats.toJSON()).toMatchObject({ requestsTotal: 2, statsId: crawler.stats.id });
  });
});

describe('user data that do not fit the schema of their label', () => {
  it('are an error that names the label and every issue', async () => {
    const issues = [{ message: 'sku is missing', path: ['sku'] }];
    const schema = { '~standard': { version: 1, vendor: 'test', validate: () => ({ issues }) } } as const;
    const router = createCheerioRouter();
    router.addHandler('PRODUCT', schema as never, () => undefined);
    const crawler = new CheerioCrawler({ requestHandler: router }, config());
    const adding = crawler.addRequests([{ url: 'http://a.example/', label: 'PRODUCT' }]);
    await expect(adding).rejects.toMatchObject({ name: 'RequestValidationError', label: 'PRODUCT', issues });
    await crawler.teardown();
  });
});
