// Small promises of Crawlee's parts that its users (and its own tests) lean on: storage clients, queues, iterables, links.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const isLight = true;
const HTML = `<a class="click" href="https://example.com/a/b/first">1</a><a href="https://example.com/a/second">2</a>
<a class="click" href="https://example.com/a/b/third">3</a><a class="click" href="https://another.com/a/fifth">4</a>
<a class="click" href="http://cool.com/">5</a><a href="/x/absolute">6</a><a href="y/relative">7</a>
<a href="//sub.example.com/hello">8</a><a href="http://">9</a>`;

/** A queue over a client that only notes what is added. */
function noting(lib) {
  const added = [];
  const requestQueue = new lib.RequestQueue({ id: 'xxx', client: lib.Configuration.getStorageClient() });
  requestQueue.addRequests = async (requests, options) => {
    const processedRequests = [];
    for await (const request of requests) {
      const { url, method, userData, skipNavigation, label, uniqueKey } = request;
      added.push([url, method, { ...userData }, skipNavigation, label, uniqueKey, options?.forefront]);
      processedRequests.push(request);
    }
    return { processedRequests, unprocessedRequests: [] };
  };
  return { added, requestQueue };
}

const linksBy =
  (options, more = {}) =>
  async ({ lib }) => {
    const { added, requestQueue } = noting(lib);
    const { load } = await import('cheerio');
    const originalRequestUrl = 'https://example.com';
    await lib.cheerioCrawlerEnqueueLinks({ options, $: load(HTML), requestQueue, originalRequestUrl, ...more });
    return added;
  };

const listing = (folder) => {
  try {
    return readdirSync(folder).sort();
  } catch {
    return 'no folder';
  }
};

/** The names of the methods of a queue's client that are called from now on. */
function watched(client) {
  const calls = [];
  const names = ['addRequest', 'batchAddRequests', 'getRequest', 'listHead', 'listAndLockHead', 'prolongRequestLock'];
  for (const name of [...names, 'updateRequest']) {
    const method = client[name];
    client[name] = (...args) => {
      calls.push(name);
      return method.apply(client, args);
    };
  }
  return calls;
}

async function lockingQueue(lib, count) {
  const storage = new lib.MemoryStorage({ persistStorage: false, writeMetadata: false });
  const { id } = await storage.requestQueues().getOrCreate('locking');
  const queue = new lib.RequestQueueV2({ id, client: storage });
  await queue.addRequests(Array.from({ length: count }, (_, i) => ({ url: 'https://example.com', uniqueKey: `${i}` })));
  return queue;
}

const rejected = async (promise) => {
  try {
    await promise;
    return 'resolved';
  } catch {
    return 'rejected';
  }
};

export const scenarios = {
  'links: a function with an item limit': linksBy({ limit: 3, selector: '.click', strategy: 'all' }),
  'links: a function with globs': linksBy({
    selector: '.click',
    label: 'COOL',
    globs: ['https://example.com/**/*', { glob: '?(http|https)://cool.com/', method: 'POST' }],
    transformRequestFunction: (request) => {
      if (request.url.endsWith('third')) request.method = 'OPTIONS';
      return request;
    },
  }),
  'links: a function with empty globs': linksBy({
    selector: '.click',
    globs: ['https://example.com/**/*', '', { glob: ' ' }, { glob: '' }, { glob: '?(http|https)://cool.com/' }],
  }),
  'links: a function with regexps': linksBy({
    selector: '.click',
    regexps: [
      /^https:\/\/example\.com\/(\w|\/)+/,
      { regexp: /^(http|https):\/\/cool\.com\//, method: 'POST', userData: { label: 'COOL' } },
    ],
  }),
  'links: a function that skips navigation': linksBy({ selector: '.click', skipNavigation: true }),
  'links: a function with an excluded glob': linksBy({
    selector: '.click',
    globs: ['https://example.com/**/*', { glob: '?(http|https)://cool.com/', method: 'POST' }],
    exclude: ['**/first'],
  }),
  'links: a function with an excluded regexp': linksBy({
    selector: '.click',
    globs: ['https://example.com/**/*'],
    exclude: [/first/],
  }),
  'links: a function with pseudo-URLs': linksBy({
    selector: '.click',
    pseudoUrls: [
      'https://example.com/[(\\w|-|/)*]',
      { purl: '[http|https]://cool.com/', method: 'POST', userData: { label: 'COOL' } },
    ],
  }),
  'links: a function with regexps as pseudo-URLs': async (tools) =>
    rejected(linksBy({ selector: '.click', pseudoUrls: [/https:\/\/example\.com/] })(tools)),
  'links: a function with null as pseudo-URLs': async (tools) =>
    rejected(linksBy({ selector: '.click', pseudoUrls: null })(tools)),
  'links: a function with odd pseudo-URLs': async (tools) => {
    const outcomes = [];
    for (const pseudoUrls of [[1], [{}], ['https://[a'], 'text', [undefined]]) {
      outcomes.push(await rejected(linksBy({ selector: '.click', pseudoUrls })(tools)));
    }
    return outcomes;
  },
  'links: a function with a base and a strategy': linksBy({ baseUrl: 'https://another.com/', strategy: 'same-domain' }),
  'links: a function with same-hostname': linksBy({ strategy: 'same-hostname' }),
  'links: a function with same-origin': linksBy({ strategy: 'same-origin' }),
  'links: a function in front': linksBy({ selector: '.click', forefront: true }),
  'links: a function that drops requests': linksBy({
    selector: '.click',
    strategy: 'all',
    transformRequestFunction: (request) => (request.url.includes('example') ? false : request),
  }),
  'links: a function with user data and a label': linksBy({
    selector: '.click',
    userData: { foo: 'bar', label: 'bogus' },
    label: 'first',
  }),
  'links: a function after a redirect': linksBy({}, { finalRequestUrl: 'https://another.com/x' }),
  'iterables: pieces of no size': async ({ lib }) => {
    const outcomes = [];
    for (const size of [0, -1, 2]) {
      try {
        const pieces = [];
        for await (const piece of lib.chunkedAsyncIterable(lib.asyncifyIterable([1, 2, 3]), size)) pieces.push(piece);
        outcomes.push(pieces);
      } catch {
        outcomes.push('refused');
      }
    }
    return outcomes;
  },
  'iterables: what was peeked at comes again': async ({ lib }) => {
    const iterable = lib.peekableAsyncIterable(lib.asyncifyIterable([1, 2, 3]));
    const iterator = iterable[Symbol.asyncIterator]();
    const peeked = [await iterator.peek(), await iterator.peek()];
    const seen = [];
    for await (const value of iterable) seen.push(value);
    return [peeked, seen, await iterable[Symbol.asyncIterator]().peek(), await iterator.next()];
  },
  'state: a RecoverableState of a class': async ({ lib }) => {
    class Counter {
      constructor(value) {
        this.value = value;
      }
    }
    const calls = [];
    const state = new lib.RecoverableState({
      defaultState: { counter: new Counter(1) },
      persistStateKey: 'STATE',
      persistenceEnabled: true,
      serialize: (value) => {
        calls.push('serialize');
        return JSON.stringify({ counter: value.counter.value });
      },
      deserialize: (text) => {
        calls.push('deserialize');
        return { counter: new Counter(JSON.parse(text).counter) };
      },
    });
    await state.initialize();
    const isOfClass = state.currentValue.counter instanceof Counter;
    state.currentValue.counter.value = 5;
    await state.persistState();
    const saved = await (await lib.KeyValueStore.open()).getValue('STATE');
    return [isOfClass, calls, saved];
  },
  'memory: the head and locks': async ({ lib }) => {
    const queue = await lockingQueue(lib, 3);
    const locked = await queue.client.listAndLockHead({ lockSecs: 60, limit: 2 });
    const head = await queue.client.listHead();
    return [locked.items.length, head.items.length];
  },
  'memory: isFinished does not lock': async ({ lib }) => {
    const queue = await lockingQueue(lib, 2);
    const calls = watched(queue.client);
    const outcomes = [await queue.isFinished()];
    const { items } = await queue.client.listAndLockHead({ lockSecs: 60 });
    outcomes.push(await queue.isFinished(), items.length);
    return [outcomes, calls];
  },
  'memory: isFinished after the locked ones are handled': async ({ lib }) => {
    const queue = await lockingQueue(lib, 1);
    const { items } = await queue.client.listAndLockHead({ lockSecs: 60 });
    queue.inProgress?.add(items[0].id);
    const outcomes = [await queue.isEmpty(), await queue.isFinished()];
    await queue.markRequestHandled(await queue.getRequest(items[0].id));
    outcomes.push(await queue.isEmpty(), await queue.isFinished());
    return outcomes;
  },
  'memory: fetching locks': async ({ lib }) => {
    const queue = await lockingQueue(lib, 1);
    const calls = watched(queue.client);
    const first = await queue.fetchNextRequest();
    const second = await queue.fetchNextRequest();
    return [first !== null, second, calls];
  },
  'memory: an added request is not asked for again': async ({ lib }) => {
    const storage = new lib.MemoryStorage({ persistStorage: false });
    const { id } = await storage.requestQueues().getOrCreate('again');
    const queue = new lib.RequestQueue({ id, client: storage });
    const calls = watched(queue.client);
    const one = await queue.addRequest({ url: 'https://example.com' });
    await queue.markRequestHandled({ id: one.requestId, uniqueKey: one.uniqueKey, url: 'https://example.com' });
    const again = await queue.addRequest({ url: 'https://example.com' });
    return [calls, again.wasAlreadyPresent];
  },
  'memory: metadata without items': async ({ lib, sleep }) => {
    const outcomes = [];
    for (const writeMetadata of [false, true]) {
      const storage = new lib.MemoryStorage({
        localDataDirectory: `./mem-${writeMetadata}`,
        persistStorage: false,
        writeMetadata,
      });
      const { id } = await storage.keyValueStores().getOrCreate();
      await storage.keyValueStore(id).setRecord({ key: 'foo', value: 'test' });
      await sleep(1_500);
      outcomes.push(listing(resolve(storage.keyValueStoresDirectory, id)));
    }
    return outcomes;
  },
  'memory: metadata beside items': async ({ lib, sleep }) => {
    const outcomes = [];
    for (const writeMetadata of [false, true]) {
      const storage = new lib.MemoryStorage({ localDataDirectory: `./mem2-${writeMetadata}`, writeMetadata });
      const stores = await storage.keyValueStores().getOrCreate();
      const datasets = await storage.datasets().getOrCreate('items');
      await storage.keyValueStore(stores.id).setRecord({ key: 'foo', value: 'test' });
      await storage.dataset(datasets.id).pushItems([{ a: 1 }, { a: 2 }]);
      await sleep(1_500);
      outcomes.push(listing(resolve(storage.keyValueStoresDirectory, stores.id)));
      outcomes.push(listing(resolve(storage.datasetsDirectory, 'items')));
    }
    return outcomes;
  },
  'memory: files that were there before': async ({ lib }) => {
    const storage = new lib.MemoryStorage({ localDataDirectory: './mem3' });
    const write = (store, file, content) => {
      mkdirSync(join(storage.keyValueStoresDirectory, store), { recursive: true });
      writeFileSync(join(storage.keyValueStoresDirectory, store, file), content);
    };
    const times = { createdAt: '2022-01-01T00:00:00.000Z', accessedAt: '2022-01-01T00:00:00.000Z' };
    write('default', '__metadata__.json', JSON.stringify({ id: 'my-id', name: 'default', ...times }));
    write('default', 'INPUT.json', '{"foo":"from disk"}');
    write('other', 'INPUT.json', '{"foo":"from disk"}');
    write('no-ext', 'INPUT', '{"foo":"from disk"}');
    write('invalid', 'INPUT.json', '{');
    const info = await storage.keyValueStores().getOrCreate('default');
    const read = (id) => storage.keyValueStore(id).getRecord('INPUT');
    return [
      info.name,
      info.id,
      await read(info.id),
      await read('other'),
      await read('no-ext'),
      await read('invalid'),
      await storage.keyValueStore('default_2').get(),
    ];
  },
  'memory: a queue passes over other files': async ({ lib }) => {
    const storage = new lib.MemoryStorage({ localDataDirectory: './mem4' });
    const folder = join(storage.requestQueuesDirectory, 'default');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, '__metadata__.json'), JSON.stringify({ id: 'q', name: 'default' }));
    const json = JSON.stringify({ uniqueKey: 'owo', url: 'http://example.com', id: '123' });
    const request = {
      id: '123',
      orderNo: 1,
      url: 'http://example.com',
      uniqueKey: 'owo',
      method: 'GET',
      retryCount: 0,
    };
    writeFileSync(join(folder, '123.json'), JSON.stringify({ ...request, json }));
    writeFileSync(join(folder, '.DS_Store'), 'x');
    writeFileSync(join(folder, 'invalid.txt'), 'x');
    const { id, name } = await storage.requestQueues().getOrCreate('default');
    return [name, (await storage.requestQueue(id).listHead()).items.map(({ url }) => url)];
  },
  'memory: names that lead out of the folder': async ({ lib }) => {
    const storage = new lib.MemoryStorage({ localDataDirectory: './mem5', writeMetadata: true });
    const outcomes = [];
    for (const name of ['../out', resolve('out')]) {
      outcomes.push(await rejected(storage.keyValueStores().getOrCreate(name)));
      outcomes.push(await rejected(storage.datasets().getOrCreate(name)));
      outcomes.push(await rejected(storage.requestQueues().getOrCreate(name)));
    }
    const { id } = await storage.keyValueStores().getOrCreate('fine');
    outcomes.push(await rejected(storage.keyValueStore(id).update({ name: '../renamed' })));
    outcomes.push(await rejected(storage.keyValueStore(id).setRecord({ key: '../out', value: 'x' })));
    outcomes.push(await rejected(storage.keyValueStore(id).setRecord({ key: 'IN', value: 'x' })));
    return outcomes;
  },
  'memory: counts of handled requests': async ({ lib }) => {
    const storage = new lib.MemoryStorage({ persistStorage: false });
    const { id } = await storage.requestQueues().getOrCreate('counts');
    const queue = storage.requestQueue(id);
    const handledAt = new Date().toISOString();
    const counts = [];
    const count = async () => counts.push((await queue.get()).handledRequestCount);
    const { requestId } = await queue.addRequest({ url: 'http://example.com/1', uniqueKey: '1' });
    await queue.updateRequest({ url: 'http://example.com/1', uniqueKey: '1', id: requestId, handledAt });
    await count();
    const two = await queue.addRequest({ url: 'http://example.com/2', uniqueKey: '2', handledAt });
    await count();
    await queue.updateRequest({ url: 'http://example.com/2', uniqueKey: '2', id: two.requestId, handledAt });
    await count();
    return counts;
  },
  'memory: requests in front': async ({ lib, sleep }) => {
    const storage = new lib.MemoryStorage({ persistStorage: false });
    const { id } = await storage.requestQueues().getOrCreate('front');
    const queue = storage.requestQueue(id);
    for (const [number, forefront] of [1, 2, 3, 4].map((n) => [n, n > 2])) {
      await queue.addRequest({ url: `http://example.com/${number}`, uniqueKey: `${number}` }, { forefront });
      await sleep(3);
    }
    return (await queue.listHead()).items.map(({ uniqueKey }) => uniqueKey);
  },
  'memory: keys, values and entries of a client': async ({ lib }) => {
    const storage = new lib.MemoryStorage({ persistStorage: false });
    const { id } = await storage.keyValueStores().getOrCreate('iterated');
    const store = storage.keyValueStore(id);
    for (const key of ['c', 'a', 'b']) await store.setRecord({ key, value: { key } });
    const got = [];
    for (const name of ['listKeys', 'keys', 'values', 'entries']) {
      const items = [];
      for await (const item of store[name]({ limit: 2 })) items.push(item);
      got.push([name, items, await store[name]({ limit: 2 })]);
    }
    return got;
  },
  'pool: options as members': async ({ lib }) => {
    const createSessionFunction = () => ({});
    const options = { maxPoolSize: 30, persistStateKeyValueStoreId: 'TEST', persistStateKey: 'STATE2' };
    const pool = await lib.SessionPool.open({ ...options, createSessionFunction, sessionOptions: { maxAgeSecs: 100 } });
    await pool.teardown();
    const plain = await lib.SessionPool.open();
    return [
      pool.maxPoolSize,
      pool.persistStateKeyValueStoreId,
      pool.persistStateKey,
      pool.createSessionFunction === createSessionFunction,
      pool.sessionOptions.maxAgeSecs,
      plain.createSessionFunction === plain._defaultCreateSessionFunction,
    ];
  },
  'pool: a session knows its pool': async ({ lib }) => {
    const pool = await lib.SessionPool.open({ sessionOptions: { maxAgeSecs: 100, maxUsageCount: 10 } });
    const session = await pool.getSession();
    const listeners = lib.Configuration.getEventManager().listenerCount('persistState');
    await pool.teardown();
    return [
      session.maxAgeSecs,
      session.maxUsageCount,
      session.sessionPool === pool,
      listeners - lib.Configuration.getEventManager().listenerCount('persistState'),
    ];
  },
  'list: keepDuplicateUrls as a member': async ({ lib }) => {
    const list = await lib.RequestList.open('members', ['https://example.com'], { keepDuplicateUrls: true });
    return [list.keepDuplicateUrls, list.persistStateKey, list.persistRequestsKey, list.requests.length];
  },
  'proxy: tiers without a request, in turn': async ({ lib }) => {
    const tiers = [['http://a.example:1', 'http://b.example:2'], ['http://c.example:3']];
    const proxies = new lib.ProxyConfiguration({ tieredProxyUrls: tiers });
    const taken = [];
    for (let i = 0; i < 4; i++) taken.push(await proxies.newUrl());
    return [taken, await proxies.newProxyInfo('s')];
  },
  'proxy: a request that comes again goes up': async ({ lib }) => {
    const tieredProxyUrls = [['http://a.example:1'], ['http://b.example:2'], ['http://c.example:3']];
    const proxies = new lib.ProxyConfiguration({ tieredProxyUrls });
    const request = new lib.Request({ url: 'http://example.com' });
    const taken = [];
    for (let i = 0; i < 3; i++) taken.push(await proxies.newUrl('session-id', { request }));
    const other = new lib.Request({ url: 'http://example.com/another' });
    taken.push(await proxies.newUrl('session-id', { request: other }));
    return taken;
  },
  'proxy: a domain goes up and down again': async ({ lib }) => {
    const tieredProxyUrls = [1, 2, 3, 4, 5].map((n) => [`http://p${n}.example:1`]);
    const proxies = new lib.ProxyConfiguration({ tieredProxyUrls });
    const request = new lib.Request({ url: 'http://example.com' });
    let [isUp, isDown] = [false, false];
    for (let i = 0; i < 10 && !isUp; i++) {
      isUp = (await proxies.newUrl('s', { request })) === tieredProxyUrls[4][0];
    }
    for (let i = 0; i < 20 && !isDown; i++) {
      const next = new lib.Request({ url: `http://example.com/${i}` });
      isDown = (await proxies.newUrl('s', { request: next })) === tieredProxyUrls[0][0];
    }
    return [isUp, isDown];
  },
  'proxy: lists as members of a derived class': async ({ lib }) => {
    class Mine extends lib.ProxyConfiguration {
      get lists() {
        return [this.proxyUrls, this.tieredProxyUrls];
      }
    }
    return [
      new Mine({ proxyUrls: ['http://a.example:1', null] }).lists,
      new Mine({ tieredProxyUrls: [['http://a.example:1']] }).lists,
    ];
  },
  'proxy: a function that gives nothing': async ({ lib }) => {
    const proxies = new lib.ProxyConfiguration({ newUrlFunction: () => null });
    return [await proxies.newUrl(), await proxies.newProxyInfo()].map((one) => one ?? 'none');
  },
  'basic: addRequests refuses what is no list': async ({ lib }) => {
    const crawler = new lib.BasicCrawler({ requestHandler() {} });
    return crawler.addRequests(new WeakSet()).then(
      () => 'taken',
      (error) => error instanceof Error,
    );
  },
  'errors: of one kind, in messages of different length': async ({ lib }) => {
    const tracker = new lib.ErrorTracker({ showErrorCode: false, showStackTrace: false });
    for (const what of ['a button', 'the very small button', 'an image']) {
      tracker.add({ name: 'TimeoutError', message: `waiting for ${what} failed: it is not there` });
    }
    return [tracker.result, tracker.getUniqueErrorCount(), tracker.total];
  },
  'errors: the place is in the user’s file': async ({ lib }) => {
    const tracker = new lib.ErrorTracker({ showErrorCode: false });
    const stack = ['Error: x', '    at read (node:fs:1:2)', '    at go (/app/mine.js:5:6)'].join('\n');
    tracker.add({ name: 'Error', message: 'x', stack });
    return tracker.result;
  },
  'utils: pieces below a number of bytes': async ({ lib }) => {
    const item = '{"a":1}';
    return [item.length, item.length + 2, 2 * item.length + 3].map((bytes) =>
      lib.chunkBySize([item, item, item], bytes),
    );
  },
};
