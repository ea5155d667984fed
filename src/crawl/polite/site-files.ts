// robots.txt and sitemaps by URL, outside of a crawl: fetched one at a time over the HTTP engine, so that address
// guard, redirects, TLS and deadlines hold. Only hosts that the caller names may be private; what files name may not.
import { CrawlError } from '../../errors.js';
import type { Capture, FetchOrder } from '../../fetch/engine.js';
import type { HttpEngine } from '../../fetch/http/engine.js';
import {
  aBoolean,
  aFilledString,
  anyOf,
  arrayOf,
  aString,
  aWholeNumber,
  check,
  type ShapeOf,
} from '../../option-checks.js';
import type { OpenSitemap, SitemapLimits } from '../../politeness/sitemaps/walk.js';
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
  /** Decompressed bytes of one file. Default 256 MiB; the protocol allows 50 MB. */
  maxFileBytes?: number;
  /** How often a file that failed for a passing reason is tried again. Default 3. */
  maxRetries?: number;
  /** Before the first of them; doubled each time. Default 1,000. */
  retryDelayMs?: number;
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
  maxFileBytes: aWholeNumber({ from: 1, orInfinity: true }),
  maxRetries: aWholeNumber({ from: 0 }),
  retryDelayMs: aWholeNumber({ from: 0 }),
};

const SITEMAP_TIMEOUT_MS = 600_000;
const MAX_REDIRECTS = 5;

export function sitemapLimits(options: SitemapOptions, defaultMaxUrls: number): SitemapLimits {
  return Object.freeze({
    maxDepth: options.maxDepth ?? 10,
    // What the protocol lets one index name.
    maxFiles: options.maxFiles ?? 50_000,
    maxUrls: options.maxUrls ?? defaultMaxUrls,
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

/** A pause that ends early when the signal says so. */
export async function pause(ms: number, signal?: AbortSignal, time = systemTime): Promise<void> {
  await time.wait(ms, signal).catch(() => undefined);
}
