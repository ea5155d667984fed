// The HTTP side of the server: listens, lets requests pass the gate, answers, and stops cleanly.
// Promise: slow clients and silent sockets cost a bounded time and little memory; every request gets one answer.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { CrawlError } from '../../errors.js';
import type { Log } from '../../observe/log.js';
import { ApiError, asApiError } from '../errors.js';
import { parseJson, readBody } from './body.js';
import type { Gate } from './gate.js';
import { holdSilent } from './silent.js';
import type { Answer, Call, Matched } from './router.js';
import type { Token } from './tokens.js';

export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  /** Whether X-Forwarded-Proto says how clients reach the server. */
  readonly trustProxy: boolean;
  readonly gate: Gate;
  readonly route: (method: string, path: string) => Matched;
  readonly health: () => Promise<object>;
  /** Answers what needs no token; resolves to false when it is not for it. */
  readonly open?: (request: IncomingMessage, response: ServerResponse, path: string) => Promise<boolean>;
  readonly onUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer, token: Token, base: string) => void;
  readonly onAnswer: (path: string, status: number, ms: number) => void;
  readonly log: Log;
}

export interface Listener {
  readonly url: string;
  /** Resolves when nothing is being answered. */
  idle(): Promise<void>;
  /** Takes nothing more, answers what is under way within `graceMs`, then closes every socket. */
  close(graceMs: number): Promise<void>;
  readonly isStopping: boolean;
  /** Health says 503 and no new work is taken. */
  beginStop(): void;
}

const HEADERS_MS = 10_000;
const KEEP_ALIVE_MS = 65_000;
const UNREAD_MS = 60_000;
const MAX_HEADER_BYTES = 16_384;
const MAX_CONNECTIONS = 20_000;
const SAFE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
};

export async function startListener(options: ListenerOptions): Promise<Listener> {
  const { gate, log } = options;
  let isStopping = false;
  const underWay = new Set<AbortController>();
  const idleWaiters: (() => void)[] = [];
  const server = createServer(
    {
      headersTimeout: HEADERS_MS,
      // Who reads a body waits for it only so long (body.ts): a batch of a million lines may take its time.
      requestTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      connectionsCheckingInterval: 2_000,
    },
    (request, response) => void serve(request, response),
  );
  server.maxConnections = MAX_CONNECTIONS;
  server.maxHeadersCount = 100;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedMs = performance.now();
    const leaving = new AbortController();
    underWay.add(leaving);
    // An abort costs as much as a small answer: only who left before the end is worth it.
    response.once('close', () => response.writableFinished || leaving.abort());
    // Nobody waits for the rest of a body that was answered.
    response.once('finish', () => request.complete || request.destroy());
    let path = 'other';
    try {
      const answer = await answerTo(request, response, leaving.signal, (matched) => (path = matched));
      if (answer !== 'written') send(request, response, answer);
    } catch (error) {
      sendError(request, response, error);
    } finally {
      underWay.delete(leaving);
      if (underWay.size === 0) for (const resume of idleWaiters.splice(0)) resume();
      options.onAnswer(path, response.statusCode, performance.now() - startedMs);
    }
  }

  async function answerTo(
    request: IncomingMessage,
    response: ServerResponse,
    signal: AbortSignal,
    note: (path: string) => void,
  ): Promise<Answer> {
    const method = request.method ?? 'GET';
    const url = targetOf(request);
    if (url.pathname === '/health' && (method === 'GET' || method === 'HEAD')) {
      note('/health');
      return isStopping ? { status: 503, json: { status: 'stopping' } } : { json: await options.health() };
    }
    gate.checkWay(request);
    if (method === 'OPTIONS') {
      preflight(request, response);
      return 'written';
    }
    if (await options.open?.(request, response, url.pathname)) {
      note('/console');
      return 'written';
    }
    const token = gate.tokenOf(request);
    if (isStopping) throw stopping();
    const { handle, params, path } = options.route(method === 'HEAD' ? 'GET' : method, url.pathname);
    note(path);
    const json = async (): Promise<unknown> => parseJson((await readBody(request)).toString('utf8'));
    const call: Call = {
      request,
      response,
      url,
      params,
      token,
      base: baseOf(request, options.trustProxy),
      signal,
      json,
    };
    return handle(call);
  }

  function preflight(request: IncomingMessage, response: ServerResponse): void {
    response.writeHead(204, {
      ...gate.corsHeaders(request),
      'access-control-allow-methods': 'GET, POST, PATCH, DELETE, OPTIONS',
      'access-control-allow-headers':
        'authorization, content-type, x-idempotency-key, mcp-protocol-version, mcp-session-id',
      'access-control-max-age': '600',
    });
    response.end();
  }

  function send(request: IncomingMessage, response: ServerResponse, answer: Exclude<Answer, 'written'>): void {
    if (response.writableEnded || response.destroyed) return;
    const text = 'json' in answer ? JSON.stringify(answer.json) : 'raw' in answer ? answer.raw : answer.text;
    const type = 'text' in answer ? answer.type : 'application/json; charset=utf-8';
    const bytes = Buffer.from(text);
    // A client that does not read its answer must not hold it for ever.
    response.setTimeout(UNREAD_MS);
    response.writeHead(answer.status ?? 200, {
      ...SAFE_HEADERS,
      ...gate.corsHeaders(request),
      'content-type': type,
      'content-length': bytes.length,
      // A connection that is kept would hold up the end; what is left of a body is not worth reading.
      ...((isStopping || !request.complete) && { connection: 'close' }),
    });
    response.end(request.method === 'HEAD' ? undefined : bytes);
  }

  function sendError(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    const known = asApiError(error);
    if (known.code === 'INTERNAL') log.exception(error as Error, 'A request failed');
    if (response.headersSent) return void response.destroy();
    if (known.retryAfterSecs !== undefined) response.setHeader('retry-after', String(known.retryAfterSecs));
    if (known.status === 401) response.setHeader('www-authenticate', 'Bearer');
    const { message, code, details } = known;
    send(request, response, {
      status: known.status,
      json: { success: false, error: message, code, ...(details !== undefined && { details }) },
    });
  }

  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    try {
      gate.checkWay(request);
      const token = gate.tokenOf(request);
      if (isStopping) throw stopping();
      options.onUpgrade(request, socket, head, token, baseOf(request, options.trustProxy));
    } catch (error) {
      const { status, message, retryAfterSecs } = asApiError(error);
      const retryAfter = retryAfterSecs === undefined ? '' : `retry-after: ${retryAfterSecs}\r\n`;
      socket.end(
        `HTTP/1.1 ${status} Refused\r\n${retryAfter}connection: close\r\ncontent-length: ${Buffer.byteLength(message)}\r\n\r\n${message}`,
      );
    }
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (socket.writable) socket.end(brokenAnswer(error));
    else socket.destroy();
  });
  holdSilent(server, HEADERS_MS);
  const sockets = new Set<Socket>();
  function forget(this: Socket): void {
    sockets.delete(this);
  }
  server.on('connection', (socket) => void sockets.add(socket.once('close', forget)));

  await listening(server, options.host, options.port);
  const { port } = server.address() as AddressInfo;
  const { host } = options;

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    get isStopping() {
      return isStopping;
    },
    beginStop: () => void (isStopping = true),
    idle: () => new Promise((resolve) => (underWay.size === 0 ? resolve() : idleWaiters.push(resolve))),
    async close(graceMs) {
      isStopping = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const timer = setTimeout(() => {
        for (const leaving of underWay) leaving.abort();
        for (const socket of sockets) socket.destroy();
      }, graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

const BROKEN: Readonly<Record<string, readonly [status: string, message: string, code: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [
    '408 Request Timeout',
    `The headers did not arrive within ${HEADERS_MS / 1_000} s.`,
    'REQUEST_TIMEOUT',
  ],
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    `The headers are larger than ${MAX_HEADER_BYTES} bytes.`,
    'HEADERS_TOO_LARGE',
  ],
};

/** For what never became a request. */
function brokenAnswer({ code = '' }: NodeJS.ErrnoException): string {
  const [status, error, name] = BROKEN[code] ?? ['400 Bad Request', 'This is not a valid HTTP request.', 'BAD_REQUEST'];
  const body = JSON.stringify({ success: false, error, code: name });
  const type = 'content-type: application/json; charset=utf-8';
  return `HTTP/1.1 ${status}\r\n${type}\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

const stopping = (): ApiError => new ApiError(503, 'The server is stopping.', 'STOPPING', undefined, 5);

/** What is asked for. Anybody can send a target that is no URL. */
function targetOf({ url = '/' }: IncomingMessage): URL {
  try {
    return new URL(url, 'http://server.invalid');
  } catch {
    throw new ApiError(400, 'The target of the request is not a valid URL.', 'BAD_REQUEST');
  }
}

/** As the client wrote it: `next` must lead back to the same server. Anybody can send X-Forwarded-Proto. */
function baseOf({ headers }: IncomingMessage, trustProxy: boolean): string {
  const proto = trustProxy && headers['x-forwarded-proto'] === 'https' ? 'https' : 'http';
  return `${proto}://${headers.host ?? 'localhost'}`;
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'EADDRINUSE' ? 'the port is in use. Choose another with --port' : cause.message;
      reject(new CrawlError('OPTION_INVALID', `Cannot listen at ${host}:${port}: ${why}`, { cause }));
    });
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      server.on('error', () => undefined);
      resolve();
    });
  });
}
