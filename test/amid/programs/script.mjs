// A crawl by a script, over HTTP or in a browser: node script.mjs '{ folder, urls, isBrowser, timeoutSecs }'.
// Says one line of JSON per page that failed; what it stores is in the folder's dataset.
import { CheerioCrawler, Configuration, Log, LogLevel, PlaywrightCrawler } from '../../../dist/index.js';
import { circle, visit } from './visit.mjs';

const { folder, urls, isBrowser, timeoutSecs } = JSON.parse(process.argv[2]);
const config = new Configuration({ storageClientOptions: { localDataDirectory: folder } });
const options = {
  log: new Log({ level: LogLevel.WARNING }),
  maxRequestRetries: 0,
  maxConcurrency: isBrowser ? 4 : 20,
  allowPrivateAddresses: true,
  navigationTimeoutSecs: timeoutSecs,
  requestHandlerTimeoutSecs: timeoutSecs,
  maxRequestsPerCrawl: 400,
  failedRequestHandler({ request }, error) {
    console.log(
      JSON.stringify({ url: request.url, code: error.code ?? error.name, message: error.message.slice(0, 200) }),
    );
  },
};

async function visitInBrowser({ request, page, content, pushData, enqueueLinks }) {
  if (request.url.includes('/unserialisable')) await pushData({ url: request.url, circle: circle(), big: 1n });
  const title = await page.title();
  await pushData({ url: request.url, title, says: content.text.slice(0, 200), characters: content.text.length });
  await enqueueLinks({ strategy: 'same-hostname', limit: 20 });
}

const crawler = isBrowser
  ? new PlaywrightCrawler(
      {
        ...options,
        launchContext: { launchOptions: { executablePath: process.env.AMID_BROWSER, chromiumSandbox: false } },
        requestHandler: visitInBrowser,
      },
      config,
    )
  : new CheerioCrawler({ ...options, requestHandler: visit }, config);
await crawler.run(urls);
