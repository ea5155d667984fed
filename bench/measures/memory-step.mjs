// A crawl of 20,000 pages that reports its resident memory at page 5,000 and at page 20,000 (mean of 50 pages).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Configuration, HttpCrawler, Log, LogLevel } from '../../dist/index.js';

const folder = mkdtempSync(join(tmpdir(), 'orcrawl-memory-'));
const samples = { 5000: [], 20000: [] };
let pages = 0;
const crawler = new HttpCrawler(
  {
    log: new Log({ level: LogLevel.ERROR }),
    maxRequestsPerCrawl: 20_100,
    allowPrivateAddresses: true,
    async requestHandler({ request, content, pushData, enqueueLinks }) {
      await pushData({ url: request.url, title: content.title, text: content.text });
      await enqueueLinks({ strategy: 'all' });
      pages++;
      for (const at of [5000, 20000]) if (pages >= at && pages < at + 50) samples[at].push(process.memoryUsage.rss());
    },
  },
  new Configuration({ storageClientOptions: { localDataDirectory: folder } }),
);
await crawler.run([process.argv[2]]);
await crawler.teardown();
rmSync(folder, { recursive: true, force: true });
const mean = (list) => Math.round(list.reduce((sum, one) => sum + one, 0) / list.length / 1e6);
console.log(JSON.stringify({ early: mean(samples[5000]), late: mean(samples[20000]), pages }));
