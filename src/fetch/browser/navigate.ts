// One navigation of a lent page, as a capture: final URL, redirects, status.
// Promise: always ends within its deadline, and every failure is a CrawlError.
import { CrawlError } from '../../errors.js';
import { withoutFragment } from '../../request/url.js';
import type { Capture, FetchOrder } from '../engine.js';
import type { Deadline } from './deadline.js';
import { openDocumentGate, type StoppedRedirect } from './document-gate.js';
import type { GuardRelay } from './relay/guard-relay.js';
import { isInterrupted, navigationError } from './navigation-errors.js';
import type { PooledPage } from './page-lease.js';
import type { Frame, GotoOptions, PageRequest, PageResponse } from './playwright-types.js';

export type NavigationOrder = Pick<
  FetchOrder,
  'url' | 'method' | 'headers' | 'payload' | 'redirects' | 'maxRedirects' | 'allowRedirect' | 'beforeSend'
>;

export interface Navigated {
  /** Without a body, which can be read from the page. */
  readonly capture: Capture;
  readonly response: PageResponse | undefined;
}

const NO_BODY = Buffer.alloc(0);

export async function navigate(
  lent: PooledPage,
  order: NavigationOrder,
  goto: GotoOptions,
  deadline: Deadline,
  relay: GuardRelay | undefined,
): Promise<Navigated> {
  const { page } = lent;
  const startedAtMs = Date.now();
  const startMs = performance.now();
  let headersMs = 0;
  let answered: PageResponse | undefined;
  let failedUrl = order.url;
  const isMain = (request: PageRequest) => request.isNavigationRequest() && frameOf(request) === page.mainFrame();
  const onRequest = (request: PageRequest) => {
    if (isMain(request)) failedUrl = request.url();
  };
  const onResponse = (response: PageResponse) => {
    if (!isMain(response.request())) return;
    answered = response;
    headersMs ||= performance.now() - startMs;
  };
  page.on('request', onRequest);
  page.on('response', onResponse);
  const stopCrashWatch = lent.onCrash(() => {
    deadline.fail(new CrawlError('PAGE_CRASHED', `${order.url}: the page or its browser ended while it was loaded`));
  });
  const gate = await deadline.run('opening', openDocumentGate(lent, order));
  try {
    // To another fragment of the page it shows, a browser would only scroll.
    if (isSameDocument(page.url(), order.url)) await deadline.run('leaving', page.goto('about:blank'));
    const go = () => {
      order.beforeSend?.();
      return deadline.run('navigation', page.goto(order.url, { ...goto, timeout: 0 }));
    };
    const response =
      (await go().catch((error: unknown) => {
        // The previous document was navigating away on its own: it is gone now.
        if (isInterrupted(error, lent.isReused)) return go();
        throw error;
      })) ?? answered;
    return { capture: captureOf(order, response ?? undefined), response: response ?? undefined };
  } catch (thrown) {
    if (gate?.refusal) throw gate.refusal;
    if (gate?.stopped) return { capture: stoppedCapture(order, gate.stopped), response: undefined };
    // An error status without a page, or "no content": the browser shows nothing, but there is a response.
    const isEmptyAnswer = answered && /ERR_HTTP_RESPONSE_CODE_FAILURE|ERR_ABORTED/.test((thrown as Error).message);
    if (isEmptyAnswer && (answered!.status() >= 400 || answered!.status() === 204 || answered!.status() === 205)) {
      return { capture: captureOf(order, answered), response: answered };
    }
    if (isEmptyAnswer && answered!.headers()['content-disposition'] !== undefined) {
      throw new CrawlError('CONTENT_TYPE', `${order.url} is a download, and downloads are off`, { cause: thrown });
    }
    throw navigationError(thrown, failedUrl, relay);
  } finally {
    page.off('request', onRequest);
    page.off('response', onResponse);
    stopCrashWatch();
    if (gate && !lent.isGone && !deadline.isOver) await gate.close();
  }

  function captureOf({ url }: NavigationOrder, response: PageResponse | undefined): Capture {
    const totalMs = performance.now() - startMs;
    return {
      url,
      loadedUrl: response && response.status() !== 204 && response.status() !== 205 ? httpUrl(page.url(), url) : url,
      redirectChain: chainOf(response),
      statusCode: response?.status() ?? 200,
      headers: response?.headers() ?? {},
      body: NO_BODY,
      wireBytes: 0,
      timings: { startedAtMs, headersMs: headersMs || totalMs, totalMs },
    };
  }

  function stoppedCapture({ url }: NavigationOrder, stopped: StoppedRedirect): Capture {
    const { statusCode, headers, target, reason } = stopped;
    const isReported = order.redirects === 'report';
    if (!isReported && reason === undefined) {
      throw new CrawlError('REDIRECT_LIMIT', `${url} redirects more than ${order.maxRedirects} times`);
    }
    const led = isReported ? { redirectTo: target } : { refusedRedirect: { url: target, reason: reason! } };
    return { ...captureOf(order, undefined), loadedUrl: url, statusCode, headers, ...led };
  }
}

/** Undefined for the first request of a new window, which has no frame yet. */
export function frameOf(request: PageRequest): Frame | undefined {
  try {
    return request.frame();
  } catch {
    return undefined;
  }
}

function isSameDocument(shown: string, wanted: string): boolean {
  return wanted.includes('#') && withoutFragment(shown) === withoutFragment(wanted);
}

/** A page may have moved to `about:blank` or a blob URL; then the requested URL names it best. */
function httpUrl(shown: string, asked: string): string {
  return /^https?:/.test(shown) ? shown : asked;
}

/** The URLs on the way, as the HTTP engine tells them. */
function chainOf(response: PageResponse | undefined): string[] {
  const chain: string[] = [];
  for (let request = response?.request().redirectedFrom(); request; request = request.redirectedFrom()) {
    chain.unshift(request.url());
  }
  return chain;
}
