// Where the hosts of a synthetic web live: 127.a.b.c on one port, one port each, or names on one port.
// Host n has the same address in every process that knows the options and the ports.
import type { SimwebPlan } from './knobs.js';

/** The ports a running web listens on; all that another process needs to make its URLs. */
export interface Ports {
  /** One for all hosts, or one for each. */
  readonly listening: readonly number[];
  /** Nobody listens here: URLs of hosts with the fault `refuse`. */
  readonly closed: number;
}

const LAST_BYTES = 254;

/** The loopback address of host n: 127.0.0.1, 127.0.0.2, … 127.0.0.254, 127.0.1.1, …. */
export function addressOf(host: number): string {
  const rest = Math.floor(host / LAST_BYTES);
  return `127.${rest >>> 8}.${rest & 255}.${(host % LAST_BYTES) + 1}`;
}

/** The host at a loopback address (also v4-mapped); -1 if none can be there. */
export function hostAtAddress(address: string): number {
  const parts = address.startsWith('::ffff:') ? address.slice(7).split('.') : address.split('.');
  const last = Number(parts[3]);
  if (parts.length !== 4 || parts[0] !== '127' || !(last >= 1 && last <= LAST_BYTES)) return -1;
  return (Number(parts[1]) * 256 + Number(parts[2])) * LAST_BYTES + last - 1;
}

/** Whether a connection to this local address came from this machine. */
export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(?:::ffff:)?127\.|^::1$/.test(address);
}

/** The host named in a Host header, by the template of the web's names; -1 if none. */
export function createNameReader(plan: SimwebPlan): (header: string | undefined) => number {
  const [before = '', after = ''] = plan.hostName.split('{n}');
  return (header) => {
    const name = (header ?? '').replace(/:\d+$/, '').toLowerCase();
    if (!name.startsWith(before) || !name.endsWith(after)) return -1;
    const digits = name.slice(before.length, name.length - after.length);
    const host = Number(digits);
    return /^\d+$/.test(digits) && host < plan.hosts ? host : -1;
  };
}

/** `http://address:port` of each host, without a slash at the end. */
export function createOrigins(
  plan: SimwebPlan,
  ports: Ports,
  refuses: (host: number) => boolean,
): (host: number) => string {
  const scheme = plan.tls ? 'https' : 'http';
  const shared = ports.listening[0] as number;
  const [before = '', after = ''] = plan.hostName.split('{n}');
  const nameOf = (host: number): string => {
    if (plan.addressing === 'addresses') return addressOf(host);
    return plan.addressing === 'names' ? `${before}${host}${after}` : '127.0.0.1';
  };
  return (host) => {
    const own = plan.addressing === 'ports' ? (ports.listening[host] as number) : shared;
    return `${scheme}://${nameOf(host)}:${refuses(host) ? ports.closed : own}`;
  };
}
