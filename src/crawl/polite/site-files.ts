// robots.txt and sitemaps by URL, outside a crawl: fetched one at a time over the HTTP engine, with address
// guard, redirects, TLS and deadlines. Only hosts named by the caller may be private, not those named in files.
import { CrawlError } from '../../errors.js';
import type { Capture, FetchOrder } from '../../fetch/engine.js';
import type { HttpEngine } from '../../fetch/http/engine.js';
import {
  aBoolean,
  aFilledString,
  aFunction,
  anyOf,
  arrayOf,
  aString,
  aWholeNumber,
  check,
  oneOf,
  type ShapeOf,
} from '../../option-checks.js';
import type { OpenSitemap, SitemapLimits } from '../../politeness/sitemaps/walk.js';
import { EnqueueStrategy, staysWithin } from '../../request/scope.js';
import { systemTime } from '../time.js';
import { defaultUserAgent } from '../user-agent.js';

/** How robots.txt and sitemaps are fetched. */
export interface SiteFileOptions {
  /** The proxy to fetch through. */
  proxyUrl?: string;
  /** The User-Agent header. Default `Mozilla/5.0 (compatible; orcrawl/VERSION)`. */
  userAgent?: string;
  /** Longest a file may take, its last byte included. Default 600,000 for sitemaps, 30,000 for robots.txt. */
  timeoutMs?: number;
  /** Lets files be fetched from private addresses too: all, or by CIDR range. The host you name always may be. */
  allowPrivateAddresses?: boolean | readonly string[];
  /** Accepts any TLS certificate. Default false. */
  ignoreSslErrors?: boolean;
  /** Ends the work when it is aborted. */
  signal?: AbortSignal;
}

/** Where reading sitemaps stops. */
export interface SitemapOptions extends SiteFileOptions {
  /** Sitemap indexes within indexes. Default 10. */
  maxDepth?: number;
  /** Sitemap files. Default 50,000. */
  maxFiles?: number;
  /** Page URLs. Default 1,000,000; `SitemapRequestList`, which holds few at a time, has no limit. */
  maxUrls?: number;
  /** Characters of all page URLs together. Default 64 Mi; `SitemapRequestList` has no limit. */
  maxCharacters?: number;
  /** Decompressed bytes of one file. Default 256 MiB; the protocol allows 50 MB. */
  maxFileBytes?: number;
  /** How often a file that failed for a passing reason is tried again. Default 3. */
  maxRetries?: number;
  /** Before the first of them; doubled each time. Default 1,000. */
  retryDelayMs?: number;
  /** Which pages belong to the site of the file that names them; others are left out. Default `same-hostname`. */
  enqueueStrategy?: EnqueueStrategy;
  /** Whether a sitemap that another sitemap names is read. Default: all are. */
  nestedSitemapFilter?: (sitemapUrl: string) => boolean;
}

export const SITE_FILE_SHAPE: ShapeOf<SiteFileOptions> = {
  proxyUrl: aFilledString,
  userAgent: aFilledString,
  timeoutMs: aWholeNumber({ from: 1 }),
  allowPrivateAddresses: anyOf(aBoolean, arrayOf(aString)),
  ignoreSslErrors: aBoolean,
  signal: check('an AbortSignal', (value) => value instanceof AbortSignal),
};

export const SITEMAP_SHAPE: ShapeOf<SitemapOptions> = {
  ...SITE_FILE_SHAPE,
  maxDepth: aWholeNumber({ from: 0, orInfinity: true }),
  maxFiles: aWholeNumber({ from: 1, orInfinity: true }),
  maxUrls: aWholeNumber({ from: 1, orInfinity: true }),
  maxCharacters: aWholeNumber({ from: 1, orInfinity: true }),
  maxFileBytes: aWholeNumber({ from: 1, orInfinity: true }),
  maxRetries: aWholeNumber({ from: 0 }),
  retryDelayMs: aWholeNumber({ from: 0 }),
  enqueueStrategy: oneOf(Object.values(EnqueueStrategy)),
  nestedSitemapFilter: aFunction,
};

/** Whether a page belongs to the site of a sitemap, by `enqueueStrategy`. */
export function belongsBy({ enqueueStrategy = EnqueueStrategy.SameHostname }: SitemapOptions) {
  return (url: string, fileUrl: string): boolean => staysWithin(enqueueStrategy, fileUrl, url);
}

const SITEMAP_TIMEOUT_MS = 600_000;
const MAX_REDIRECTS = 5;

export function sitemapLimits(
  options: SitemapOptions,
  defaults: Pick<SitemapLimits, 'maxUrls' | 'maxCharacters'>,
): SitemapLimits {
  return Object.freeze({
    maxDepth: options.maxDepth ?? 10,
    // What the protocol lets one index name.
    maxFiles: options.maxFiles ?? 50_000,
    maxUrls: options.maxUrls ?? defaults.maxUrls,
    maxCharacters: options.maxCharacters ?? defaults.maxCharacters,
    maxFileBytes: options.maxFileBytes ?? 256 * 1024 * 1024,
    maxRetries: options.maxRetries ?? 3,
    retryDelayMs: options.retryDelayMs ?? 1_000,
  });
}

/** Lends a visitor of files; what `named` names may be private. The engine is closed when `use` ends. */
export async function withSiteFiles<T>(
  named: readonly string[],
  options: SiteFileOptions,
  use: (
    visit: <R>(order: Partial<FetchOrder> & { url: string }, read: (capture: Capture) => Promise<R>) => Promise<R>,
  ) => Promise<T>,
): Promise<T> {
  const { createHttpEngine } = await import('../../fetch/http/engine.js');
  const engine: HttpEngine = createHttpEngine({ allowPrivateAddresses: options.allowPrivateAddresses });
  try {
    for (const url of named) engine.allowHost(url);
    return await use((order, read) =>
      engine.visit(
        {
          method: 'GET',
          headers: { 'user-agent': options.userAgent ?? defaultUserAgent(), accept: '*/*' },
          proxyUrl: options.proxyUrl,
          redirects: 'follow',
          maxRedirects: MAX_REDIRECTS,
          timeoutMs: options.timeoutMs ?? SITEMAP_TIMEOUT_MS,
          maxBodyBytes: Infinity,
          ignoreTlsErrors: options.ignoreSslErrors ?? false,
          signal: options.signal,
          ...order,
        },
        read,
      ),
    );
  } finally {
    await engine.close();
  }
}

/** Runs `use` with what opens sitemaps. Their size is the reader's to limit: it counts what it decompresses. */
export function withSitemaps<T>(
  named: readonly string[],
  options: SiteFileOptions,
  use: (open: OpenSitemap) => Promise<T>,
): Promise<T> {
  return withSiteFiles(named, options, (visit) =>
    use((url, read) =>
      visit({ url, stream: true }, async ({ statusCode, loadedUrl, headers, stream, body }) => {
        if (statusCode === 429 || statusCode >= 500) throw new CrawlError('HTTP_STATUS', `status ${statusCode}`);
        if (statusCode < 200 || statusCode >= 300) throw new CrawlError('SITEMAP_INVALID', `status ${statusCode}`);
        const contentType = headers['content-type'];
        await read({
          url: loadedUrl,
          contentType: typeof contentType === 'string' ? contentType : undefined,
          bytes: stream ?? bytesOf(body),
        });
      }),
    ),
  );
}

async function* bytesOf(body: Buffer): AsyncGenerator<Uint8Array> {
  yield body;
}

/** A pause that the signal can end early. */
export async function pause(ms: number, signal?: AbortSignal, time = systemTime): Promise<void> {
  await time.wait(ms, signal).catch(() => undefined);
}
