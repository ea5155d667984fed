// A crawl over a shared queue in a process of its own, for tests that kill and restart it. Arguments as JSON: folder, seeds,
// name (of the queue; the default one without), redisUrl. Prints "items N" when it is over, and leaves its end to itself.
import { Configuration, HttpCrawler, Log, LogLevel, RequestQueue } from '../../dist/index.js';

const { folder, seeds, name, redisUrl } = JSON.parse(process.argv[2]);
const config = new Configuration({ storageClientOptions: { localDataDirectory: folder }, redisUrl });
const crawler = new HttpCrawler(
  {
    log: new Log({ level: LogLevel.ERROR }),
    maxConcurrency: 4,
    minConcurrency: 4,
    retryDelayMs: 50,
    allowPrivateAddresses: true,
    experiments: { requestLocking: true },
    ...(name && { requestQueue: await RequestQueue.open(name, { config, access: 'shared' }) }),
    async requestHandler({ request, pushData, enqueueLinks }) {
      await pushData({ url: request.url });
      await enqueueLinks({ strategy: 'all' });
    },
  },
  config,
);
await crawler.run(seeds);
console.log(`items ${(await crawler.getData()).total}`);
