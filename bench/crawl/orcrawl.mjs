// orcrawl with its defaults: durable queue and dataset on disk, sessions, logs. `order.handler` is content or cheerio.
// `order.build` is the folder of another build of orcrawl to run instead of this one.
import { pathToFileURL } from 'node:url';
import { order, reportCost } from './contestant.mjs';

const { seeds, concurrency, folder, handler, persist, build } = order;
const entry = build === undefined ? '../../dist/index.js' : pathToFileURL(`${build}/dist/index.js`).href;
const { CheerioCrawler, Configuration, HttpCrawler } = await import(entry);
const limits = { minConcurrency: concurrency, maxConcurrency: concurrency };
const config = new Configuration({
  persistStorage: persist,
  storageClientOptions: { localDataDirectory: folder },
});

const withContent = {
  ...limits,
  async requestHandler({ request, content, pushData, enqueueLinks }) {
    await pushData({ url: request.loadedUrl, title: content.title, text: content.text });
    await enqueueLinks();
  },
};
const withDocument = {
  ...limits,
  async requestHandler({ request, $, pushData, enqueueLinks }) {
    await pushData({ url: request.loadedUrl, title: $('title').text(), text: $('body').text() });
    await enqueueLinks();
  },
};

await reportCost(async () => {
  const crawler =
    handler === 'cheerio' ? new CheerioCrawler(withDocument, config) : new HttpCrawler(withContent, config);
  const { requestsFinished } = await crawler.run(seeds);
  await crawler.teardown();
  return requestsFinished;
});
