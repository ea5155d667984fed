// A crawl by a script, for tests that kill it: node library.mjs '{ folder, seeds, delaySecs, … }'.
// Prints "end {statistics}" when the crawl ends on its own; an error ends it with 1 and its message.
import { Configuration, HttpCrawler, Log, LogLevel, PlaywrightCrawler, RequestQueue } from '../../../dist/index.js';

const { folder, seeds, delaySecs, isShared, isBrowser, redisUrl, queue, navigationTimeoutSecs, remembers } = JSON.parse(
  process.argv[2],
);
const config = new Configuration({
  storageClientOptions: { localDataDirectory: folder },
  ...(redisUrl && { redisUrl }),
});
const options = {
  log: new Log({ level: LogLevel.ERROR }),
  maxConcurrency: isBrowser ? 4 : 16,
  minConcurrency: isBrowser ? 2 : 16,
  retryDelayMs: 100,
  sameDomainDelaySecs: delaySecs,
  allowPrivateAddresses: true,
  navigationTimeoutSecs: navigationTimeoutSecs ?? 30,
  requestHandlerTimeoutSecs: navigationTimeoutSecs ?? 30,
  experiments: { requestLocking: isShared === true },
  ...(queue && { requestQueue: await RequestQueue.open(queue, { config, access: isShared ? 'shared' : 'owner' }) }),
};
const crawler = isBrowser
  ? new PlaywrightCrawler(
      {
        ...options,
        launchContext: { launchOptions: { executablePath: '/usr/bin/chromium', chromiumSandbox: false } },
        async requestHandler({ request, page, pushData, enqueueLinks }) {
          await pushData({ url: request.url, title: await page.title() });
          await enqueueLinks({ strategy: 'all' });
        },
      },
      config,
    )
  : new HttpCrawler(
      {
        ...options,
        ...(remembers && { remember: true }),
        async requestHandler({ request, content, pushData, enqueueLinks }) {
          await pushData({ url: request.url, title: content.title });
          await enqueueLinks({ strategy: 'all' });
        },
      },
      config,
    );
const { requestsFailed } = await crawler.run(seeds);
console.log(`end ${JSON.stringify({ requestsFailed })}`);
