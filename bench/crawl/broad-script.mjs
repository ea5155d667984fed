// A script of orcrawl on the broad web, with its queue and dataset where BENCH_PLACE says: a folder or a URL of Postgres.
// It tells its parent what it took by the page BENCH_FROM and by BENCH_TO, and ends.
import { Configuration, HttpCrawler } from '../../dist/index.js';

const { BENCH_PLACE: place, BENCH_FROM: from, BENCH_TO: to, BENCH_SEEDS: seeds } = process.env;
const concurrency = 100;

async function storage() {
  if (!place.startsWith('postgres:')) return { storageClientOptions: { localDataDirectory: place } };
  const { createPostgresStorage } = await import('../../dist/postgres/index.js');
  return { storageClient: createPostgresStorage({ url: place }) };
}

function report(pages) {
  const { user, system } = process.cpuUsage();
  process.send({ pages, cpuMs: (user + system) / 1_000, atMs: performance.now() });
}

let pages = 0;
const crawler = new HttpCrawler(
  {
    minConcurrency: concurrency,
    maxConcurrency: concurrency,
    async requestHandler({ request, content, pushData, enqueueLinks }) {
      await pushData({ url: request.loadedUrl, title: content.title, text: content.text });
      await enqueueLinks({ strategy: 'all' });
      if (++pages === Number(from) || pages === Number(to)) report(pages);
    },
    failedRequestHandler({ request }, { message }) {
      console.error(`${request.url}: ${message}`);
      process.exit(1);
    },
  },
  new Configuration(await storage()),
);
process.on('disconnect', () => process.exit(0));
await crawler.run(seeds.split(' '));
