// From sitemap URLs to page URLs: reads each file, goes into indexes, tells each file's trouble and goes on.
// Promise: ends on any web — every file once, indexes so deep, so many files, so many URLs — and holds back
// when its taker is slow. Fetching is passed in, so that address guard and limits are the engine's.
import { asCrawlError, CrawlError } from '../../errors.js';
import { normalizeUrl } from '../../request/url.js';
import { createSitemapReader, type SitemapEntry } from './reader.js';
import { sitemapText } from './text.js';

/** A page that a sitemap names. */
export type SitemapUrl = Omit<SitemapEntry, 'kind'>;

export interface SitemapFile {
  /** Where it came from, after redirects. */
  readonly url: string;
  readonly contentType?: string;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Lends a file to `use`; throws CrawlErrors, also for a status that is no success. */
export type OpenSitemap = (url: string, use: (file: SitemapFile) => Promise<void>) => Promise<void>;

export interface SitemapLimits {
  /** Indexes within indexes. */
  readonly maxDepth: number;
  readonly maxFiles: number;
  readonly maxUrls: number;
  /** Decompressed, a file. */
  readonly maxFileBytes: number;
  /** A file that failed for a passing reason is read again, from where it broke off. */
  readonly maxRetries: number;
  readonly retryDelayMs: number;
}

export interface SitemapWalk {
  readonly open: OpenSitemap;
  /** Awaited before more is read. */
  readonly take: (urls: readonly SitemapUrl[]) => Promise<void> | void;
  /** A file that could not be read, or not to its end. */
  readonly onProblem: (problem: SitemapProblem) => void;
  readonly limits: SitemapLimits;
  readonly wait: (ms: number) => Promise<void>;
  readonly signal?: AbortSignal;
}

/** A sitemap that could not be read. */
export interface SitemapProblem {
  readonly url: string;
  readonly error: CrawlError;
}

interface Pending {
  readonly url: string;
  readonly depth: number;
}

export async function walkSitemaps(start: readonly string[], walk: SitemapWalk): Promise<void> {
  const { limits, signal, onProblem } = walk;
  const seen = new Set<string>();
  const pending: Pending[] = [];
  let urlsLeft = limits.maxUrls;
  // Once each: an index may name thousands of files beyond a limit.
  let toldOfDepth = false;
  let toldOfFiles = false;

  function plan(url: string, depth: number, from: string): void {
    const key = normalizeUrl(url);
    if (seen.has(key)) return;
    if (depth > limits.maxDepth) {
      if (toldOfDepth) return;
      toldOfDepth = true;
      onProblem({ url: from, error: limitError(`sitemap indexes nest more than ${limits.maxDepth} deep`) });
    } else if (seen.size < limits.maxFiles) {
      seen.add(key);
      pending.push({ url, depth });
    } else if (!toldOfFiles) {
      toldOfFiles = true;
      onProblem({ url: from, error: limitError(`more than ${limits.maxFiles} sitemap files`) });
    }
  }

  /** Hands on what is new: `progress.entries` were handed on before the file broke off. */
  async function readFile(file: SitemapFile, { url, depth }: Pending, progress: { entries: number }): Promise<void> {
    const reader = createSitemapReader(file.url);
    const { contentType, bytes } = file;
    let toSkip = progress.entries;
    const pass = async (text: string | null): Promise<void> => {
      const entries = reader.read(text);
      if (entries.length === 0) return;
      const fresh = entries.slice(toSkip);
      toSkip -= entries.length - fresh.length;
      const pages: SitemapUrl[] = [];
      for (const { kind, ...page } of fresh) {
        if (kind === 'sitemap') plan(page.url, depth + 1, url);
        else pages.push(page);
      }
      progress.entries += fresh.length;
      if (pages.length > urlsLeft) pages.length = urlsLeft;
      urlsLeft -= pages.length;
      if (pages.length > 0) await walk.take(pages);
      if (urlsLeft === 0) throw limitError(`more than ${limits.maxUrls} URLs in sitemaps`);
    };
    for await (const text of sitemapText(bytes, { contentType, maxBytes: limits.maxFileBytes })) {
      await pass(text);
      signal?.throwIfAborted();
      if (reader.isHopeless) break;
    }
    await pass(null);
    if (reader.isHopeless) throw new CrawlError('SITEMAP_INVALID', 'nests or repeats as no sitemap does');
    if (reader.format === undefined) throw new CrawlError('SITEMAP_INVALID', 'neither a sitemap nor a list of URLs');
  }

  async function readWithRetries(next: Pending): Promise<void> {
    const progress = { entries: 0 };
    for (let retry = 0; ; retry++) {
      try {
        return await walk.open(next.url, (file) => readFile(file, next, progress));
      } catch (error) {
        const known = asCrawlError(error, 'SITEMAP_INVALID');
        const isOver = signal?.aborted || retry >= limits.maxRetries || urlsLeft === 0;
        if (isOver || known.class !== 'transient') throw known;
        await walk.wait(limits.retryDelayMs * 2 ** retry);
      }
    }
  }

  for (const url of start) plan(url, 0, url);
  // By position, not by shift(): an index may name 50,000 files.
  for (let at = 0; at < pending.length && urlsLeft > 0 && !signal?.aborted; at++) {
    const next = pending[at] as Pending;
    try {
      await readWithRetries(next);
    } catch (error) {
      if (!signal?.aborted) onProblem({ url: next.url, error: error as CrawlError });
    }
  }
}

function limitError(message: string): CrawlError {
  return new CrawlError('SITEMAP_LIMIT', message);
}
