// The engine of WebCrawler in a browser: an order and what its URL asks of the page, in phases, as a capture.
// Promise: one time limit covers every phase, also scripts; the page is given back whatever happens in any of them.
import { CrawlError, NonRetryableError } from '../errors.js';
import { takeBody, takeMhtml, takePdf, takeScreenshot, watchConsole, watchNetwork } from '../fetch/browser/capture.js';
import type { ConsoleMessage, NetworkRequest } from '../fetch/browser/capture.js';
import { createDeadline, type Deadline } from '../fetch/browser/deadline.js';
import { blockTypes, removeOverlays, runScript, scrollDown, waitForScript } from '../fetch/browser/live-page.js';
import { navigate } from '../fetch/browser/navigate.js';
import type { BrowserPool, LentPage } from '../fetch/browser/pool.js';
import type { PageResponse } from '../fetch/browser/playwright-types.js';
import type { Capture, Engine, FetchOrder } from '../fetch/engine.js';
import type { BrowserSessions } from '../session/browser-sessions.js';
import { blockedTypes, type BrowserConfig, type PageConfig, type PageHook } from './browser-config.js';

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

/** What the engine needs to know about whose order it has. */
export interface PageVisit {
  readonly config: PageConfig & { readonly headers?: Readonly<Record<string, string>>; readonly userAgent?: string };
  /** The time of the attempt runs from now: it waited for its session. */
  begin(): void;
}

export interface BrowserEngineParts {
  readonly pool: BrowserPool;
  readonly sessions: BrowserSessions<LentPage>;
  readonly browser: BrowserConfig;
  readonly visitOf: (order: FetchOrder) => PageVisit | undefined;
  readonly onPage: PageHook | undefined;
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
const MAX_SCROLLS = 500;
const NO_VISIT: PageVisit = { config: {}, begin: () => undefined };

export function createBrowserEngine(parts: BrowserEngineParts): Engine {
  const { pool, sessions, browser } = parts;

  async function capture(order: FetchOrder): Promise<BrowserCapture> {
    const visit = parts.visitOf(order) ?? NO_VISIT;
    const { sessionId, jsOnly = false } = visit.config;
    const proxyUrl = order.proxyUrl ?? browser.proxy;
    if (!jsOnly) await pool.relay?.check(new URL(order.url), proxyUrl).catch(onlyRefusals);
    if (sessionId === undefined) return pool.lend({ proxyUrl }, (lent) => visitPage(lent, order, visit));
    return sessions.use(sessionId, { mustExist: jsOnly, signal: order.signal }, async (lent) => {
      visit.begin();
      try {
        return await visitPage(lent, order, visit);
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

  async function visitPage(lent: LentPage, order: FetchOrder, visit: PageVisit): Promise<BrowserCapture> {
    const deadline = createDeadline(order.timeoutMs, order.url, order.signal);
    const stopCrashWatch = lent.onCrash(() => {
      deadline.fail(new CrawlError('PAGE_CRASHED', `${order.url}: the page or its browser ended`));
    });
    try {
      return await inPhases(lent, order, visit, deadline);
    } finally {
      stopCrashWatch();
      deadline.end();
    }
  }

  async function inPhases(
    lent: LentPage,
    order: FetchOrder,
    { config }: PageVisit,
    deadline: Deadline,
  ): Promise<BrowserCapture> {
    const consoleMessages = config.captureConsole ? watchConsole(lent) : undefined;
    const networkRequests = config.captureNetwork ? watchNetwork(lent) : undefined;
    const loaded = config.jsOnly ? undefined : await load(lent, order, config, deadline);
    // Led elsewhere: there is no page to read.
    if (loaded && (loaded.capture.redirectTo || loaded.capture.refusedRedirect)) return loaded.capture;
    await act(lent, config, deadline);
    const response = loaded?.response;
    const { body, contentType } = await deadline.run('reading', takeBody(lent, response, order.maxBodyBytes));
    const artifacts: PageArtifacts = {
      ...(config.screenshot && { screenshot: await deadline.run('the screenshot', takeScreenshot(lent)) }),
      ...(config.pdf && { pdf: await deadline.run('the PDF', takePdf(lent)) }),
      ...(config.mhtml && { mhtml: await deadline.run('the MHTML', takeMhtml(lent)) }),
      ...(consoleMessages && { consoleMessages }),
      ...(networkRequests && { networkRequests }),
      ...(config.sessionId !== undefined && { sessionId: config.sessionId }),
    };
    const came = loaded?.capture ?? captureOf(order, lent);
    return {
      ...came,
      headers: { ...came.headers, 'content-type': contentType },
      body,
      wireBytes: body.length,
      artifacts,
    };
  }

  async function load(lent: LentPage, order: FetchOrder, config: PageVisit['config'], deadline: Deadline) {
    const blocked = [...new Set([...(browser.textMode ? TEXT_MODE : []), ...blockedTypes(config.blockResources)])];
    await deadline.run('opening', blockTypes(lent, blocked));
    if (config.userAgent !== undefined) {
      const session = await deadline.run('opening', lent.cdp());
      await deadline.run('opening', session.send('Network.setUserAgentOverride', { userAgent: config.userAgent }));
      lent.isSpoiled = true;
    }
    if (parts.onPage)
      await deadline.run('the hook onPage', Promise.resolve(parts.onPage(lent.page, { url: order.url })));
    const headers = { ...ownHeaders(order.headers), ...config.headers };
    const loaded = await navigate(
      lent,
      { ...order, headers, allowRedirect: undefined },
      { waitUntil: config.waitUntil ?? 'domcontentloaded' },
      deadline,
      pool.relay,
    );
    return loaded as { capture: Capture; response: PageResponse | undefined };
  }

  async function act(lent: LentPage, config: PageConfig, deadline: Deadline): Promise<void> {
    if (config.simulateUser) await deadline.run('simulateUser', simulateUser(lent));
    for (const code of config.jsCode === undefined ? [] : [config.jsCode].flat()) {
      await deadline.run('jsCode', runScript(lent, code));
    }
    if (config.waitFor !== undefined) await waitFor(lent, config.waitFor, deadline);
    if (config.scanFullPage) {
      const scroll = { delayMs: config.scrollDelayMs ?? 200, patience: 2, maxSteps: MAX_SCROLLS };
      await deadline.run('scanFullPage', scrollDown(lent, { ...scroll, mayGoOn: () => !deadline.isOver }));
    }
    if (config.removeOverlays) await deadline.run('removeOverlays', removeOverlays(lent));
    const restMs = config.delayBeforeReturnMs ?? 100;
    if (restMs > 0) await deadline.run('delayBeforeReturnMs', new Promise((resolve) => setTimeout(resolve, restMs)));
  }

  async function waitFor(lent: LentPage, wanted: string, deadline: Deadline): Promise<void> {
    const colon = wanted.indexOf(':');
    const what = wanted.slice(colon + 1).trim();
    const waiting = wanted.startsWith('css')
      ? lent.page.waitForSelector(what, { state: 'attached', timeout: 0 })
      : waitForScript(lent, what, () => deadline.isOver);
    await deadline.run(`waitFor ${wanted.slice(0, 100)}`, waiting as Promise<unknown>, 'WAIT_TIMEOUT');
  }

  return {
    async visit(order, use) {
      return use(await capture(order), {});
    },
    close: () => Promise.resolve(),
  };
}

/** Other failures show when the page is loaded. */
function onlyRefusals(error: unknown): void {
  if (error instanceof CrawlError && error.code === 'ADDRESS_REFUSED') throw error;
}

function ownHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_BROWSERS.has(name.toLowerCase())));
}

/** Of a page that was not loaded by this call. */
function captureOf({ url }: FetchOrder, lent: LentPage): Capture {
  return {
    url,
    loadedUrl: lent.page.url(),
    redirectChain: [],
    statusCode: 200,
    headers: {},
    body: Buffer.alloc(0),
    wireBytes: 0,
    timings: { startedAtMs: Date.now(), headersMs: 0, totalMs: 0 },
  };
}

async function simulateUser({ page }: LentPage): Promise<void> {
  const { width, height } = page.viewportSize() ?? { width: 800, height: 600 };
  await page.mouse.move(width * 0.3, height * 0.3, { steps: 5 });
  await page.mouse.move(width * 0.6, height * 0.5, { steps: 5 });
  await page.mouse.wheel(0, height / 2);
  await page.mouse.wheel(0, -height / 2);
}
