// What a pod worker stores per page: its text and, if configured, its response.
// Built when the handler has ended, so that settling only writes.
import type { Capture } from '../../fetch/engine.js';
import type { HttpCrawlingContext } from '../../handle/context.js';
import type { PageContent } from '../../parse/page.js';
import { decodeBody, detectEncoding } from '../../parse/encoding/encoding.js';
import type { Request } from '../../request/request.js';
import type { Remembering } from '../../fresh/remembering.js';
import type { ContentStore } from '../../store/content/content.js';
import type { PackedPage } from '../../store/content/page.js';

export interface PageRecorder {
  /** A response is about to be handled. */
  see(request: Request, capture: Capture): void;
  /** The handler is done: builds what is stored. */
  record(request: Request, contentType: string, content: () => PageContent): Promise<void>;
  /** The server said that the page is as it was: stores that it was seen again, if its response is stored. */
  confirm(request: Request, capture: Capture): void;
  /** What was built for a request; once. */
  take(request: Request): PackedPage | undefined;
  readonly bytes: number;
}

/** Types whose bodies are text without markup. */
const PLAIN_TEXT = /^(?:text\/|application\/(?:[\w.+-]+\+)?json$|application\/(?:x-)?(?:javascript|ndjson|yaml)$)/;
const MARKUP = /^(?:text\/html|application\/xhtml\+xml|text\/xml|application\/(?:[\w.+-]+\+)?xml)$/;

export function createPageRecorder(options: {
  readonly content: Pick<ContentStore, 'pack' | 'packConfirmed'>;
  /** What earlier crawls stored; a body that is stored is not stored again. */
  readonly remembering?: Pick<Remembering, 'originalOf' | 'stored'> | undefined;
  readonly extractText: boolean | 'main';
  readonly storeRawHtml: boolean;
  readonly nowMs?: () => number;
}): PageRecorder {
  const { content: store, remembering, extractText, storeRawHtml, nowMs = Date.now } = options;
  // Failed requests are collected with whatever was received.
  const captures = new WeakMap<Request, Capture>();
  const packed = new WeakMap<Request, PackedPage>();
  let bytes = 0;

  function textOf(capture: Capture, contentType: string, content: () => PageContent): string | undefined {
    if (extractText === false) return undefined;
    if (!capture.document && !MARKUP.test(contentType)) {
      // A PDF or an image has no text of its own.
      if (!PLAIN_TEXT.test(contentType)) return undefined;
      return decodeBody(capture.body, detectEncoding(capture.body, headerOf(capture)));
    }
    return extractText === 'main' ? content().main().text : content().text;
  }

  return {
    see: (request, capture) => void captures.set(request, capture),
    async record(request, contentType, content) {
      const capture = captures.get(request);
      if (!capture) return;
      captures.delete(request);
      bytes += capture.body.length;
      const { statusCode, headers, body, received, loadedUrl } = capture;
      const asItCame = received
        ? { body: received, bodyIs: 'as-received' as const }
        : { body, bodyIs: 'decoded' as const };
      const page = await store.pack({
        uniqueKey: request.uniqueKey,
        url: request.url,
        loadedUrl: loadedUrl === request.url ? undefined : loadedUrl,
        statusCode,
        fetchedAtMs: nowMs(),
        contentType,
        depth: request.crawlDepth,
        text: textOf(capture, contentType, content),
        response: storeRawHtml ? { statusCode, headers, ...asItCame } : undefined,
        original: remembering?.originalOf(request),
      });
      packed.set(request, page);
      remembering?.stored(request, page.original);
    },
    confirm(request, { headers }) {
      const original = remembering?.originalOf(request);
      if (!storeRawHtml || !original) return;
      const { uniqueKey, url, crawlDepth: depth } = request;
      // What the page is, not what this answer was.
      const page = { uniqueKey, url, depth, statusCode: 200, contentType: '', fetchedAtMs: nowMs() };
      const confirmed = store.packConfirmed({ ...page, response: { headers }, original });
      if (confirmed) packed.set(request, confirmed);
    },
    take(request) {
      const page = packed.get(request);
      packed.delete(request);
      return page;
    },
    get bytes() {
      return bytes;
    },
  };
}

/** Links to other pages; scans the page unless already done. */
export function countLinks(
  { document, contentType }: Pick<HttpCrawlingContext, 'document' | 'contentType'>,
  content: () => PageContent,
): number {
  if (!document && !MARKUP.test(contentType.type)) return 0;
  let count = 0;
  for (const { element } of content().links) if (element === 'a') count++;
  return count;
}

function headerOf({ headers }: Capture): string | undefined {
  const header = headers['content-type'];
  return Array.isArray(header) ? header[0] : header;
}
