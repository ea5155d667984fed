// A small forward proxy on loopback for tests: absolute-form HTTP requests and CONNECT tunnels, with a log of what
// passed. Promise: after close() no socket is left.
import { parseUrl } from '../request/url.js';
import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { CrawlError } from '../errors.js';

/** How the proxy behaves. */
export interface ProxyOptions {
  /** Demand these credentials (407 without them). */
  readonly auth?: { readonly username: string; readonly password: string };
  /** Port to listen on; 0 takes a free one. Default 0. */
  readonly port?: number;
  /** Where a host name leads instead of to its own address; undefined keeps it. */
  readonly resolve?: (hostname: string) => string | undefined;
  /** Misbehave: answer 502, never answer, or reset every connection. */
  readonly fault?: 'bad-gateway' | 'hang' | 'reset';
  /** Bound of the log. Default 100,000. */
  readonly maxLogEntries?: number;
}

/** A request that went through the proxy. */
export interface ProxiedRequest {
  /** The method, or `CONNECT` for a tunnel. */
  readonly method: string;
  /** The whole URL, or `host:port` of a tunnel. */
  readonly target: string;
  /** What the proxy answered: the target's status, 200 for an open tunnel, 407, 502. */
  readonly status: number;
  /** The name that the client gave, if it sent credentials. */
  readonly username: string | undefined;
}

/** A running proxy. */
export interface TestProxy {
  /** `http://127.0.0.1:port`, with the credentials if it demands any. */
  readonly url: string;
  /** The port it listens on. */
  readonly port: number;
  /** What passed, oldest first. */
  readonly requests: readonly ProxiedRequest[];
  /** Forgets what passed. */
  reset(): void;
  /** Stops it and ends its connections. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

// Hop-by-hop headers end at the proxy (RFC 9110, 7.6.1).
const NOT_FORWARDED = ['connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'te', 'upgrade'];
const CONNECT_TIMEOUT_MS = 30_000;
const KNOWN = ['auth', 'port', 'resolve', 'fault', 'maxLogEntries'];

function credentials(header: string | undefined): { username: string; password: string } | undefined {
  const encoded = /^basic\s+(\S+)$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0
    ? { username: text, password: '' }
    : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

/**
 * Starts a forward proxy on 127.0.0.1.
 *
 * @example
 * const proxy = await startProxy({ auth: { username: 'ann', password: 'secret' } });
 * const proxyConfiguration = new ProxyConfiguration({ proxyUrls: [proxy.url] });
 * // … crawl …
 * console.log(proxy.requests.length);
 * await proxy.close();
 */
export async function startProxy(options: ProxyOptions = {}): Promise<TestProxy> {
  for (const key of Object.keys(options)) {
    if (!KNOWN.includes(key))
      throw new CrawlError('OPTION_INVALID', `the test proxy has no option "${key}"; known are ${KNOWN.join(', ')}`);
  }
  const { auth, fault, resolve = () => undefined, maxLogEntries = 100_000 } = options;
  let log: ProxiedRequest[] = [];
  const sockets = new Set<Socket>();

  const note = (req: IncomingMessage, status: number): void => {
    const username = credentials(req.headers['proxy-authorization'])?.username;
    if (log.length < maxLogEntries) log.push({ method: req.method ?? '', target: req.url ?? '', status, username });
  };
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  };
  const isAllowed = (req: IncomingMessage): boolean => {
    const given = credentials(req.headers['proxy-authorization']);
    return !auth || (given?.username === auth.username && given.password === auth.password);
  };
  const isAbsolute = (url: string | undefined): boolean => /^http:\/\//i.test(url ?? '');

  function forward(req: IncomingMessage, res: ServerResponse): void {
    const refuse = (status: number, headers = {}): void => {
      note(req, status);
      res.writeHead(status, headers).end();
    };
    if (fault === 'hang') return;
    if (!isAllowed(req)) return refuse(407, { 'proxy-authenticate': 'Basic realm="proxy"' });
    if (!isAbsolute(req.url) || !parseUrl(req.url as string)) return refuse(400);
    if (fault === 'bad-gateway') return refuse(502);
    const url = new URL(req.url as string);
    const headers = Object.fromEntries(Object.entries(req.headers).filter(([name]) => !NOT_FORWARDED.includes(name)));
    const outgoing = httpRequest({
      host: resolve(url.hostname) ?? url.hostname,
      port: url.port || 80,
      path: url.pathname + url.search,
      method: req.method,
      headers: { ...headers, host: url.host },
      // One connection each: a proxy in a test is simple before it is fast.
      agent: false,
    });
    outgoing.on('socket', track);
    outgoing.on('response', (incoming) => {
      note(req, incoming.statusCode ?? 0);
      const kept = incoming.rawHeaders.filter(
        (_, i, all) => !NOT_FORWARDED.includes((all[i & ~1] ?? '').toLowerCase()),
      );
      res.writeHead(incoming.statusCode ?? 502, kept);
      incoming.pipe(res);
      // A body cut short must look cut short to the client too.
      incoming.on('error', () => res.destroy());
    });
    outgoing.on('error', () => (res.headersSent ? res.destroy() : refuse(502)));
    res.on('close', () => outgoing.destroy());
    req.pipe(outgoing);
  }

  function tunnel(req: IncomingMessage, client: Duplex, first: Buffer): void {
    const answer = (status: number, line: string): void => {
      note(req, status);
      client.write(`HTTP/1.1 ${status} ${line}\r\n\r\n`);
    };
    client.on('error', () => client.destroy());
    if (fault === 'hang') return;
    const refuse = (status: number, line: string): void => {
      answer(status, line);
      client.end();
    };
    if (!isAllowed(req))
      return refuse(
        407,
        'Proxy Authentication Required\r\nproxy-authenticate: Basic realm="proxy"\r\ncontent-length: 0',
      );
    if (fault === 'bad-gateway') return refuse(502, 'Bad Gateway');
    const target = `http://${req.url}`;
    if (!parseUrl(target)) return refuse(400, 'Bad Request');
    const { hostname, port } = new URL(target);
    const upstream = connect({ host: resolve(hostname) ?? hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80) });
    track(upstream);
    let opened = false;
    upstream.setTimeout(CONNECT_TIMEOUT_MS, () => !opened && upstream.destroy(new Error('no connection')));
    upstream.on('connect', () => {
      opened = true;
      answer(200, 'Connection Established');
      upstream.write(first);
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on('error', () => (opened ? client.destroy() : refuse(502, 'Bad Gateway')));
    upstream.on('close', () => client.end());
    client.on('close', () => upstream.destroy());
  }

  const server = createServer(forward);
  server.on('connect', tunnel);
  server.on('connection', (socket) => {
    track(socket);
    if (fault === 'reset') socket.resetAndDestroy();
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen({ port: options.port ?? 0, host: '127.0.0.1' }, () => {
      server.off('error', fail);
      done();
    });
  });

  const { port } = server.address() as { port: number };
  const user = auth ? `${encodeURIComponent(auth.username)}:${encodeURIComponent(auth.password)}@` : '';
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closing ??= new Promise((done) => {
      server.close(() => done());
      for (const socket of sockets) socket.destroy();
    }));
  return {
    url: `http://${user}127.0.0.1:${port}`,
    port,
    get requests() {
      return log;
    },
    reset() {
      log = [];
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
