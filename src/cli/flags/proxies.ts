// Which proxy a URL goes through: that of --proxy, else those of HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY.
// Promise: an unusable proxy is refused before anything is fetched; its password is in no message. As in other tools,
// the environment's proxies are not used for loopback addresses.
import { BlockList, isIP } from 'node:net';
import { isProxyUrl } from '../../request/proxy-url.js';
import { parseUrl } from '../../request/url.js';
import { UsageError } from '../exit-codes.js';

/** The proxy of a URL; undefined for a direct connection. */
export type ProxyFor = (url: string) => string | undefined;

export interface ProxyFlags {
  /** False: --no-proxy. */
  readonly proxy?: string | false;
}

/** Undefined when nothing names a proxy. */
export function proxiesOf({ proxy }: ProxyFlags, env: NodeJS.ProcessEnv = process.env): ProxyFor | undefined {
  if (proxy === false) return undefined;
  if (proxy !== undefined) {
    const url = checked(proxy, '--proxy');
    return () => url;
  }
  const read = (name: string) => env[name.toLowerCase()] || env[name] || undefined;
  const named = (name: string) => {
    const given = read(name) ?? read('ALL_PROXY');
    return given === undefined ? undefined : checked(given, read(name) === undefined ? 'ALL_PROXY' : name);
  };
  const [http, https] = [named('HTTP_PROXY'), named('HTTPS_PROXY')];
  if (http === undefined && https === undefined) return undefined;
  const isExempt = exemptions(read('NO_PROXY') ?? '');
  return (url) => {
    const target = parseUrl(url);
    if (!target || isExempt(target)) return undefined;
    return target.protocol === 'https:' ? https : http;
  };
}

function checked(given: string, name: string): string {
  const text = given.trim();
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const parsed = parseUrl(url);
  if (parsed && isProxyUrl(parsed)) return url;
  const advice = name === '--proxy' ? '' : ', or ignore it with --no-proxy';
  throw new UsageError(
    `${name} is not a proxy: use http://[user:password@]host:port, or https, socks5 or socks5h${advice}`,
  );
}

/** Hosts of NO_PROXY: names with their subdomains, addresses, CIDR ranges, each with an optional port; `*` is all. */
function exemptions(list: string): (url: URL) => boolean {
  const ranges = new BlockList();
  const names: { readonly name: string; readonly port: string }[] = [];
  for (const entry of list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)) {
    const [, base, bits] = /^([0-9a-f.:]+)\/(\d+)$/.exec(entry) ?? [];
    const family = isIP(base ?? '');
    if (base !== undefined && family !== 0 && Number(bits) <= (family === 6 ? 128 : 32)) {
      ranges.addSubnet(base, Number(bits), family === 6 ? 'ipv6' : 'ipv4');
      continue;
    }
    const [, name, port] = /^(?:\*?\.)?(\[[0-9a-f:.]+\]|[^:]+|[0-9a-f:.]+)(?::(\d+))?$/.exec(entry) ?? [];
    if (name !== undefined) names.push({ name: name.replace(/^\[|\]$/g, ''), port: port ?? '' });
  }
  return ({ hostname, port, protocol }) => {
    const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
    if (host === 'localhost' || host.endsWith('.localhost') || /^127\./.test(host) || host === '::1') return true;
    const family = isIP(host);
    if (family !== 0 && ranges.check(host, family === 6 ? 'ipv6' : 'ipv4')) return true;
    const realPort = port || (protocol === 'https:' ? '443' : '80');
    return names.some((one) => {
      if (one.port !== '' && one.port !== realPort) return false;
      return one.name === '*' || host === one.name || (family === 0 && host.endsWith(`.${one.name}`));
    });
  };
}
