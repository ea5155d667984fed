// Which URLs name a proxy that can be spoken to: one rule for options, flags and the engine.

/** The protocols, with the port of each when a URL names none. */
const PORTS: Readonly<Record<string, number>> = Object.freeze({
  'http:': 80,
  'https:': 443,
  'socks5:': 1080,
  'socks5h:': 1080,
});

/** How messages name them. */
export const PROXY_PROTOCOLS = 'http, https, socks5 or socks5h';

export function isProxyUrl({ hostname, protocol }: URL): boolean {
  return hostname !== '' && Object.hasOwn(PORTS, protocol);
}

export function isSocksUrl({ protocol }: URL): boolean {
  return protocol === 'socks5:' || protocol === 'socks5h:';
}

/** The port of a URL, http and https of servers included. */
export function portOf({ port, protocol }: URL): number {
  return port === '' ? (PORTS[protocol] ?? 80) : Number(port);
}
