// The browser engine: loads an order's URL in a page, performs the order's actions, and lends the live page.
// Promise: one time limit covers every phase, scripts included; the page is always returned.
import { CrawlError, NonRetryableError } from '../../errors.js';
import {
  takeBody,
  takeMhtml,
  takePdf,
  takeScreenshot,
  watchConsole,
  watchNetwork,
} from '../../fetch/browser/capture.js';
import { checkDomSize } from '../../fetch/browser/dom-size.js';
import type { ConsoleMessage, NetworkRequest } from '../../fetch/browser/capture.js';
import { createDeadline, type Deadline } from '../../fetch/browser/deadline.js';
import { blockTypes } from '../../fetch/browser/live-page.js';
import { navigate } from '../../fetch/browser/navigate.js';
import type { BrowserPool, LentPage } from '../../fetch/browser/pool.js';
import type { PageResponse } from '../../fetch/browser/playwright-types.js';
import type { Capture, Engine } from '../../fetch/engine.js';
import type { BrowserSessions } from '../../session/browser-sessions.js';
import { act, type ActingParts } from './page-actions.js';
import { blockedTypes, type PageHook } from './page-config.js';
import type { CrawlOrder, PageOrder } from '../navigate/order.js';
import { systemTime, type Time } from '../time.js';

/** What a page gave besides its content. */
export interface PageArtifacts {
  readonly screenshot?: Buffer;
  readonly pdf?: Buffer;
  readonly mhtml?: string;
  readonly consoleMessages?: readonly ConsoleMessage[];
  readonly networkRequests?: readonly NetworkRequest[];
  readonly sessionId?: string;
}

export interface BrowserCapture extends Capture {
  readonly artifacts?: PageArtifacts;
}

/** What only a browser lends. */
export interface LivePage {
  readonly lent: LentPage;
  /** Playwright's response of the navigation, once there was one. */
  response?: PageResponse | undefined;
  /** What the context shows of the page; taken anew when the page is known to have changed. */
  content?: { takeContent(): Promise<void> };
}

export interface BrowserEngineParts {
  readonly time?: Time;
  readonly pool: BrowserPool;
  /** The live pages of `sessionId`s, where there are some. */
  readonly sessions?: BrowserSessions<LentPage>;
  /** Through which pages go when their order names none. */
  readonly proxyUrl?: string | undefined;
  /** Loads no images, media and fonts. */
  readonly textMode?: boolean | undefined;
  readonly onPage?: PageHook | undefined;
  /** Which pages are waited for until their text settles, when their order does not say. */
  readonly settles?: ActingParts['settles'];
}

/** Headers that a browser sets by itself; the order's are those of the HTTP engine. */
const OF_BROWSERS = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'user-agent',
  'connection',
  'host',
  'cookie',
]);
const TEXT_MODE = ['image', 'media', 'font'];
/** Before a page of a batch is read. */
const SHOWN_REST_MS = 100;
const STOP_MS = 1_000;
const NOTHING: PageOrder = Object.freeze({});

export function createBrowserEngine<Live extends object = LivePage>(
  parts: BrowserEngineParts,
): Engine<LivePage, CrawlOrder<Live | LivePage>> {
  type Order = CrawlOrder<Live | LivePage>;
  type Use<T> = (capture: BrowserCapture, live: LivePage) => Promise<T>;
  const { pool, sessions, time = systemTime } = parts;

  async function visit<T>(order: Order, use: Use<T>): Promise<T> {
    const { sessionId, jsOnly = false, skipNavigation = false, identity } = order.page ?? NOTHING;
    const proxyUrl = order.proxyUrl ?? parts.proxyUrl;
    if (order.seeded) pool.relay?.seed(order.url);
    // Asked beforehand: a navigation that is refused leaves an error page, and costs as much as one that is not.
    if (!jsOnly && !skipNavigation) await pool.relay?.check(new URL(order.url), proxyUrl).catch(onlyRefusals);
    if (sessionId === undefined || !sessions) {
      return pool.lend({ identity, proxyUrl }, (lent) => visitPage(lent, order, use));
    }
    return sessions.use(sessionId, { mustExist: jsOnly, signal: order.signal }, async (lent) => {
      order.onBegin?.();
      try {
        return await visitPage(lent, order, use);
      } catch (error) {
        // Its state is gone with the page: another try would be about something else.
        if (jsOnly && error instanceof CrawlError && error.code === 'PAGE_CRASHED') {
          throw new NonRetryableError(error.message, { code: error.code, cause: error });
        }
        throw error;
      } finally {
        await lent.tidy().catch(() => (lent.isSpoiled = true));
      }
    });
  }

  async function visitPage<T>(lent: LentPage, early: Order, use: Use<T>): Promise<T> {
    const live: LivePage = { lent };
    const { order, capture } = await loaded(lent, early, live);
    try {
      return await use(capture, live);
    } catch (error) {
      if (!lent.isGone || order.signal?.aborted || capture.redirectTo !== undefined) throw error;
      // User code may have closed it: then its error says where.
      const [line = ''] = (error as Error).message.split('\n', 1);
      throw new CrawlError('PAGE_CRASHED', `${order.url}: the page or its browser crashed (${line})`, { cause: error });
    }
  }

  async function loaded(lent: LentPage, early: Order, live: LivePage) {
    try {
      const order = early.prepare ? await early.prepare(live) : early;
      return { order, capture: await inTime(lent, order, live) };
    } catch (error) {
      if (early.failing) {
        // A page that is still being loaded answers nobody.
        await Promise.race([stopLoading(lent), time.wait(STOP_MS)]);
        await early.failing(error);
      }
      throw error;
    }
  }

  async function inTime(lent: LentPage, order: Order, live: LivePage): Promise<BrowserCapture> {
    if (order.page?.skipNavigation) return captureOf(order, lent, time.wallMs());
    const deadline = createDeadline(order.timeoutMs, order.url, order.signal);
    const stopCrashWatch = lent.onCrash(() => {
      deadline.fail(new CrawlError('PAGE_CRASHED', `${order.url}: the page or its browser crashed`));
    });
    try {
      return await inPhases(live, order, order.page ?? NOTHING, deadline);
    } finally {
      stopCrashWatch();
      deadline.end();
    }
  }

  async function inPhases(live: LivePage, order: Order, page: PageOrder, deadline: Deadline): Promise<BrowserCapture> {
    const { lent } = live;
    const consoleMessages = page.captureConsole ? watchConsole(lent) : undefined;
    const networkRequests = page.captureNetwork ? watchNetwork(lent) : undefined;
    const answer = page.jsOnly ? undefined : await load(lent, order, page, deadline);
    live.response = answer?.response;
    // Redirected: there is no page to read.
    if (answer && (answer.capture.redirectTo || answer.capture.refusedRedirect)) return answer.capture;
    const came = answer?.capture ?? captureOf(order, lent, time.wallMs());
    const isShown = page.reads === 'shown';
    const restMs = isShown ? SHOWN_REST_MS : 0;
    // What a hook of its own waits for, and a page that is used as it is, is not waited for.
    const settles = page.afterLoad || page.jsOnly ? undefined : (page.settles ?? (isShown ? parts.settles : undefined));
    await act(lent, page, deadline, { time, settles, restMs });
    if (!isShown) await deadline.run('reading', checkDomSize(lent, order.maxBodyBytes));
    if (page.reads === 'html') return { ...came, body: Buffer.from(await lent.page.content()) };
    if (!isShown) return came;
    if (page.afterLoad) await deadline.run('afterLoad', hooked(page.afterLoad, lent, order.url));
    const { body, contentType } = await deadline.run('reading', takeBody(lent, live.response, order.maxBodyBytes));
    const artifacts: PageArtifacts = {
      ...(page.screenshot && { screenshot: await deadline.run('the screenshot', takeScreenshot(lent)) }),
      ...(page.pdf && { pdf: await deadline.run('the PDF', takePdf(lent)) }),
      ...(page.mhtml && { mhtml: await deadline.run('the MHTML', takeMhtml(lent)) }),
      ...(consoleMessages && { consoleMessages }),
      ...(networkRequests && { networkRequests }),
      ...(page.sessionId !== undefined && { sessionId: page.sessionId }),
    };
    const headers = { ...came.headers, 'content-type': contentType };
    return { ...came, headers, body, wireBytes: body.length, artifacts };
  }

  async function load(lent: LentPage, order: Order, page: PageOrder, deadline: Deadline) {
    const blocked = [...new Set([...(parts.textMode ? TEXT_MODE : []), ...blockedTypes(page.blockResources)])];
    if (blocked.length > 0) await deadline.run('opening', blockTypes(lent, blocked));
    if (page.userAgent !== undefined) {
      const session = await deadline.run('opening', lent.cdp());
      await deadline.run('opening', session.send('Network.setUserAgentOverride', { userAgent: page.userAgent }));
      lent.isSpoiled = true;
    }
    if (parts.onPage) await deadline.run('the hook onPage', hooked(parts.onPage, lent, order.url));
    if (page.beforeLoad) await deadline.run('beforeLoad', hooked(page.beforeLoad, lent, order.url));
    const headers = { ...ownHeaders(order.headers), ...page.headers };
    return navigate(lent, { ...order, headers }, page.goto ?? {}, deadline, pool.relay);
  }

  return { visit, close: () => Promise.resolve() };
}

/** An engine that returns its page before its capture is used: for callers without a live page. */
export function withoutPage<Live extends object, Order extends CrawlOrder>(
  engine: Engine<Live, Order>,
): Engine<object, Order> {
  return {
    visit: async (order, use) => use(await engine.visit(order, (capture) => Promise.resolve(capture)), {}),
    close: () => engine.close(),
  };
}

async function hooked(hook: PageHook, { page }: LentPage, url: string): Promise<unknown> {
  return hook(page, { url });
}

async function stopLoading(lent: LentPage): Promise<void> {
  if (lent.isGone) return;
  await lent
    .cdp()
    .then((session) => session.send('Page.stopLoading'))
    .catch(() => undefined);
}

/** Other failures show when the page is loaded. */
function onlyRefusals(error: unknown): void {
  if (error instanceof CrawlError && error.code === 'ADDRESS_REFUSED') throw error;
}

function ownHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_BROWSERS.has(name.toLowerCase())));
}

/** Of a page that was not loaded by this call. */
function captureOf({ url }: Pick<CrawlOrder, 'url'>, lent: LentPage, nowMs: number): Capture {
  return {
    url,
    loadedUrl: lent.page.url(),
    redirectChain: [],
    statusCode: 200,
    headers: {},
    body: Buffer.alloc(0),
    wireBytes: 0,
    timings: { startedAtMs: nowMs, headersMs: 0, totalMs: 0 },
  };
}
