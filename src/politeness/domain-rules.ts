// Which domains a crawl may visit, and their own settings: exclude list, allow list, overrides.
// Promise: a domain includes its subdomains; a decision costs one set lookup per label of the host.
import { CrawlError } from '../errors.js';
import { LIMITS } from '../limits.js';
import {
  aBoolean,
  anObject,
  aNumber,
  arrayOf,
  aString,
  aWholeNumber,
  checkOptions,
  findProblems,
  optionError,
  type ShapeOf,
} from '../option-checks.js';
import { parseUrl } from '../request/url.js';
import { hostPartOf } from './url-host.js';

export type DomainReason = 'DOMAIN_EXCLUDED' | 'DOMAIN_NOT_ALLOWED';

/** What holds for one domain in place of the crawl's own settings. */
export interface DomainOverride {
  /** Seconds between requests; a larger Crawl-delay still wins. */
  readonly delaySecs?: number;
  /** URLs of the domain that may be queued. */
  readonly maxPages?: number;
  /** robots.txt is not asked. */
  readonly ignoreRobots?: boolean;
  /** The name under which robots.txt is read and requests are sent. */
  readonly userAgent?: string;
}

const OVERRIDE_SHAPE: ShapeOf<DomainOverride> = {
  delaySecs: aNumber({ from: 0 }),
  maxPages: aWholeNumber({ from: 0, orInfinity: true }),
  ignoreRobots: aBoolean,
  userAgent: aString,
};

/** Which domains are visited, and what is different for some of them. */
export interface DomainRuleOptions {
  /** Domains never to visit, subdomains included. */
  exclude?: readonly string[];
  /** Only these and their subdomains are visited, if any are given. What is excluded as well is excluded. */
  allow?: readonly string[];
  /** By domain; where several hold, the narrower one's settings win. */
  overrides?: Readonly<Record<string, DomainOverride>>;
}

const SHAPE: ShapeOf<DomainRuleOptions> = {
  exclude: arrayOf(aString),
  allow: arrayOf(aString),
  overrides: anObject,
};

export interface DomainRules {
  /** Why the URL (as the URL parser spells it) is not to be visited, or undefined. */
  refusal(url: string): DomainReason | undefined;
  /** The settings of the URL's domain; the same object for the same domain. */
  overrideFor(url: string): ResolvedOverride;
}

export interface ResolvedOverride extends DomainOverride {
  /** The domain that `maxPages` was given for; a narrower one shares its budget. */
  readonly budgetDomain?: string;
}

const NO_OVERRIDE: ResolvedOverride = Object.freeze({});

/**
 * The domains of a crawl.
 *
 * @example
 * const domains = createDomainRules({
 *   exclude: await loadDomainList('exclude.txt'),
 *   overrides: { 'example.com': { delaySecs: 5 } },
 * });
 * domains.overrideFor('https://www.example.com/').delaySecs; // 5
 */
export function createDomainRules(options: DomainRuleOptions = {}): DomainRules {
  checkOptions('domain rules', options, SHAPE);
  const exclude = domainSet('exclude', options.exclude);
  const allow = domainSet('allow', options.allow);
  const overrides = resolveOverrides(options.overrides ?? {});

  return {
    refusal(url) {
      if (exclude.size === 0 && allow.size === 0) return undefined;
      const host = hostPartOf(url);
      if (exclude.size > 0 && covers(exclude, host)) return 'DOMAIN_EXCLUDED';
      return allow.size > 0 && !covers(allow, host) ? 'DOMAIN_NOT_ALLOWED' : undefined;
    },
    overrideFor(url) {
      if (overrides.size === 0) return NO_OVERRIDE;
      for (const domain of suffixesOf(hostPartOf(url))) {
        const found = overrides.get(domain);
        if (found) return found;
      }
      return NO_OVERRIDE;
    },
  };
}

/** The host, then each domain above it: `a.b.example`, `b.example`, `example`. */
function* suffixesOf(host: string): Generator<string> {
  let domain = host.endsWith('.') ? host.slice(0, -1) : host;
  // No list has a longer domain; each suffix of a long host would be hashed as a whole.
  const tooLong = domain.length - LIMITS.hostCharacters.max;
  if (tooLong > 0) domain = domain.slice(domain.indexOf('.', tooLong - 1) + 1);
  for (;;) {
    yield domain;
    const dot = domain.indexOf('.');
    if (dot < 0) return;
    domain = domain.slice(dot + 1);
  }
}

function covers(domains: ReadonlySet<string>, host: string): boolean {
  for (const domain of suffixesOf(host)) if (domains.has(domain)) return true;
  return false;
}

function domainSet(option: string, names: readonly string[] | undefined): ReadonlySet<string> {
  return new Set(names?.map((name, index) => checkedDomain(name, `option "${option}[${index}]"`)));
}

/** Each domain's settings over those of the domains above it. */
function resolveOverrides(given: Readonly<Record<string, DomainOverride>>): ReadonlyMap<string, ResolvedOverride> {
  const named = new Map<string, DomainOverride>();
  const problems: string[] = [];
  for (const [name, override] of Object.entries(given)) {
    problems.push(...findProblems(`overrides["${name.slice(0, 80)}"]`, override, OVERRIDE_SHAPE));
    named.set(checkedDomain(name, 'option "overrides"'), override);
  }
  if (problems.length > 0) throw optionError(problems);
  const resolved = new Map<string, ResolvedOverride>();
  for (const domain of named.keys()) {
    let settings: ResolvedOverride = {};
    for (const above of [...suffixesOf(domain)].reverse()) {
      const layer = named.get(above);
      if (layer) settings = { ...settings, ...layer, ...(layer.maxPages === undefined ? {} : { budgetDomain: above }) };
    }
    resolved.set(domain, Object.freeze(settings));
  }
  return resolved;
}

function checkedDomain(text: string, owner: string): string {
  const domain = toDomain(text);
  if (domain === undefined) {
    throw new CrawlError('OPTION_INVALID', `${owner}: invalid domain "${text.slice(0, 100)}", expected "example.com"`);
  }
  return domain;
}

/** A host in canonical form from `example.com`, `.example.com`, `*.example.com` or a URL; undefined if invalid. */
export function toDomain(text: string): string | undefined {
  const trimmed = text.trim();
  const isUrl = /^https?:\/\//i.test(trimmed);
  const name = trimmed.replace(/^(?:\*\.|\.)/, '').replace(/\/$/, '');
  if (!isUrl && /[\s*/\\?#@]/.test(name)) return undefined;
  const hostname = parseUrl(isUrl ? trimmed : `http://${name}/`)?.hostname;
  return hostname?.endsWith('.') ? hostname.slice(0, -1) : hostname;
}
