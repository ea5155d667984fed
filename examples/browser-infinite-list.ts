// Scrolls a list that loads as one scrolls, and stores its items. The page's pictures and fonts are not loaded.
// Run: npx orcrawl simweb --port 8080, and in another terminal node --import jiti/register examples/browser-infinite-list.ts
import { PlaywrightCrawler } from 'orcrawl';

const crawler = new PlaywrightCrawler({
  preNavigationHooks: [async ({ blockRequests }) => blockRequests()],
  async requestHandler({ page, request, infiniteScroll, saveSnapshot, pushData }) {
    await infiniteScroll({ waitForSecs: 1, timeoutSecs: 30 });
    const items = await page.locator('li').allTextContents();
    await pushData(items.map((item) => ({ url: request.loadedUrl, item })));
    await saveSnapshot({ key: 'LIST', saveHtml: false });
    console.log(`${items.length} items`);
  },
});
await crawler.run([process.argv[2] ?? 'http://127.0.0.1:8080/_/scroll']);
