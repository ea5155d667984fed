// An HTTP client that speaks TLS and HTTP/2 as browsers do, by the optional package impit.
// Promise: all its connections go through a relay of ours, which resolves names and checks the address it connects to;
// redirects, cookies and the limits of bodies are the crawl's.
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { CrawlError } from '../../errors.js';
import { createHttpEngine } from '../../fetch/http/engine.js';
import { warnOnce } from '../../option-checks.js';
import { createRecentMap } from '../../base/recent-map.js';
import { createClientEngine } from './client-engine.js';
import {
  dataOf,
  type HttpRequest,
  type HttpResponse,
  ONE_HOP,
  type RedirectHandler,
  type RelayedHttpClient,
  type ResponseTypes,
  sendAlone,
  sendOptionsOf,
  type StreamingHttpResponse,
} from './http-client.js';
import { defaultUserAgent } from '../../crawl/user-agent.js';
import { loadPeer } from '../../session/identity/peer.js';

/**
 * Browsers that impit imitates; a version may follow (`chrome142`), see its documentation.
 *
 * @example
 * const httpClient = new ImpitHttpClient({ browser: Browser.Firefox });
 */
export enum Browser {
  Chrome = 'chrome',
  Firefox = 'firefox',
}

/** How an `ImpitHttpClient` shows itself. */
export interface ImpitHttpClientOptions {
  /** The browser to imitate, such as `Browser.Firefox` or `chrome142`. Default none. */
  browser?: Browser | (string & {}) | undefined;
  /** Accepts any certificate. Default: what the crawler does. */
  ignoreTlsErrors?: boolean | undefined;
  /** Asks again as itself where a site does not understand the imitation. Default false. */
  vanillaFallback?: boolean | undefined;
  /** Sent with every request to every site: without credentials. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** From Crawlee, without effect: HTTP/3 cannot go through the relay that checks addresses. */
  http3?: boolean | undefined;
  /** From Crawlee, without effect: the crawler follows redirects. */
  followRedirects?: boolean | undefined;
  /** From Crawlee, without effect: see `maxRedirects` of the crawler. */
  maxRedirects?: number | undefined;
  /** From Crawlee, without effect: see `navigationTimeoutSecs` of the crawler. */
  timeout?: number | undefined;
}

interface ImpitAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: ReadableStream | null;
}
interface Impit {
  fetch(url: string, init: object): Promise<ImpitAnswer>;
}
interface ImpitPackage {
  readonly Impit: new (options: object) => Impit;
}

/** Kinds of connections kept at once: one per proxy, more with certificates that are not checked. */
const MAX_KINDS = 100;
/** The crawl's own limit comes first: its error says what happened. */
const TIMEOUT_MARGIN_MS = 1_000;
const CREDENTIALS: readonly string[] = ['authorization', 'cookie', 'proxy-authorization'];

/**
 * Sends a crawl's requests with the TLS and HTTP/2 of a browser.
 *
 * @example
 * const crawler = new CheerioCrawler({ httpClient: new ImpitHttpClient({ browser: Browser.Firefox }), requestHandler });
 */
export class ImpitHttpClient implements RelayedHttpClient {
  /** Whether requests look like those of a browser. */
  readonly impersonates: boolean;
  readonly #options: ImpitHttpClientOptions;
  readonly #kinds = createRecentMap<string, Promise<Impit>>(MAX_KINDS);

  constructor(options: ImpitHttpClientOptions = {}) {
    const secret = Object.keys(options.headers ?? {}).find((name) => CREDENTIALS.includes(name.toLowerCase()));
    if (secret !== undefined) {
      const advice = 'every site would get it. Give it with the request instead';
      throw new CrawlError('OPTION_INVALID', `ImpitHttpClient headers: "${secret}" is a credential, ${advice}`);
    }
    if (options.http3) {
      warnOnce('ImpitHttpClient http3', 'ImpitHttpClient option "http3" has no effect: it cannot be guarded');
    }
    this.#options = options;
    this.impersonates = options.browser !== undefined;
  }

  /** One request outside a crawl, redirects included. */
  async sendRequest<Type extends keyof ResponseTypes = 'text'>(
    request: HttpRequest<Type>,
  ): Promise<HttpResponse<Type>> {
    const http = createHttpEngine();
    const { engine, close } = createClientEngine(this, http);
    try {
      const headers: Record<string, string> = this.impersonates ? {} : { 'user-agent': defaultUserAgent() };
      const response = await sendAlone(sendOptionsOf(request), http, engine, headers);
      return { ...dataOf(response), request, body: response.body as ResponseTypes[Type] };
    } finally {
      await close();
      await http.close();
    }
  }

  /** The same with the body as a stream; it is read whole before. */
  async stream(request: HttpRequest, onRedirect?: RedirectHandler): Promise<StreamingHttpResponse> {
    const { body, ...response } = await this.sendRequest({ ...request, responseType: 'buffer' });
    if (response.url !== String(request.url)) {
      onRedirect?.(response, { url: response.url, headers: request.headers ?? {} });
    }
    const whole = { percent: 1, transferred: body.length, total: body.length };
    const nothing = { percent: 1, transferred: 0 };
    const data = { ...response, request };
    return { ...data, stream: Readable.from([body]), downloadProgress: whole, uploadProgress: nothing };
  }

  /** @internal */
  async [ONE_HOP]({ url, method = 'GET', headers = {}, body, signal, timeout, proxyUrl, https }: HttpRequest) {
    const isUnchecked = (https as { rejectUnauthorized?: boolean } | undefined)?.rejectUnauthorized === false;
    const impit = await this.#impit(proxyUrl!, isUnchecked || this.#options.ignoreTlsErrors === true);
    const answer = await impit.fetch(String(url), {
      method,
      headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
      ...(body === undefined ? {} : { body }),
      ...(signal && { signal }),
      ...(timeout?.request && { timeout: timeout.request + TIMEOUT_MARGIN_MS }),
    });
    return { statusCode: answer.status, headers: plainHeaders(answer.headers), stream: readable(answer.body) };
  }

  /** One client per proxy and way to check certificates: it keeps connections. */
  #impit(proxyUrl: string, ignoreTlsErrors: boolean): Promise<Impit> {
    const key = `${ignoreTlsErrors ? '!' : ''}${proxyUrl}`;
    const kept = this.#kinds.get(key);
    if (kept) return kept;
    const { browser, headers, vanillaFallback = false } = this.#options;
    const made = loadPeer<ImpitPackage>('impit', 'ImpitHttpClient').then(({ Impit }) => {
      const shown = { ...(browser && { browser }), ...(headers && { headers }), vanillaFallback };
      return new Impit({ ...shown, proxyUrl, ignoreTlsErrors, followRedirects: false });
    });
    this.#kinds.set(key, made);
    made.catch(() => this.#kinds.delete(key));
    return made;
  }
}

/** Repeated headers joined as HTTP allows; `set-cookie` as a list. */
function plainHeaders(headers: Headers): Record<string, string | string[]> {
  const plain: Record<string, string | string[]> = Object.fromEntries(headers);
  const cookies = headers.getSetCookie();
  if (cookies.length > 0) plain['set-cookie'] = cookies;
  return plain;
}

function readable(body: ReadableStream | null): Readable {
  return body === null ? Readable.from([]) : Readable.fromWeb(body);
}
