// What to do with each kind of page, with a live page of the browser at hand.
import { createPlaywrightRouter } from 'orcrawl';

export interface Page {
  url: string;
  title: string;
  headings: number;
}

export const router = createPlaywrightRouter();

router.addDefaultHandler(async ({ page, request, enqueueLinks, pushData, waitForSelector }) => {
  // What a page shows only after its scripts have run must be waited for.
  await waitForSelector('h1');
  const item: Page = {
    url: request.loadedUrl,
    title: await page.title(),
    headings: await page.locator('h1, h2').count(),
  };
  await pushData(item);
  await enqueueLinks();
});
