// The HTTP engine: order → hops → capture, lent to the visit's continuation and released when that ends.
// Every connection passes the address guard; every failure is a CrawlError; no socket outlives
// a failed visit.
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type * as Undici from 'undici';
import { AddressRefusedError, CrawlError } from '../../errors.js';
import { isProxyUrl, isSocksUrl, PROXY_PROTOCOLS } from '../../request/proxy-url.js';
import { parseHttpUrl, parseUrl } from '../../request/url.js';
import type { Capture, Engine, FetchOrder, WatchedFetch } from '../engine.js';
import type { AddressSeats, Seat } from './address-seats.js';
import { createAddressSeats } from './address-seats.js';
import { ACCEPT_ENCODING } from './body/body.js';
import type { Connector, Way } from './connect.js';
import { createConnector, credentialsOf, type GuardedWays, refusedError } from './connect.js';
import { createConnectionPool } from './connections.js';
import { createDeadlines } from './deadlines.js';
import { createNameCache } from './dns.js';
import type { HttpEngineOptions } from './engine-options.js';
import { resolveEngineOptions } from './engine-options.js';
import { isStaleConnection } from './errors.js';
import type { Answer, BodyUse, ExchangeLimits } from './exchange.js';
import { Exchange } from './exchange.js';
import { createAddressGuard, isLocalhostName, literalAddress } from './guard.js';
import { headerText, outgoingHeaders } from './headers.js';
import type { Hop } from './redirect.js';
import { createRedirectTrail, isRedirect, nextHop, redirectTarget } from './redirect.js';
import { createSystemResolve } from './resolve.js';
import { createTlsConnector } from './tls.js';

export type { HttpEngineOptions } from './engine-options.js';

/** An HTTP visit has only its capture. */
export type HttpLive = Readonly<Record<never, never>>;

export interface HttpEngine extends Engine<HttpLive> {
  /**
   * A seed names this host (a URL, or as in `URL.host`, port included): it may be reached although it is private;
   * false when its name was public before.
   */
  allowHost(hostOrUrl: string): boolean;
  /** For requests that another client sends: rejects with ADDRESS_REFUSED what this engine would not connect to. */
  checkAddress(url: URL, way: { readonly seeded: boolean; readonly proxyUrl?: string | undefined }): Promise<void>;
  /** What checks and opens its connections, for a relay that connects another client. */
  readonly ways: GuardedWays;
  /** Connections now: lent to a visit, and kept for the next. */
  readonly connections: { readonly inUse: number; readonly idle: number };
}

/**
 * Loading undici's client costs some 30 CPU-ms, the whole of undici (fetch, mocks, web sockets) 100: the client alone is
 * paid for, by the first engine, not by every import of the package.
 */
let loaded: typeof Undici.Client | undefined;
function loadClient(): typeof Undici.Client {
  if (loaded) return loaded;
  // The client's parser grows its memory with the first large answer, which detaches an ArrayBuffer; from then on V8 checks
  // for that everywhere, and throws away all code made for typed arrays without the check. Better before there is any.
  const detached = new ArrayBuffer(8);
  structuredClone(detached, { transfer: [detached] });
  const require = createRequire(import.meta.url);
  try {
    return (loaded = require('undici/lib/dispatcher/client.js') as typeof Undici.Client);
  } catch {
    // Another version of undici may keep it elsewhere.
    return (loaded = (require('undici') as typeof Undici).Client);
  }
}

/** A server that dropped a kept connection has not acted on these; sending them again is safe. */
const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
/** A longer wait is not spent with the slot taken: the request fails, and is tried again later. */
const MAX_REPEAT_WAIT_MS = 10_000;
/** Subtracted from a server's keep-alive hint, so that we close first. */
const KEEP_ALIVE_MARGIN_MS = 1_000;
/** One request at a time, as over HTTP/1.1: limits, turns and addresses are counted by connection. No timers of its own. */
const H2 = { allowH2: true, maxConcurrentStreams: 1, pingInterval: 0 } as const;
const LIVE: HttpLive = Object.freeze({});

/** The target of a redirect response; undefined if it is not a redirect. */
type Verdict =
  | { readonly kind: 'follow' | 'report'; readonly target: URL }
  | { readonly kind: 'refuse'; readonly target: URL; readonly reason: string };

/**
 * An HTTP engine on undici's dispatcher level.
 *
 * @example
 * const engine = createHttpEngine({ allowPrivateAddresses: false });
 * const size = await engine.visit(order, async (capture) => capture.body.length);
 * await engine.close();
 */
export function createHttpEngine(options: HttpEngineOptions = {}): HttpEngine {
  const resolved = resolveEngineOptions(options);
  // Now, not in the first visit: its start would be late and the paced ones after it would bunch up behind.
  loadClient();
  const { now, connectTimeoutMs, headersTimeoutMs, bodyIdleTimeoutMs, hotIdleMs, maxHeaderBytes } = resolved;
  const guard = createAddressGuard(resolved.allowPrivateAddresses);
  const names = createNameCache({ resolve: resolved.resolve ?? createSystemResolve(), now });
  const connector = createConnector({
    guard,
    names,
    tls: createTlsConnector(resolved.ca),
    allowH2: resolved.allowH2,
  });
  const pool = createConnectionPool(resolved);
  const deadlines = createDeadlines(now, (nowMs) => pool.sweep(nowMs));
  const sockets = new WeakMap<Undici.Client, Socket>();
  const parts = { pool, deadlines, now, socketOf: (client: Undici.Client) => sockets.get(client) };
  const { maxConnectionsPerAddress } = resolved;
  const seats = Number.isFinite(maxConnectionsPerAddress)
    ? createAddressSeats({ perAddress: maxConnectionsPerAddress, maxWaitMs: connectTimeoutMs })
    : undefined;
  let closed = false;

  function openClient(origin: string, way: Way, attempt: AbortController): Undici.Client {
    const client: Undici.Client = new (loadClient())(origin, {
      connect: connectWith(connector, way, attempt.signal, (socket) => sockets.set(client, socket)),
      // Deadlines are ours: one timer for all, and errors that name the phase.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: hotIdleMs,
      keepAliveMaxTimeout: hotIdleMs,
      keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
      maxHeaderSize: maxHeaderBytes,
      ...(resolved.allowH2 ? H2 : {}),
    });
    return client;
  }

  /** One hop over one connection; retried over a new one if a kept connection turned out dead. */
  async function send(hop: Hop, order: FetchOrder, visit: Visit, decide: Decide): Promise<Answer> {
    const { url, method } = hop;
    const proxy = order.proxyUrl === undefined ? undefined : proxyOf(order.proxyUrl);
    const plainProxy = proxy && url.protocol === 'http:' && !isSocksUrl(proxy) ? proxy : undefined;
    if (proxy) refuseLiteral(url);
    const headers = outgoingHeaders(hop, order.cookies?.cookieHeader(url.href) ?? '', ACCEPT_ENCODING);
    let path = url.pathname + url.search;
    let origin = url.origin;
    if (plainProxy) {
      if (headerIndex(headers, 'host') < 0) headers.push('host', url.host);
      const credentials = credentialsOf(plainProxy);
      if (credentials !== undefined) headers.push('proxy-authorization', credentials);
      path = origin + path;
      origin = plainProxy.origin;
    }
    const verifyTls = !order.ignoreTlsErrors;
    // By the target's origin also where the proxy is asked in plain text: it may hand on what a server sends too much.
    const key = `${verifyTls ? '' : '!'}${proxy ? `${proxy.href} ` : ''}${url.origin}`;
    const open = (attempt: AbortController) =>
      openClient(origin, { target: plainProxy ?? url, proxy, verifyTls }, attempt);
    const decideAnswer: Decide = plainProxy
      ? (statusCode, answerHeaders) => {
          if (statusCode === 407)
            throw new CrawlError('PROXY_FAILED', `proxy ${plainProxy.host}: refused with status 407`);
          return decide(statusCode, answerHeaders);
        }
      : decide;
    // The client would take the server name from a Host header and reconnect when it changes; ours is the way's.
    const request = { path, method, headers, body: hop.payload, servername: origin };
    const limits = { ...visit.limits, host: url.host };
    // Which address a proxy reaches is its own business.
    const seat = seats && !proxy ? await takeSeat(seats, url, order.signal) : undefined;
    let stream: Answer['stream'];
    try {
      for (let fresh = false; ; fresh = true) {
        if (visit.ended) throw visit.ended;
        const exchange = new Exchange(
          parts,
          pool.take(key, open, fresh, seat?.address),
          limits,
          decideAnswer,
          order.beforeSend,
        );
        visit.exchange = exchange;
        try {
          const answer = await exchange.run(request);
          ({ stream } = answer);
          return answer;
        } catch (error) {
          const stale = exchange.reused && isStaleConnection(error as CrawlError) && REPEATABLE.has(method);
          const { repeatAfterMs = 0 } = order;
          if (fresh || !stale || repeatAfterMs > MAX_REPEAT_WAIT_MS) throw error;
          if (repeatAfterMs > 0) await delay(repeatAfterMs, undefined, { signal: order.signal }).catch(() => undefined);
        }
      }
    } finally {
      // The connection stays in use until the body is complete.
      if (stream) stream.once('close', () => seat?.leave());
      else seat?.leave();
    }
  }

  async function takeSeat(from: AddressSeats, url: URL, signal: AbortSignal | undefined): Promise<Seat> {
    return from.take(await connector.addressesOf(url), url.host, signal);
  }

  /** Behind a proxy the target's name is the proxy's to resolve; what the URL spells out is still ours to refuse. */
  function refuseLiteral(url: URL): void {
    const address = literalAddress(url.hostname) ?? (isLocalhostName(url.hostname) ? '127.0.0.1' : undefined);
    const kind = address === undefined ? undefined : guard.refusal(url.host, address);
    if (kind !== undefined) throw refusedError(url.host, address!, kind);
  }

  async function capture(order: FetchOrder, visit: Visit): Promise<Capture> {
    const startedAtMs = Date.now();
    const startMs = now();
    const start = parseHttpUrl(order.url);
    if (order.seeded) guard.seed(start.host);
    const trail = createRedirectTrail(start, order.maxRedirects);
    let hop: Hop = { url: start, method: order.method.toUpperCase(), headers: order.headers, payload: order.payload };

    function verdictOn(statusCode: number, location: string | undefined): Verdict | undefined {
      if (!isRedirect(statusCode, location)) return undefined;
      const target = redirectTarget(hop.url, location);
      if (order.redirects === 'report') return { kind: 'report', target };
      const reason = order.allowRedirect?.(target.href);
      if (reason !== undefined) return { kind: 'refuse', target, reason };
      trail.step(hop.url, target);
      return { kind: 'follow', target };
    }

    for (;;) {
      let verdict: Verdict | undefined;
      const answer = await send(hop, order, visit, (statusCode, headers): BodyUse => {
        visit.heads++;
        const setCookie = headers['set-cookie'];
        if (setCookie && order.cookies) order.cookies.store(hop.url.href, setCookie as string[]);
        verdict = verdictOn(statusCode, headerText(headers, 'location'));
        if (verdict?.kind === 'follow') return 'discard';
        return order.stream ? 'stream' : 'read';
      });
      if (verdict?.kind === 'follow') {
        hop = nextHop(hop, answer.statusCode, verdict.target);
        continue;
      }
      const { statusCode, headers, body, lent, received, stream, wireBytes, headersAtMs } = answer;
      const captured = {
        url: order.url,
        loadedUrl: hop.url.href,
        redirectChain: trail.chain,
        statusCode,
        headers,
        body,
        lent,
        received,
        stream,
        wireBytes,
        redirectTo: verdict?.kind === 'report' ? verdict.target.href : undefined,
        refusedRedirect: verdict?.kind === 'refuse' ? { url: verdict.target.href, reason: verdict.reason } : undefined,
        timings: { startedAtMs, headersMs: headersAtMs - startMs, totalMs: now() - startMs },
      };
      return lent ? Object.defineProperty(captured, 'body', KEPT_BODY) : captured;
    }
  }

  return {
    async visit(order, use) {
      if (closed) throw new CrawlError('ABORTED', 'the engine is closed');
      const visit = startVisit(order, {
        host: '',
        visitEndsAtMs: now() + order.timeoutMs,
        visitMs: order.timeoutMs,
        connectMs: connectTimeoutMs,
        headersMs: headersTimeoutMs,
        bodyIdleMs: bodyIdleTimeoutMs,
        maxBodyBytes: order.maxBodyBytes,
        received: order.received,
        lends: order.lends,
      });
      // What may have had an effect is not sent twice for the sake of others.
      const watch = order.yields && REPEATABLE.has(order.method.toUpperCase()) ? resolved.watch : undefined;
      watch?.enter(visit);
      try {
        const captured = await capture(order, visit);
        if (visit.ended) throw visit.ended;
        if (!captured.stream || order.yields === 'until-head') watch?.leave(visit, captured.timings.headersMs);
        // Once the body is complete, only the visit's continuation uses the signal.
        if (!captured.stream) visit.release();
        else visit.stream = captured.stream;
        return await use(captured, LIVE);
      } finally {
        watch?.leave(visit);
        visit.release();
        visit.stream?.destroy();
      }
    },
    allowHost(hostOrUrl) {
      if (resolved.allowPrivateAddresses === true) return true;
      return guard.allowHost(hostOrUrl.includes('//') ? parseHttpUrl(hostOrUrl).host : hostOrUrl);
    },
    async checkAddress(url, { seeded, proxyUrl }) {
      if (closed) throw new CrawlError('ABORTED', 'the engine is closed');
      if (seeded) guard.seed(url.host);
      if (proxyUrl !== undefined) return refuseLiteral(url);
      try {
        await connector.addressesOf(url);
      } catch (error) {
        // A name that is not known here may be known to the other client.
        if (error instanceof AddressRefusedError) throw error;
      }
    },
    async close() {
      closed = true;
      deadlines.close();
      await pool.close();
    },
    ways: { guard, connector },
    get connections() {
      return { inUse: pool.inUseCount, idle: pool.idleCount };
    },
  };
}

/** `body` of a capture whose body is lent. Shared: a getter of its own would give every capture a hidden class. */
const KEPT_BODY: PropertyDescriptor = {
  enumerable: true,
  configurable: true,
  get(this: { lent: NonNullable<Capture['lent']> }) {
    return this.lent.keep();
  },
};

type Decide = (statusCode: number, headers: Record<string, string | string[]>) => BodyUse;

/** A visit under way: what the order's signal has to stop. */
interface Visit extends WatchedFetch {
  readonly limits: ExchangeLimits;
  heads: number;
  exchange?: Exchange;
  stream?: Capture['stream'];
  /** Why the visit must not go on. */
  ended?: CrawlError;
  release(): void;
}

function startVisit(order: FetchOrder, limits: ExchangeLimits): Visit {
  const { signal } = order;
  const visit: Visit = {
    limits,
    url: order.url,
    heads: 0,
    get receivedBytes() {
      return visit.exchange?.wireBytes ?? 0;
    },
    end(error) {
      visit.ended = error;
      visit.exchange?.fail(error);
    },
    release() {
      signal?.removeEventListener('abort', onAbort);
      // A removed listener stays in the signal's chain until a full collection: it must not keep the response.
      visit.exchange = undefined;
    },
  };
  function onAbort(): void {
    visit.end(new CrawlError('ABORTED', `aborted: ${order.url}`, { cause: signal!.reason }));
  }
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  return visit;
}

function connectWith(connector: Connector, way: Way, signal: AbortSignal, onOpen: (socket: Socket) => void) {
  return (_options: unknown, done: (...result: [null, Socket] | [Error, null]) => void): void => {
    connector.connect(way, signal).then(
      (socket) => {
        onOpen(socket);
        done(null, socket);
      },
      (error: Error) => done(error, null),
    );
  };
}

function proxyOf(text: string): URL {
  const url = parseUrl(text);
  if (url && isProxyUrl(url)) return url;
  throw new CrawlError(
    'PROXY_FAILED',
    `a proxy must be an ${PROXY_PROTOCOLS} URL, not ${url ? url.protocol : 'this text'}`,
  );
}

function headerIndex(flat: readonly string[], name: string): number {
  for (let index = 0; index < flat.length; index += 2) if (flat[index]!.toLowerCase() === name) return index;
  return -1;
}
