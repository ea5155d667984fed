// A crawl on the file backend in a process of its own, for the test that kills it. Arguments: folder, seed.
import { Configuration, HttpCrawler, Log, LogLevel } from '../../src/index.js';
import { createFileStorage } from './file-storage.js';

const [folder, seed] = process.argv.slice(2) as [string, string];
const crawler = new HttpCrawler(
  {
    log: new Log({ level: LogLevel.ERROR }),
    maxConcurrency: 10,
    minConcurrency: 10,
    allowPrivateAddresses: true,
    sameDomainDelaySecs: 0,
    async requestHandler({ request, pushData, enqueueLinks }) {
      await pushData({ url: request.url });
      await enqueueLinks({ strategy: 'all' });
    },
  },
  new Configuration({ storageClient: createFileStorage(folder) }),
);
await crawler.run([seed]);
