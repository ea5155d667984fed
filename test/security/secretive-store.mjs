// A user's script, for the canary suite: a crawl whose storage is Postgres, with a password in its address.
import { CheerioCrawler, Configuration } from '../../dist/index.js';
import { createPostgresStorage } from '../../dist/postgres/index.js';

const { POSTGRES, SEED } = process.env;
const storageClient = createPostgresStorage({ url: POSTGRES, patienceSecs: 1 });
const crawler = new CheerioCrawler(
  {
    allowPrivateAddresses: true,
    maxRequestRetries: 0,
    maxRequestsPerCrawl: 10,
    async requestHandler({ request, enqueueLinks, pushData, log }) {
      log.info(`Done with ${request.url}`);
      await pushData({ url: request.url });
      await enqueueLinks({ strategy: 'all' });
    },
  },
  new Configuration({ storageClient }),
);
await crawler.run([SEED]);
await crawler.teardown();
await storageClient.close();
