// One request and its answer on the synthetic web: sending, waiting and streaming with the request's own lifetime.
// Promise: when the connection ends, every timer of the exchange ends too, and the log row is closed once.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestLog } from './log.js';

/** Header names and values in turn: the form that node writes fastest. */
export type FlatHeaders = string[];

export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly host: number;
  /** Path without query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Milliseconds on the web's clock. */
  now(): number;
  /** The version of the page as it truly is, for the log, whatever the answer says of it. */
  shows(version: number): void;
  /** Runs the step after the delay, unless the connection ends before. */
  after(delayMs: number, step: () => void): void;
  /** Status, headers and whole body at once. */
  send(status: number, headers: FlatHeaders, body?: string | Buffer): void;
  /** The body at this many bytes per second. */
  drip(status: number, headers: FlatHeaders, body: Buffer, bytesPerSec: number): void;
  /** Pieces for as long as `next` gives them and the client reads them. */
  stream(status: number, headers: FlatHeaders, next: () => Buffer | undefined): void;
  /** Breaks the connection: with a reset where the system allows it. */
  reset(): void;
}

const DRIP_STEP_MS = 50;

export function openExchange(
  req: IncomingMessage,
  res: ServerResponse,
  log: RequestLog,
  seen: { host: number; page: number; path: string; connection: number },
): Exchange {
  const { host } = seen;
  const target = req.url ?? '/';
  const ticket = log.begin({ ...seen, path: target, method: req.method ?? '', headers: req.headers });
  const timers = new Set<NodeJS.Timeout>();
  let logged = false;

  const finish = (atMs: number): void => {
    if (logged) return;
    logged = true;
    log.end(ticket, host, res.headersSent ? res.statusCode : 0, atMs);
  };
  res.on('close', () => {
    for (const timer of timers) clearTimeout(timer);
    timers.clear();
    finish(log.now());
  });

  function after(delayMs: number, step: () => void): void {
    if (res.closed || req.socket.destroyed) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      step();
    }, delayMs);
    timers.add(timer);
  }

  function end(body: string | Buffer | undefined): void {
    // Read before the write: the client may have everything before the next line runs here. A body that the
    // system did not take whole ends when the rest has left.
    const atMs = log.now();
    res.end(body);
    if (res.socket?.writableLength === 0) finish(atMs);
  }

  function send(status: number, headers: FlatHeaders, body?: string | Buffer): void {
    if (res.closed) return;
    res.writeHead(status, headers);
    end(body);
  }

  function drip(status: number, headers: FlatHeaders, body: Buffer, bytesPerSec: number): void {
    res.writeHead(status, headers);
    const step = Math.max(1, Math.round((bytesPerSec * DRIP_STEP_MS) / 1000));
    let at = 0;
    const pour = (): void => {
      const piece = body.subarray(at, at + step);
      at += step;
      if (at >= body.length) return end(piece);
      res.write(piece);
      after(DRIP_STEP_MS, pour);
    };
    pour();
  }

  function stream(status: number, headers: FlatHeaders, next: () => Buffer | undefined): void {
    res.writeHead(status, headers);
    const pour = (): void => {
      while (!res.closed) {
        const piece = next();
        if (piece === undefined) return end(undefined);
        if (!res.write(piece)) {
          res.once('drain', pour);
          return;
        }
      }
    };
    pour();
  }

  function reset(): void {
    // Only a plain TCP socket can send a reset; under TLS the connection is cut.
    if ('encrypted' in req.socket) req.socket.destroy();
    else req.socket.resetAndDestroy();
  }

  let query: URLSearchParams | undefined;
  return {
    req,
    res,
    host,
    path: seen.path,
    get query() {
      return (query ??= new URLSearchParams(target.slice(seen.path.length + 1)));
    },
    now: log.now,
    shows: (version) => log.shows(ticket, version),
    after,
    send,
    drip,
    stream,
    reset,
  };
}
