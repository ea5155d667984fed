// Outgoing headers (from the order, plus cookies, credentials and accept-encoding) and incoming ones
// (one string per name, set-cookie as a list).
import { basicCredentials } from '../../request/login.js';
import type { Hop } from './redirect.js';

/** The connection's own business: the client sets these, so an order's are left out. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'content-length',
  'proxy-authorization',
]);

/** Flat name, value, name, value … as the client takes them. */
export function outgoingHeaders(hop: Hop, jarCookies: string, acceptEncoding: string): string[] {
  const out: string[] = [];
  const { headers, url } = hop;
  let cookie = jarCookies;
  let hasAcceptEncoding = false;
  let hasAuthorization = false;
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value === undefined || value === null) continue;
    const lower = name.toLowerCase();
    if (HOP_BY_HOP.has(lower)) continue;
    if (lower === 'cookie') {
      cookie = mergeCookies(jarCookies, value);
      continue;
    }
    if (lower === 'accept-encoding') hasAcceptEncoding = true;
    else if (lower === 'authorization') hasAuthorization = true;
    out.push(name, value);
  }
  if (cookie !== '') out.push('cookie', cookie);
  if (!hasAcceptEncoding) out.push('accept-encoding', acceptEncoding);
  if (!hasAuthorization && (url.username !== '' || url.password !== '')) {
    out.push('authorization', basicCredentials(url));
  }
  return out;
}

/** The jar's cookies and those of an explicit header; of the same name the explicit one, where the jar's would be. */
export function mergeCookies(jar: string, explicit: string): string {
  if (jar === '') return explicit;
  if (explicit === '') return jar;
  const cookies = new Map<string, string>();
  for (const header of [jar, explicit]) {
    for (const pair of header.split(';')) if (pair.trim() !== '') cookies.set(cookieName(pair), pair.trim());
  }
  return [...cookies.values()].join('; ');
}

function cookieName(pair: string): string {
  const equals = pair.indexOf('=');
  return (equals < 0 ? pair : pair.slice(0, equals)).trim();
}

/** Repeated headers joined as HTTP allows; `set-cookie` always a list. Works in place: the object is ours. */
export function incomingHeaders(
  parsed: Record<string, string | string[] | undefined>,
): Record<string, string | string[]> {
  for (const name in parsed) {
    const value = parsed[name];
    if (name === 'set-cookie') {
      if (typeof value === 'string') parsed[name] = [value];
    } else if (typeof value === 'object') {
      // Browsers follow the first Location; other repeated headers are joined.
      parsed[name] = name === 'location' ? value[0]! : value.join(', ');
    }
  }
  return parsed as Record<string, string | string[]>;
}

/** One header as text; undefined when absent. */
export function headerText(headers: Readonly<Record<string, string | string[]>>, name: string): string | undefined {
  if (!Object.hasOwn(headers, name)) return undefined;
  const value = headers[name];
  return typeof value === 'object' ? value.join(', ') : value;
}
