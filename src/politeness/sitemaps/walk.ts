// From sitemap URLs to page URLs: reads each file, follows indexes, reports problems and continues.
// Promise: always ends (each file once; limits on depth, files and URLs) and waits for a slow
// consumer. Fetching is passed in, so that the engine's address guard and limits apply.
import { asCrawlError, CrawlError } from '../../errors.js';
import { type LimitName, limitReached, LIMITS } from '../../limits.js';
import { normalizeUrl } from '../../request/url.js';
import { createSitemapReader, type SitemapEntry } from './reader.js';
import { sitemapText } from './text.js';

/** A page that a sitemap names. */
export type SitemapUrl = Omit<SitemapEntry, 'kind'>;

export interface SitemapFile {
  /** The final URL, after redirects. */
  readonly url: string;
  readonly contentType?: string;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Lends a file to `use`; throws CrawlErrors, also for an error status. */
export type OpenSitemap = (url: string, use: (file: SitemapFile) => Promise<void>) => Promise<void>;

export interface SitemapLimits {
  /** Indexes within indexes. */
  readonly maxDepth: number;
  readonly maxFiles: number;
  readonly maxUrls: number;
  /** Of all page URLs together. */
  readonly maxCharacters: number;
  /** Decompressed, a file. */
  readonly maxFileBytes: number;
  /** After a transient failure a file is read again, from where it stopped. */
  readonly maxRetries: number;
  readonly retryDelayMs: number;
}

export interface SitemapWalk {
  readonly open: OpenSitemap;
  /** Awaited before more is read. */
  readonly take: (urls: readonly SitemapUrl[]) => Promise<void> | void;
  /** Whether a page belongs to the site of the file that names it; others are left out. Default: all do. */
  readonly belongs?: (url: string, fileUrl: string) => boolean;
  /** Whether a sitemap that another names is read. Default: all are. */
  readonly follows?: (url: string) => boolean;
  /** A file that could not be read, or not to its end. */
  readonly onProblem: (problem: SitemapProblem) => void;
  readonly limits: SitemapLimits;
  readonly wait: (ms: number) => Promise<void>;
  readonly signal?: AbortSignal;
}

/** A sitemap that could not be read. */
export interface SitemapProblem {
  /** The sitemap that could not be read. */
  readonly url: string;
  /** Why; its `code` is from the catalogue of errors. */
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
  let charactersLeft = limits.maxCharacters;
  // The names of files wait in memory, however few pages they lead to.
  let fileCharactersLeft = LIMITS.sitemapCharacters.max;
  const isFull = (): boolean => urlsLeft === 0 || charactersLeft <= 0;
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
    } else if (seen.size < limits.maxFiles && fileCharactersLeft > 0) {
      fileCharactersLeft -= key.length;
      seen.add(key);
      pending.push({ url, depth });
    } else if (!toldOfFiles) {
      toldOfFiles = true;
      onProblem({ url: from, error: limitError(`more than ${Math.min(limits.maxFiles, seen.size)} sitemap files`) });
    }
  }

  /** Passes on new entries: `progress.entries` were passed on before. */
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
        if (kind === 'sitemap') {
          if (walk.follows?.(page.url) ?? true) plan(page.url, depth + 1, url);
        } else if (walk.belongs?.(page.url, file.url) ?? true) pages.push(page);
      }
      progress.entries += fresh.length;
      const fitting = pages.slice(0, urlsLeft).filter(({ url }) => (charactersLeft -= url.length) >= 0);
      urlsLeft -= Math.min(urlsLeft, pages.length);
      if (fitting.length > 0) await walk.take(fitting);
      if (charactersLeft <= 0) {
        throw limitError(`more than ${limits.maxCharacters} characters of URLs in sitemaps`, 'sitemapCharacters');
      }
      if (urlsLeft === 0) throw limitError(`more than ${limits.maxUrls} URLs in sitemaps`, 'sitemapUrls');
    };
    for await (const text of sitemapText(bytes, { contentType, maxBytes: limits.maxFileBytes })) {
      await pass(text);
      signal?.throwIfAborted();
      if (reader.isHopeless) break;
    }
    await pass(null);
    if (reader.isHopeless) throw new CrawlError('SITEMAP_INVALID', 'nested or repeated elements: not a sitemap');
    if (reader.format === undefined) throw new CrawlError('SITEMAP_INVALID', 'not a sitemap or a list of URLs');
  }

  async function readWithRetries(next: Pending): Promise<void> {
    const progress = { entries: 0 };
    for (let retry = 0; ; retry++) {
      try {
        return await walk.open(next.url, (file) => readFile(file, next, progress));
      } catch (error) {
        const known = asCrawlError(error, 'SITEMAP_INVALID');
        const isOver = signal?.aborted || retry >= limits.maxRetries || isFull();
        if (isOver || known.class !== 'transient') throw known;
        await walk.wait(limits.retryDelayMs * 2 ** retry);
      }
    }
  }

  for (const url of start) plan(url, 0, url);
  // By position, not by shift(): an index may name 50,000 files.
  for (let at = 0; at < pending.length && !isFull() && !signal?.aborted; at++) {
    const next = pending[at] as Pending;
    try {
      await readWithRetries(next);
    } catch (error) {
      if (!signal?.aborted) onProblem({ url: next.url, error: error as CrawlError });
    }
  }
}

function limitError(message: string, limit?: LimitName): CrawlError {
  if (limit !== undefined) limitReached(limit);
  return new CrawlError('SITEMAP_LIMIT', message);
}
