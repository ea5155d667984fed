// A router with typed labels: lists lead to details, and a detail knows which list it was found on.
// Run: node --import jiti/register examples/router.ts https://example.com/
import { CheerioCrawler, createCheerioRouter, Dataset } from 'orcrawl';
import type { CheerioCrawlingContext } from 'orcrawl';

const startUrl = process.argv[2] ?? process.env.START_URL ?? 'https://example.com/';

// What `userData` of each label holds: the handlers below are checked against it.
type Routes = {
  LIST: { section: string };
  DETAIL: { foundOn: string };
};

const router = createCheerioRouter<CheerioCrawlingContext, Routes>();

router.use(({ request, log }) => log.debug(`handling ${request.url}`));

router.addHandler('LIST', async ({ request, enqueueLinks, log }) => {
  log.info(`section ${request.userData.section}`);
  await enqueueLinks({ label: 'DETAIL', userData: { foundOn: request.url }, limit: 10 });
});

router.addHandler('DETAIL', async ({ request, $, pushData }) => {
  await pushData({
    url: request.loadedUrl,
    heading: $('h1').first().text().trim(),
    foundOn: request.userData.foundOn,
  });
});

const crawler = new CheerioCrawler({ requestHandler: router });
await crawler.run([{ url: startUrl, label: 'LIST', userData: { section: 'home' } }]);

const { items } = await Dataset.getData();
for (const item of items) console.log(JSON.stringify(item));
