// Scrolls a list that loads as one scrolls, and stores its items. The page's pictures and fonts are not loaded.
// Run: node --import jiti/register examples/browser-infinite-list.ts https://example.com/endless
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
await crawler.run([process.argv[2] ?? 'https://example.com/endless']);
