// One request and its response over one connection: collects the body within the limits, watches the deadlines,
// and settles exactly once. Whatever goes wrong, the connection is returned or destroyed before it settles.
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Client, Dispatcher } from 'undici';
import { asCrawlError, CrawlError } from '../../errors.js';
import { limitReached, LIMITS } from '../../limits.js';
import type { Coding } from './body/body.js';
import { contentCodings, decodeBody, lendBody } from './body/body.js';
import { BodyPieces } from './body/pieces.js';
import type { BodySource } from './body/stream.js';
import { openBodyStream } from './body/stream.js';
import type { Connection, ConnectionPool } from './connections.js';
import type { Deadlines, Waiting } from './deadlines.js';
import type { Phase } from './errors.js';
import { exchangeError, timeoutError, tooLargeError } from './errors.js';
import { headerText, incomingHeaders } from './headers.js';
import type { LentBody } from './body/lent.js';
import { wasStreamCut, watchStreamEnd } from './stream-end.js';

/** What came back. The body is decoded; empty when discarded or streamed. */
export interface Answer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer;
  /** As received, if the order wants it. */
  readonly received?: Buffer;
  /** The body, where the order gives its memory back; `body` is empty then. */
  readonly lent?: LentBody;
  readonly stream?: Readable;
  readonly wireBytes: number;
  /** When the headers were complete, by the engine's clock. */
  readonly headersAtMs: number;
}

export interface ExchangeLimits {
  readonly host: string;
  /** The end of the whole visit, by the engine's clock, and the span it came from. */
  readonly visitEndsAtMs: number;
  readonly visitMs: number;
  readonly connectMs: number;
  readonly headersMs: number;
  readonly bodyIdleMs: number;
  readonly maxBodyBytes: number;
  /** Keep the body as it came: beside the decoded one, or in its place. */
  readonly received?: 'keep' | 'only';
  readonly lends?: boolean;
}

/** What to do with a body, decided when the headers are in. */
export type BodyUse = 'read' | 'stream' | 'discard';

export interface ExchangeParts {
  readonly pool: ConnectionPool;
  readonly deadlines: Deadlines;
  readonly now: () => number;
  /** The socket of a client, once it is connected. */
  readonly socketOf: (client: Client) => Socket | undefined;
}

/** A chunk of one byte comes with five others, in a TLS record of its own with thirty. */
const FRAME_BYTES_PER_BYTE = 40;
const NO_BODY = Buffer.alloc(0);
/** Reading a redirect's body keeps the connection; beyond this a new connection is cheaper. */
const MAX_DISCARDED_BYTES = 64 * 1024;
/** Early hints come once or twice; a stream of them is an attack. */
const MAX_INTERIM_RESPONSES = LIMITS.interimResponses.max;

export class Exchange implements Dispatcher.DispatchHandler, Waiting, BodySource {
  /** True when the connection had served before: a failure may then be the connection's age, not the server's. */
  readonly reused: boolean;
  private phase: Phase = 'connect';
  private controller: Dispatcher.DispatchController | undefined;
  private readonly pieces = new BodyPieces();
  wireBytes = 0;
  private statusCode = 0;
  private headers: Record<string, string | string[]> = {};
  private codings: readonly Coding[] = [];
  private use: BodyUse = 'read';
  private phaseSinceMs: number;
  private headersAtMs = 0;
  /** What the connection had received when the request went out. */
  private bytesBefore = 0;
  private interim = 0;
  private method = 'GET';
  private ended = false;
  private resolve!: (answer: Answer) => void;
  private reject!: (error: CrawlError) => void;
  private feed: ((chunk: Buffer | null) => boolean) | undefined;
  private fault: ((error: CrawlError) => void) | undefined;

  constructor(
    private readonly parts: ExchangeParts,
    private readonly connection: Connection,
    private readonly limits: ExchangeLimits,
    /** Asked once, with the final status and headers. */
    private readonly decideUse: (statusCode: number, headers: Record<string, string | string[]>) => BodyUse,
    private readonly beforeSend?: () => void,
  ) {
    this.reused = connection.served > 0;
    this.phaseSinceMs = parts.now();
  }

  /** Sends the request. Resolves with the answer (for a stream: with its start), rejects with a CrawlError. */
  run(options: Dispatcher.DispatchOptions): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
      this.method = options.method;
      this.parts.deadlines.add(this);
      this.connection.client.dispatch(options, this);
    });
  }

  /** Ends the exchange with an error in any state. Destroys the socket at once. */
  fail(error: CrawlError): void {
    if (this.ended) return;
    this.ended = true;
    this.parts.deadlines.delete(this);
    this.parts.pool.discard(this.connection, error);
    this.pieces.drop();
    this.fault?.(error);
    this.reject(error);
  }

  check(nowMs: number): void {
    const { limits, phase } = this;
    if (nowMs >= limits.visitEndsAtMs) return this.fail(timeoutError(limits.host, phase, limits.visitMs, true));
    if (phase === 'body' && this.controller?.paused) return;
    if (phase !== 'connect' && this.isAllFraming()) {
      limitReached('framingBytes');
      return this.fail(
        new CrawlError(
          'HTTP_MALFORMED',
          `${limits.host}: sends ${phase === 'headers' ? 'an endless status line' : 'endless chunk extensions'}`,
        ),
      );
    }
    const spanMs = phase === 'connect' ? limits.connectMs : phase === 'headers' ? limits.headersMs : limits.bodyIdleMs;
    if (nowMs - this.phaseSinceMs >= spanMs) this.fail(timeoutError(limits.host, phase, spanMs, false));
  }

  /** The parser skips status texts and extensions of chunks: only the socket knows how much came. */
  private isAllFraming(): boolean {
    const framing = this.bytesRead() - this.bytesBefore - this.wireBytes;
    return framing > LIMITS.framingBytes.max + FRAME_BYTES_PER_BYTE * this.wireBytes;
  }

  /** What the socket has received so far, all of it. */
  private bytesRead(): number {
    return this.socket?.bytesRead ?? 0;
  }

  private get socket(): Socket | undefined {
    return this.parts.socketOf(this.connection.client);
  }

  /** The client calls it when its socket is ready, and writes the request in the same step unless it throws. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.beforeSend?.();
    this.controller = controller;
    this.bytesBefore = this.bytesRead();
    watchStreamEnd(this.socket);
    this.phase = 'headers';
    this.phaseSinceMs = this.parts.now();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (this.ended) return;
    if (!(statusCode >= 100)) {
      return this.fail(new CrawlError('HTTP_MALFORMED', `${this.limits.host}: answers with the status ${statusCode}`));
    }
    if (statusCode < 200) {
      if (++this.interim > MAX_INTERIM_RESPONSES) {
        limitReached('interimResponses');
        this.fail(new CrawlError('HTTP_MALFORMED', `${this.limits.host}: sends interim responses without end`));
      }
      return;
    }
    this.phase = 'body';
    this.headersAtMs = this.phaseSinceMs = this.parts.now();
    this.statusCode = statusCode;
    this.headers = incomingHeaders(headers);
    try {
      this.use = this.decideUse(statusCode, this.headers);
      if (this.use === 'discard') return;
      const { host, maxBodyBytes } = this.limits;
      const announced = headerText(this.headers, 'content-length');
      if (announced !== undefined && Number(announced) > maxBodyBytes && !this.isBodiless()) {
        throw tooLargeError(host, maxBodyBytes, 'announced');
      }
      this.codings = contentCodings(headerText(this.headers, 'content-encoding'), host);
      if (this.use === 'stream') this.startStream();
    } catch (error) {
      this.fail(asCrawlError(error, 'HTTP_MALFORMED'));
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.ended) return;
    this.phaseSinceMs = this.parts.now();
    this.wireBytes += chunk.length;
    if (this.use === 'discard') {
      if (this.wireBytes > MAX_DISCARDED_BYTES) this.abandon();
      return;
    }
    const { host, maxBodyBytes } = this.limits;
    if (this.wireBytes > maxBodyBytes) return this.fail(tooLargeError(host, maxBodyBytes, 'on the wire'));
    if (!this.feed) this.pieces.add(chunk);
    else if (!this.feed(chunk)) this.controller!.pause();
  }

  onResponseEnd(): void {
    if (this.ended) return;
    const cut = this.cutShort();
    if (cut !== undefined) return this.fail(new CrawlError('BODY_INCOMPLETE', `${this.limits.host}: ${cut}`));
    const isLast = headerText(this.headers, 'connection') === 'close';
    // Before waiters for the response are notified, since those capture stacks.
    if (isLast) queueMicrotask(restoreStacks);
    this.end();
    if (isLast) omitStacks();
  }

  /** What is missing of a body. Over HTTP/1.1 the client finds out by itself; over HTTP/2 every end looks complete to it. */
  private cutShort(): string | undefined {
    if (this.use === 'discard' || this.isBodiless()) return undefined;
    const announced = Number(headerText(this.headers, 'content-length') ?? NaN);
    if (this.wireBytes < announced) return 'the body is shorter than its Content-Length';
    return wasStreamCut(this.socket) ? 'the body ended early (the HTTP/2 stream was cut)' : undefined;
  }

  private end(): void {
    this.ended = true;
    this.parts.deadlines.delete(this);
    this.parts.pool.release(this.connection);
    if (this.feed) {
      this.feed(null);
      return;
    }
    if (this.use === 'discard' || this.wireBytes === 0) return this.settle(NO_BODY);
    const { host, maxBodyBytes, received } = this.limits;
    const wire = this.pieces.join();
    if (received === 'only') return this.settle(NO_BODY, { received: wire });
    const lent = this.limits.lends ? lendBody(wire, this.codings, maxBodyBytes) : undefined;
    if (lent) return this.settle(NO_BODY, { lent });
    const more = received === 'keep' ? { received: wire } : {};
    try {
      const body = decodeBody(wire, this.codings, maxBodyBytes, host);
      if (Buffer.isBuffer(body)) this.settle(body, more);
      else body.then((decoded) => this.settle(decoded, more), this.reject);
    } catch (error) {
      this.reject(error as CrawlError);
    }
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.ended) return;
    // A redirect is complete with its headers, and some responses have no body whatever length they declare:
    // how they end does not matter.
    const headersSuffice = this.use === 'discard' || (this.isBodiless() && this.use === 'read');
    if (this.phase === 'body' && headersSuffice) return this.abandon();
    this.fail(exchangeError(this.limits.host, this.phase, error));
  }

  /** For the stream: go on delivering after a pause. */
  resumeBody(): void {
    if (this.ended) return;
    this.phaseSinceMs = this.parts.now();
    this.controller?.resume();
  }

  /** For the stream: its reader has stopped. */
  abandon(): void {
    if (this.ended) return;
    this.ended = true;
    this.parts.deadlines.delete(this);
    this.parts.pool.discard(this.connection, new CrawlError('ABORTED', `${this.limits.host}: the body is not wanted`));
    this.settle(NO_BODY);
  }

  private startStream(): void {
    const { host, maxBodyBytes } = this.limits;
    const opened = openBodyStream(this, this.codings, maxBodyBytes, host);
    this.feed = opened.feed;
    this.fault = opened.fail;
    this.settle(NO_BODY, { stream: opened.stream });
  }

  private isBodiless(): boolean {
    return this.statusCode === 204 || this.statusCode === 304 || this.method === 'HEAD';
  }

  private settle(body: Buffer, more: Pick<Answer, 'received' | 'stream' | 'lent'> = {}): void {
    const { statusCode, headers, wireBytes, headersAtMs } = this;
    this.resolve({ statusCode, headers, body, wireBytes, headersAtMs, ...more });
  }
}

let usualStackLimit: number | undefined;

/**
 * The client makes an error of every connection that ends with its response, right after telling us, and the socket that
 * is given it reads its stack: 4 % of the CPU time of a crawl over HTTPS, for a stack that is never shown.
 */
function omitStacks(): void {
  usualStackLimit ??= Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
}

function restoreStacks(): void {
  if (usualStackLimit !== undefined) Error.stackTraceLimit = usualStackLimit;
  usualStackLimit = undefined;
}
