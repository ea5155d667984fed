// Sends a crawl's requests by an HTTP client of the user's, in the sense of Crawlee's BaseHttpClient.
// Promise: every hop is checked by the address guard before it is asked for, and the limits of the order hold. A client of
// ours connects through the browsers' relay, so that the address it reaches is the one that was checked; how another
// client connects is its own business.
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { asCrawlError, CrawlError } from '../../errors.js';
import type { Capture, Engine, FetchOrder } from '../../fetch/engine.js';
import { createGuardRelay } from '../../fetch/browser/relay/guard-relay.js';
import { cappedPassage } from '../../fetch/http/body/stream.js';
import type { HttpEngine } from '../../fetch/http/engine.js';
import { mergeCookies } from '../../fetch/http/headers.js';
import { createRedirectTrail, type Hop, isRedirect, nextHop, redirectTarget } from '../../fetch/http/redirect.js';
import {
  checkSent,
  redirectUrlsOf,
  sendOrderOf,
  type SendOptions,
  sendRequest,
  type SendResponse,
  type SendSetting,
} from '../../fetch/http/send-request.js';
import { parseHttpUrl } from '../../request/url.js';
import { asBaseHttpClient, type FetchHttpClient } from './fetch-client.js';
import {
  type BaseHttpClient,
  GotScrapingHttpClient,
  type HttpRequest,
  ONE_HOP,
  type RelayedHttpClient,
} from './http-client.js';

type Headers = Record<string, string | string[]>;
/** What any answer of a client has. */
interface ClientAnswer {
  readonly url?: string | URL;
  readonly statusCode: number;
  readonly headers?: object;
  readonly stream?: Readable;
  readonly body?: unknown;
}

/** Whether requests go through the built-in engine anyway: such a client is no reason to go around it. */
function isBuiltIn({ stream, sendRequest }: BaseHttpClient): boolean {
  const own = GotScrapingHttpClient.prototype;
  return stream === own.stream && sendRequest === own.sendRequest;
}

/** A crawl's client: its pages, and the requests that handlers send beside them. */
export interface ClientEngine {
  readonly engine: HttpEngine;
  sendRequest(options: SendOptions, setting: SendSetting): Promise<SendResponse>;
  close(): Promise<void>;
}

/**
 * An engine whose pages come from a client; everything else is that of the engine given.
 *
 * @example
 * const { engine } = createClientEngine(httpClient, createHttpEngine());
 */
export function createClientEngine(given: BaseHttpClient | FetchHttpClient, http: HttpEngine): ClientEngine {
  const client = asBaseHttpClient(given);
  const nothing = () => Promise.resolve();
  if (isBuiltIn(client)) {
    return { engine: http, sendRequest: (...given) => sendRequest(http, ...given), close: nothing };
  }
  if (isRelayed(client)) return createRelayedEngine(client, http);
  const visit = visitBy(http, (request, onRedirect) => client.stream(request, onRedirect));
  const engine = withVisits(http, visit);
  return { engine, sendRequest: (options, setting) => sendByClient(client, http, options, setting), close: nothing };
}

function withVisits(http: HttpEngine, visit: Engine['visit']): HttpEngine {
  return {
    ...http,
    get connections() {
      return http.connections;
    },
    visit,
  };
}

function isRelayed(client: BaseHttpClient): client is RelayedHttpClient {
  return ONE_HOP in client;
}

/** Its bodies are read here as well, within the limits. */
function createRelayedEngine(client: RelayedHttpClient, http: HttpEngine): ClientEngine {
  const relay = createGuardRelay({ ways: http.ways });
  const visit = visitBy(http, async (request) => {
    const server = await relay.serverFor(request.proxyUrl);
    // The name is the relay's to resolve.
    const proxyUrl = server.replace(/^socks5:/, 'socks5h:');
    try {
      return await client[ONE_HOP]({ ...request, proxyUrl });
    } catch (error) {
      throw relay.failureOf(String(request.url)) ?? error;
    }
  });
  const engine = withVisits(http, visit);
  return { engine, sendRequest: (...given) => sendRequest(engine, ...given), close: () => relay.close() };
}

/** The client reads the body itself, as what was asked for. */
async function sendByClient(
  client: BaseHttpClient,
  http: HttpEngine,
  options: SendOptions,
  setting: SendSetting,
): Promise<SendResponse> {
  const { responseType = 'text', encoding, throwHttpErrors } = options;
  let answer!: ClientAnswer;
  const visit = visitBy(http, async (request) => {
    const wanted = { ...request, responseType, ...(encoding === undefined ? {} : { encoding }) };
    return (answer = await client.sendRequest(wanted as HttpRequest));
  });
  return visit(sendOrderOf(options, setting), async ({ statusCode, headers, loadedUrl: url, redirectChain }) => {
    checkSent(statusCode, url, throwHttpErrors);
    const ok = statusCode >= 200 && statusCode < 300;
    const { body } = answer;
    const rawBody = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    const { url: requestUrl } = options;
    const sent = { requestUrl: requestUrl!, redirectUrls: redirectUrlsOf(redirectChain, url), rawBody };
    return { ...sent, ...answer, body, statusCode, headers: { ...headers } as IncomingHttpHeaders, url, ok };
  });
}

type Ask = (
  request: HttpRequest,
  onRedirect: (response: unknown, updated: { url?: string | URL }) => void,
) => Promise<ClientAnswer>;

function visitBy(http: HttpEngine, ask: Ask): Engine['visit'] {
  return async (order, use) => {
    const ending = new AbortController();
    const timer = setTimeout(
      () => ending.abort(new CrawlError('FETCH_TIMEOUT', `${order.url}: no answer within ${order.timeoutMs} ms`)),
      order.timeoutMs,
    );
    const onAbort = () => ending.abort(new CrawlError('ABORTED', `aborted: ${order.url}`));
    if (order.signal?.aborted) onAbort();
    order.signal?.addEventListener('abort', onAbort, { once: true });
    let captured: Capture | undefined;
    const release = () => {
      clearTimeout(timer);
      order.signal?.removeEventListener('abort', onAbort);
    };
    try {
      captured = await capture(order, http, ask, ending.signal);
      if (!captured.stream) release();
      return await use(captured, {});
    } finally {
      release();
      captured?.stream?.destroy();
    }
  };
}

async function capture(order: FetchOrder, http: HttpEngine, ask: Ask, signal: AbortSignal): Promise<Capture> {
  const startedAtMs = Date.now();
  const startMs = performance.now();
  const start = parseHttpUrl(order.url);
  const trail = createRedirectTrail(start, order.maxRedirects);
  let hop: Hop = { url: start, method: order.method.toUpperCase(), headers: order.headers, payload: order.payload };
  for (;;) {
    await until(signal, http.checkAddress(hop.url, { seeded: order.seeded === true, proxyUrl: order.proxyUrl }));
    order.beforeSend?.();
    /** Where a client went that follows redirects although it was asked not to. */
    let went: string | undefined;
    const answer = await until(
      signal,
      ask(requestOf(hop, order, signal), (_response, { url }) => {
        if (url !== undefined) went = String(url);
      }),
    );
    const headers = headersOf(answer.headers);
    const at = new URL(went ?? String(answer.url ?? hop.url), hop.url);
    if (at.href !== hop.url.href) await followed(at, hop, order, http);
    const setCookie = headers['set-cookie'];
    if (setCookie) order.cookies?.store(at.href, [setCookie].flat());
    const location = headers['location'];
    const { statusCode } = answer;
    let refusedRedirect: Capture['refusedRedirect'];
    let redirectTo: string | undefined;
    if (isRedirect(statusCode, typeof location === 'string' ? location : undefined)) {
      const target = redirectTarget(at, location as string);
      const reason = order.redirects === 'report' ? undefined : order.allowRedirect?.(target.href);
      if (order.redirects === 'report') redirectTo = target.href;
      else if (reason !== undefined) refusedRedirect = { url: target.href, reason };
      else {
        answer.stream?.destroy();
        trail.step(at, target);
        hop = nextHop({ ...hop, url: at }, statusCode, target);
        continue;
      }
    }
    const headersMs = performance.now() - startMs;
    const { stream, body } = await bodyOf(answer, order, at.host, signal);
    const timings = { startedAtMs, headersMs, totalMs: performance.now() - startMs };
    const head = { url: order.url, loadedUrl: at.href, redirectChain: trail.chain, statusCode, headers, timings };
    const ends = { redirectTo, refusedRedirect };
    return { ...head, ...ends, body, ...(stream ? { stream } : {}), wireBytes: body.length } as Capture;
  }
}

/** A client that followed a redirect by itself: what it reached must be allowed all the same. */
async function followed(at: URL, hop: Hop, order: FetchOrder, http: HttpEngine): Promise<void> {
  await http.checkAddress(at, { seeded: false, proxyUrl: order.proxyUrl });
  const reason = order.allowRedirect?.(at.href);
  if (reason === undefined) return;
  throw new CrawlError('REDIRECT_INVALID', `${hop.url.host}: the HTTP client went to ${at.host}: ${reason}`);
}

function requestOf({ url, method, headers, payload }: Hop, order: FetchOrder, signal: AbortSignal): HttpRequest {
  const { cookie, ...others } = headers;
  const cookies = mergeCookies(order.cookies?.cookieHeader(url.href) ?? '', cookie ?? '');
  return {
    url: new URL(url),
    method,
    headers: cookies === '' ? others : { ...others, cookie: cookies },
    ...(payload === undefined ? {} : { body: typeof payload === 'string' ? payload : Buffer.from(payload) }),
    ...(order.proxyUrl === undefined ? {} : { proxyUrl: order.proxyUrl }),
    signal,
    timeout: { request: order.timeoutMs },
    // Hops are followed here, one by one.
    followRedirect: false,
    maxRedirects: 0,
    throwHttpErrors: false,
    useHeaderGenerator: false,
    https: { rejectUnauthorized: !order.ignoreTlsErrors },
  };
}

async function bodyOf(
  { stream, body }: ClientAnswer,
  { maxBodyBytes, stream: streams }: FetchOrder,
  host: string,
  signal: AbortSignal,
): Promise<{ body: Buffer; stream?: Readable }> {
  if (stream === undefined) return { body: Buffer.isBuffer(body) ? body : Buffer.alloc(0) };
  const capped = stream.pipe(cappedPassage(maxBodyBytes, host));
  stream.on('error', (error) => {
    // A client that is told to stop says so in its own words.
    capped.destroy(signal.aborted ? (signal.reason as Error) : asCrawlError(error, 'BODY_INCOMPLETE'));
  });
  const stop = () => capped.destroy(signal.reason as Error);
  signal.addEventListener('abort', stop, { once: true });
  capped.on('close', () => {
    signal.removeEventListener('abort', stop);
    stream.destroy();
  });
  // A reader that never listens must not turn a broken download into a crash.
  capped.on('error', () => undefined);
  if (streams) return { body: Buffer.alloc(0), stream: capped };
  const pieces: Buffer[] = [];
  for await (const piece of capped) pieces.push(piece as Buffer);
  return { body: Buffer.concat(pieces) };
}

/** Names in lower case, nothing that is not there. */
function headersOf(given: object = {}): Headers {
  const headers: Headers = {};
  for (const [name, value] of Object.entries(given) as [string, unknown][]) {
    if (typeof value === 'string') headers[name.toLowerCase()] = value;
    else if (Array.isArray(value)) headers[name.toLowerCase()] = value.map(String);
  }
  const setCookie = headers['set-cookie'];
  if (typeof setCookie === 'string') headers['set-cookie'] = [setCookie];
  return headers;
}

/** What a client does not end in time is left behind; its errors are those of a connection. */
async function until<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  signal.throwIfAborted();
  let stop!: () => void;
  const ended = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, ended]);
  } catch (error) {
    work.catch(() => undefined);
    throw asCrawlError(error, 'CONNECT_FAILED');
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
