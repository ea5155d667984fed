// The result of one URL of a batch: always exactly one, with the page or the reason for its absence.
// Promise: plain facts are available at once; expensive fields are computed when first read.
import type { ErrorCode } from '../../errors.js';
import type { ConsoleMessage, NetworkRequest } from '../../fetch/browser/capture.js';
import type { Capture } from '../../fetch/engine.js';
import type { PageArtifacts } from '../browser/engine.js';
import {
  createResultContent,
  NO_CONTENT,
  type ResultContent,
  type ResultLinks,
  type ResultMedia,
  type ResultMetadata,
} from '../page/result-content.js';
import type { Extracted } from '../../extract/fields/fields.js';
import type { PageMarkdown } from '../../extract/markdown/markdown-document.js';
import type { PageTable } from '../../extract/fields/tables.js';
import type { DuplicateOf } from '../../fresh/page-change.js';
import type { ResultChange } from './remembered.js';
import type { ContentConfig } from './run-config.js';

/** Whether a result was read from the cache. */
export type CacheStatus = 'hit' | 'hit_validated' | 'miss';

/** How a URL went through the dispatcher. */
export interface DispatchFacts {
  /** Unique within the process; the monitor shows it, too. */
  readonly taskId: string;
  /** The place of the URL in its list, from 0 (ours). */
  readonly index: number;
  /** Resident memory of the process when the URL ended, in MB. */
  readonly memoryUsage: number;
  /** The highest that was seen while it was in work, in MB. */
  readonly peakMemory: number;
  /** When its first attempt began, as an ISO date. */
  readonly startTime: string;
  /** When the last attempt ended (ISO 8601). */
  readonly endTime: string;
  /** 1 without retries; 0 when the URL was never fetched, such as an invalid one. */
  readonly attempts: number;
  /** Milliseconds between reading the URL from the list and its first attempt. */
  readonly waited: number;
}

/** How long a fetch took. */
export interface ResultTimings {
  /** Milliseconds of the last attempt until the response's headers, and until its end. */
  readonly headersMs: number;
  /** From the request to the last byte. */
  readonly totalMs: number;
}

/** A capture that tells what fetched it, and what else the page gave. */
export interface FetchedCapture extends Capture {
  readonly engine?: 'http' | 'browser';
  readonly artifacts?: PageArtifacts;
}

const NO_BODY = Buffer.alloc(0);

/** What a result is made from. */
export interface ResultParts {
  readonly url: string;
  readonly capture: FetchedCapture | undefined;
  readonly engine: 'http' | 'browser';
  readonly failure: { readonly code: ErrorCode; readonly message: string } | undefined;
  readonly redirectChain: readonly string[];
  readonly cacheStatus: CacheStatus;
  readonly fetchedAt: string;
  readonly config: ContentConfig & { readonly sessionId?: string };
  readonly dispatch: DispatchFacts;
  /** What a model found. */
  readonly modelled?: { readonly data: unknown } | undefined;
}

/**
 * The result of one URL.
 *
 * @example
 * const result = await crawler.run('https://example.com/');
 * if (result.success) console.log(result.statusCode, result.text);
 * else console.error(result.errorCode, result.errorMessage);
 */
export class CrawlResult {
  /** Exactly as given. */
  readonly url: string;
  /** The page's final URL; null without a page. */
  readonly loadedUrl: string | null;
  /** Whether a redirect led to `loadedUrl`. */
  readonly redirected: boolean;
  /** The URLs that redirected on the way to `loadedUrl`, in order; the first is `url`. */
  readonly redirectChain: readonly string[];
  /** The final status is below 400 and the body was read. */
  readonly success: boolean;
  /** Of the final response; null without one. */
  readonly statusCode: number | null;
  /** Of the response, names in lower case. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** What went wrong; null on success. */
  readonly errorMessage: string | null;
  /** Its code (docs/errors.md); null on success. */
  readonly errorCode: ErrorCode | null;
  /** What fetched it; for a URL that was never requested, the crawler's engine. */
  readonly engine: 'http' | 'browser';
  /** A PNG of the whole page, if requested. */
  readonly screenshot: Buffer | null;
  /** The page as PDF, if requested. */
  readonly pdf: Buffer | null;
  /** The page with all its parts as one file, if requested. */
  readonly mhtml: string | null;
  /** With `captureConsole`. */
  readonly consoleMessages: readonly ConsoleMessage[] | null;
  /** With `captureNetwork`. */
  readonly networkRequests: readonly NetworkRequest[] | null;
  /** The session it was fetched with. */
  readonly sessionId: string | null;
  /** Whether the page cache had it. */
  readonly cacheStatus: CacheStatus;
  /** When the page was fetched (of a hit: when it was stored), as an ISO date. */
  readonly fetchedAt: string;
  /** Of the decoded body. */
  readonly bytes: number;
  /** The page that this one nearly repeats, with `duplicates`; null if it repeats none. */
  readonly duplicateOf: DuplicateOf | null = null;
  /** What became of the page since it was last seen, with `remember`; null where nothing can be said. */
  readonly change: ResultChange | null = null;
  /** How long headers and the whole response took. */
  readonly timings: ResultTimings;
  /** When the task ran, and how often it was tried. */
  readonly dispatch: DispatchFacts;
  readonly #body: Buffer;
  readonly #makeContent: () => ResultContent;
  readonly #modelled: ResultParts['modelled'];
  #made: ResultContent | undefined;

  /** @internal */
  constructor(parts: ResultParts) {
    const { url, capture, engine, failure, redirectChain, cacheStatus, fetchedAt, config, dispatch } = parts;
    this.url = url;
    this.loadedUrl = capture?.loadedUrl ?? null;
    this.redirected = redirectChain.length > 0;
    this.redirectChain = redirectChain;
    this.success = failure === undefined;
    this.statusCode = capture?.statusCode ?? null;
    this.headers = capture?.headers ?? {};
    this.errorMessage = failure?.message ?? null;
    this.errorCode = failure?.code ?? null;
    this.engine = capture?.engine ?? engine;
    this.screenshot = capture?.artifacts?.screenshot ?? null;
    this.pdf = capture?.artifacts?.pdf ?? null;
    this.mhtml = capture?.artifacts?.mhtml ?? null;
    this.consoleMessages = capture?.artifacts?.consoleMessages ?? null;
    this.networkRequests = capture?.artifacts?.networkRequests ?? null;
    this.sessionId = config.sessionId ?? null;
    this.cacheStatus = cacheStatus;
    this.fetchedAt = fetchedAt;
    this.bytes = capture?.body.length ?? 0;
    this.#body = capture?.body ?? NO_BODY;
    this.timings = { headersMs: capture?.timings.headersMs ?? 0, totalMs: capture?.timings.totalMs ?? 0 };
    this.dispatch = dispatch;
    this.#modelled = parts.modelled;
    this.#makeContent = () => (capture ? createResultContent(capture, config) : NO_CONTENT);
  }

  /** The body as it came, decompressed: of images, PDFs and other files, too. Empty when there is none. */
  get body(): Buffer {
    return this.#body;
  }

  get #content(): ResultContent {
    return (this.#made ??= this.#makeContent());
  }

  /** The body as text; empty for images and the like. */
  get html(): string {
    return this.#content.html;
  }

  /** The page without scripts, styles and attributes that say nothing. */
  get cleanedHtml(): string {
    return this.#content.cleanedHtml;
  }

  /** The readable text, blocks on lines of their own. */
  get text(): string {
    return this.#content.text;
  }

  /** The links of the page, by whether they stay on its site. */
  get links(): ResultLinks {
    return this.#content.links;
  }

  /** Images, videos and sounds of the page. */
  get media(): ResultMedia {
    return this.#content.media;
  }

  /** Title, description, canonical URL, language, Open Graph and JSON-LD; null when there is no page. */
  get metadata(): ResultMetadata | null {
    return this.#content.metadata ?? null;
  }

  /** The page as markdown: `raw` all of it, `fit` its main content; `String(markdown)` is `raw`. */
  get markdown(): PageMarkdown {
    return this.#content.markdown;
  }

  /** The tables of data, as rows of text. */
  get tables(): readonly PageTable[] {
    return this.#content.tables;
  }

  /** What the config's `extract` found; null without one. */
  get extracted(): Extracted | readonly Extracted[] | null {
    // The schema defines what a model returns.
    return this.#modelled ? (this.#modelled.data as Extracted) : (this.#content.extracted ?? null);
  }

  /** @internal By which it is compared with the other pages of its batch. */
  comparedText(): string {
    return this.#content.compared;
  }

  /** @internal Names the page that it repeats. */
  markCopyOf(page: DuplicateOf): void {
    (this as { duplicateOf: DuplicateOf | null }).duplicateOf = page;
  }

  /** @internal Says what became of the page. */
  markChange(change: ResultChange): void {
    (this as { change: ResultChange | null }).change = change;
  }

  /** What `console.log` shows: what became of the URL; the content is in `html`, `markdown`, `text` and the like. */
  [Symbol.for('nodejs.util.inspect.custom')](
    _depth: number,
    options: object,
    inspect: (value: unknown, options: object) => string,
  ): string {
    const { url, loadedUrl, success, statusCode, errorCode, errorMessage, engine, cacheStatus, bytes, fetchedAt } =
      this;
    const title = this.metadata?.title ?? null;
    const failure = success ? {} : { errorCode, errorMessage };
    const facts = { url, loadedUrl, success, statusCode, ...failure, title, bytes, engine, cacheStatus, fetchedAt };
    return `CrawlResult ${inspect(facts, options)}`;
  }

  /** Everything, the computed fields included. */
  toJSON(): Record<string, unknown> {
    const { html, cleanedHtml, text, links, media, metadata, tables, extracted } = this;
    const { raw, withCitations, references, fit } = this.markdown;
    const markdown = { raw, withCitations, references, fit };
    const computed = { html, cleanedHtml, markdown, text, links, media, tables, metadata, extracted };
    return Object.assign({} as Record<string, unknown>, this, computed);
  }
}
