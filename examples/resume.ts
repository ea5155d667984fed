// Resume: kill this script at any moment, run it again, and it goes on where it stopped. Nothing is fetched
// and stored twice, nothing is lost. A run that ended by itself makes the next one start afresh.
// Run: node --import jiti/register examples/resume.ts https://example.com/
//      DIE_AFTER=10 makes the script kill itself after ten pages, to try it out.
import { CheerioCrawler } from 'orcrawl';

const startUrl = process.argv[2] ?? process.env.START_URL ?? 'https://example.com/';
const dieAfter = Number(process.env.DIE_AFTER ?? Infinity);
let handled = 0;

const crawler = new CheerioCrawler({
  maxRequestsPerCrawl: 200,
  maxConcurrency: 5,
  async requestHandler({ request, $, pushData, enqueueLinks }) {
    // Items and links are stored together with the visit: all of them, or none.
    await pushData({ url: request.url, title: $('title').text() });
    await enqueueLinks();
    if (++handled >= dieAfter) process.kill(process.pid, 'SIGKILL');
  },
});

const { requestsFinished } = await crawler.run([startUrl]);

const { items } = await crawler.getData({ fields: ['url'] });
const distinct = new Set(items.map((item) => item.url)).size;
console.log(`${requestsFinished} pages finished, ${items.length} items, ${distinct} distinct`);
