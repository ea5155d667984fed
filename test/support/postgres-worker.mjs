// A crawl on Postgres in a process of its own, for the tests that kill it. Arguments: server, seed.
import { Configuration, HttpCrawler, Log, LogLevel } from '../../dist/index.js';
import { createPostgresStorage } from '../../dist/postgres/index.js';

const [url, seed] = process.argv.slice(2);
const crawler = new HttpCrawler(
  {
    log: new Log({ level: LogLevel.ERROR }),
    maxConcurrency: 5,
    minConcurrency: 5,
    allowPrivateAddresses: true,
    sameDomainDelaySecs: 0,
    async requestHandler({ request, pushData, enqueueLinks }) {
      await pushData({ url: request.url });
      await enqueueLinks({ strategy: 'all' });
    },
  },
  new Configuration({ storageClient: createPostgresStorage({ url }), purgeOnStart: false }),
);
await crawler.run([seed]);
