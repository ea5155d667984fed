// One extra request by a handler (`context.sendRequest`), over the same engine: guarded, with the visit's cookies
// and proxy, redirects followed, the body decoded as asked.
import type { IncomingHttpHeaders } from 'node:http';
import { CrawlError } from '../../errors.js';
import { parseHttpUrl } from '../../request/url.js';
import type { CookieJar, Engine, FetchOrder } from '../engine.js';

/** Whether a request's headers are made to look like a browser's, and like which. */
export interface HeaderWish {
  /** Headers of a browser, made by the package header-generator. Default: what the crawler does. */
  readonly useHeaderGenerator?: boolean;
  /** Its options: `browsers`, `operatingSystems`, `devices`, `locales`, … Given alone, they ask for headers, too. */
  readonly headerGeneratorOptions?: object;
}

/** What to send. Of `json`, `form` and `body` the first given is sent. */
export interface SendOptions extends HeaderWish {
  /** Where to send it; in a handler by default the URL of its request. */
  readonly url?: string;
  /** Added to the URL's query. */
  readonly searchParams?: string | URLSearchParams | Readonly<Record<string, string | number | boolean>>;
  /** In a handler by default that of its request, else `GET`. */
  readonly method?: string;
  /** Sent beside those of the session. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is. */
  readonly body?: string | Uint8Array;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as a form. */
  readonly form?: Readonly<Record<string, string | number | boolean>>;
  /** What `body` of the response is: text by default. */
  readonly responseType?: 'text' | 'json' | 'buffer';
  /** Time for the whole exchange. */
  readonly timeoutMs?: number;
  /** The same as in got: milliseconds under `request`. */
  readonly timeout?: { readonly request?: number };
  /** Ends it early. */
  readonly signal?: AbortSignal;
  /** The proxy of this request instead of the visit's. */
  readonly proxyUrl?: string;
  /** Sent as HTTP authentication, with `password`. */
  readonly username?: string;
  /** The password for basic authentication. */
  readonly password?: string;
  /** Default true; `false` returns the redirect itself. */
  readonly followRedirect?: boolean;
  /** More are an error. */
  readonly maxRedirects?: number;
  /** Default false; `true` throws for statuses other than 2xx and 3xx. */
  readonly throwHttpErrors?: boolean;
  /** got's name for TLS options; of these `rejectUnauthorized: false` accepts any certificate. */
  readonly https?: { readonly rejectUnauthorized?: boolean };
  /** Cookies of this request instead of the session's: a jar of tough-cookie. */
  readonly cookieJar?: JarLike;
  /** The encoding of a text body instead of the response's own. */
  readonly encoding?: BufferEncoding;
}

/** A cookie jar as tough-cookie has it. */
interface JarLike {
  getCookieStringSync(url: string): string;
  setCookieSync(line: string, url: string, options?: object): unknown;
}

/** What the visit gives to every request sent beside it. */
export interface SendSetting {
  readonly headers?: Readonly<Record<string, string>>;
  readonly cookies?: CookieJar;
  readonly proxyUrl?: string;
  readonly timeoutMs: number;
  readonly maxBodyBytes: number;
  readonly maxRedirects: number;
  readonly ignoreTlsErrors: boolean;
  readonly signal?: AbortSignal;
  /** Bytes to text by the response's charset. */
  readonly decode: (body: Buffer, contentType: string | undefined) => string;
}

export interface SendResponse<Body = unknown> {
  /** By `responseType`: text, parsed JSON or bytes. */
  body: Body;
  /** Status of the last response. */
  statusCode: number;
  /** Names in lower case. */
  headers: IncomingHttpHeaders;
  /** Where the answer came from, after redirects. */
  url: string;
  /** Status 2xx. */
  ok: boolean;
  /** The body as bytes. */
  rawBody: Buffer;
  /** What was asked for, before redirects. */
  requestUrl: string;
  /** Where redirects led, in order. */
  redirectUrls: URL[];
}

const KNOWN: ReadonlySet<string> = new Set([
  'url',
  'searchParams',
  'method',
  'headers',
  'body',
  'json',
  'form',
  'responseType',
  'timeoutMs',
  'timeout',
  'signal',
  'proxyUrl',
  'username',
  'password',
  'followRedirect',
  'maxRedirects',
  'throwHttpErrors',
  'https',
  'cookieJar',
  'encoding',
  'useHeaderGenerator',
  'headerGeneratorOptions',
]);
/** Options of got without effect here: we manage connections, and the visit retries, not the request. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  'decompress',
  'http2',
  'retry',
  'sessionToken',
  'insecureHTTPParser',
  'resolveBodyOnly',
  'isStream',
  'agent',
  'dnsCache',
  'cache',
]);

/** @example const { body } = await sendRequest(engine, { url, responseType: 'json' }, setting); */
export async function sendRequest(engine: Engine, options: SendOptions, setting: SendSetting): Promise<SendResponse> {
  const { responseType = 'text', throwHttpErrors = false } = options;
  const order = sendOrderOf(options, setting);
  const decode = options.encoding ? (bytes: Buffer) => bytes.toString(options.encoding) : setting.decode;
  return engine.visit(order, async ({ body, statusCode, headers, loadedUrl, redirectChain }) => {
    checkSent(statusCode, loadedUrl, throwHttpErrors);
    return {
      body: bodyAs(responseType, body, headers, loadedUrl, decode),
      statusCode,
      headers: { ...headers } as IncomingHttpHeaders,
      url: loadedUrl,
      ok: statusCode >= 200 && statusCode < 300,
      rawBody: body,
      requestUrl: order.url,
      redirectUrls: redirectUrlsOf(redirectChain, loadedUrl),
    };
  });
}

/** Where each redirect led: a chain begins with what was asked for. */
export function redirectUrlsOf(chain: readonly string[], loadedUrl: string): URL[] {
  return chain.length === 0 ? [] : [...chain.slice(1), loadedUrl].map((url) => new URL(url));
}

/** Throws for an error of the server, where the options say so. */
export function checkSent(statusCode: number, url: string, throwHttpErrors: boolean | undefined): void {
  if (!throwHttpErrors || statusCode < 400) return;
  throw new CrawlError('HTTP_STATUS', `${url}: status ${statusCode}`);
}

/** What to fetch for a handler's own request; throws for options that mean nothing. */
export function sendOrderOf(options: SendOptions, setting: SendSetting): FetchOrder {
  const { url, method = 'GET', responseType = 'text', followRedirect = true } = options;
  for (const name of Object.keys(options)) {
    if (!KNOWN.has(name) && !WITHOUT_EFFECT.has(name))
      throw invalid(`unknown option "${name}"; known: ${[...KNOWN].join(', ')}`);
  }
  if (typeof url !== 'string') throw invalid('url must be a string');
  if (typeof method !== 'string') throw invalid('method must be a string');
  if (responseType !== 'text' && responseType !== 'json' && responseType !== 'buffer') {
    throw invalid(`responseType must be "text", "json" or "buffer", not ${String(responseType)}`);
  }
  const { payload, contentType } = payloadOf(options);
  return {
    url: withQuery(url, options.searchParams),
    method,
    headers: mergedHeaders(setting.headers, { ...loginOf(options), ...options.headers }, contentType),
    payload,
    proxyUrl: options.proxyUrl ?? setting.proxyUrl,
    cookies: options.cookieJar ? cookiesOf(options.cookieJar) : setting.cookies,
    redirects: followRedirect ? ('follow' as const) : ('report' as const),
    maxRedirects: options.maxRedirects ?? setting.maxRedirects,
    timeoutMs: options.timeoutMs ?? options.timeout?.request ?? setting.timeoutMs,
    maxBodyBytes: setting.maxBodyBytes,
    ignoreTlsErrors: options.https?.rejectUnauthorized === false || setting.ignoreTlsErrors,
    signal: options.signal ?? setting.signal,
  };
}

function cookiesOf(jar: JarLike): CookieJar {
  if (typeof jar.getCookieStringSync !== 'function' || typeof jar.setCookieSync !== 'function') {
    throw invalid(
      'cookieJar must answer at once: a CookieJar of tough-cookie with a store such as MemoryCookieStore. ' +
        'Jars of promises are not supported (docs/from-crawlee.md, sendRequest)',
    );
  }
  return {
    cookieHeader: (url) => jar.getCookieStringSync(url),
    store: (url, lines) => {
      for (const line of lines) jar.setCookieSync(line, url, { ignoreError: true });
    },
  };
}

function loginOf({ username, password }: SendOptions): Record<string, string> {
  if (username === undefined && password === undefined) return {};
  return { authorization: `Basic ${Buffer.from(`${username ?? ''}:${password ?? ''}`).toString('base64')}` };
}

/** A URL with more in its query. */
export function withQuery(url: string, added: SendOptions['searchParams']): string {
  if (added === undefined) return url;
  const target = parseHttpUrl(url);
  const pairs = typeof added === 'string' || added instanceof URLSearchParams ? new URLSearchParams(added) : undefined;
  const entries = pairs ?? Object.entries(added).map(([name, value]): [string, string] => [name, String(value)]);
  for (const [name, value] of entries) target.searchParams.append(name, value);
  return target.href;
}

function payloadOf(options: SendOptions): { payload?: string | Uint8Array; contentType?: string } {
  const { json, form, body } = options;
  if (json !== undefined) return { payload: jsonText(json), contentType: 'application/json' };
  if (form !== undefined) {
    if (typeof form !== 'object' || form === null) throw invalid('form must be an object of plain values');
    const fields = new URLSearchParams();
    for (const [name, value] of Object.entries(form)) fields.append(name, String(value));
    return { payload: fields.toString(), contentType: 'application/x-www-form-urlencoded' };
  }
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) return { payload: body };
  throw invalid('body must be a string or bytes');
}

function jsonText(value: unknown): string {
  try {
    const text = JSON.stringify(value) as string | undefined;
    if (text !== undefined) return text;
  } catch (cause) {
    throw invalid('json cannot be written as JSON', cause);
  }
  throw invalid('json cannot be written as JSON');
}

/** Names in lower case; the request's own headers win over the setting's, the payload's type over neither. */
function mergedHeaders(
  base: Readonly<Record<string, string>> = {},
  own: Readonly<Record<string, string>> = {},
  contentType: string | undefined,
): Record<string, string> {
  const headers: Record<string, string> = contentType === undefined ? {} : { 'content-type': contentType };
  for (const source of [base, own]) {
    for (const [name, value] of Object.entries(source)) if (value != null) headers[name.toLowerCase()] = value;
  }
  return headers;
}

function bodyAs(
  type: 'text' | 'json' | 'buffer',
  body: Buffer,
  headers: Readonly<Record<string, string | string[]>>,
  url: string,
  decode: SendSetting['decode'],
): unknown {
  if (type === 'buffer') return body;
  const contentType = headers['content-type'];
  const text = decode(body, typeof contentType === 'string' ? contentType : undefined);
  if (type === 'text') return text;
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new CrawlError('BODY_DECODE', `${url}: the response is not JSON`, { cause });
  }
}

function invalid(what: string, cause?: unknown): CrawlError {
  return new CrawlError('REQUEST_INVALID', `sendRequest: ${what}`, { cause });
}
