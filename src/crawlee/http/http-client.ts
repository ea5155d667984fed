// Crawlee's HTTP clients by name. Requests go through orcrawl's own engine, whichever client a script names.
import { Readable } from 'node:stream';
import { CrawlError } from '../../errors.js';
import type { Engine } from '../../fetch/engine.js';
import { createHttpEngine, type HttpEngine } from '../../fetch/http/engine.js';
import { sendRequest, type SendOptions, type SendResponse } from '../../fetch/http/send-request.js';
import { defaultUserAgent } from '../../crawl/user-agent.js';
import { LIMITS } from '../../limits.js';
import { decodeBody, detectEncoding } from '../../parse/encoding/encoding.js';
import { applySearchParams, type SearchParams } from '../links/urls.js';

/** What a body is read as. */
export interface ResponseTypes {
  json: unknown;
  text: string;
  buffer: Buffer;
}

type SimpleHeaders = Record<string, string | string[] | undefined>;

/** One request, by got's names. */
export interface HttpRequest<Type extends keyof ResponseTypes = 'text'> {
  [name: string]: unknown;
  url: string | URL;
  method?: string;
  headers?: SimpleHeaders;
  body?: string | Buffer | Readable | Generator | AsyncGenerator;
  signal?: AbortSignal;
  timeout?: { request?: number };
  cookieJar?: SendOptions['cookieJar'];
  followRedirect?: boolean | ((response: unknown) => boolean);
  maxRedirects?: number;
  encoding?: BufferEncoding;
  responseType?: Type;
  throwHttpErrors?: boolean;
  proxyUrl?: string;
  headerGeneratorOptions?: Record<string, unknown>;
  useHeaderGenerator?: boolean;
  insecureHTTPParser?: boolean;
  sessionToken?: object;
}

/** One request with parts that are put together before it is sent. */
export interface HttpRequestOptions<Type extends keyof ResponseTypes = 'text'> extends HttpRequest<Type> {
  searchParams?: SearchParams;
  form?: Record<string, string>;
  json?: unknown;
  username?: string;
  password?: string;
}

/** A response without its body. */
export interface BaseHttpResponseData {
  redirectUrls: URL[];
  url: string;
  ip?: string;
  statusCode: number;
  statusMessage?: string;
  headers: SimpleHeaders;
  trailers: SimpleHeaders;
  complete: boolean;
}
/** A response. */
export interface HttpResponse<Type extends keyof ResponseTypes = keyof ResponseTypes> extends BaseHttpResponseData {
  [name: string]: unknown;
  request: HttpRequest<Type>;
  body: ResponseTypes[Type];
}
/** A response whose body is a stream. */
export interface StreamingHttpResponse extends BaseHttpResponseData {
  request: HttpRequest;
  stream: Readable;
  readonly downloadProgress: { percent: number; transferred: number; total?: number };
  readonly uploadProgress: { percent: number; transferred: number; total?: number };
}
/** Told of each redirect; may change what is sent next. */
export type RedirectHandler = (
  redirectResponse: BaseHttpResponseData,
  updatedRequest: { url?: string | URL; headers: SimpleHeaders },
) => void;

/** An HTTP client as Crawlee has them. */
export interface BaseHttpClient {
  /** Sends a request and returns the response with its whole body. */
  sendRequest<Type extends keyof ResponseTypes = 'text'>(request: HttpRequest<Type>): Promise<HttpResponse<Type>>;
  /** Sends a request and returns the body as a stream. */
  stream(request: HttpRequest, onRedirect?: RedirectHandler): Promise<StreamingHttpResponse>;
}

/** How a client that connects by a proxy sends one request without following redirects: the key of that method. */
export const ONE_HOP = Symbol('oneHop');
/** A client whose connections all go through a relay of ours, so that what it connects to is checked. */
export interface RelayedHttpClient extends BaseHttpClient {
  [ONE_HOP](request: HttpRequest): Promise<{
    readonly statusCode: number;
    readonly headers: object;
    readonly stream: Readable;
  }>;
}

/**
 * Crawlee's default client by name, with orcrawl's engine behind it.
 *
 * @example
 * const { body } = await new GotScrapingHttpClient().sendRequest({ url: 'https://example.com' });
 */
export class GotScrapingHttpClient implements BaseHttpClient {
  /** Sends a request and returns the response with its whole body. */
  async sendRequest<Type extends keyof ResponseTypes = 'text'>(
    request: HttpRequest<Type>,
  ): Promise<HttpResponse<Type>> {
    const response = await gotScraping(sendOptionsOf(request));
    return { ...dataOf(response), request, body: response.body as ResponseTypes[Type] };
  }

  /** Sends a request and returns the body as a stream. */
  async stream(request: HttpRequest, onRedirect?: RedirectHandler): Promise<StreamingHttpResponse> {
    const response = await gotScraping({ ...sendOptionsOf(request), responseType: 'buffer' });
    const data = dataOf(response);
    if (response.url !== String(request.url)) onRedirect?.(data, { url: response.url, headers: request.headers ?? {} });
    const bytes = response.body as Buffer;
    const whole = { percent: 1, transferred: bytes.length, total: bytes.length };
    const nothing = { percent: 1, transferred: 0 };
    return { ...data, request, stream: Readable.from([bytes]), downloadProgress: whole, uploadProgress: nothing };
  }
}

export function sendOptionsOf(request: HttpRequest<keyof ResponseTypes>): SendOptions {
  const { url, method, headers, body, signal, timeout, proxyUrl, cookieJar } = request;
  const { followRedirect, maxRedirects, encoding, responseType, throwHttpErrors } = request;
  if (body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new CrawlError('OPTION_INVALID', 'a request body must be a string or a Buffer: read streams before');
  }
  const plain = Object.entries(headers ?? {}).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, [value].flat().join(', ')] as const],
  );
  return {
    url: String(url),
    headers: Object.fromEntries(plain),
    ...(method === undefined ? {} : { method: method.toUpperCase() }),
    ...(body === undefined ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
    ...(timeout === undefined ? {} : { timeout }),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    ...(cookieJar === undefined ? {} : { cookieJar }),
    ...(typeof followRedirect === 'boolean' ? { followRedirect } : {}),
    ...(maxRedirects === undefined ? {} : { maxRedirects }),
    ...(encoding === undefined ? {} : { encoding }),
    ...(responseType === undefined ? {} : { responseType }),
    ...(throwHttpErrors === undefined ? {} : { throwHttpErrors }),
    ...(request.useHeaderGenerator === undefined ? {} : { useHeaderGenerator: request.useHeaderGenerator }),
    ...(request.headerGeneratorOptions === undefined ? {} : { headerGeneratorOptions: request.headerGeneratorOptions }),
  };
}

export function dataOf({ url, statusCode, headers, ...rest }: SendResponse): BaseHttpResponseData {
  const { statusMessage, redirectUrls = [] } = rest as { statusMessage?: string; redirectUrls?: URL[] };
  const message = statusMessage === undefined ? {} : { statusMessage };
  return { url, statusCode, ...message, headers, trailers: {}, complete: true, redirectUrls };
}

/**
 * A request with its search parameters, form, JSON and login put where HTTP has them.
 *
 * @example
 * const request = processHttpRequestOptions({ url: 'https://example.com', searchParams: { q: 'a' } });
 */
export function processHttpRequestOptions<Type extends keyof ResponseTypes = 'text'>(
  options: HttpRequestOptions<Type>,
): HttpRequest<Type> {
  const { searchParams, form, json, username, password, ...request } = options;
  if ([request.body, form, json].filter((one) => one !== undefined).length > 1) {
    throw new CrawlError('OPTION_INVALID', 'At most one of `body`, `form` and `json` may be specified');
  }
  const url = new URL(String(request.url));
  applySearchParams(url, searchParams);
  const headers: SimpleHeaders = { ...(request.headers as SimpleHeaders | undefined) };
  let { body } = request as HttpRequest;
  if (form !== undefined) {
    body = new URLSearchParams(form).toString();
    headers['content-type'] ??= 'application/x-www-form-urlencoded';
  } else if (json !== undefined) {
    body = JSON.stringify(json);
    headers['content-type'] ??= 'application/json';
  }
  if (username !== undefined || password !== undefined) {
    headers['authorization'] ??= `Basic ${Buffer.from(`${username ?? ''}:${password ?? ''}`).toString('base64')}`;
  }
  return { ...request, url, body, headers } as unknown as HttpRequest<Type>;
}

const TIMEOUT_MS = 60_000;

type Shortcut = (url: string, options?: SendOptions) => Promise<SendResponse>;
/** got's function and its shortcuts by method. */
export interface GotScraping extends Record<'get' | 'post' | 'put' | 'patch' | 'head' | 'delete', Shortcut> {
  (options: string | SendOptions, more?: SendOptions): Promise<SendResponse>;
  /** The same function with options for every request. */
  extend(options: SendOptions): GotScraping;
  /** The response's body as a stream. */
  stream(options: string | SendOptions): Readable;
}

/**
 * One request outside a crawl, with got's names of options.
 *
 * @example
 * const { statusCode, body } = await gotScraping({ url: 'https://example.com' });
 */
export const gotScraping: GotScraping = createGot({});

function createGot(defaults: SendOptions): GotScraping {
  const got = (options: string | SendOptions, more: SendOptions = {}): Promise<SendResponse> => {
    const wanted = typeof options === 'string' ? { url: options } : options;
    const headers = { ...defaults.headers, ...wanted.headers, ...more.headers };
    return send({ ...defaults, ...wanted, ...more, headers });
  };
  const by =
    (method: string): Shortcut =>
    (url, options) =>
      got(url, { ...options, method });
  return Object.assign(got, {
    get: by('GET'),
    post: by('POST'),
    put: by('PUT'),
    patch: by('PATCH'),
    head: by('HEAD'),
    delete: by('DELETE'),
    extend: (options: SendOptions) => createGot({ ...defaults, ...options }),
    stream: (options: string | SendOptions) =>
      Readable.from(
        (async function* () {
          yield (await got(options, { responseType: 'buffer' })).body as Buffer;
        })(),
      ),
  });
}

async function send(wanted: SendOptions): Promise<SendResponse> {
  const { useHeaderGenerator, headerGeneratorOptions } = wanted;
  const isGenerated = useHeaderGenerator ?? headerGeneratorOptions !== undefined;
  const { openHeaderSource } = await import('../../session/identity/header-source.js');
  const headers = isGenerated
    ? (await openHeaderSource({ httpVersion: '1' })).headersFor(undefined, headerGeneratorOptions)
    : { 'user-agent': defaultUserAgent() };
  const engine = createHttpEngine();
  try {
    return await sendAlone(wanted, engine, engine, headers);
  } finally {
    await engine.close();
  }
}

/** One request of nobody's visit: the host that it names may be private, those it is sent on to may not. */
export async function sendAlone(
  wanted: SendOptions,
  http: HttpEngine,
  engine: Engine,
  headers: Readonly<Record<string, string>>,
): Promise<SendResponse> {
  if (wanted.url !== undefined) http.allowHost(String(wanted.url));
  return sendRequest(
    engine,
    { responseType: 'text', ...wanted },
    {
      headers,
      proxyUrl: wanted.proxyUrl,
      timeoutMs: TIMEOUT_MS,
      maxBodyBytes: LIMITS.listBytes.max,
      maxRedirects: 10,
      ignoreTlsErrors: false,
      decode: (bytes, contentType) => decodeBody(bytes, detectEncoding(bytes, contentType)),
    },
  );
}
