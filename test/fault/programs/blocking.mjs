// A crawl or a batch of which one page's user code never ends: node blocking.mjs '{ kind, act, urls, folder }'.
// Whoever started it reads standard error and kills it.
import { CheerioCrawler, Configuration, WebCrawler } from '../../../dist/index.js';
import { misbehave } from './blocking-handler.mjs';

const { kind, act, urls, folder, blockedLoopSecs } = JSON.parse(process.argv[2]);
if (kind === 'batch') {
  const crawler = await WebCrawler.open({
    allowPrivateAddresses: true,
    blockedLoopSecs,
    hooks: { afterResponse: ({ url }) => misbehave(act, url) },
  });
  const results = await crawler.runMany(urls);
  console.log(`end ${results.filter(({ success }) => success).length}`);
  await crawler.close();
} else {
  const config = new Configuration({ storageClientOptions: { localDataDirectory: folder } });
  const crawler = new CheerioCrawler(
    {
      blockedLoopSecs,
      maxConcurrency: 10,
      async requestHandler({ request, content, pushData }) {
        if (act.startsWith('late-')) await new Promise((resume) => setTimeout(resume, 20));
        misbehave(act.replace('late-', ''), request.url);
        await pushData({ url: request.url, title: content.title });
      },
    },
    config,
  );
  await crawler.run(urls);
  const { requestsFinished, blockedLoops } = crawler.stats.state;
  console.log(`end ${requestsFinished} ${blockedLoops}`);
}
