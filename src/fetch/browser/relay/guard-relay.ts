// The only way out of a browser: relays on loopback that connect for it through the engine's own guarded connector.
// Promise: for every connection of a page, a worker or the browser, names are resolved here and the address connected to
// was checked, so that no redirect, frame, socket or second DNS answer reaches a refused one. Processes of other users
// are not connected.
import { createServer as createHttpServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createRecentMap } from '../../../base/recent-map.js';
import { asCrawlError, CrawlError } from '../../../errors.js';
import { isProxyUrl, isSocksUrl, PROXY_PROTOCOLS } from '../../../request/proxy-url.js';
import { parseUrl } from '../../../request/url.js';
import { createConnector, credentialsOf, type GuardedWays, refusedError } from '../../http/connect.js';
import { createNameCache, type Resolve } from '../../http/dns.js';
import { createAddressGuard, isLocalhostName, literalAddress } from '../../http/guard.js';
import { createSystemResolve } from '../../http/resolve.js';
import { createTlsConnector } from '../../http/tls.js';
import { openTunnel } from '../../http/tunnel.js';
import { createRelayPeers } from './peers.js';
import { readSocksRequest, SOCKS_ANSWERS } from './socks.js';

export interface GuardRelayOptions {
  readonly allowPrivateAddresses?: boolean | readonly string[];
  /** How names become addresses; the system's way when left out. */
  readonly resolve?: Resolve;
  /** A monotonic clock in milliseconds, by which answers grow old. */
  readonly now?: () => number;
  /** Those of an engine, whose guard then holds here too; the options above are not read. */
  readonly ways?: GuardedWays;
  /** The port of a browser that runs already: its user may connect, too. */
  readonly browserPort?: number;
}

export interface GuardRelay {
  /** The proxy a browser is given: `socks5://…` for direct ways, `http://…` for those through a proxy of the user. */
  serverFor(proxyUrl: string | undefined): Promise<string>;
  /** The user named this URL: what its host is first found at is pinned. */
  seed(url: string): void;
  /** The user named this host: it may be reached although it is private; false when its name was public before. */
  allowHost(url: string): boolean;
  /** Rejects as connecting would. Behind a proxy only what the URL spells out is judged. */
  check(url: URL, proxyUrl?: string): Promise<void>;
  /** Why the last connection to where a URL leads could not be made, if it could not. */
  failureOf(url: string): CrawlError | undefined;
  /** Ends every connection. */
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** Places that could not be reached are remembered until they can, or until so many others could not. */
const MAX_FAILURES = 1_000;
/** Listeners of proxies: more than the sessions of a busy crawl; the oldest unused one goes. */
const MAX_PROXIES = 200;

function waysOf(options: GuardRelayOptions): GuardedWays {
  const guard = createAddressGuard(options.allowPrivateAddresses ?? false);
  const names = createNameCache({
    resolve: options.resolve ?? createSystemResolve(),
    now: options.now ?? (() => performance.now()),
  });
  return { guard, connector: createConnector({ guard, names, tls: createTlsConnector() }) };
}

export function createGuardRelay(options: GuardRelayOptions = {}): GuardRelay {
  const { guard, connector } = options.ways ?? waysOf(options);
  const peers = createRelayPeers(options.browserPort);
  const sockets = new Set<Socket>();
  const servers = new Map<string, Promise<{ server: Server; address: string }>>();
  const failures = createRecentMap<string, CrawlError>(MAX_FAILURES);
  let closed = false;

  function track(socket: Socket): void {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  }

  function note(place: string, error: CrawlError | undefined): void {
    if (error) failures.set(place, error);
    else failures.delete(place);
  }

  /** Connects for the browser; what went wrong is remembered under the place, because a browser tells only that it did. */
  async function connectTo(url: URL, connect: (signal: AbortSignal) => Promise<Socket>): Promise<Socket> {
    const abortion = new AbortController();
    const late = new CrawlError('CONNECT_TIMEOUT', `${url.host}: no connection within ${CONNECT_TIMEOUT_MS} ms`);
    const timer = setTimeout(() => abortion.abort(late), CONNECT_TIMEOUT_MS);
    try {
      const socket = await connect(abortion.signal);
      track(socket);
      if (closed) socket.destroy();
      note(placeOf(url), undefined);
      return socket;
    } catch (thrown) {
      const error = asCrawlError(thrown, 'CONNECT_FAILED');
      note(placeOf(url), error);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** A listener for connections of our own user; those of others end unread. */
  function acceptOwn(use: (client: Socket) => unknown): Server {
    return createServer((client) => {
      track(client);
      peers
        .isOwn(client)
        .then((isOwn) => (isOwn ? use(client) : client.destroy()))
        .catch(() => client.destroy());
    });
  }

  /** Directly, or through a SOCKS proxy of the user. */
  function open(url: URL, proxy: URL | undefined, signal: AbortSignal): Promise<Socket> {
    if (!proxy) return connector.open(url, signal);
    refuseLiteral(url);
    return connector.connect({ target: url, proxy, verifyTls: true, plain: true }, signal);
  }

  async function relaySocks(client: Socket, proxy?: URL): Promise<void> {
    const wanted = await readSocksRequest(client, CONNECT_TIMEOUT_MS);
    if (!wanted) return void client.destroy();
    const url = urlOf(wanted.hostname, wanted.port);
    if (!url) return void client.end(SOCKS_ANSWERS.unreachable);
    try {
      const upstream = await connectTo(url, async (signal) => open(url, proxy, signal));
      client.write(SOCKS_ANSWERS.connected);
      join(client, upstream);
    } catch (error) {
      const isRefused = (error as CrawlError).code === 'ADDRESS_REFUSED';
      client.end(isRefused ? SOCKS_ANSWERS.refused : SOCKS_ANSWERS.unreachable);
    }
  }

  /** Behind a proxy the name is the proxy's to resolve; what the URL spells out is still ours to refuse. */
  function refuseLiteral(url: URL): void {
    const address = literalAddress(url.hostname) ?? (isLocalhostName(url.hostname) ? '127.0.0.1' : undefined);
    const kind = address === undefined ? undefined : guard.refusal(url.host, address);
    if (kind !== undefined) throw refusedError(url.host, address!, kind);
  }

  function reachProxy(url: URL, proxy: URL): Promise<Socket> {
    return connectTo(url, (signal) => {
      refuseLiteral(url);
      return connector.connect({ target: proxy, proxy, verifyTls: true }, signal);
    });
  }

  async function relayTunnel(authority: string, client: Duplex, first: Buffer, proxy: URL): Promise<void> {
    client.on('error', () => client.destroy());
    const url = authorityUrl(authority);
    try {
      if (!url) throw new CrawlError('URL_INVALID', 'missing host and port');
      const upstream = await reachProxy(url, proxy);
      try {
        await openTunnel(upstream, authority, credentialsOf(proxy), proxy.host);
      } catch (error) {
        note(placeOf(url), asCrawlError(error, 'PROXY_FAILED'));
        upstream.destroy();
        throw error;
      }
      client.write('HTTP/1.1 200 Connected\r\n\r\n');
      upstream.write(first);
      join(client, upstream);
    } catch {
      client.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n');
    }
  }

  async function relayRequest(incoming: IncomingMessage, answer: ServerResponse, proxy: URL): Promise<void> {
    const url = parseUrl(incoming.url ?? '');
    if (url?.protocol !== 'http:') return void answer.writeHead(400).end();
    let upstream: Socket;
    try {
      upstream = await reachProxy(url, proxy);
    } catch {
      // No status: the browser must see a failed connection, not a page.
      return void answer.destroy();
    }
    const { 'proxy-connection': _, 'proxy-authorization': __, ...headers } = incoming.headers;
    const credentials = credentialsOf(proxy);
    const outgoing = httpRequest({
      createConnection: () => upstream,
      method: incoming.method,
      path: url.href,
      headers: { ...headers, ...(credentials === undefined ? {} : { 'proxy-authorization': credentials }) },
    });
    outgoing.on('response', (response) => {
      if (response.statusCode === 407) {
        note(placeOf(url), new CrawlError('PROXY_FAILED', `proxy ${proxy.host}: refused with status 407`));
        return void answer.destroy();
      }
      answer.writeHead(response.statusCode ?? 502, response.rawHeaders);
      response.pipe(answer);
      response.on('error', () => answer.destroy());
    });
    outgoing.on('error', () => answer.destroy());
    answer.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  }

  async function listen(proxyUrl: string | undefined): Promise<{ server: Server; address: string }> {
    if (proxyUrl === undefined) {
      const server = acceptOwn((client) => relaySocks(client));
      return { server, address: `socks5://127.0.0.1:${await portOf(server)}` };
    }
    const proxy = parseUrl(proxyUrl);
    if (!proxy || !isProxyUrl(proxy)) {
      throw new CrawlError('PROXY_FAILED', `the proxy of a browser must be an ${PROXY_PROTOCOLS} URL`);
    }
    if (isSocksUrl(proxy)) {
      const server = acceptOwn((client) => relaySocks(client, proxy));
      return { server, address: `socks5://127.0.0.1:${await portOf(server)}` };
    }
    const http = createHttpServer((incoming, answer) => void relayRequest(incoming, answer, proxy));
    http.on('connect', (incoming: IncomingMessage, client: Duplex, first: Buffer) => {
      void relayTunnel(incoming.url ?? '', client, first, proxy);
    });
    http.on('clientError', (_error, socket) => socket.destroy());
    const server = acceptOwn((client) => http.emit('connection', client));
    return { server, address: `http://127.0.0.1:${await portOf(server)}` };
  }

  return {
    async serverFor(proxyUrl) {
      const key = proxyUrl ?? '';
      let listening = servers.get(key);
      if (!listening) {
        if (servers.size > MAX_PROXIES) await closeOldest();
        listening = listen(proxyUrl);
        servers.set(key, listening);
        listening.catch(() => servers.delete(key));
      }
      return (await listening).address;
    },
    seed(url) {
      const host = parseUrl(url)?.host;
      if (host !== undefined) guard.seed(host);
    },
    allowHost(url) {
      const host = url.includes('//') ? parseUrl(url)?.host : url;
      if (host === undefined) return false;
      return options.allowPrivateAddresses === true || guard.allowHost(host);
    },
    async check(url, proxyUrl) {
      if (proxyUrl === undefined) await connector.addressesOf(url);
      else refuseLiteral(url);
    },
    failureOf(url) {
      const parsed = parseUrl(url);
      return parsed && failures.get(placeOf(parsed));
    },
    async close() {
      closed = true;
      const listening = await Promise.allSettled(servers.values());
      for (const socket of sockets) socket.destroy();
      const running = listening.flatMap((one) => (one.status === 'fulfilled' ? [one.value.server] : []));
      await Promise.all(running.map((server) => new Promise((done) => server.close(done))));
    },
  };

  /** The proxy first used longest ago. Contexts that still have it see failed connections and get a new one. */
  async function closeOldest(): Promise<void> {
    for (const [key, listening] of servers) {
      if (key === '') continue;
      servers.delete(key);
      (await listening.catch(() => undefined))?.server.close();
      return;
    }
  }
}

/** Host and port as the guard and the seeds know them: default ports are left out. */
function urlOf(hostname: string, port: number): URL | undefined {
  const host = hostname.includes(':') ? `[${hostname}]` : hostname;
  return parseUrl(port === 443 ? `https://${host}/` : `http://${host}:${port}/`);
}

function authorityUrl(authority: string): URL | undefined {
  const url = parseUrl(`http://${authority}/`);
  return url && urlOf(url.hostname.replace(/^\[|\]$/g, ''), url.port === '' ? 80 : Number(url.port));
}

function placeOf(url: URL): string {
  return `${url.hostname}:${url.port === '' ? (/^(?:https|wss):$/.test(url.protocol) ? 443 : 80) : url.port}`;
}

function join(client: Duplex, upstream: Socket): void {
  client.on('close', () => upstream.destroy());
  upstream.on('close', () => client.destroy());
  client.pipe(upstream);
  upstream.pipe(client);
}

function portOf(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port: 0 }, () => {
      server.unref();
      resolve((server.address() as AddressInfo).port);
    });
  });
}
