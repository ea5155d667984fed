// The ten lines: a CheerioCrawler in Crawlee's style. It follows all links of a site and stores each title.
// Run: npm start -- simweb --port 8080   and, in another terminal,
//      node --import jiti/register examples/ten-lines.ts http://127.0.0.1:8080/
import { CheerioCrawler, createCheerioRouter, Dataset } from 'orcrawl';

const startUrl = process.argv[2] ?? process.env.START_URL ?? 'https://example.com/';

const router = createCheerioRouter();
router.addDefaultHandler(async ({ request, $, enqueueLinks, pushData }) => {
  await pushData({ url: request.loadedUrl, title: $('title').text() });
  await enqueueLinks();
});

const crawler = new CheerioCrawler({ requestHandler: router, maxRequestsPerCrawl: 50 });
await crawler.run([startUrl]);

const { total } = await Dataset.getData({ limit: 1 });
console.log(`stored ${total} items in ./storage/datasets/default`);
