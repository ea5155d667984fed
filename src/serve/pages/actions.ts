// Actions and screenshots on the live page of a request, in the order in which they were asked for.
// Promise: each waits a bounded time; what they gave is in `taken`, and nothing outlives the page.
import type { Action } from '../api/schemas.js';
import { CrawlError } from '../../errors.js';
import type { PageHook } from '../../index.js';
import { isAdHost } from './ads.js';
import type { PageWish, ScreenshotWish } from './formats.js';

export type LivePage = Parameters<PageHook>[0];

/** What actions gave, as the API names it. */
export interface Taken {
  /** Of the format, as a data URL. */
  screenshot?: string;
  screenshots: string[];
  scrapes: { url: string; html: string }[];
  javascriptReturns: { type: string; value: unknown }[];
  pdfs: string[];
}

export const nothingTaken = (): Taken => ({ screenshots: [], scrapes: [], javascriptReturns: [], pdfs: [] });

const ACTION_MS = 30_000;
const MAX_SCREENSHOT_BYTES = 20 * 1024 ** 2;
const PHONE = { width: 390, height: 844 };
export const PHONE_AGENT =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 ' +
  'Mobile/15E148 Safari/604.1';

const isAdUrl = ({ hostname }: URL): boolean => isAdHost(hostname);

/** Before the URL is loaded: the size of the window, and what is not to be loaded. */
export async function preparePage(page: LivePage, { options, screenshot }: PageWish): Promise<void> {
  const size = screenshot?.viewport ?? (options.mobile ? PHONE : undefined);
  if (size) await page.setViewportSize(size);
  if (options.blockAds) {
    // A page of a crawl is prepared for each visit: the rule is there once.
    await page.unroute(isAdUrl);
    await page.route(isAdUrl, (route) => route.abort('blockedbyclient'));
  }
}

/** Once it is loaded: actions first, then the screenshot of the format. */
export async function actOn(page: LivePage, wish: PageWish, taken: Taken): Promise<void> {
  for (const [index, action] of wish.actions.entries()) {
    try {
      await actOnce(page, action, taken);
    } catch (error) {
      const [line = ''] = String((error as Error).message).split('\n');
      throw new CrawlError('SCRIPT_FAILED', `actions[${index}] (${action.type}) failed: ${line.slice(0, 300)}`);
    }
  }
  if (wish.screenshot) taken.screenshot = await shoot(page, wish.screenshot);
}

async function actOnce(page: LivePage, action: Action, taken: Taken): Promise<void> {
  const within = { timeout: ACTION_MS };
  switch (action.type) {
    case 'wait':
      if (action.selector !== undefined) await page.waitForSelector(action.selector, within);
      else await page.waitForTimeout(action.milliseconds ?? 1_000);
      return;
    case 'click': {
      const found = page.locator(action.selector);
      if (!action.all) return found.first().click(within);
      for (const one of (await found.all()).slice(0, 100)) await one.click(within);
      return;
    }
    case 'write':
      return page.keyboard.type(action.text);
    case 'press':
      return page.keyboard.press(action.key);
    case 'scroll': {
      const sign = action.direction === 'up' ? -1 : 1;
      const target = action.selector === undefined ? undefined : page.locator(action.selector).first();
      if (target) await target.evaluate(scrollBy, sign, within);
      else await page.evaluate((by: number) => globalThis.scrollBy(0, by * globalThis.innerHeight), sign);
      return page.waitForTimeout(100);
    }
    case 'scrape':
      return void taken.scrapes.push({ url: page.url(), html: await page.content() });
    case 'screenshot':
      return void taken.screenshots.push(await shoot(page, { ...action, fullPage: action.fullPage ?? false }));
    case 'executeJavascript':
      return void taken.javascriptReturns.push(returned(await page.evaluate(action.script)));
    case 'pdf': {
      const { format = 'Letter', landscape = false, scale = 1 } = action;
      return void taken.pdfs.push((await page.pdf({ format, landscape, scale })).toString('base64'));
    }
    default:
      return action satisfies never;
  }
}

declare const globalThis: { scrollBy(x: number, y: number): void; innerHeight: number };

/** Runs in the page. */
function scrollBy(element: unknown, sign: number): void {
  const box = element as { scrollBy(x: number, y: number): void; clientHeight: number };
  box.scrollBy(0, sign * box.clientHeight);
}

function returned(value: unknown): { type: string; value: unknown } {
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  return { type, value: value === undefined ? null : value };
}

async function shoot(page: LivePage, { fullPage, quality, viewport }: ScreenshotWish): Promise<string> {
  if (viewport) await page.setViewportSize(viewport);
  const isJpeg = quality !== undefined && quality < 100;
  const bytes = await page.screenshot({
    fullPage,
    timeout: ACTION_MS,
    ...(isJpeg ? { type: 'jpeg' as const, quality: Math.round(quality) } : { type: 'png' as const }),
  });
  if (bytes.length > MAX_SCREENSHOT_BYTES) throw new CrawlError('BODY_TOO_LARGE', 'the screenshot is over 20 MB');
  return `data:image/${isJpeg ? 'jpeg' : 'png'};base64,${bytes.toString('base64')}`;
}
