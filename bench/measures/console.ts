// The console under load, in Chromium: a crawl of 1,000 pages per second with 100,000 pages and 10,000 domains listed,
// watched for five minutes (CONSOLE_SECS); then what watching costs a real crawl of the server.
import type { Page } from 'playwright-core';
import { startSimwebProcess } from '../../dist/testing/index.js';
import { launch, newTab } from '../../test/integration/console-fixtures.js';
import {
  catchUpMs,
  costOf,
  cuttable,
  type Feed,
  pause,
  startFeed,
  tabCost,
  watchJob,
} from '../../test/support/console-load.js';
import { dataFolder, endedAt, LOOPBACK, startServe } from '../../test/support/serve.js';
import { cpuMsOf } from '../../test/support/processes.js';
import type { Figure } from '../measure.js';

const SECS = Number(process.env.CONSOLE_SECS ?? 300);
const RATE = 1_000;
const ROWS = 100_000;
const HOSTS = 10_000;
const COST_SECS = Math.min(8, SECS);
const COST_ROUNDS = 5;
const CRAWLED = 500;
const ROUNDS = 9;
const FRAMES = 240;

export async function measure(): Promise<Figure[]> {
  const feed = await startFeed(HOSTS);
  await feed.tell({ kind: 'fill', rows: ROWS });
  await feed.tell({ kind: 'rate', perSec: RATE });
  const costs = await watcherCosts(feed);
  const figures = await tabFigures(feed);
  await feed.tell({ kind: 'end' });
  return [
    {
      what: 'CPU per page of one watcher, of ten',
      measured: `${costs.one.toFixed(3)}, ${costs.ten.toFixed(3)} ms (${(costs.ten / costs.one).toFixed(1)} ×)`,
      goal: '≤ 2 ×',
    },
    ...figures,
    await firstPaint(),
    ...(await crawlCost(costs.one)),
  ];
}

/** What watching adds to the CPU time of a page, in turns: others on the machine change all three alike. */
async function watcherCosts(feed: Feed): Promise<{ readonly one: number; readonly ten: number }> {
  await costOf(feed, 1, 5);
  const costs: Record<0 | 1 | 10, number[]> = { 0: [], 1: [], 10: [] };
  for (let round = 0; round < COST_ROUNDS; round++) {
    for (const watchers of [0, 1, 10] as const) costs[watchers].push(await costOf(feed, watchers, COST_SECS));
  }
  console.log(`  CPU ms per page with 0, 1 and 10 watchers: ${JSON.stringify(costs)}`);
  const none = half(costs[0]);
  return { one: half(costs[1]) - none, ten: half(costs[10]) - none };
}

const half = (list: readonly number[]): number => [...list].sort((one, other) => one - other)[list.length >> 1]!;

async function tabFigures(feed: Feed): Promise<Figure[]> {
  const { address, put: before } = await feed.tell({ kind: 'look' });
  const way = await cuttable(address);
  const browser = await launch();
  const { page, context } = await newTab(browser, { width: 1280, height: 900 });
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await page.goto(way.address);
  await page.locator('.list-row').nth(5).waitFor();
  const list = page.locator('.virtual');
  const startedMs = performance.now();
  const watched = await tabCost(session, async () => {
    // Somebody reads: the newest pages, then further down, then the domains.
    for (let turn = 0; performance.now() - startedMs < SECS * 1_000; turn++) {
      await pause(4_000);
      if (turn % 5 === 2) await list.evaluate((box) => void (box.scrollTop += 4_000));
      if (turn % 5 === 3) await list.evaluate((box) => void (box.scrollTop = 0));
    }
  });
  const { put: after } = await feed.tell({ kind: 'look' });
  const rate = (after - before) / ((performance.now() - startedMs) / 1_000);
  await page.evaluate("void (location.hash = '#/jobs/crawl?show=domains')");
  await page.getByRole('listbox', { name: 'Domains' }).waitFor();
  const domains = await tabCost(session, () => pause(Math.min(20, SECS) * 1_000));
  await page.evaluate("void (location.hash = '#/jobs/crawl?show=pages')");
  await list.waitFor();
  let gaps = { half: 0, most: 0 };
  const startedScrollingMs = performance.now();
  const scrolled = await tabCost(session, async () => void (gaps = await scrollGaps(page)));
  const frameMs = (scrolled.busy * (performance.now() - startedScrollingMs)) / FRAMES;

  await session.send('Page.setWebLifecycleState', { state: 'frozen' });
  await pause(15_000);
  await session.send('Page.setWebLifecycleState', { state: 'active' });
  const sleptMs = await catchUpMs(page, feed);
  way.cut();
  await pause(10_000);
  way.mend();
  const cutMs = await catchUpMs(page, feed);
  const placesMissing = await missing(page);
  await browser.close();
  await way.close();
  const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
  const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;
  return [
    { what: `pages per second over ${SECS} s`, measured: rate.toFixed(0), goal: String(RATE) },
    { what: 'main thread of the page, busy', measured: percent(watched.busy), goal: '≤ 20 %' },
    { what: '… with its domains listed', measured: percent(domains.busy), goal: '≤ 20 %' },
    {
      what: 'heap of the page, at most',
      measured: mb(Math.max(watched.heapBytes, domains.heapBytes)),
      goal: '≤ 150 MB',
    },
    { what: 'nodes of the page, at most', measured: String(watched.nodes), goal: 'bounded' },
    { what: 'frames while scrolling: median, 95 %', measured: `${gaps.half}, ${gaps.most} ms`, goal: 'smooth' },
    { what: 'CPU of the main thread per frame then', measured: `${frameMs.toFixed(1)} ms`, goal: '≤ 16 ms' },
    { what: 'a tab that slept 15 s has caught up after', measured: `${sleptMs.toFixed(0)} ms`, goal: '≤ 2 s' },
    { what: 'a connection cut for 10 s has caught up after', measured: `${cutMs.toFixed(0)} ms`, goal: '≤ 2 s' },
    { what: 'rows missing in what is shown then', measured: String(placesMissing), goal: '0' },
  ];
}

/** The first look at a server that has answered nobody yet: CPU of the page until it is painted, and of the server meanwhile. */
async function firstPaint(): Promise<Figure> {
  const data = await dataFolder();
  const server = await startServe(data.dir, LOOPBACK);
  const browser = await launch();
  try {
    const { page, context } = await newTab(browser);
    const session = await context.newCDPSession(page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    const beforeMs = cpuMsOf(server.process.pid!);
    await page.goto(`${server.url}/#token=${server.token}`);
    await page.waitForFunction("performance.getEntriesByName('first-contentful-paint').length > 0");
    const serverMs = cpuMsOf(server.process.pid!) - beforeMs;
    const { metrics } = await session.send('Performance.getMetrics');
    const pageMs = 1_000 * metrics.find(({ name }) => name === 'TaskDuration')!.value;
    return {
      what: 'first paint from a cold server: CPU of the page, of the server',
      measured: `${pageMs.toFixed(0)}, ${serverMs.toFixed(0)} ms`,
      goal: '≤ 300 ms',
    };
  } finally {
    await browser.close();
    await server.kill();
    await data.remove();
  }
}

/** Milliseconds between frames while the list is scrolled as by a wheel. */
async function scrollGaps(page: Page): Promise<{ half: number; most: number }> {
  const gaps = (await page.evaluate(`(async () => {
    const list = document.querySelector('.virtual');
    const found = [];
    let before = performance.now();
    for (let frame = 0; frame < ${FRAMES}; frame++) {
      list.scrollTop += 60;
      await new Promise(requestAnimationFrame);
      found.push(performance.now() - before);
      before = performance.now();
    }
    return found;
  })()`)) as number[];
  gaps.sort((one, other) => one - other);
  return { half: Math.round(gaps[FRAMES >> 1]!), most: Math.round(gaps[Math.floor(FRAMES * 0.95)]!) };
}

async function missing(page: Page): Promise<number> {
  await page.locator('.virtual').evaluate((box) => void (box.scrollTop = 300));
  await pause(3_000);
  return page.locator('.row-loading').count();
}

/**
 * A crawl of the server, watched and not, in turns: CPU time of the server's process per page. Two crawls that follow each
 * other are compared, and the middle of all such pairs counts. Beside it, what a watcher costs a page at 1,000 per second.
 */
async function crawlCost(watcherMs: number): Promise<Figure[]> {
  await using web = await startSimwebProcess({ hosts: 20, pagesPerHost: 200, pageBytes: 20_000, crossHostLinks: 0.1 });
  const data = await dataFolder();
  const server = await startServe(data.dir, LOOPBACK);
  const costs: { watched: number[]; alone: number[] } = { watched: [], alone: [] };
  try {
    const crawl = async (isWatched: boolean): Promise<number> => {
      const body = {
        url: web.url(0),
        limit: CRAWLED,
        allowExternalLinks: true,
        crawlEntireDomain: true,
        maxConcurrency: 20,
      };
      const beforeMs = cpuMsOf(server.process.pid!);
      const { id } = (await server.ask('POST', '/v2/crawl', body)).json as { id: string };
      const watcher = isWatched ? await watchJob(`${server.url}/#token=${server.token}`, id) : undefined;
      await endedAt(server, `/v2/crawl/${id}?limit=1`);
      watcher?.close();
      return (cpuMsOf(server.process.pid!) - beforeMs) / CRAWLED;
    };
    await crawl(true);
    for (let round = 0; round < ROUNDS; round++) {
      // Which comes first changes, so that what grows with time is in both.
      for (const isWatched of round % 2 === 0 ? [false, true] : [true, false]) {
        (isWatched ? costs.watched : costs.alone).push(await crawl(isWatched));
      }
    }
  } finally {
    await server.kill();
    await data.remove();
  }
  const more = costs.alone.map((alone, round) => (costs.watched[round]! / alone - 1) * 100);
  const sorted = [...more].sort((one, other) => one - other);
  const quarter = (of: number): string => sorted[Math.floor((sorted.length - 1) * of)]!.toFixed(1);
  const alone = half(costs.alone);
  console.log(`  ${JSON.stringify(costs)}`);
  return [
    {
      what: 'CPU per page of a crawl of the server, unwatched and watched',
      measured:
        `${alone.toFixed(2)}, ${half(costs.watched).toFixed(2)} ms ` +
        `(pairs: ${half(more).toFixed(1)} % more, quartiles ${quarter(0.25)} and ${quarter(0.75)})`,
      goal: '≤ 3 %',
    },
    {
      what: '… by what one watcher costs a page at 1,000 per second',
      measured: `${((watcherMs / alone) * 100).toFixed(1)} %`,
      goal: '≤ 3 %',
    },
  ];
}
