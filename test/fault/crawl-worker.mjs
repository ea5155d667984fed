// A crawl in a process of its own, for tests that kill it. Arguments as JSON: folder, seeds, access, maxConcurrency.
// Prints "end <statistics>" when the crawl ends on its own.
import { Configuration, HttpCrawler, Log, LogLevel } from '../../dist/index.js';

const { folder, seeds, access, maxConcurrency } = JSON.parse(process.argv[2]);
const config = new Configuration({ storageClientOptions: { localDataDirectory: folder } });
const crawler = new HttpCrawler(
  {
    log: new Log({ level: LogLevel.ERROR }),
    maxConcurrency,
    minConcurrency: maxConcurrency,
    retryDelayMs: 50,
    allowPrivateAddresses: true,
    experiments: { requestLocking: access === 'shared' },
    async requestHandler({ request, content, pushData, enqueueLinks }) {
      await pushData({ url: request.url, title: content.title });
      await enqueueLinks({ strategy: 'all' });
    },
  },
  config,
);
const statistics = await crawler.run(seeds);
console.log(`end ${JSON.stringify(statistics)}`);
