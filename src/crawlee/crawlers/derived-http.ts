// What classes derived from Crawlee's HTTP crawlers override: the cookies of a request, and what a page is parsed into.
import { Readable } from 'node:stream';
import type { HttpCrawlerOptions } from '../../crawl/options/options.js';
import type { CrawlingContext, HttpHookOptions, ResponseHead } from '../../handle/context.js';
import { toUtf8 } from '../../parse/encoding/encoding.js';
import { mergeCookies } from '../cookies.js';

type Headers = Record<string, string | string[] | undefined>;

/** The response as a stream of UTF-8, with its head. */
export type ResponseStream = Readable & Pick<ResponseHead, 'statusCode' | 'statusMessage' | 'headers' | 'url'>;

/** The cookies that a request has by its headers, in whichever case they are written. */
export function cookiesIn({ headers = {} }: { headers?: Headers }): string {
  const given = Object.entries(headers).filter(([name]) => name.toLowerCase() === 'cookie');
  return mergeCookies(
    '',
    given.map(([, value]) => [value].flat().join('; ')),
  );
}

type ApplyCookies = (context: never, options: never, before: string, after: string) => unknown;

/** Options whose hooks are followed by a call that may change the cookies. */
export function withCookieCall<Options extends Pick<HttpCrawlerOptions, 'preNavigationHooks'>>(
  options: Options,
  apply: ApplyCookies,
): Options {
  const before = new WeakMap<object, string>();
  const first = (context: CrawlingContext) => void before.set(context, cookiesIn(context.request));
  const last = async (context: CrawlingContext, hookOptions: object) => {
    await apply(context as never, hookOptions as never, before.get(context) ?? '', cookiesIn(context.request));
  };
  return { ...options, preNavigationHooks: [first, ...(options.preNavigationHooks ?? []), last] };
}

/** Cookies of the session, of the request before and after its hooks, and of the hooks' options; the last one counts. */
export function applyCookies(
  { request, session }: CrawlingContext,
  options: HttpHookOptions,
  before: string,
  after: string,
): void {
  const ofSession = session?.getCookieString(request.url) ?? '';
  const cookies = mergeCookies(request.url, [ofSession, before, after, cookiesIn(options)]);
  if (cookies !== '') options.headers = { ...options.headers, Cookie: cookies };
}

const PARSED = new Set(['text/html', 'text/xml', 'application/xhtml+xml', 'application/xml']);

interface PageContext {
  readonly response?: ResponseHead;
  readonly body?: string | Buffer;
  readonly contentType?: { readonly type: string };
}

type Parse = (response: ResponseStream, isXml: boolean) => Promise<object>;

/** Adds to a context what a page is parsed into: pages of HTML and XML, once. */
export async function addParsed(context: object, parse: Parse): Promise<void> {
  const { response, body, contentType } = context as PageContext;
  if (!response || body === undefined || !contentType || !PARSED.has(contentType.type)) return;
  const { statusCode, statusMessage, headers, url } = response;
  const header = String(headers['content-type'] ?? contentType.type);
  const bytes = typeof body === 'string' ? Buffer.from(body) : toUtf8(body, header);
  const stream = Object.assign(Readable.from([bytes]), { statusCode, statusMessage, headers, url });
  const parsed = await parse(stream, contentType.type.includes('xml'));
  for (const [name, value] of Object.entries(parsed ?? {})) {
    Object.defineProperty(context, name, { value, writable: true, enumerable: true, configurable: true });
  }
}
