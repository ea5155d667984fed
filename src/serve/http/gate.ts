// What every request must pass before a route sees it: the Host, the Origin and the token.
// Promise: no page in somebody's browser can use a server by its address, and nothing but /health answers a stranger.
import type { IncomingMessage } from 'node:http';
import { parseUrl } from '../../request/url.js';
import { ApiError } from '../errors.js';
import type { Token, Tokens } from './tokens.js';

export interface GateOptions {
  readonly host: string;
  readonly publicHosts: readonly string[];
  /** Origins whose pages may call the server; `*` for all. */
  readonly cors: readonly string[];
  readonly tokens: Tokens;
}

export interface Gate {
  /** Throws when the request is not for this server, or comes from a page it does not know. */
  checkWay(request: IncomingMessage): void;
  tokenOf(request: IncomingMessage): Token;
  /** The headers that let a page read the answer. */
  corsHeaders(request: IncomingMessage): Record<string, string>;
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

export function createGate({ host, publicHosts, cors, tokens }: GateOptions): Gate {
  const own = host.includes(':') ? `[${host}]` : host;
  const isAny = host === '0.0.0.0' || host === '::';
  const publicNames = new Set(publicHosts.map((name) => name.toLowerCase()));
  const names = new Set([...LOOPBACK, own.toLowerCase(), ...publicNames]);

  function isOurs(hostHeader: string): boolean {
    const name = hostnameOf(hostHeader);
    return (
      names.has(name) || names.has(hostHeader.toLowerCase()) || (isAny && publicHosts.length === 0 && isAddress(name))
    );
  }

  /** The same host and port as the request's own: other servers of this machine are strangers. A proxy may rewrite Host. */
  function allowsOrigin(origin: string, hostHeader = ''): boolean {
    if (cors.includes('*') || cors.includes(origin)) return true;
    const from = parseUrl(origin);
    if (!from) return false;
    const isPublic = [from.host, from.hostname].some((name) => publicNames.has(name));
    return isPublic || from.host === parseUrl(`${from.protocol}//${hostHeader}`)?.host;
  }

  return {
    checkWay({ headers }) {
      const { host: hostHeader, origin } = headers;
      if (hostHeader === undefined || !isOurs(hostHeader)) {
        throw new ApiError(
          421,
          'This server is not reached by that host name. Add it with --public-host.',
          'HOST_REFUSED',
        );
      }
      if (origin !== undefined && !allowsOrigin(origin, hostHeader)) {
        throw new ApiError(403, 'Pages of this origin may not use the server. Allow it with --cors.', 'ORIGIN_REFUSED');
      }
    },
    tokenOf(request) {
      const token = tokens.find(shownToken(request));
      if (!token) {
        throw new ApiError(401, 'A valid token is needed: send "Authorization: Bearer TOKEN".', 'UNAUTHORIZED');
      }
      return token;
    },
    corsHeaders({ headers: { origin, host: hostHeader } }): Record<string, string> {
      if (origin === undefined || !allowsOrigin(origin, hostHeader)) return {};
      return { 'access-control-allow-origin': origin, vary: 'origin' };
    },
  };
}

/** From the header, or from the subprotocol of a WebSocket, where browsers and SDKs put it. */
function shownToken({ headers }: IncomingMessage): string | undefined {
  const bearer = /^Bearer\s+(\S+)\s*$/i.exec(headers.authorization ?? '')?.[1];
  return bearer ?? headers['sec-websocket-protocol']?.split(',')[0]?.trim();
}

function hostnameOf(host: string): string {
  const end = host.startsWith('[') ? host.indexOf(']') + 1 : host.indexOf(':');
  return (end > 0 ? host.slice(0, end) : host).toLowerCase();
}

const isAddress = (name: string): boolean => /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/.test(name);
