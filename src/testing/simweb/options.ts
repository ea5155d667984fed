// Checks the options of the synthetic web once, at start, and fills in every default.
// What passes here is frozen and trusted by the rest; what does not is named in an OPTION_INVALID error.
import { CrawlError } from '../../errors.js';
import { HOST_FAULTS } from './knobs.js';
import { TOPICS } from './pages/topics.js';
import type {
  HostFault,
  HostKnobs,
  HostPlan,
  Pair,
  RateLimitKnobs,
  RobotsKnobs,
  SimwebOptions,
  SimwebPlan,
} from './knobs.js';

type Bag = Record<string, unknown>;

const bad = (name: string, expected: string): CrawlError =>
  new CrawlError('OPTION_INVALID', `simweb option "${name.replace(/^options\./, '')}" must be ${expected}`);

function bag(name: string, value: unknown, known: readonly string[]): Bag {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw bad(name, 'an object');
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) {
      const full = `${name}.${key}`.replace(/^options\./, '');
      throw new CrawlError('OPTION_INVALID', `simweb has no option "${full}"; known are ${known.join(', ')}`);
    }
  }
  return value as Bag;
}

function number(name: string, value: unknown, fallback: number, min: number, max = Infinity, whole = true): number {
  if (value === undefined) return fallback;
  if (typeof value !== 'number' || !(value >= min && value <= max) || (whole && !Number.isInteger(value))) {
    throw bad(name, `a ${whole ? 'whole ' : ''}number from ${min}${max === Infinity ? '' : ` to ${max}`}`);
  }
  return value;
}

const portion = (name: string, value: unknown, fallback = 0): number => number(name, value, fallback, 0, 1, false);

function flag(name: string, value: unknown, fallback: boolean): boolean {
  if (value === undefined) return fallback;
  if (typeof value !== 'boolean') throw bad(name, 'true or false');
  return value;
}

function oneOf<T extends string>(name: string, value: unknown, choices: readonly T[], fallback: T): T {
  if (value === undefined) return fallback;
  if (!choices.includes(value as T)) throw bad(name, `one of ${choices.join(', ')}`);
  return value as T;
}

function range(name: string, value: unknown, fallback: Pair, min: number, whole = true): Pair {
  if (value === undefined) return fallback;
  if (!Array.isArray(value)) {
    const only = number(name, value, 0, min, Infinity, whole);
    return Object.freeze([only, only] as const);
  }
  if (value.length !== 2) throw bad(name, 'a number or [min, max]');
  const low = number(`${name}[0]`, value[0], min, min, Infinity, whole);
  return Object.freeze([low, number(`${name}[1]`, value[1], low, low, Infinity, whole)] as const);
}

function rateLimit(name: string, value: unknown): Required<RateLimitKnobs> | undefined {
  if (value === undefined || value === false) return undefined;
  const knobs = bag(name, value, ['requests', 'windowMs', 'retryAfterSecs']);
  return Object.freeze({
    requests: number(`${name}.requests`, knobs.requests ?? NaN, 0, 1),
    windowMs: number(`${name}.windowMs`, knobs.windowMs ?? NaN, 0, 1),
    retryAfterSecs: number(`${name}.retryAfterSecs`, knobs.retryAfterSecs, 1, 0),
  });
}

function robots(name: string, value: unknown): RobotsKnobs | undefined {
  if (value === false) return undefined;
  if (value === undefined || value === true) return Object.freeze({});
  const knobs = bag(name, value, ['status', 'location', 'body', 'disallow', 'crawlDelaySecs']);
  number(`${name}.status`, knobs.status, 200, 200, 599);
  number(`${name}.crawlDelaySecs`, knobs.crawlDelaySecs, 0, 0, Infinity, false);
  for (const key of ['location', 'body']) {
    if (knobs[key] !== undefined && typeof knobs[key] !== 'string') throw bad(`${name}.${key}`, 'a string');
  }
  const { disallow } = knobs;
  if (disallow !== undefined && !(Array.isArray(disallow) && disallow.every((path) => typeof path === 'string'))) {
    throw bad(`${name}.disallow`, 'a list of paths');
  }
  return Object.freeze({ ...(knobs as RobotsKnobs) });
}

const HOST_KNOBS = ['latencyMs', 'bytesPerSec', 'fault', 'rateLimit', 'robots', 'cookieWall', 'trap'] as const;
const FAULTS_OR_NONE = ['none', ...HOST_FAULTS] as const;

/** `base` with the given knobs in place of its own. */
export function planHost(name: string, value: unknown, base: HostPlan): HostPlan {
  const knobs = bag(name, value, HOST_KNOBS);
  const has = (key: string): boolean => knobs[key] !== undefined;
  return Object.freeze({
    latencyMs: range(`${name}.latencyMs`, knobs.latencyMs, base.latencyMs, 0, false),
    bytesPerSec: number(`${name}.bytesPerSec`, knobs.bytesPerSec, base.bytesPerSec, 0),
    fault: oneOf(`${name}.fault`, knobs.fault, FAULTS_OR_NONE, base.fault),
    rateLimit: has('rateLimit') ? rateLimit(`${name}.rateLimit`, knobs.rateLimit) : base.rateLimit,
    robots: has('robots') ? robots(`${name}.robots`, knobs.robots) : base.robots,
    cookieWall: flag(`${name}.cookieWall`, knobs.cookieWall, base.cookieWall),
    trap: flag(`${name}.trap`, knobs.trap, base.trap),
  });
}

const PLAIN_HOST: HostPlan = Object.freeze({
  latencyMs: Object.freeze([0, 0] as const),
  bytesPerSec: 0,
  fault: 'none',
  rateLimit: undefined,
  robots: Object.freeze({}),
  cookieWall: false,
  trap: false,
});

// 254 * 256 * 256 addresses 127.a.b.c with c from 1 to 254.
const MAX_HOSTS = 254 * 256 * 256;
// One listener a host: more would run into the limit of open files.
const MAX_PORT_HOSTS = 1000;

const KNOWN = [
  ...['seed', 'hosts', 'pagesPerHost', 'addressing', 'hostName', 'port', 'tls', 'pageBytes', 'linksPerPage'],
  ...['branching', 'crossHostLinks', 'linkNoise', 'privatePages', 'compression', 'chunked', 'validators', 'changes'],
  ...['keepAlive', 'statusMix', 'redirects', 'sitemaps', 'slowHosts', 'brokenHosts', 'traps', 'topics', 'cookies'],
  ...['overrides', 'cacheBytes', 'maxLogEntries', ...HOST_KNOBS.filter((key) => key !== 'fault' && key !== 'trap')],
];

/** Checks the options and fills in the defaults; throws `OPTION_INVALID` naming the first wrong one. */
export function planSimweb(options: SimwebOptions = {}): SimwebPlan {
  const given = bag('options', options, KNOWN);
  const group = (name: string, known: readonly string[]): Bag => bag(name, given[name] ?? {}, known);
  const { latencyMs, bytesPerSec, rateLimit: limit, robots: rules, cookieWall } = given;
  const everyHost = planHost(
    'options',
    { latencyMs, bytesPerSec, rateLimit: limit, robots: rules, cookieWall },
    PLAIN_HOST,
  );

  const defaultAddressing = process.platform === 'linux' ? 'addresses' : 'ports';
  const addressing = oneOf('addressing', given.addressing, ['addresses', 'ports', 'names'], defaultAddressing);
  const hosts = number('hosts', given.hosts, 1, 1, addressing === 'ports' ? MAX_PORT_HOSTS : MAX_HOSTS);
  const hostName = given.hostName ?? 'h{n}.localhost';
  if (typeof hostName !== 'string' || !/^[a-z0-9.-]*\{n\}[a-z0-9.-]*$/.test(hostName)) {
    throw bad('hostName', 'a lower-case host name with {n} in it');
  }
  const noise = group('linkNoise', ['duplicates', 'fragments', 'utm', 'nofollow']);
  const mix = group('statusMix', ['missing', 'failing', 'recovering', 'recoverAfter']);
  const hops = group('redirects', ['share', 'maxHops', 'loops']);
  const slow = group('slowHosts', ['share', 'latencyMs', 'bytesPerSec']);
  const broken = group('brokenHosts', ['share', 'faults']);
  const faults = broken.faults ?? HOST_FAULTS;
  if (!Array.isArray(faults) || faults.length === 0 || !faults.every((fault) => HOST_FAULTS.includes(fault))) {
    throw bad('brokenHosts.faults', `a list of ${HOST_FAULTS.join(', ')}`);
  }
  const changing = group('changes', [
    ...['perHour', 'furniture', 'etags', 'lastModified', 'lastmod', 'nearCopies', 'mirrors'],
  ]);
  const maps = typeof given.sitemaps === 'boolean' ? {} : group('sitemaps', ['perFile', 'gzip']);
  const statusMix = Object.freeze({
    missing: portion('statusMix.missing', mix.missing),
    failing: portion('statusMix.failing', mix.failing),
    recovering: portion('statusMix.recovering', mix.recovering),
    recoverAfter: number('statusMix.recoverAfter', mix.recoverAfter, 2, 1),
  });
  if (statusMix.missing + statusMix.failing > 1) throw bad('statusMix', 'shares that add up to at most 1');

  return Object.freeze({
    seed: number('seed', given.seed, 1, 0, 0xffffffff),
    hosts,
    pagesPerHost: number('pagesPerHost', given.pagesPerHost, 100, 1, 0x7fffffff),
    addressing,
    hostName,
    port: number('port', given.port, 0, 0, 65535),
    tls: planTls(given.tls),
    pageBytes: range('pageBytes', given.pageBytes, [10_000, 30_000], 500),
    linksPerPage: range('linksPerPage', given.linksPerPage, [20, 40], 0),
    branching: number('branching', given.branching, 10, 1, 10_000),
    crossHostLinks: portion('crossHostLinks', given.crossHostLinks),
    linkNoise: Object.freeze({
      duplicates: portion('linkNoise.duplicates', noise.duplicates, 0.05),
      fragments: portion('linkNoise.fragments', noise.fragments, 0.05),
      utm: portion('linkNoise.utm', noise.utm),
      nofollow: portion('linkNoise.nofollow', noise.nofollow),
    }),
    privatePages: portion('privatePages', given.privatePages),
    compression: oneOf('compression', given.compression, ['none', 'gzip', 'br', 'deflate'], 'gzip'),
    chunked: flag('chunked', given.chunked, false),
    validators: flag('validators', given.validators, true),
    changes: Object.freeze({
      perHour: range('changes.perHour', changing.perHour, [0, 0], 0, false),
      furniture: flag('changes.furniture', changing.furniture, false),
      etags: oneOf('changes.etags', changing.etags, ['strong', 'weak', 'wrong', 'none'], 'strong'),
      lastModified: oneOf('changes.lastModified', changing.lastModified, ['true', 'now', 'none'], 'true'),
      lastmod: oneOf('changes.lastmod', changing.lastmod, ['true', 'now', 'stale', 'none'], 'true'),
      nearCopies: portion('changes.nearCopies', changing.nearCopies),
      mirrors: portion('changes.mirrors', changing.mirrors),
    }),
    keepAlive: flag('keepAlive', given.keepAlive, true),
    statusMix,
    redirects: Object.freeze({
      share: portion('redirects.share', hops.share),
      maxHops: number('redirects.maxHops', hops.maxHops, 3, 1, 100),
      loops: portion('redirects.loops', hops.loops),
    }),
    sitemaps:
      given.sitemaps === false
        ? undefined
        : Object.freeze({
            perFile: number('sitemaps.perFile', maps.perFile, 10_000, 1, 50_000),
            gzip: flag('sitemaps.gzip', maps.gzip, false),
          }),
    slowHosts: Object.freeze({
      share: portion('slowHosts.share', slow.share),
      latencyMs: range('slowHosts.latencyMs', slow.latencyMs, [1000, 3000], 0, false),
      bytesPerSec: number('slowHosts.bytesPerSec', slow.bytesPerSec, 20_000, 0),
    }),
    brokenHosts: Object.freeze({
      share: portion('brokenHosts.share', broken.share),
      faults: Object.freeze([...faults] as HostFault[]),
    }),
    traps: portion('traps', given.traps),
    topics: number('topics', given.topics, 0, 0, TOPICS.length),
    cookies: flag('cookies', given.cookies, false),
    cacheBytes: number('cacheBytes', given.cacheBytes, 64 * 1024 * 1024, 0),
    maxLogEntries: number('maxLogEntries', given.maxLogEntries, 5_000_000, 1),
    everyHost,
    overrides: planOverrides(given.overrides ?? {}, hosts, everyHost),
  });
}

function planTls(value: unknown): SimwebPlan['tls'] {
  if (value === undefined || typeof value === 'boolean') return value ?? false;
  const { key, cert } = bag('tls', value, ['key', 'cert']);
  if (typeof key !== 'string' || typeof cert !== 'string') throw bad('tls', 'true or { key, cert } in PEM');
  return Object.freeze({ key, cert });
}

function planOverrides(value: unknown, hosts: number, everyHost: HostPlan): ReadonlyMap<number, HostKnobs> {
  if (typeof value !== 'object' || value === null) throw bad('overrides', 'an object by host number');
  const overrides = new Map<number, HostKnobs>();
  for (const [key, knobs] of Object.entries(value)) {
    const host = Number(key);
    if (!Number.isInteger(host) || host < 0 || host >= hosts)
      throw bad(`overrides.${key}`, `a host from 0 to ${hosts - 1}`);
    planHost(`overrides.${key}`, knobs, everyHost);
    overrides.set(host, knobs as HostKnobs);
  }
  return overrides;
}
