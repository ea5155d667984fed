// Dataset, KeyValueStore, RequestQueue, RequestList, Configuration.
const pushed = async (lib, items) => {
  const d = await lib.Dataset.open();
  await d.pushData(items);
  return d;
};
const readFile = async (path) => (await import('node:fs')).readFileSync(path);
export const scenarios = {
  'dataset: pushData and getData': async ({ lib }) => {
    const d = await pushed(lib, [{ a: 1 }, { a: 2 }]);
    const { items, total, count, offset, limit, desc } = await d.getData();
    return { items, total, count, offset, big: limit >= 2, desc: !!desc };
  },
  'dataset: offset, limit and desc': async ({ lib }) => {
    const d = await pushed(
      lib,
      [1, 2, 3, 4].map((a) => ({ a })),
    );
    return [(await d.getData({ offset: 1, limit: 2 })).items, (await d.getData({ desc: true })).items];
  },
  'dataset: fields': async ({ lib }) => {
    const d = await pushed(lib, [{ a: 1, b: 2 }]);
    return (await d.getData({ fields: ['a'] })).items;
  },
  'dataset: clean, skipHidden and skipEmpty': async ({ lib }) => {
    const d = await pushed(lib, [{ a: 1, '#error': 'x' }, {}, { '#only': 1 }]);
    return [
      (await d.getData({ clean: true })).items,
      (await d.getData({ skipHidden: true })).items,
      (await d.getData({ skipEmpty: true })).items,
    ];
  },
  'dataset: map': async ({ lib }) =>
    (await pushed(lib, [{ a: 1 }, { a: 2 }])).map((item, index) => ({ b: item.a * 2, index })),
  'dataset: reduce': async ({ lib }) =>
    (await pushed(lib, [{ a: 1 }, { a: 2 }])).reduce((sum, item) => sum + item.a, 10),
  'dataset: reduce without memo': async ({ lib }) =>
    (await pushed(lib, [{ a: 1 }, { a: 2 }])).reduce((memo, item) => ({ a: memo.a + item.a }), undefined),
  'dataset: forEach': async ({ lib }) => {
    const got = [];
    await (await pushed(lib, [{ a: 1 }, { a: 2 }])).forEach((item, index) => void got.push([item.a, index]));
    return got;
  },
  'dataset: getInfo': async ({ lib }) => {
    const { itemCount, name, createdAt } = await (await pushed(lib, [{ a: 1 }])).getInfo();
    return { itemCount, name: name ?? null, date: createdAt instanceof Date };
  },
  'dataset: named and dropped': async ({ lib }) => {
    const d = await lib.Dataset.open('mine');
    await d.pushData({ a: 1 });
    await d.drop();
    return (await (await lib.Dataset.open('mine')).getData()).items;
  },
  'dataset: static pushData and getData': async ({ lib }) => {
    await lib.Dataset.pushData({ s: 1 });
    return (await lib.Dataset.getData()).items;
  },
  'dataset: exportToJSON': async ({ lib }) => {
    await (await pushed(lib, [{ a: 1 }])).exportToJSON('OUT');
    return (await lib.KeyValueStore.open()).getValue('OUT');
  },
  'dataset: exportToCSV': async ({ lib }) => {
    await (await pushed(lib, [{ a: 1, b: 'x' }])).exportToCSV('OUT');
    return (await lib.KeyValueStore.open()).getValue('OUT');
  },
  'dataset: export': async ({ lib }) => (await pushed(lib, [{ a: 1 }])).export(),
  'dataset: pushData refuses non-objects': async ({ lib }) => {
    const d = await lib.Dataset.open();
    const got = [];
    for (const bad of [1, 'x', null, undefined, [1], () => {}]) {
      try {
        await d.pushData(bad);
        got.push('accepted');
      } catch {
        got.push('refused');
      }
    }
    return got;
  },
  'dataset: pushData refuses circular values': async ({ lib }) => {
    const d = await lib.Dataset.open();
    const a = {};
    a.a = a;
    try {
      await d.pushData(a);
      return 'accepted';
    } catch {
      return 'refused';
    }
  },
  'dataset: dates and undefined': async ({ lib }) => {
    const d = await pushed(lib, { d: new Date(0), u: undefined, n: null });
    return (await d.getData()).items;
  },
  'dataset: async iteration of values': async ({ lib }) => {
    const got = [];
    for await (const item of (await pushed(lib, [{ a: 1 }, { a: 2 }])).values()) got.push(item);
    return got;
  },
  'dataset: async iteration of entries': async ({ lib }) => {
    const got = [];
    for await (const entry of (await pushed(lib, [{ a: 1 }, { a: 2 }])).entries()) got.push(entry);
    return got;
  },
  'kvs: values of all kinds': async ({ lib }) => {
    const s = await lib.KeyValueStore.open();
    await s.setValue('o', { a: 1 });
    await s.setValue('n', 5);
    await s.setValue('s', 'text');
    await s.setValue('t', 'text', { contentType: 'text/plain' });
    await s.setValue('b', Buffer.from('bytes'), { contentType: 'application/octet-stream' });
    const b = await s.getValue('b');
    return [
      await s.getValue('o'),
      await s.getValue('n'),
      await s.getValue('s'),
      await s.getValue('t'),
      Buffer.isBuffer(b),
      String(b),
    ];
  },
  'kvs: missing keys': async ({ lib }) => {
    const s = await lib.KeyValueStore.open();
    return [await s.getValue('none'), await s.getValue('none', 'default'), await s.recordExists('none')];
  },
  'kvs: null deletes': async ({ lib }) => {
    const s = await lib.KeyValueStore.open();
    await s.setValue('k', 1);
    await s.setValue('k', null);
    return s.getValue('k');
  },
  'kvs: undefined is refused': async ({ lib }) => {
    const s = await lib.KeyValueStore.open();
    try {
      await s.setValue('k', undefined);
      return 'accepted';
    } catch {
      return 'refused';
    }
  },
  'kvs: invalid keys are refused': async ({ lib }) => {
    const s = await lib.KeyValueStore.open();
    const got = [];
    for (const key of ['', 'a/b', 'a b', '!', "a'b", 'ok-1_.x', 'é']) {
      try {
        await s.setValue(key, 1);
        got.push(true);
      } catch {
        got.push(false);
      }
    }
    return got;
  },
  'kvs: forEachKey': async ({ lib }) => {
    const s = await lib.KeyValueStore.open('f');
    await s.setValue('b', 1);
    await s.setValue('a', 'x');
    const got = [];
    await s.forEachKey((key, index, { size }) => void got.push([key, index, size]));
    return got;
  },
  'kvs: forEachKey with a prefix and exclusiveStartKey': async ({ lib }) => {
    const s = await lib.KeyValueStore.open('f');
    for (const key of ['a-1', 'a-2', 'b-1']) await s.setValue(key, 1);
    const got = [];
    await s.forEachKey((key) => void got.push(key), { prefix: 'a-' });
    await s.forEachKey((key) => void got.push(key), { exclusiveStartKey: 'a-2' });
    return got;
  },
  'kvs: file names': async ({ lib }) => {
    const { readdirSync } = await import('node:fs');
    const s = await lib.KeyValueStore.open();
    await s.setValue('a.png', Buffer.from('x'), { contentType: 'image/png' });
    await s.setValue('b', Buffer.from('x'), { contentType: 'image/png' });
    await s.setValue('c', { a: 1 });
    await s.setValue('d', 'x', { contentType: 'text/html' });
    await s.setValue('e.json', { a: 1 });
    return readdirSync('storage/key_value_stores/default')
      .filter((name) => /^[abcde]/.test(name))
      .sort();
  },
  'kvs: getInput': async ({ lib }) => {
    const s = await lib.KeyValueStore.open();
    await s.setValue('INPUT', { q: 1 });
    return lib.KeyValueStore.getInput();
  },
  'kvs: getAutoSavedValue': async ({ lib }) => {
    const s = await lib.KeyValueStore.open();
    const v = await s.getAutoSavedValue('state', { n: 1 });
    v.n = 2;
    return (await s.getAutoSavedValue('state', { n: 9 })).n;
  },
  'kvs: drop': async ({ lib }) => {
    const s = await lib.KeyValueStore.open('d');
    await s.setValue('a', 1);
    await s.drop();
    return (await lib.KeyValueStore.open('d')).getValue('a');
  },
  'kvs: streams': async ({ lib }) => {
    const { Readable } = await import('node:stream');
    const s = await lib.KeyValueStore.open();
    await s.setValue('st', Readable.from([Buffer.from('a'), Buffer.from('b')]), { contentType: 'text/plain' });
    return s.getValue('st');
  },
  'kvs: values, keys and entries': async ({ lib }) => {
    const s = await lib.KeyValueStore.open('it');
    await s.setValue('a', 1);
    await s.setValue('b', 2);
    const got = [];
    for await (const k of s.keys()) got.push(k);
    for await (const v of s.values()) got.push(v);
    for await (const e of s.entries()) got.push(e);
    return got;
  },
  'kvs: getPublicUrl': async ({ lib }) => {
    const s = await lib.KeyValueStore.open();
    await s.setValue('p', 1);
    return typeof s.getPublicUrl('p');
  },
  'queue: addRequest twice': async ({ lib, at }) => {
    const q = await lib.RequestQueue.open();
    const a = await q.addRequest({ url: at('/a') });
    const b = await q.addRequest({ url: at('/a') });
    return [a.wasAlreadyPresent, a.wasAlreadyHandled, b.wasAlreadyPresent, a.requestId === b.requestId, a.uniqueKey];
  },
  'queue: addRequests': async ({ lib, at }) => {
    const q = await lib.RequestQueue.open();
    const r = await q.addRequests([{ url: at('/a') }, { url: at('/b') }]);
    return [r.processedRequests.length, r.unprocessedRequests.length];
  },
  'queue: addRequestsBatched': async ({ lib, at }) => {
    const q = await lib.RequestQueue.open();
    const r = await q.addRequestsBatched([at('/a'), at('/b')]);
    await r.waitForAllRequestsToBeAdded;
    return r.addedRequests.length;
  },
  'queue: fetch, handle, finished': async ({ lib, at }) => {
    const q = await lib.RequestQueue.open();
    await q.addRequest({ url: at('/a') });
    const before = [await q.isEmpty(), await q.isFinished()];
    const r = await q.fetchNextRequest();
    const during = [await q.isEmpty(), await q.isFinished()];
    await q.markRequestHandled(r);
    return {
      before,
      during,
      after: [await q.isEmpty(), await q.isFinished()],
      handled: await q.handledCount(),
      next: await q.fetchNextRequest(),
    };
  },
  'queue: reclaim': async ({ lib, at }) => {
    const q = await lib.RequestQueue.open();
    await q.addRequest({ url: at('/a') });
    const r = await q.fetchNextRequest();
    r.userData.x = 1;
    await q.reclaimRequest(r);
    const again = await q.fetchNextRequest();
    return [again.url, again.userData.x];
  },
  'queue: forefront order': async ({ lib, at }) => {
    const q = await lib.RequestQueue.open();
    await q.addRequest({ url: at('/a') });
    await q.addRequest({ url: at('/b') });
    await q.addRequest({ url: at('/links') }, { forefront: true });
    return (await q.fetchNextRequest()).url;
  },
  'queue: getRequest': async ({ lib, at }) => {
    const q = await lib.RequestQueue.open();
    const { requestId } = await q.addRequest({ url: at('/a'), userData: { n: 1 } });
    const r = await q.getRequest(requestId);
    return [r.url, r.userData, await q.getRequest('none')];
  },
  'queue: getInfo': async ({ lib, at }) => {
    const q = await lib.RequestQueue.open();
    await q.addRequest({ url: at('/a') });
    await q.addRequest({ url: at('/b') });
    const r = await q.fetchNextRequest();
    await q.markRequestHandled(r);
    const { totalRequestCount, handledRequestCount, pendingRequestCount } = await q.getInfo();
    return { totalRequestCount, handledRequestCount, pendingRequestCount, total: q.getTotalCount?.() };
  },
  'queue: named queues are apart': async ({ lib, at }) => {
    const a = await lib.RequestQueue.open('one');
    const b = await lib.RequestQueue.open('two');
    await a.addRequest({ url: at('/a') });
    return [await a.isEmpty(), await b.isEmpty()];
  },
  'queue: drop': async ({ lib, at }) => {
    const a = await lib.RequestQueue.open('one');
    await a.addRequest({ url: at('/a') });
    await a.drop();
    return (await lib.RequestQueue.open('one')).isEmpty();
  },
  'queue: async iteration': async ({ lib, at }) => {
    const q = await lib.RequestQueue.open();
    await q.addRequests([{ url: at('/a') }, { url: at('/b') }]);
    const got = [];
    for await (const r of q) {
      got.push(r.url);
      await q.markRequestHandled(r);
      if (got.length === 2) break;
    }
    return got.sort();
  },
  'list: open and fetch': async ({ lib, at }) => {
    const l = await lib.RequestList.open(null, [at('/a'), { url: at('/b'), userData: { n: 1 } }]);
    const got = [];
    for (let r; (r = await l.fetchNextRequest());) {
      got.push([r.url, r.userData.n]);
      await l.markRequestHandled(r);
    }
    return { got, finished: await l.isFinished(), length: l.length(), handled: l.handledCount() };
  },
  'list: duplicates are dropped': async ({ lib, at }) =>
    (await lib.RequestList.open(null, [at('/a'), at('/a')])).length(),
  'list: keepDuplicateUrls': async ({ lib, at }) =>
    (
      await lib.RequestList.open({ sources: [{ url: at('/a') }, { url: at('/a') }], keepDuplicateUrls: true })
    ).length?.() ?? null,
  'list: keepDuplicateUrls in options': async ({ lib, at }) =>
    (await lib.RequestList.open(null, [{ url: at('/a') }, { url: at('/a') }], { keepDuplicateUrls: true })).length(),
  'list: reclaim': async ({ lib, at }) => {
    const l = await lib.RequestList.open(null, [at('/a')]);
    const r = await l.fetchNextRequest();
    await l.reclaimRequest(r);
    return (await l.fetchNextRequest()).url;
  },
  'list: getState': async ({ lib, at }) => {
    const l = await lib.RequestList.open('state', [at('/a'), at('/b')]);
    const r = await l.fetchNextRequest();
    await l.markRequestHandled(r);
    await l.fetchNextRequest();
    return l.getState();
  },
  'list: state option': async ({ lib, at }) => {
    const l = await lib.RequestList.open('state', [at('/a'), at('/b')]);
    const r = await l.fetchNextRequest();
    await l.markRequestHandled(r);
    const state = l.getState();
    const next = await lib.RequestList.open(null, [at('/a'), at('/b')], { state });
    return (await next.fetchNextRequest()).url;
  },
  'list: persistState': async ({ lib, at }) => {
    const l = await lib.RequestList.open('pst', [at('/a'), at('/b')]);
    const r = await l.fetchNextRequest();
    await l.markRequestHandled(r);
    await l.persistState();
    const next = await lib.RequestList.open('pst', [at('/a'), at('/b')]);
    return (await next.fetchNextRequest()).url;
  },
  'list: requestsFromUrl': async ({ lib, at }) => {
    const l = await lib.RequestList.open(null, [{ requestsFromUrl: at('/list.txt') }]);
    const got = [];
    for (let r; (r = await l.fetchNextRequest());) got.push(r.url);
    return got;
  },
  'list: sourcesFunction': async ({ lib, at }) => {
    const l = await lib.RequestList.open({ sourcesFunction: async () => [{ url: at('/a') }] }).catch(async () =>
      lib.RequestList.open(null, [], { sourcesFunction: async () => [{ url: at('/a') }] }),
    );
    return l.length();
  },
  'files: a dataset leaves files': async ({ lib }) => {
    const { existsSync } = await import('node:fs');
    await lib.Dataset.pushData({ a: 1 });
    return existsSync('storage/datasets/default');
  },
  'files: purgeDefaultStorages': async ({ lib }) => {
    const { existsSync, readdirSync } = await import('node:fs');
    await lib.Dataset.pushData({ a: 1 });
    await lib.purgeDefaultStorages();
    const folder = 'storage/datasets/default';
    return existsSync(folder) ? readdirSync(folder).filter((name) => !name.startsWith('__')) : [];
  },
  'config: get and set': async ({ lib }) => {
    const c = new lib.Configuration({ persistStateIntervalMillis: 5000 });
    c.set('headless', false);
    return [c.get('persistStateIntervalMillis'), c.get('headless'), c.get('none', 'default')];
  },
  'config: purgeOnStart': async ({ lib }) => new lib.Configuration().get('purgeOnStart'),
  'config: environment': async ({ lib }) => {
    process.env.CRAWLEE_DEFAULT_DATASET_ID = 'envset';
    return new lib.Configuration().get('defaultDatasetId');
  },
  'config: global': async ({ lib }) => {
    lib.Configuration.getGlobalConfig().set('logLevel', 'ERROR');
    return lib.Configuration.getGlobalConfig().get('logLevel');
  },
  'config: persistStorage false leaves nothing': async ({ lib, at }) => {
    const { existsSync } = await import('node:fs');
    const crawler = new lib.BasicCrawler(
      { requestHandler: ({ pushData }) => pushData({ a: 1 }) },
      new lib.Configuration({ persistStorage: false }),
    );
    await crawler.run([at('/a')]);
    return [(await crawler.getData()).items, existsSync('storage/datasets/default')];
  },
  'config: systemInfoV2 is accepted': async ({ lib }) => {
    lib.Configuration.getGlobalConfig().set('systemInfoV2', true);
    return 'ok';
  },
  'config: getEventManager': async ({ lib }) => {
    const m = lib.Configuration.getEventManager();
    return [typeof m.on, typeof m.off, typeof m.emit, typeof m.init];
  },
  'memory: MemoryStorage without files': async ({ lib, at }) => {
    const { existsSync } = await import('node:fs');
    const storageClient = new lib.MemoryStorage({ persistStorage: false });
    const config = new lib.Configuration({ storageClient });
    const crawler = new lib.BasicCrawler({ requestHandler: ({ pushData }) => pushData({ a: 1 }) }, config);
    await crawler.run([at('/a')]);
    return [(await crawler.getData()).items, existsSync('storage')];
  },
};
