// The address guard: which IP addresses a crawl may connect to. Pure functions over one table.
// In any notation, an address that is not public unicast is refused unless allowed.
import { isIP } from 'node:net';
import { CrawlError } from '../../errors.js';

/** An address as 16 bytes; IPv4 in the v4-mapped form, so that one comparison serves both families. */
type AddressBytes = Uint8Array;

interface AddressRange {
  readonly bytes: AddressBytes;
  readonly prefixBits: number;
}

/** From the IANA special-purpose registries, plus the metadata service that sits on a public address. */
const SPECIAL_V4: readonly (readonly [cidr: string, kind: string])[] = [
  ['0.0.0.0/8', 'unspecified'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'carrier-grade NAT'],
  ['127.0.0.0/8', 'loopback'],
  ['168.63.129.16/32', 'cloud metadata'],
  ['169.254.169.254/32', 'cloud metadata'],
  ['169.254.0.0/16', 'link-local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'protocol assignments'],
  ['192.0.2.0/24', 'documentation'],
  ['192.88.99.0/24', '6to4 relay'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['255.255.255.255/32', 'broadcast'],
  ['240.0.0.0/4', 'reserved'],
];

const SPECIAL_V6: readonly (readonly [cidr: string, kind: string])[] = [
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['64:ff9b:1::/48', 'local NAT64'],
  ['100::/64', 'discard-only'],
  ['2001::/32', 'Teredo'],
  ['2001:2::/48', 'benchmarking'],
  ['2001:10::/28', 'ORCHID'],
  ['2001:20::/28', 'ORCHID'],
  ['2001::/23', 'protocol assignments'],
  ['2001:db8::/32', 'documentation'],
  ['3fff::/20', 'documentation'],
  ['fd00:ec2::254/128', 'cloud metadata'],
  ['fc00::/7', 'unique-local'],
  ['fe80::/10', 'link-local'],
  ['fec0::/10', 'site-local'],
  ['ff00::/8', 'multicast'],
];

/** Forms of IPv6 that carry an IPv4 address, and the byte it starts at: what is inside decides. */
const CARRIERS: readonly (readonly [cidr: string, name: string, offset: number])[] = [
  ['::ffff:0:0:0/96', 'IPv4-translated', 12],
  ['64:ff9b::/96', 'NAT64', 12],
  ['2002::/16', '6to4', 2],
  ['::/96', 'IPv4-compatible', 12],
];

const special = [...SPECIAL_V4, ...SPECIAL_V6].map(([cidr, kind]) => ({ range: parseRange(cidr), kind }));
const carriers = CARRIERS.map(([cidr, name, offset]) => ({ range: parseRange(cidr), name, offset }));
const mapped = parseRange('::ffff:0:0/96');
const globalUnicast = parseRange('2000::/3');

/**
 * Why an IP address is not one of the public internet (`loopback`, `private`, `NAT64 of private`, …),
 * or undefined when it is. Text that is not an IP address is `not an address`.
 */
export function specialKind(address: string): string | undefined {
  const bytes = addressBytes(address);
  return bytes ? kindOf(bytes) : 'not an address';
}

function kindOf(bytes: AddressBytes): string | undefined {
  for (const { range, kind } of special) if (inRange(bytes, range)) return kind;
  if (inRange(bytes, mapped)) return undefined;
  for (const { range, name, offset } of carriers) {
    if (inRange(bytes, range)) return carriedKind(bytes, offset, name);
  }
  if (!inRange(bytes, globalUnicast)) return 'reserved';
  // ISATAP puts the IPv4 address behind a fixed interface identifier under any prefix.
  const isatap = (bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
  return isatap ? carriedKind(bytes, 12, 'ISATAP') : undefined;
}

function carriedKind(bytes: AddressBytes, offset: number, carrier: string): string | undefined {
  const inner = kindOf(fromV4Bytes(bytes.subarray(offset, offset + 4)));
  return inner && `${carrier} of ${inner}`;
}

/** Hosts that name the local machine without DNS (RFC 6761): `localhost` and everything under it. */
export function isLocalhostName(hostname: string): boolean {
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
  return name === 'localhost' || name.endsWith('.localhost');
}

/** The address a URL's hostname spells literally (brackets removed), or undefined for a name. */
export function literalAddress(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') && hostname.endsWith(']') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? undefined : bare;
}

/** The guard's rules: made once from the option, then extended by seeds. */
export interface AddressGuard {
  /** Why connecting `host` (as in `URL.host`) at this address is refused, or undefined when it may be. */
  refusal(host: string, address: string): string | undefined;
  /** A seed spelled this host (as in `URL.host`): what its name is first found at is what it may be allowed at. */
  seed(host: string): void;
  /** A seed's host may be reached where it is now; false when it may not, because its name was public before. */
  allowHost(host: string): boolean;
  /** Tells which addresses a name was found at; the first time decides what a seeded name may point to. */
  observe(host: string, addresses: readonly string[]): void;
}

/** Private names remembered from seeds: enough for any intranet. */
const MAX_SEEDED_NAMES = 10_000;
/** Public ones, by a number each: a broad crawl's million seeds must not pile up. The oldest are forgotten. */
const MAX_PUBLIC_NAMES = 250_000;

interface SeededName {
  /** The private addresses of its first resolution. */
  pinned: ReadonlySet<string> | undefined;
  isAllowed: boolean;
}

/**
 * A guard that refuses special addresses except those inside the allowed ranges (`true`: everywhere) and
 * those of seeded hosts. A seeded name is pinned to the addresses of its first resolution, so neither a public name
 * nor a private one can be rebound to another private address later.
 */
export function createAddressGuard(allow: boolean | readonly string[]): AddressGuard {
  const allowed = Array.isArray(allow) ? (allow as readonly string[]).map(parseAllowedRange) : [];
  const seededAddresses = new Set<string>();
  const seededNames = new Map<string, SeededName>();
  const publicNames = new Set<number>();

  /** A name that is seeded and was not seen public; undefined when it was, or when there is no room. */
  function seededName(host: string): SeededName | undefined {
    const known = seededNames.get(host);
    if (known || publicNames.has(numberOf(host)) || seededNames.size >= MAX_SEEDED_NAMES) return known;
    const name: SeededName = { pinned: undefined, isAllowed: false };
    seededNames.set(host, name);
    return name;
  }

  return {
    refusal(host, address) {
      if (allow === true) return undefined;
      const bytes = addressBytes(address);
      const kind = bytes ? kindOf(bytes) : 'not an address';
      if (kind === undefined || !bytes) return kind;
      if (allowed.some((range) => inRange(bytes, range))) return undefined;
      if (seededAddresses.has(host)) return undefined;
      const name = seededNames.get(host);
      return name?.isAllowed && name.pinned?.has(address) ? undefined : kind;
    },
    seed(host) {
      if (allow !== true && isName(hostnameOf(host))) seededName(host);
    },
    allowHost(host) {
      const hostname = hostnameOf(host);
      if (!isName(hostname)) {
        const literal = literalAddress(hostname);
        if (literal === undefined || specialKind(literal)) seededAddresses.add(host);
        return true;
      }
      const name = seededName(host);
      if (name) name.isAllowed = true;
      return name !== undefined;
    },
    observe(host, addresses) {
      const name = seededNames.size === 0 ? undefined : seededNames.get(host);
      if (!name || name.pinned) return;
      const special = addresses.filter((address) => specialKind(address));
      if (special.length > 0) {
        name.pinned = new Set(special);
        return;
      }
      seededNames.delete(host);
      if (publicNames.size >= MAX_PUBLIC_NAMES) publicNames.delete(publicNames.values().next().value!);
      publicNames.add(numberOf(host));
    },
  };
}

/** Whether the DNS decides where a hostname is. */
function isName(hostname: string): boolean {
  return literalAddress(hostname) === undefined && !isLocalhostName(hostname);
}

/** 31 bits of a name: two names of one number only mean that a private one is refused. */
function numberOf(host: string): number {
  let hash = 0;
  for (let index = 0; index < host.length; index++) hash = (Math.imul(hash, 31) + host.charCodeAt(index)) | 0;
  return hash >>> 1;
}

function hostnameOf(host: string): string {
  if (host.startsWith('[')) return host.slice(0, host.indexOf(']') + 1);
  const colon = host.indexOf(':');
  return colon < 0 ? host : host.slice(0, colon);
}

function parseAllowedRange(cidr: string): AddressRange {
  const range = typeof cidr === 'string' ? tryParseRange(cidr) : undefined;
  if (range) return range;
  const shown = typeof cidr === 'string' ? `"${cidr}"` : String(cidr);
  throw new CrawlError('OPTION_INVALID', `allowPrivateAddresses: ${shown} is not an address range like "10.0.0.0/8"`);
}

function parseRange(cidr: string): AddressRange {
  const range = tryParseRange(cidr);
  if (!range) throw new CrawlError('OPTION_INVALID', `not an address range: ${cidr}`);
  return range;
}

function tryParseRange(cidr: string): AddressRange | undefined {
  const slash = cidr.indexOf('/');
  const address = slash < 0 ? cidr : cidr.slice(0, slash);
  const bytes = addressBytes(address);
  if (!bytes) return undefined;
  const width = isIP(address) === 4 ? 32 : 128;
  const text = slash < 0 ? String(width) : cidr.slice(slash + 1);
  if (!/^\d{1,3}$/.test(text) || Number(text) > width) return undefined;
  return { bytes, prefixBits: Number(text) + (128 - width) };
}

function inRange(bytes: AddressBytes, { bytes: base, prefixBits }: AddressRange): boolean {
  const whole = prefixBits >> 3;
  for (let index = 0; index < whole; index++) if (bytes[index] !== base[index]) return false;
  const rest = prefixBits & 7;
  if (rest === 0) return true;
  const mask = 0xff << (8 - rest);
  return ((bytes[whole]! ^ base[whole]!) & mask & 0xff) === 0;
}

function fromV4Bytes(v4: ArrayLike<number>): AddressBytes {
  const bytes = new Uint8Array(16);
  bytes[10] = bytes[11] = 0xff;
  bytes.set(v4, 12);
  return bytes;
}

/** The 16 bytes of an address in any spelling `net.isIP` accepts, zone included; undefined for other text. */
export function addressBytes(address: string): AddressBytes | undefined {
  const family = isIP(address);
  if (family === 0) return undefined;
  if (family === 4) return fromV4Bytes(address.split('.').map(Number));
  const zone = address.indexOf('%');
  let text = zone < 0 ? address : address.slice(0, zone);
  const lastColon = text.lastIndexOf(':');
  if (text.includes('.')) {
    const [a, b, c, d] = text
      .slice(lastColon + 1)
      .split('.')
      .map(Number) as [number, number, number, number];
    text = `${text.slice(0, lastColon + 1)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  }
  const [head = '', tail] = text.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const bytes = new Uint8Array(16);
  left.forEach((group, index) => writeGroup(bytes, index, group));
  right.forEach((group, index) => writeGroup(bytes, 8 - right.length + index, group));
  return bytes;
}

function writeGroup(bytes: Uint8Array, index: number, group: string): void {
  const value = Number.parseInt(group, 16);
  bytes[index * 2] = value >> 8;
  bytes[index * 2 + 1] = value & 0xff;
}
