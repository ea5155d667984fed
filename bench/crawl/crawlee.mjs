// Crawlee's CheerioCrawler on the same work, from the folder it was installed into; it verifies certificates too.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { order, reportCost } from './contestant.mjs';

const { seeds, concurrency, folder, persist, modules } = order;
process.env.CRAWLEE_STORAGE_DIR = folder;
const entry = createRequire(`${modules}/`).resolve('@crawlee/cheerio');
const { CheerioCrawler, Configuration } = await import(pathToFileURL(entry).href);

await reportCost(async () => {
  const crawler = new CheerioCrawler(
    {
      minConcurrency: concurrency,
      maxConcurrency: concurrency,
      ignoreSslErrors: false,
      async requestHandler({ request, $, pushData, enqueueLinks }) {
        await pushData({ url: request.loadedUrl, title: $('title').text(), text: $('body').text() });
        await enqueueLinks();
      },
    },
    new Configuration({ persistStorage: persist }),
  );
  const { requestsFinished } = await crawler.run(seeds);
  await crawler.teardown();
  return requestsFinished;
});
