// What a browser crawler adds to a context: the live page and the tools for it.
// Promise: tools work on the current page; their changes are undone when the visit ends.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { CrawlError } from '../../errors.js';
import type { Capture } from '../../fetch/engine.js';
import { blockUrls, linksOf, removeOverlays, scrollDown } from '../../fetch/browser/live-page.js';
import type { PooledPage } from '../../fetch/browser/page-lease.js';
import type { Frame, Page } from '../../fetch/browser/playwright-types.js';
import type { BlockRequestsOptions, InfiniteScrollOptions, SaveSnapshotOptions } from '../../handle/browser-context.js';
import type { CrawlingContext } from '../../handle/context.js';
import { loadDocument } from '../../handle/document.js';
import { createPageContent, type PageContent } from '../../parse/page.js';
import { parseUrl } from '../../request/url.js';
import type { KeyValueStore } from '../../store/records/key-value.js';
import type { Visit } from '../run/attempt.js';
import { pageExtraction } from '../page/extraction.js';
import { extend } from '../page/page-context.js';
import { followRule } from '../polite/nofollow.js';
import type { ResolvedOptions } from '../options/options.js';
import { compileScript } from './playwright-scripts.js';
import { withinMs } from '../run/time-limit.js';
import { systemTime } from '../time.js';

const SELECTOR_TIMEOUT_MS = 5_000;
/** What Crawlee blocks: things that are looked at, and archives. */
const BLOCKED = '.css .jpg .jpeg .png .svg .gif .woff .woff2 .pdf .zip'.split(' ');
const MAX_SCROLLS = 10_000;
const SCROLL_DELAY_MS = 250;
const HTML = 'text/html; charset=utf-8';

/** The page and its tools; there from before the navigation. */
export function addLivePage(visit: Visit, lent: PooledPage, options: ResolvedOptions): LiveContent {
  const { page } = lent;
  let content: PageContent | undefined;
  const { ignoreIframes = false, ignoreShadowRoots = false } = options.browser ?? {};

  /** `content` is read without waiting, so it is taken when the page is known to have changed. */
  async function takeContent(): Promise<void> {
    const html = await page.content().catch(() => '');
    content = createPageContent(Buffer.from(html), page.url(), HTML, pageExtraction);
  }

  async function waitForSelector(selector: string, timeoutMs = SELECTOR_TIMEOUT_MS): Promise<void> {
    await page.waitForSelector(selector, { timeout: timeoutMs, state: 'attached' });
    await takeContent();
  }

  extend(visit.context, {
    page,
    response: undefined,
    browserController: controllerOf(lent),
    content: liveContent(() => (content ??= createPageContent(Buffer.alloc(0), page.url(), HTML, pageExtraction))),
    waitForSelector,
    async parseWithCheerio(selector?: string, timeoutMs?: number) {
      if (selector !== undefined) await waitForSelector(selector, timeoutMs);
      return loadDocument(await wholeHtml(page, { ignoreIframes, ignoreShadowRoots }));
    },
    async querySelector(selector: string, timeoutMs?: number) {
      await waitForSelector(selector, timeoutMs);
      return loadDocument(await wholeHtml(page, { ignoreIframes, ignoreShadowRoots }))(selector);
    },
    async infiniteScroll(scroll: InfiniteScrollOptions = {}) {
      await scrollToEnd(lent, scroll);
      await takeContent();
    },
    blockRequests: (blocking: BlockRequestsOptions = {}) => blockUrls(lent, blockedPatterns(blocking)),
    saveSnapshot: (snapshot: SaveSnapshotOptions = {}) =>
      saveSnapshot(page, snapshot, (name) => (visit.context as CrawlingContext).getKeyValueStore(name)),
    injectFile: (file: string, injection: { surviveNavigations?: boolean } = {}) => injectFile(page, file, injection),
    injectJQuery: (injection: { surviveNavigations?: boolean } = {}) => injectFile(page, jqueryFile(), injection),
    compileScript,
    async closeCookieModals() {
      await removeOverlays(lent);
      await takeContent();
    },
  });
  return { takeContent };
}

/** The page's content as it is known now, also for a handler that took `content` out of its context at the start. */
function liveContent(current: () => PageContent): PageContent {
  return new Proxy({} as PageContent, {
    get(_, name) {
      const content = current();
      const value: unknown = Reflect.get(content, name, content);
      return typeof value === 'function' ? (value.bind(content) as unknown) : value;
    },
    has: (_, name) => name in current(),
  });
}

export interface LiveContent {
  takeContent(): Promise<void>;
}

/** From now on `enqueueLinks` reads the live document. */
export function linkLivePage(visit: Visit, lent: PooledPage, capture: Capture, options: ResolvedOptions): void {
  visit.setLinkFinder?.(async (selector, baseUrl, skip) => {
    const { base, links } = await linksOf(lent, selector);
    const page = visit.context as unknown as { content: PageContent };
    const isKept = options.polite
      ? followRule(capture, page.content.metadata.robots, options.robotsAgent, skip)
      : undefined;
    const urls: string[] = [];
    for (const [href, rel] of links) {
      const url = href.trim() === '' ? undefined : parseUrl(href.trim(), baseUrl ?? base);
      if (url && (!isKept || isKept(url.href, rel))) urls.push(url.href);
    }
    return urls;
  });
}

export function blockedPatterns({ urlPatterns = BLOCKED, extraUrlPatterns = [] }: BlockRequestsOptions): string[] {
  return [...urlPatterns, ...extraUrlPatterns];
}

function controllerOf(lent: PooledPage) {
  return {
    id: String(lent.context.browser()?.version() ?? ''),
    get browser() {
      return lent.context.browser();
    },
    getCookies: (page: Page) => page.context().cookies(),
    setCookies: (page: Page, cookies: readonly { name: string; value: string }[]) =>
      page.context().addCookies(cookies as never),
    retirePage: () => void (lent.isSpoiled = true),
  };
}

export async function scrollToEnd(
  lent: PooledPage,
  scroll: InfiniteScrollOptions,
  { monotonicMs } = systemTime,
): Promise<void> {
  const { timeoutSecs = 0, maxScrollHeight = 0, waitForSecs = 4, buttonSelector, stopScrollCallback } = scroll;
  const endsAtMs = timeoutSecs > 0 ? monotonicMs() + timeoutSecs * 1000 : Infinity;
  await scrollDown(lent, {
    delayMs: SCROLL_DELAY_MS,
    patience: Math.max(1, Math.round((waitForSecs * 1000) / SCROLL_DELAY_MS)),
    maxSteps: MAX_SCROLLS,
    maxHeight: maxScrollHeight,
    async mayGoOn() {
      if (buttonSelector !== undefined) {
        const button = lent.page.locator(buttonSelector).first();
        if (await button.isVisible()) await button.click({ timeout: SELECTOR_TIMEOUT_MS }).catch(() => undefined);
      }
      return monotonicMs() < endsAtMs && (await stopScrollCallback?.()) !== true;
    },
  });
}

export async function saveSnapshot(
  page: Page,
  {
    key = 'SNAPSHOT',
    screenshotQuality = 50,
    saveScreenshot = true,
    saveHtml = true,
    keyValueStoreName,
  }: SaveSnapshotOptions,
  openStore: (name?: string) => Promise<KeyValueStore>,
): Promise<void> {
  const store = await openStore(keyValueStoreName ?? undefined);
  if (saveScreenshot) {
    const picture = await page.screenshot({ fullPage: true, type: 'jpeg', quality: screenshotQuality });
    await store.setValue(`${key}.jpg`, picture, { contentType: 'image/jpeg' });
  }
  if (saveHtml) await store.setValue(`${key}.html`, await page.content(), { contentType: 'text/html' });
}

export async function injectFile(page: Page, file: string, { surviveNavigations = false }): Promise<unknown> {
  const code = await readFile(file, 'utf8');
  if (surviveNavigations) await page.addInitScript(code);
  return page.evaluate(code);
}

export function jqueryFile(): string {
  try {
    return createRequire(path.join(process.cwd(), 'package.json')).resolve('jquery');
  } catch (cause) {
    throw new CrawlError('OPTION_INVALID', 'injectJQuery needs the package jquery: npm install jquery', { cause });
  }
}

const SHADOW_HTML = `(() => {
  const expand = (root) => {
    for (const one of root.querySelectorAll('*')) {
      if (!one.shadowRoot) continue;
      // What is inside is marked before it is read: its own shadow roots must be found in the copy.
      expand(one.shadowRoot);
      const inside = one.shadowRoot.innerHTML;
      if (!inside.trim()) continue;
      one.setAttribute('data-orcrawl-shadow', copies.length);
      copies.push([one, inside]);
    }
  };
  const copies = [];
  expand(document);
  if (copies.length === 0) return null;
  const html = document.documentElement.outerHTML;
  for (const [one] of copies) one.removeAttribute('data-orcrawl-shadow');
  return { html, insides: copies.map(([, inside]) => inside) };
})()`;

/** The page's HTML with what is in frames and shadow roots in place. */
export async function wholeHtml(
  page: Page,
  { ignoreIframes, ignoreShadowRoots }: { ignoreIframes: boolean; ignoreShadowRoots: boolean },
): Promise<string> {
  const frames = ignoreIframes ? [] : page.mainFrame().childFrames();
  const shadows = ignoreShadowRoots
    ? null
    : ((await page.evaluate(SHADOW_HTML)) as { html: string; insides: string[] } | null);
  const html = shadows?.html ?? (await page.content());
  if (frames.length === 0 && !shadows) return html;
  const $ = loadDocument(html);
  // Outer ones come last in the list and must be in place before those that they hold.
  for (const [index, inside] of [...(shadows?.insides ?? []).entries()].reverse()) {
    $(`[data-orcrawl-shadow="${index}"]`).removeAttr('data-orcrawl-shadow').append(inside);
  }
  const boxes = $('iframe, frame').toArray();
  for (const [index, frame] of frames.entries()) {
    const inside = await frameHtml(frame);
    if (!boxes[index] || inside === '') continue;
    // A frame's title is not the page's.
    const body = loadDocument(inside)('body').html() ?? '';
    $(boxes[index]).replaceWith(`<div class="crawlee-iframe-replacement">${body}</div>`);
  }
  return $.html();
}

async function frameHtml(frame: Frame, time = systemTime): Promise<string> {
  const late = new CrawlError('WAIT_TIMEOUT', 'a frame did not return its content');
  return withinMs(
    time,
    SELECTOR_TIMEOUT_MS,
    () => frame.content(),
    () => late,
  ).catch(() => '');
}
