// Resolves names like libc: hosts file, then DNS.
// DNS goes through c-ares on the event loop, so slow names never fill the thread pool used by zlib and files.
import { lookup as lookupCallback, promises as dnsPromises } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { isIP } from 'node:net';
import type { Resolve, ResolvedName } from './dns.js';

const lookup = promisify(lookupCallback);

export interface SystemResolveOptions {
  /** DNS servers as `address:port`; the system's when left out. */
  readonly servers?: readonly string[];
  readonly hostsFile?: string;
}

/** Two tries of this length stay within the connect timeout. */
const TRY_TIMEOUT_MS = 3_000;
const TRIES = 2;

/** A resolver over the hosts file (read once) and DNS; names that only the system knows fall back to it. */
export function createSystemResolve({ servers, hostsFile = hostsPath() }: SystemResolveOptions = {}): Resolve {
  const resolver = new dnsPromises.Resolver({ timeout: TRY_TIMEOUT_MS, tries: TRIES });
  if (servers) resolver.setServers(servers);
  let hosts: Promise<ReadonlyMap<string, readonly string[]>> | undefined;

  return async (hostname) => {
    hosts ??= readHosts(hostsFile);
    const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
    const listed = (await hosts).get(name.toLowerCase());
    if (listed) return { addresses: listed };
    // Search domains and multicast DNS are the system's business.
    if (!name.includes('.') || name.endsWith('.local')) return systemLookup(name);
    const [v4, v6] = await Promise.allSettled([
      resolver.resolve4(name, { ttl: true }),
      resolver.resolve6(name, { ttl: true }),
    ]);
    const records = [...(v4.status === 'fulfilled' ? v4.value : []), ...(v6.status === 'fulfilled' ? v6.value : [])];
    if (records.length > 0) {
      const ttlSecs = Math.min(...records.map((record) => record.ttl));
      return { addresses: records.map((record) => record.address), ttlMs: ttlSecs * 1000 };
    }
    const reason: unknown = v4.status === 'rejected' ? v4.reason : (v6 as PromiseRejectedResult).reason;
    // Nobody answers at the configured server: the system may resolve in another way altogether.
    if ((reason as { code?: string }).code === 'ECONNREFUSED') return systemLookup(name);
    throw reason;
  };
}

async function systemLookup(name: string): Promise<ResolvedName> {
  const found = await lookup(name, { all: true, verbatim: true });
  return { addresses: found.map(({ address }) => address) };
}

function hostsPath(): string {
  return process.platform === 'win32'
    ? `${process.env['SystemRoot'] ?? 'C:\\Windows'}\\System32\\drivers\\etc\\hosts`
    : '/etc/hosts';
}

async function readHosts(path: string): Promise<ReadonlyMap<string, readonly string[]>> {
  try {
    return parseHosts(await readFile(path, 'utf8'));
  } catch {
    return new Map();
  }
}

/** The names of a hosts file with their addresses, in the order of the file. */
export function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const hosts = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.split('#', 1)[0]!.trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      hosts.set(key, [...(hosts.get(key) ?? []), address]);
    }
  }
  return hosts;
}
