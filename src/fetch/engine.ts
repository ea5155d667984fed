// PORT. An engine fetches: it lends the capture of one visit to a continuation and releases it when that ends.
// Placement is only a matter of the continuation: finish here, or pass the capture on.
import type { ReadDocument } from '../documents/documents.js';
import type { CrawlError } from '../errors.js';

/** What to fetch and within which limits. Resolved by the crawl; the engine trusts it. */
export interface FetchOrder {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload?: string | Uint8Array;
  /** An http(s) proxy, credentials in the URL. */
  readonly proxyUrl?: string;
  /** Cookies of the visit's session: read before each hop, updated after it. */
  readonly cookies?: CookieJar;
  /** `follow`: up to `maxRedirects` hops in place. `report`: the capture of the first redirect is the result. */
  readonly redirects: 'follow' | 'report';
  readonly maxRedirects: number;
  /** Asked before each hop is followed; a reason refuses it and becomes `capture.refusedRedirect`. */
  readonly allowRedirect?: (target: string) => string | undefined;
  /** The whole visit, from the first byte out to the last byte in. */
  readonly timeoutMs: number;
  /** Cap on decoded bytes; the cap on wire bytes is the same. */
  readonly maxBodyBytes: number;
  /** Hand over the body as a stream instead of reading it (FileDownload). */
  readonly stream?: boolean;
  /** `keep`: also keep the body as received. `only`: do not decode it here. Default: decoded only. */
  readonly received?: 'keep' | 'only';
  /** Who ordered reads the body by way of `capture.lent`, and gives it back. Without `received`. */
  readonly lends?: boolean;
  readonly ignoreTlsErrors: boolean;
  /** The user named this URL: what its host is first found at is pinned. */
  readonly seeded?: boolean;
  /**
   * Called when a connection is ready and the next thing is to write a request to it: for every hop and every repeat, on
   * new and kept connections. If it throws, the visit ends and the request is not sent.
   */
  readonly beforeSend?: () => void;
  /** The least time between a request that died with a kept connection and its repeat: the server may have seen it. */
  readonly repeatAfterMs?: number;
  readonly signal?: AbortSignal;
  /** May be ended as FETCH_SLOW in favour of others: until the response begins, or until its body is complete. */
  readonly yields?: 'until-head' | 'until-end';
}

/** A fetch under way, for the code that watches all of them. */
export interface WatchedFetch {
  readonly url: string;
  /** Response heads so far, those of redirects included. */
  readonly heads: number;
  /** Bytes of the body that is coming. */
  readonly receivedBytes: number;
  /** Breaks it off with this error. */
  end(error: CrawlError): void;
}

/** Told of every fetch that yields. Both are called often: they must be cheap. */
export interface FetchWatch {
  enter(fetch: WatchedFetch): void;
  /** `headMs`: how long its answer took, if there was one. */
  leave(fetch: WatchedFetch, headMs?: number): void;
}

export interface CookieJar {
  /** The Cookie header for a URL, or ''. */
  cookieHeader(url: string): string;
  store(url: string, setCookieHeaders: readonly string[]): void;
}

/** A response, wholly received. */
export interface Capture {
  /** As requested. */
  readonly url: string;
  /** Where the body came from, after redirects. */
  readonly loadedUrl: string;
  readonly redirectChain: readonly string[];
  readonly statusCode: number;
  /** Names in lower case; repeated headers joined as HTTP allows, `set-cookie` as a list. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** Decompressed; empty when streamed, or received only. Reading it keeps it: lent memory is then not used again. */
  readonly body: Buffer;
  /** The body in memory that the engine uses again; for orders that ask for it, by engines that can. */
  readonly lent?: { readonly bytes: Buffer; keep(): Buffer; giveBack(): void };
  /** Still in the Content-Encoding that the headers name; for orders that ask for it, by engines that can. */
  readonly received?: Buffer;
  readonly stream?: import('node:stream').Readable;
  /** The body read as a document, for visits that want it. */
  document?: ReadDocument;
  readonly wireBytes: number;
  /** Absolute target of a redirect that was reported instead of followed. */
  readonly redirectTo?: string;
  /** Set when a hop was refused: where it led and why. */
  readonly refusedRedirect?: { readonly url: string; readonly reason: string };
  readonly timings: { readonly startedAtMs: number; readonly headersMs: number; readonly totalMs: number };
  /** Another process fetched it, and hands it on; with the trace of that visit, if there is one. */
  readonly handed?: { readonly trace?: string | undefined };
}

/** The body, to be looked at now and not to be held on to: what is lent stays lent. */
export function bytesOf(capture: Pick<Capture, 'body' | 'lent'>): Buffer {
  return capture.lent?.bytes ?? capture.body;
}

export interface Engine<Live extends object = object, Order extends FetchOrder = FetchOrder> {
  /** Fetches and lends the capture; what only this engine can offer comes as `live`. Throws CrawlErrors. */
  visit<T>(order: Order, use: (capture: Capture, live: Live) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
