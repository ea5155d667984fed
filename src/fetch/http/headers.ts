// Headers on their way out (what the order says, plus cookies, credentials and accept-encoding) and on
// their way in (one string a name, set-cookie as a list).
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

/** The jar's cookies and those of an explicit header; of the same name, the explicit one is sent. */
export function mergeCookies(jar: string, explicit: string): string {
  if (jar === '') return explicit;
  if (explicit === '') return jar;
  const names = new Set(explicit.split(';').map(cookieName));
  const kept = jar.split(';').filter((pair) => !names.has(cookieName(pair)));
  return [...kept, explicit].map((part) => part.trim()).join('; ');
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
      // Browsers follow the first Location and the last of nothing else that matters here.
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
