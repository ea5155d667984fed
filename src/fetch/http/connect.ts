// Opens the connections of the engine: name → addresses → guard → TCP → (tunnel) → TLS.
// The guard checks the addresses given to the socket, so no answer can change between check and use.
import * as net from 'node:net';
import type { LookupFunction, Socket } from 'node:net';
import { AddressRefusedError, CrawlError } from '../../errors.js';
import { basicCredentials } from '../../request/login.js';
import { isSocksUrl, portOf } from '../../request/proxy-url.js';
import type { NameCache } from './dns.js';
import { connectError } from './errors.js';
import type { AddressGuard } from './guard.js';
import { isLocalhostName, literalAddress } from './guard.js';
import { openSocksTunnel } from './socks-tunnel.js';
import type { TlsConnector } from './tls.js';
import { openTunnel } from './tunnel.js';

/** Where a connection leads. One way serves any number of requests, one after the other. */
export interface Way {
  /** The server the connection speaks HTTP with: the target, or for plain http the proxy. */
  readonly target: URL;
  /** Makes the connection: through a proxy's tunnel, or to the proxy as the target. */
  readonly proxy?: URL;
  readonly verifyTls: boolean;
  /** Behind a tunnel no TLS of ours: another client's bytes are relayed as they are. */
  readonly plain?: boolean;
}

export interface Connector {
  /** A connected socket, wholly set up for HTTP; rejects with a CrawlError. `signal` ends the attempt at once. */
  connect(way: Way, signal: AbortSignal): Promise<Socket>;
  /** A TCP connection to the target of a URL, without TLS for any scheme: for relaying another client's bytes. */
  open(url: URL, signal: AbortSignal): Promise<Socket>;
  /** The addresses that a URL leads to and that may be reached; rejects as `connect` would. */
  addressesOf(url: URL): Promise<readonly string[]>;
}

/** A guard and what connects under it. */
export interface GuardedWays {
  readonly guard: AddressGuard;
  readonly connector: Connector;
}

export interface ConnectorParts {
  readonly guard: AddressGuard;
  readonly names: NameCache;
  readonly tls: TlsConnector;
  /** Whether HTTP/2 is offered to targets; proxies are asked in HTTP/1.1. */
  readonly allowH2?: boolean;
}

/** Dead peers are noticed by the system after this long; ours are closed long before by idle limits. */
const TCP_KEEP_ALIVE_MS = 60_000;
const LOOPBACK: readonly string[] = ['127.0.0.1', '::1'];

export function createConnector({ guard, names, tls, allowH2 = false }: ConnectorParts): Connector {
  async function addressesOf(url: URL, guarded: boolean): Promise<readonly string[]> {
    const { hostname, host } = url;
    const literal = literalAddress(hostname);
    const found =
      literal !== undefined
        ? [literal]
        : isLocalhostName(hostname)
          ? LOOPBACK
          : await names.addresses(hostname).catch((error: unknown) => {
              throw connectError(host, error);
            });
    if (!guarded) return found;
    guard.observe(host, found);
    const allowed = found.filter((address) => guard.refusal(host, address) === undefined);
    if (allowed.length > 0) return allowed;
    throw refusedError(host, found[0]!, guard.refusal(host, found[0]!)!);
  }

  /** TCP to one of the addresses, first come first served, and TLS on top when the URL says so. */
  async function reach(
    url: URL,
    guarded: boolean,
    verify: boolean,
    signal: AbortSignal,
    secure = url.protocol === 'https:',
  ): Promise<Socket> {
    const addresses = await addressesOf(url, guarded);
    if (signal.aborted) throw signal.reason;
    const port = portOf(url);
    const tcp = { host: url.hostname, port, lookup: fixedLookup(addresses), autoSelectFamily: true };
    const socket = secure
      ? tls.connect({ hostname: url.hostname, port, verify, h2: guarded && allowH2 }, { tcp: tcpFor(addresses, tcp) })
      : net.connect(tcpFor(addresses, tcp));
    socket.setNoDelay(true);
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    try {
      await opened(socket, secure ? 'secureConnect' : 'connect', signal);
    } catch (error) {
      names.forget(url.hostname);
      throw signal.aborted ? error : connectError(url.host, error);
    }
    return socket;
  }

  async function tunnel(
    target: URL,
    proxy: URL,
    verify: boolean,
    signal: AbortSignal,
    plain: boolean,
  ): Promise<Socket> {
    const port = portOf(target);
    const asked = isSocksUrl(proxy) ? { host: await nameForSocks(target, proxy), port } : undefined;
    const socket = await reachProxy(proxy, verify, signal);
    const destroy = () => void socket.destroy(signal.reason as Error);
    signal.addEventListener('abort', destroy, { once: true });
    try {
      if (asked) await openSocksTunnel(socket, asked, proxy);
      else await openTunnel(socket, `${target.hostname}:${port}`, credentialsOf(proxy), proxy.host);
      if (plain || target.protocol !== 'https:') return socket;
      const secured = tls.connect({ hostname: target.hostname, port, verify, h2: allowH2 }, { socket });
      await opened(secured, 'secureConnect', signal);
      return secured;
    } catch (error) {
      socket.destroy();
      if (signal.aborted) throw signal.reason;
      throw connectError(target.host, error);
    } finally {
      signal.removeEventListener('abort', destroy);
    }
  }

  /** By `socks5:` the name is resolved and guarded here; by `socks5h:` it is the proxy's to resolve. */
  async function nameForSocks(target: URL, { protocol }: URL): Promise<string> {
    if (protocol === 'socks5:') return (await addressesOf(target, true))[0]!;
    return literalAddress(target.hostname) ?? target.hostname;
  }

  /** The proxy is the user's choice: its address is not guarded, and its failures are its own. */
  async function reachProxy(proxy: URL, verify: boolean, signal: AbortSignal): Promise<Socket> {
    try {
      return await reach(proxy, false, verify, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      const { message } = connectError(proxy.host, error);
      throw new CrawlError('PROXY_FAILED', `proxy ${message}`, { cause: error });
    }
  }

  return {
    open: (url, signal) => reach(url, true, true, signal, false),
    addressesOf: (url) => addressesOf(url, true),
    connect({ target, proxy, verifyTls, plain = false }, signal) {
      if (!proxy) return reach(target, true, verifyTls, signal);
      return proxy === target ? reachProxy(proxy, verifyTls, signal) : tunnel(target, proxy, verifyTls, signal, plain);
    },
  };
}

/** The error of a refused address, with what to do about it. */
export function refusedError(host: string, address: string, kind: string): CrawlError {
  const where = literalAddress(host) === address || host.startsWith(address) ? '' : ` (${address})`;
  return new AddressRefusedError(
    host,
    `${host}${where} is a ${kind} address and refused. To allow it, use allowPrivateAddresses (--allow-private); coming from Crawlee, see docs/from-crawlee.md`,
  );
}

/** The Proxy-Authorization value of a proxy URL, if it has credentials. */
export function credentialsOf(proxy: URL): string | undefined {
  return proxy.username === '' && proxy.password === '' ? undefined : basicCredentials(proxy);
}

/** One address is connected to as such; several go through node's attempt at each family in turn. */
function tcpFor(addresses: readonly string[], several: net.TcpNetConnectOpts): net.TcpNetConnectOpts {
  return addresses.length === 1 ? { host: addresses[0]!, port: several.port } : several;
}

/** A lookup that knows its answer: the addresses the guard let through, and no others. */
function fixedLookup(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: net.isIPv6(address) ? 6 : 4 }));
  return (_hostname, options, callback) => {
    if (options.all) callback(null, all);
    else callback(null, all[0]!.address, all[0]!.family);
  };
}

function opened(socket: Socket, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error?: unknown) => {
      socket.off(event, onOpen).off('error', onError).off('close', onClose);
      signal.removeEventListener('abort', onAbort);
      if (error === undefined) return resolve();
      // A socket that fails late may still emit an error: ignore it.
      socket.on('error', () => undefined);
      socket.destroy();
      reject(error);
    };
    const onOpen = () => done();
    const onError = (error: Error) => done(error);
    const onClose = () => done(Object.assign(new Error('closed while connecting'), { code: 'ECONNRESET' }));
    const onAbort = () => done(signal.reason ?? new Error('aborted'));
    socket.once(event, onOpen).once('error', onError).once('close', onClose);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}
