// A user's script, for the canary suite: secrets in requests, in sessions, in user data, behind a proxy, in a browser.
import { CheerioCrawler, Configuration, PlaywrightCrawler, ProxyConfiguration, WebCrawler } from '../../dist/index.js';

const { HOME, STRANGERS, PROXY, BROWSER, STORAGE } = process.env;
const strangers = STRANGERS.split(' ');
const config = new Configuration({ storageClientOptions: { localDataDirectory: STORAGE } });
const secrets = {
  headers: { authorization: 'Bearer canary-header', 'x-api-key': 'canary-apikey', cookie: 'own=canary-cookie' },
  userData: { token: 'canary-userdata' },
};
const post = { method: 'POST', payload: 'pin=canary-payload', useExtendedUniqueKey: true, ...secrets };
const ways = strangers.flatMap((_, index) => [302, 307].map((status) => `${HOME}/moved/${status}/${index}`));
const requests = [
  { url: `${HOME}/`, ...secrets },
  { url: `${HOME}/post`, ...post },
  { url: HOME.replace('://', '://alice:canary-urlpassword@') + '/login' },
  { url: `${HOME}/broken`, ...secrets },
  ...ways.flatMap((url) => [
    { url, ...secrets },
    { url, ...post },
  ]),
];
const options = {
  allowPrivateAddresses: true,
  ignoreSslErrors: true,
  maxRequestRetries: 0,
  maxConcurrency: 4,
  maxRequestsPerCrawl: 60,
  useSessionPool: true,
  persistCookiesPerSession: true,
  sessionPoolOptions: { maxPoolSize: 2 },
};

const crawler = new CheerioCrawler(
  {
    ...options,
    async requestHandler({ request, enqueueLinks, sendRequest, pushData, log }) {
      log.info(`Done with ${request.url}`, { url: request.url });
      await pushData({ url: request.url.split('@').pop(), depth: request.crawlDepth });
      for (const url of strangers) {
        await sendRequest({ url: `${url}/sent` });
        await sendRequest({ url: `${url}/private`, method: 'GET', headers: {} });
      }
      await enqueueLinks({ strategy: 'all' });
    },
  },
  config,
);
await crawler.run(requests);
await crawler.exportData(`${STORAGE}/export.csv`);
await crawler.teardown();

const proxied = new CheerioCrawler(
  {
    ...options,
    proxyConfiguration: new ProxyConfiguration({ proxyUrls: [PROXY] }),
    additionalMimeTypes: ['*/*'],
    async requestHandler({ proxyInfo, log }) {
      log.info(`Through ${proxyInfo.url}`, { proxyInfo });
    },
  },
  new Configuration({ persistStorage: false }),
);
await proxied.run(['http://one.example/', 'http://two.example/']);
await proxied.teardown();

const many = await WebCrawler.open({ allowPrivateAddresses: true });
await many.runMany(
  strangers.map((url) => ({ url: `${url}/many` })),
  { maxRetries: 0 },
);
await many.close();

if (BROWSER) {
  const browser = new PlaywrightCrawler(
    {
      ...options,
      maxRequestsPerCrawl: 14,
      maxConcurrency: 2,
      launchContext: { launchOptions: { executablePath: BROWSER, chromiumSandbox: process.getuid() !== 0 } },
      async requestHandler({ page, request, log }) {
        await page.waitForTimeout(100);
        log.info(`Seen ${request.url}`);
      },
    },
    new Configuration({ storageClientOptions: { localDataDirectory: `${STORAGE}-browser` } }),
  );
  await browser.run([...requests.slice(0, 8), ...strangers.flatMap((url) => [`${url}/browsed`, `${url}/private`])]);
  await browser.teardown();
}
