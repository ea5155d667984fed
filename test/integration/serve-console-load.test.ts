// The console beside a fast crawl, small: what `npm run measure -- console` measures at size.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { catchUpMs, cuttable, type Feed, pause, startFeed, tabCost } from '../support/console-load.js';
import { launch, newTab } from './console-fixtures.js';

const ROWS = 5_000;
const HOSTS = 1_000;

let feed: Feed;
let browser: Browser;
beforeAll(async () => {
  [feed, browser] = await Promise.all([startFeed(HOSTS), launch()]);
}, 200_000);
afterAll(async () => {
  await browser?.close();
  await feed?.tell({ kind: 'end' });
}, 200_000);

it('holds few nodes and little memory, and catches up after sleep and after a cut', { timeout: 400_000 }, async () => {
  await feed.tell({ kind: 'fill', rows: ROWS });
  await feed.tell({ kind: 'rate', perSec: 200 });
  const { address } = await feed.tell({ kind: 'look' });
  const way = await cuttable(address);
  const { page, context, problems } = await newTab(browser);
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await page.goto(way.address);
  await page.locator('.list-row').nth(5).waitFor();
  const cost = await tabCost(session, async () => {
    await page.locator('.virtual').evaluate((box) => void (box.scrollTop = 20_000));
    await pause(2_000);
    await page.locator('.virtual').evaluate((box) => void (box.scrollTop = 0));
    await page.evaluate("void (location.hash = '#/jobs/crawl?show=domains')");
    await page.getByRole('listbox', { name: 'Domains' }).waitFor();
    await page.evaluate("void (location.hash = '#/jobs/crawl?show=pages')");
    await page.locator('.list-row').first().waitFor();
  });
  expect(cost.heapBytes).toBeLessThan(150e6);
  // Two lists of about 30 rows and the charts, whatever the job has.
  expect(cost.nodes).toBeLessThan(15_000);

  await session.send('Page.setWebLifecycleState', { state: 'frozen' });
  await pause(3_500);
  await session.send('Page.setWebLifecycleState', { state: 'active' });
  await catchUpMs(page, feed);
  way.cut();
  await page.getByText(/does not answer|connection is lost/).waitFor();
  way.mend();
  await catchUpMs(page, feed);
  await page.locator('.connection.live').waitFor();
  expect(problems).toEqual([]);
  await context.close();
  await way.close();
});
