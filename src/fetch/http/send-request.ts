// One extra request by a handler (`context.sendRequest`), over the same engine: guarded, with the visit's cookies
// and proxy, redirects followed, the body decoded as asked.
import { CrawlError } from '../../errors.js';
import { parseHttpUrl } from '../../request/url.js';
import type { CookieJar, Engine } from '../engine.js';

/** What to send. Of `json`, `form` and `body` the first given is sent. */
export interface SendOptions {
  readonly url?: string;
  /** Added to the URL's query. */
  readonly searchParams?: string | URLSearchParams | Readonly<Record<string, string | number | boolean>>;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as a form. */
  readonly form?: Readonly<Record<string, string | number | boolean>>;
  readonly responseType?: 'text' | 'json' | 'buffer';
  readonly timeoutMs?: number;
  /** The same as in got: milliseconds under `request`. */
  readonly timeout?: { readonly request?: number };
  readonly signal?: AbortSignal;
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
  body: Body;
  statusCode: number;
  headers: Record<string, string | string[]>;
  /** Where the answer came from, after redirects. */
  url: string;
  /** Status 2xx. */
  ok: boolean;
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
]);

/** @example const { body } = await sendRequest(engine, { url, responseType: 'json' }, setting); */
export async function sendRequest(engine: Engine, options: SendOptions, setting: SendSetting): Promise<SendResponse> {
  const { url, method = 'GET', responseType = 'text' } = options;
  for (const name of Object.keys(options)) {
    if (!KNOWN.has(name)) throw invalid(`unknown option "${name}"; known: ${[...KNOWN].join(', ')}`);
  }
  if (typeof url !== 'string') throw invalid('url must be a string');
  if (typeof method !== 'string') throw invalid('method must be a string');
  if (responseType !== 'text' && responseType !== 'json' && responseType !== 'buffer') {
    throw invalid(`responseType must be "text", "json" or "buffer", not ${String(responseType)}`);
  }
  const { payload, contentType } = payloadOf(options);
  const order = {
    url: withQuery(url, options.searchParams),
    method,
    headers: mergedHeaders(setting.headers, options.headers, contentType),
    payload,
    proxyUrl: setting.proxyUrl,
    cookies: setting.cookies,
    redirects: 'follow' as const,
    maxRedirects: setting.maxRedirects,
    timeoutMs: options.timeoutMs ?? options.timeout?.request ?? setting.timeoutMs,
    maxBodyBytes: setting.maxBodyBytes,
    ignoreTlsErrors: setting.ignoreTlsErrors,
    signal: options.signal ?? setting.signal,
  };
  return engine.visit(order, async ({ body, statusCode, headers, loadedUrl }) => ({
    body: bodyAs(responseType, body, headers, loadedUrl, setting.decode),
    statusCode,
    headers: { ...headers },
    url: loadedUrl,
    ok: statusCode >= 200 && statusCode < 300,
  }));
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
