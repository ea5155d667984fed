// TLS for outgoing connections: one secure context for all, and sessions that outlive their connection so
// that the next one to the same host skips half of the handshake. Verified and unverified never mix.
import type { Duplex } from 'node:stream';
import * as tls from 'node:tls';
import type { NetConnectOpts } from 'node:net';
import { createRecentMap } from '../../base/recent-map.js';
import { withoutCertificate } from './tls-session.js';

const HTTP1 = ['http/1.1'];
const HTTP2_FIRST = ['h2', 'http/1.1'];

export interface TlsTarget {
  readonly hostname: string;
  readonly port: number;
  /** False: any certificate will do. */
  readonly verify: boolean;
  /** Whether HTTP/2 is offered. */
  readonly h2: boolean;
}

export interface TlsConnector {
  /** Starts a handshake over `socket`, or over a new TCP connection made with `tcp`. */
  connect(target: TlsTarget, over: { socket: Duplex } | { tcp: NetConnectOpts }): tls.TLSSocket;
}

/** At about half a KB per session this is 5 MB; 30 if all spoke TLS 1.2, whose certificates stay. */
const MAX_SESSIONS = 10_000;

export function createTlsConnector(ca?: string | readonly string[]): TlsConnector {
  let context: tls.SecureContext | undefined;
  const sessions = createRecentMap<string, Buffer>(MAX_SESSIONS);

  return {
    connect({ hostname, port, verify, h2 }, over) {
      // Building a context loads the root certificates: once per engine, not per connection.
      context ??= tls.createSecureContext(ca === undefined ? {} : { ca: typeof ca === 'string' ? ca : [...ca] });
      const key = `${verify ? '+' : '-'}${h2 ? '2' : ''}${hostname}:${port}`;
      const socket = tls.connect({
        // Without a server name, which addresses do not have, certificates are checked against the host.
        ...('tcp' in over ? over.tcp : { socket: over.socket, host: bareHost(hostname) }),
        secureContext: context,
        servername: serverName(hostname),
        session: sessions.get(key),
        ALPNProtocols: h2 ? HTTP2_FIRST : HTTP1,
        rejectUnauthorized: verify,
      } as tls.ConnectionOptions);
      // Only for connections with a verified certificate, since resuming does not check it.
      socket.on('session', (session: Buffer) => {
        if (socket.authorized || !verify) sessions.set(key, withoutCertificate(session));
      });
      // A session that a handshake failed with must not be offered again.
      const drop = () => sessions.delete(key);
      socket.once('error', drop).once('secureConnect', () => socket.off('error', drop));
      return socket;
    },
  };
}

function bareHost(hostname: string): string {
  const inner = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return inner.endsWith('.') ? inner.slice(0, -1) : inner;
}

function serverName(hostname: string): string {
  const last = hostname.charCodeAt(hostname.length - 1);
  // Addresses end in a digit or a bracket; the URL parser leaves no name whose last label is a number.
  return last === 93 || /^[\d.]+$/.test(hostname) ? '' : bareHost(hostname);
}
