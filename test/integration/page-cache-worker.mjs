// Fills a page cache until it is killed; says so once it has written a few hundred pages.
import { source } from '../support/source.mjs';

const { openPageCache } = await source('store/cache/cache-lmdb');

const [folder, name] = process.argv.slice(2);
const cache = openPageCache(folder);
for (let n = 0; ; n++) {
  const url = `http://host/${name}/${n % 1000}`;
  const bodyBytes = 1000 + (n % 7) * 1000;
  cache.put({
    method: 'GET',
    url,
    engine: 'http',
    userAgent: 'x',
    varied: {},
    loadedUrl: url,
    redirectChain: [],
    statusCode: 200,
    headers: {},
    storedAtMs: Date.now(),
    bodyBytes,
    policy: {},
    body: Buffer.alloc(bodyBytes, n % 256),
  });
  if (n % 10 === 0) await cache.flush();
  if (n === 300) console.log('written');
}
