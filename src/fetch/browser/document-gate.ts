// Intercepts the main frame's document requests: adds method, body and headers of the order to the first request, and
// decides about redirects before they are followed. Only pages that need it pay for it.
import { asCrawlError, type CrawlError } from '../../errors.js';
import { parseUrl } from '../../request/url.js';
import type { FetchOrder } from '../engine.js';
import { checkPayloadStays, type Hop, isRedirect, redirectTarget } from '../http/redirect.js';
import type { PooledPage } from './page-lease.js';

export interface StoppedRedirect {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly target: string;
  /** Why it is not followed; undefined: it is reported. */
  readonly reason: string | undefined;
}

export interface DocumentGate {
  readonly stopped: StoppedRedirect | undefined;
  /** What `beforeSend` threw, or why the redirect is invalid: the document was not requested. */
  readonly refusal: CrawlError | undefined;
  close(): Promise<void>;
}

type Order = Pick<
  FetchOrder,
  'url' | 'method' | 'payload' | 'headers' | 'redirects' | 'maxRedirects' | 'allowRedirect' | 'beforeSend'
>;

interface Paused {
  requestId: string;
  request: { url: string; method: string; headers: Record<string, string> };
  frameId: string;
  responseStatusCode?: number;
  responseHeaders?: { name: string; value: string }[];
  responseErrorReason?: string;
}

/** Undefined if the browser may proceed unchanged. `headers` are the order's own, without those that browsers set. */
export async function openDocumentGate(lent: PooledPage, order: Order): Promise<DocumentGate | undefined> {
  const isPlain = order.method === 'GET' && order.payload === undefined && Object.keys(order.headers).length === 0;
  if (isPlain && order.redirects === 'follow' && !order.allowRedirect) return undefined;
  const session = await lent.cdp();
  const { frameTree } = await session.send('Page.getFrameTree');
  const mainFrame = frameTree.frame.id;
  const origin = parseUrl(order.url)?.origin;
  let stopped: StoppedRedirect | undefined;
  let refusal: CrawlError | undefined;
  let isFirst = true;
  let hops = 0;

  function answer(paused: Paused): Promise<unknown> {
    const { requestId, request, frameId } = paused;
    if (frameId !== mainFrame) return session.send('Fetch.continueRequest', { requestId });
    if (paused.responseStatusCode !== undefined) return decideRedirect(paused);
    if (paused.responseErrorReason !== undefined) return session.send('Fetch.continueRequest', { requestId });
    try {
      order.beforeSend?.();
    } catch (thrown) {
      refusal = asCrawlError(thrown, 'LEASE_LOST');
      return session.send('Fetch.failRequest', { requestId, errorReason: 'Aborted' });
    }
    const isOwn = parseUrl(request.url)?.origin === origin;
    // All that the order adds may be a secret of its origin; a document that still runs may ask for another first.
    const changes = {
      ...(isOwn && isFirst && order.method !== 'GET' ? { method: order.method } : {}),
      ...(isOwn && isFirst && order.payload !== undefined
        ? { postData: Buffer.from(order.payload).toString('base64') }
        : {}),
      headers: headerList(isOwn ? { ...request.headers, ...order.headers } : without(request.headers, order.headers)),
    };
    if (isOwn) isFirst = false;
    return session.send('Fetch.continueRequest', { requestId, ...(isPlain ? {} : changes) });
  }

  /** A redirect that keeps the method keeps the order's payload. */
  function sentBy(url: URL, { method }: Paused['request']): Hop {
    return { url, method, headers: {}, payload: method === order.method ? order.payload : undefined };
  }

  function decideRedirect({ requestId, request, responseStatusCode, responseHeaders = [] }: Paused): Promise<unknown> {
    const headers = Object.fromEntries(responseHeaders.map(({ name, value }) => [name.toLowerCase(), value]));
    const { location } = headers;
    if (!isRedirect(responseStatusCode!, location)) return session.send('Fetch.continueRequest', { requestId });
    let target: string;
    try {
      const from = new URL(request.url);
      const to = redirectTarget(from, location);
      // Where the crawl makes the next request, it does this check.
      if (order.redirects === 'follow') checkPayloadStays(sentBy(from, request), responseStatusCode!, to);
      target = to.href;
    } catch (thrown) {
      refusal = thrown as CrawlError;
      return session.send('Fetch.failRequest', { requestId, errorReason: 'Aborted' });
    }
    const isTooMany = ++hops > order.maxRedirects;
    const reason = order.redirects === 'report' ? undefined : order.allowRedirect?.(target);
    if (order.redirects === 'follow' && reason === undefined && !isTooMany) {
      return session.send('Fetch.continueRequest', { requestId });
    }
    stopped = { statusCode: responseStatusCode!, headers, target, reason };
    return session.send('Fetch.failRequest', { requestId, errorReason: 'Aborted' });
  }

  // A page that goes away takes its paused requests along.
  const onPaused = (paused: Paused) => void answer(paused).catch(() => undefined);
  session.on('Fetch.requestPaused', onPaused as never);
  await session.send('Fetch.enable', {
    patterns: [
      { urlPattern: '*', resourceType: 'Document', requestStage: 'Request' },
      { urlPattern: '*', resourceType: 'Document', requestStage: 'Response' },
    ],
  });
  return {
    get stopped() {
      return stopped;
    },
    get refusal() {
      return refusal;
    },
    async close() {
      session.off('Fetch.requestPaused', onPaused as never);
      await session.send('Fetch.disable').catch(() => undefined);
    },
  };
}

function headerList(headers: Readonly<Record<string, string>>): { name: string; value: string }[] {
  const lower = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return [...lower].map(([name, value]) => ({ name, value }));
}

function without(headers: Record<string, string>, dropped: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !(name.toLowerCase() in dropped)));
}
