// An engine around an engine: answers from the page cache if the cache mode allows it, and stores what it fetches.
// Promise: it is an Engine to its user; a hit sends nothing; with `validate` HTTP's rules decide what is fresh.
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import type CachePolicyClass from 'http-cache-semantics';
import { CrawlError } from '../../errors.js';
import type { Capture, Engine, FetchOrder } from '../../fetch/engine.js';
import { parseUrl } from '../../request/url.js';
import { CacheMode, type PageCache, type PageKey, pageUrlOf, type StoredPage } from '../../store/cache/cache.js';
import { initialAgeSecs, isOtherVersion, policyResponse, storableHeaders, updatedHeaders } from './cache-headers.js';
import type { CacheStatus } from '../batch/crawl-result.js';
import type { CacheAsk, CrawlOrder } from './order.js';
import { systemTime } from '../time.js';

/** A capture that tells where it came from. */
export interface CachedCapture extends Capture {
  readonly cacheStatus: CacheStatus;
  /** Of a hit: when it was fetched or last validated. */
  readonly storedAtMs?: number;
}

export interface CachedEngineParts {
  readonly open: () => PageCache | Promise<PageCache>;
  readonly nowMs?: () => number;
  /** Pages of one engine are never shown for those of another. Default `http`. */
  readonly engineName?: 'http' | 'browser';
}

let loaded: typeof CachePolicyClass | undefined;
const policies = (): typeof CachePolicyClass =>
  (loaded ??= createRequire(import.meta.url)('http-cache-semantics') as typeof CachePolicyClass);

const READING: ReadonlySet<CacheMode> = new Set([CacheMode.ENABLED, CacheMode.READ_ONLY, CacheMode.STORED_ONLY]);
const WRITING: ReadonlySet<CacheMode> = new Set([CacheMode.ENABLED, CacheMode.WRITE_ONLY]);
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);
/** Requests that differ in these never share an entry, even if no Vary names them. */
const ALWAYS_VARIED = ['authorization', 'cookie'];

const notStored = ({ url }: FetchOrder, how: 'not' | 'too old'): CrawlError =>
  new CrawlError('CACHE_MISS', `${url} is ${how} in the page cache`);

export function cached<Live extends object>(
  engine: Engine<Live, CrawlOrder>,
  parts: CachedEngineParts,
): Engine<Live, CrawlOrder> {
  const name = parts.engineName ?? 'http';
  const nowMs = parts.nowMs ?? systemTime.wallMs;
  const keyOf = (order: FetchOrder): PageKey => pageKeyOf(order, name);

  async function visit<T>(order: CrawlOrder, given: (capture: Capture, live: Live) => Promise<T>): Promise<T> {
    const { cache: ask } = order;
    // A result names its fetcher.
    const use = (capture: Capture, live: Live) => given({ ...capture, engine: name } as Capture, live);
    const method = order.method.toUpperCase();
    const isReadable = (method === 'GET' || method === 'HEAD') && order.payload === undefined && !order.stream;
    if (ask?.mode === CacheMode.STORED_ONLY && !isReadable) throw notStored(order, 'not');
    if (!ask || order.stream || !(READING.has(ask.mode) || WRITING.has(ask.mode))) return engine.visit(order, use);
    if (!SAFE_METHODS.has(method)) return visitUnsafe(order, ask, use);
    if (!isReadable) return engine.visit(order, use);

    const cache = await parts.open();
    const stored = READING.has(ask.mode) ? await cache.find(keyOf(order), withoutSecrets(order.headers)) : undefined;
    if (stored && isFresh(stored, order, ask))
      return use(captureOf(aged(stored, ask), order, 'hit', nowMs()), {} as Live);
    if (ask.mode === CacheMode.STORED_ONLY) throw notStored(order, stored ? 'too old' : 'not');
    const conditional = stored && ask.validate ? conditionalOrder(stored, order) : undefined;
    if (!stored || !conditional)
      return engine.visit(order, (capture, live) => use(taken(cache, capture, order, ask), live));

    // Not modified, or a new page: either way the answer is used while it is lent. `undefined`: it must be asked again.
    const answer = await engine.visit(conditional, async (capture, live) => {
      if (capture.statusCode !== 304) return { used: await use(taken(cache, capture, order, ask), live) };
      const validated = revalidated(stored, order, capture, nowMs());
      if (!validated) return undefined;
      if (WRITING.has(ask.mode)) cache.put(validated);
      const { wireBytes, timings } = capture;
      return {
        used: await use({ ...captureOf(validated, order, 'hit_validated', nowMs()), wireBytes, timings }, live),
      };
    });
    if (answer) return answer.used;
    return engine.visit(order, (capture, live) => use(taken(cache, capture, order, ask), live));
  }

  function isFresh(stored: StoredPage, order: FetchOrder, ask: CacheAsk): boolean {
    if (!ask.validate) return nowMs() - stored.storedAtMs <= ask.ttlMs;
    // The hops of a redirect have lives of their own that are not stored.
    if (stored.redirectChain.length > 0) return false;
    return policies()
      .fromObject(stored.policy as never)
      .satisfiesWithoutRevalidation(requestOf(order) as never);
  }

  /** HTTP requires an Age header on a stored page. */
  function aged(stored: StoredPage, ask: CacheAsk): StoredPage {
    if (!ask.validate) return stored;
    const { headers, storedAtMs } = stored;
    const secs = initialAgeSecs(headers, storedAtMs) + Math.floor(Math.max(0, nowMs() - storedAtMs) / 1000);
    return { ...stored, headers: { ...headers, age: String(secs) } };
  }

  /** A fetched page, stored if it may be. */
  function taken(cache: PageCache, capture: Capture, order: FetchOrder, ask: CacheAsk): CachedCapture {
    if (WRITING.has(ask.mode) && !capture.redirectTo && !capture.refusedRedirect && capture.statusCode !== 304) {
      const policy = new (policies())(requestOf(order) as never, policyResponse(capture, nowMs()) as never, {
        shared: false,
      });
      // Without HTTP's rules a page that came is stored; an error would be shown until its time is over.
      const mayStore = ask.validate ? policy.storable() : capture.statusCode < 400 && capture.statusCode !== 206;
      const varied = variedBy(capture, order);
      if (mayStore && varied) {
        const { loadedUrl, redirectChain, statusCode, body } = capture;
        cache.put({
          ...keyOf(order),
          varied,
          loadedUrl,
          redirectChain,
          statusCode,
          headers: storableHeaders(capture.headers),
          storedAtMs: nowMs(),
          bodyBytes: body.length,
          policy: policy.toObject(),
          body,
        });
      }
    }
    return { ...capture, cacheStatus: 'miss' };
  }

  /** What changes a resource makes its stored copies worthless. */
  async function visitUnsafe<T>(
    order: FetchOrder,
    ask: CacheAsk,
    use: (capture: Capture, live: Live) => Promise<T>,
  ): Promise<T> {
    return engine.visit(order, async (capture, live) => {
      if (WRITING.has(ask.mode) && capture.statusCode < 400) {
        const cache = await parts.open();
        for (const url of touchedBy(order, capture)) await cache.forget(pageUrlOf(url));
      }
      return use({ ...capture, cacheStatus: 'miss' } as CachedCapture, live);
    });
  }

  return { visit, close: () => engine.close() };
}

function pageKeyOf({ method, url, headers }: FetchOrder, engine: string): PageKey {
  return {
    method: method.toUpperCase(),
    url: pageUrlOf(url),
    engine,
    userAgent: headers['user-agent'] ?? '',
  };
}

function requestOf({ url, method, headers }: FetchOrder) {
  const shown = withoutSecrets(headers);
  // Whoever would take a stale page gets one that was asked about.
  const asked = shown['cache-control']?.toLowerCase().replace(/\bmax-stale\b(=[^,]*)?/g, '');
  return {
    url,
    method: method.toUpperCase(),
    headers: asked === undefined ? shown : { ...shown, 'cache-control': asked },
  };
}

/** The cache is its user's alone: what is private may be stored. */
function policyFor(order: FetchOrder, answer: Pick<Capture, 'statusCode' | 'headers'>, nowMs: number) {
  return new (policies())(requestOf(order) as never, policyResponse(answer, nowMs) as never, { shared: false });
}

/** The headers that distinguish requests, with digests in place of secrets. */
function withoutSecrets(headers: Readonly<Record<string, string>>): Record<string, string> {
  const shown = { ...headers };
  for (const name of ALWAYS_VARIED) {
    if (shown[name] !== undefined) shown[name] = createHash('sha256').update(shown[name]).digest('hex');
  }
  return shown;
}

/** The request headers that chose this answer; undefined when no later request can be sure to match. */
function variedBy(capture: Capture, order: FetchOrder): Record<string, string | null> | undefined {
  const { vary = '' } = capture.headers;
  const named = String(vary).toLowerCase().split(',');
  const names = new Set([...named.map((name) => name.trim()).filter(Boolean), ...ALWAYS_VARIED]);
  if (names.has('*')) return undefined;
  // The engine always sends the same: a page varies by it and the request cannot.
  names.delete('accept-encoding');
  const headers = withoutSecrets(order.headers);
  return Object.fromEntries([...names].map((name) => [name, headers[name] ?? null]));
}

/** The order with If-None-Match and If-Modified-Since; undefined when the page has neither to offer. */
function conditionalOrder(stored: StoredPage, order: FetchOrder): FetchOrder | undefined {
  const { etag, 'last-modified': lastModified } = stored.headers;
  if (etag === undefined && lastModified === undefined) return undefined;
  // Whoever asks conditionally on their own account gets the server's own answer.
  if ('if-none-match' in order.headers || 'if-modified-since' in order.headers) return undefined;
  return {
    ...order,
    headers: {
      ...order.headers,
      ...(etag === undefined ? {} : { 'if-none-match': String(etag) }),
      ...(lastModified === undefined ? {} : { 'if-modified-since': String(lastModified) }),
    },
  };
}

/** The stored page, updated by a 304; undefined if the 304 is about another version. */
function revalidated(
  stored: StoredPage,
  order: FetchOrder,
  { headers: said }: Capture,
  nowMs: number,
): StoredPage | undefined {
  if (isOtherVersion(stored.headers, said)) return undefined;
  const { statusCode } = stored;
  const headers = updatedHeaders(stored.headers, said);
  const policy = policyFor(order, { statusCode, headers }, nowMs);
  return { ...stored, headers, policy: policy.toObject(), storedAtMs: nowMs };
}

function captureOf(
  stored: StoredPage,
  order: FetchOrder,
  cacheStatus: 'hit' | 'hit_validated',
  startedAtMs: number,
): CachedCapture {
  const { loadedUrl, redirectChain, statusCode, headers, body, storedAtMs } = stored;
  return {
    url: order.url,
    loadedUrl,
    redirectChain,
    statusCode,
    headers,
    body,
    wireBytes: 0,
    timings: { startedAtMs, headersMs: 0, totalMs: 0 },
    cacheStatus,
    storedAtMs,
  };
}

/** The URL itself, and what the answer names as changed, on the same host only. */
function touchedBy(order: FetchOrder, capture: Capture): string[] {
  const base = parseUrl(order.url);
  const named = [capture.headers.location, capture.headers['content-location']]
    .flatMap((value) => (typeof value === 'string' ? [parseUrl(value, order.url)] : []))
    .filter((url) => url && url.host === base?.host);
  return [order.url, ...named.map((url) => url!.href)];
}
