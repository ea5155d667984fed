// After the guides on request and result storages: datasets, stores, queues, lists, state.
import {
  BasicCrawler,
  CheerioCrawler,
  Configuration,
  Dataset,
  EventType,
  KeyValueStore,
  Request,
  RequestList,
  RequestQueue,
  type RequestOptions,
  SitemapRequestList,
} from 'crawlee';
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pathOf, type Samples } from '../site.js';

interface Product {
  name: string;
  price: number;
}

async function* generated(urls: string[]): AsyncGenerator<RequestOptions> {
  for (const url of urls) yield { url, userData: { from: 'generator' } };
}

export const scenarios: Samples = {
  'sample: items into a dataset': async ({ at }) => {
    const dataset = await Dataset.open<Page>('pages');
    interface Page {
      path: string;
      heading: string;
    }
    const crawler = new CheerioCrawler({
      async requestHandler({ request, $ }) {
        await dataset.pushData({ path: pathOf(request.url), heading: $('h1').text() });
      },
    });
    await crawler.run([at('/a'), at('/b')]);
    const { items } = await dataset.getData({ limit: 10 });
    const info = await dataset.getInfo();
    return [items.map(({ heading }) => heading).sort(), info?.itemCount, info?.name];
  },
  'sample: map and reduce': async () => {
    const dataset = await Dataset.open<Product>('products');
    await dataset.pushData([
      { name: 'net', price: 5 },
      { name: 'boat', price: 20 },
    ]);
    const names = await dataset.map(({ name }, index) => `${index} ${name}`);
    const sum = await dataset.reduce((memo, { price }) => memo + price, 0);
    const dear: string[] = [];
    await dataset.forEach(async (item) => {
      if (item.price > 10) dear.push(item.name);
    });
    return [names, sum, dear];
  },
  'sample: a whole dataset as one file': async () => {
    await Dataset.pushData([{ url: 'https://a.example', words: 3 }]);
    await Dataset.exportToCSV('table', { toKVS: 'exports' });
    const dataset = await Dataset.open();
    await dataset.exportToJSON('list', { toKVS: 'exports' });
    const store = await KeyValueStore.open('exports');
    return [await store.getValue<string>('table'), await store.getValue<object[]>('list')];
  },
  'sample: exports with all keys, and of nothing': async () => {
    const crawler = new BasicCrawler({ async requestHandler() {} });
    await crawler.exportData('out/none.json');
    await crawler.exportData('out/none.csv');
    await crawler.pushData([
      { a: 1, b: 'x' },
      { b: 'y', c: 2 },
    ]);
    await crawler.exportData('out/all.csv', 'csv', { collectAllKeys: true });
    return ['none.json', 'none.csv', 'all.csv'].map((name) => readFileSync(`out/${name}`, 'utf8'));
  },
  'sample: a table of items with different keys': async () => {
    const crawler = new BasicCrawler({ async requestHandler() {} });
    await crawler.pushData([{ a: 1 }, { a: 2, b: true }]);
    await crawler.exportData('out/first.csv');
    return readFileSync('out/first.csv', 'utf8');
  },
  'sample: the input of a crawl': async ({ at }) => {
    interface Input {
      startUrls: string[];
      limit?: number;
    }
    await KeyValueStore.setValue('INPUT', { startUrls: [at('/a'), at('/b')], limit: 1 });
    const { startUrls = [], limit } = (await KeyValueStore.getInput<Input>()) ?? {};
    const crawler = new CheerioCrawler({
      ...(limit ? { maxRequestsPerCrawl: limit } : {}),
      maxConcurrency: 1,
      async requestHandler({ $ }) {
        await KeyValueStore.setValue('OUTPUT', { title: $('title').text() });
      },
    });
    await crawler.run(startUrls);
    return KeyValueStore.getValue<{ title: string }>('OUTPUT');
  },
  'sample: records of a store': async () => {
    const store = await KeyValueStore.open('notes');
    await store.setValue('one', { n: 1 });
    await store.setValue('page', '<b>text</b>', { contentType: 'text/html' });
    const keys: string[] = [];
    await store.forEachKey(async (key, index, { size }) => {
      keys.push(`${index} ${key} ${size > 0}`);
    });
    const { n = 0 } = (await store.getValue<{ n: number }>('one')) ?? {};
    await store.setValue('one', null);
    return [
      keys,
      n,
      await store.getValue('one'),
      await store.getValue('none', 'default'),
      await store.recordExists('page'),
    ];
  },
  'sample: a stream into a store': async () => {
    const store = await KeyValueStore.open();
    const text = Readable.from(['one ', 'two'].map((part) => Buffer.from(part)));
    await store.setValue('text', text, { contentType: 'text/plain' });
    return [await store.getValue('text'), await store.recordExists('text'), await store.recordExists('other')];
  },
  'sample: a value of a store that saves itself': async ({ sleep }) => {
    const store = await KeyValueStore.open();
    const counts = await store.getAutoSavedValue('COUNTS', { pages: 1 });
    counts.pages++;
    Configuration.getEventManager().emit(EventType.PERSIST_STATE, { isMigrating: false });
    await sleep(200);
    return [await store.getValue('COUNTS'), (await store.getAutoSavedValue('COUNTS')) === counts];
  },
  'sample: state that handlers share': async ({ at }) => {
    interface Counts {
      pages: number;
      words: Record<string, number>;
    }
    const crawler = new CheerioCrawler({
      async requestHandler({ $, useState, request }) {
        const counts = await useState<Counts>({ pages: 0, words: {} });
        counts.pages += 1;
        counts.words[pathOf(request.url)] = $('p').text().split(' ').length;
      },
    });
    await crawler.run([at('/a'), at('/b')]);
    return crawler.useState<Counts>();
  },
  'sample: a queue, request by request': async ({ at }) => {
    const queue = await RequestQueue.open();
    await queue.addRequest({ url: at('/a'), userData: { depth: 1 } });
    const { wasAlreadyPresent } = await queue.addRequest({ url: at('/a') });
    await queue.addRequests([{ url: at('/b') }, { url: at('/'), uniqueKey: 'home' }], { forefront: true });
    const order: string[] = [];
    for (;;) {
      const request = await queue.fetchNextRequest<{ depth?: number }>();
      if (!request) break;
      order.push(`${request.uniqueKey === 'home' ? 'home' : pathOf(request.url)} ${request.userData.depth ?? 0}`);
      await queue.markRequestHandled(request);
    }
    const [isEmpty, isFinished] = [await queue.isEmpty(), await queue.isFinished()];
    await queue.drop();
    return [wasAlreadyPresent, order.sort(), isEmpty, isFinished];
  },
  'sample: one crawler fills a named queue, another works it off': async ({ at }) => {
    const requestQueue = await RequestQueue.open('to-do');
    const collecting = new CheerioCrawler({
      requestHandler: async ({ $, request }) => {
        const urls = $('a')
          .toArray()
          .map((link) => new URL($(link).attr('href') ?? '', request.loadedUrl).href);
        await requestQueue.addRequests(urls.map((url) => ({ url, label: 'PAGE' })));
      },
    });
    await collecting.run([at('/')]);
    const paths: string[] = [];
    const crawler = new CheerioCrawler({
      requestQueue,
      requestHandler: ({ request }) => {
        paths.push(`${request.label} ${pathOf(request.url)}`);
      },
    });
    await crawler.run();
    return [paths.sort(), await requestQueue.isFinished()];
  },
  'sample: one queue for two crawlers at once': async ({ at }) => {
    const requestQueue = await RequestQueue.open('shared');
    await requestQueue.addRequests(Array.from({ length: 20 }, (_, n) => ({ url: at(`/a?n=${n}`) })));
    const seen: string[] = [];
    const work = () =>
      new CheerioCrawler({
        requestQueue,
        experiments: { requestLocking: true },
        maxConcurrency: 2,
        requestHandler: ({ request }) => {
          seen.push(request.url);
        },
      }).run();
    await Promise.all([work(), work()]);
    return [seen.length, new Set(seen).size];
  },
  'sample: requests of an async generator': async ({ at }) => {
    const seen: string[] = [];
    const crawler = new BasicCrawler({
      requestHandler: ({ request }) => {
        seen.push(`${pathOf(request.url)} ${request.userData['from']}`);
      },
    });
    await crawler.addRequests(generated([at('/a'), at('/b')]));
    await crawler.run(generated([at('/c')]));
    return seen.sort();
  },
  'sample: requests in batches': async ({ at }) => {
    const crawler = new BasicCrawler({ async requestHandler() {} });
    const urls = Array.from({ length: 2_500 }, (_, n) => at(`/a?n=${n}`));
    const { addedRequests, waitForAllRequestsToBeAdded } = await crawler.addRequests(urls, {
      waitBetweenBatchesMillis: 1,
    });
    const rest = await waitForAllRequestsToBeAdded;
    const all = await crawler.addRequests(urls, { waitForAllRequestsToBeAdded: true, batchSize: 500 });
    const isKnown = all.addedRequests.every((one) => one.wasAlreadyPresent);
    return [addedRequests.length, rest.length, all.addedRequests.length, isKnown];
  },
  'sample: a list of requests': async ({ at }) => {
    const sources = [at('/a'), { url: at('/b'), userData: { label: 'B' } }, new Request({ url: at('/dir/c.html') })];
    const requestList = await RequestList.open('my-list', sources);
    const labels: (string | undefined)[] = [];
    const crawler = new CheerioCrawler({
      requestList,
      maxConcurrency: 1,
      requestHandler: async ({ request, enqueueLinks }) => {
        labels.push(request.label);
        await enqueueLinks({ selector: '.none' });
      },
    });
    await crawler.run();
    return [labels, requestList.length(), requestList.handledCount(), await requestList.isFinished()];
  },
  'sample: a list of sitemaps goes on with what was under way': async ({ at }) => {
    const open = () => SitemapRequestList.open({ sitemapUrls: [at('/sitemap.xml')], persistStateKey: 'mine' });
    const first = await open();
    const request = await first.fetchNextRequest();
    if (request) request.userData['seen'] = true;
    await first.persistState();
    const second = await open();
    const isEmpty = await second.isEmpty();
    const again = await second.fetchNextRequest();
    return [isEmpty, again?.url === request?.url, again?.userData['seen']];
  },
};
