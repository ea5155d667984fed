// Sessions and proxies: each request is bound to a session, which keeps its cookies and its proxy together.
// A session that is blocked is retired, and the request is tried again with another one.
// Run: PROXY_URLS=http://proxy-1:8000,http://proxy-2:8000 \
//      node --import jiti/register examples/sessions-and-proxies.ts https://example.com/
import { CheerioCrawler, ProxyConfiguration } from 'orcrawl';

const startUrl = process.argv[2] ?? process.env.START_URL ?? 'https://example.com/';
const proxyUrls = process.env.PROXY_URLS?.split(',');

const crawler = new CheerioCrawler({
  proxyConfiguration: proxyUrls && new ProxyConfiguration({ proxyUrls }),
  sessionPoolOptions: { maxPoolSize: 5, sessionOptions: { maxUsageCount: 20 } },
  maxRequestsPerCrawl: 20,
  async requestHandler({ $, request, session, proxyInfo, enqueueLinks, pushData }) {
    const title = $('title').text();
    // A page that says so politely is as blocked as one that answers 403.
    if (title.includes('Access denied')) session?.retire();
    await pushData({ url: request.loadedUrl, title, session: session?.id, proxy: proxyInfo?.hostname ?? null });
    await enqueueLinks();
  },
});

await crawler.run([startUrl]);

const { items } = await crawler.getData();
console.log(`${items.length} pages, ${new Set(items.map((item) => item.session)).size} sessions`);
