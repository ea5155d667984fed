// Limits the queued URLs per host and per registrable domain, so that no site takes over the crawl.
// Promise: a budget is never exceeded, for any number of hosts; memory is bounded. Hosts beyond `maxTracked`
// are in a sketch that may overcount but never undercounts.
import { aWholeNumber, checkOptions, type ShapeOf } from '../option-checks.js';
import { fingerprintOf } from '../request/fingerprint.js';
import { registrableDomain } from '../request/url.js';
import { hostPartOf } from './url-host.js';

export type BudgetReason = 'BUDGET_HOST' | 'BUDGET_DOMAIN';

export interface BudgetOptions {
  /** URLs of one host. Default: no limit. */
  maxPerHost?: number;
  /** URLs of one registrable domain, all its hosts together. Default: no limit. */
  maxPerDomain?: number;
  /** Hosts, and as many domains, counted exactly. Default 100,000. */
  maxTracked?: number;
}

const SHAPE: ShapeOf<BudgetOptions> = {
  maxPerHost: aWholeNumber({ from: 1, orInfinity: true }),
  maxPerDomain: aWholeNumber({ from: 1, orInfinity: true }),
  maxTracked: aWholeNumber({ from: 1 }),
};

export interface Budgets {
  /** Takes one from the URL's host and domain, or returns which is used up; then nothing is taken. */
  take(url: string, limits?: BudgetLimits): BudgetReason | undefined;
  /** Returns one: the URL was a duplicate or refused for another reason. With the same limits. */
  giveBack(url: string, limits?: BudgetLimits): void;
}

/** A domain's own limit: `DomainRules.overrideFor(url)` has this shape. */
export interface BudgetLimits {
  /** In place of `maxPerDomain`. */
  readonly maxPages?: number;
  /** The domain that `maxPages` counts, its subdomains included. Default: the registrable domain. */
  readonly budgetDomain?: string;
}

/**
 * Budgets for hosts and domains.
 *
 * @example
 * const budgets = createBudgets({ maxPerHost: 10_000 });
 * const refusal = budgets.take('https://example.com/a'); // undefined until 10,000 were taken
 */
export function createBudgets(options: BudgetOptions = {}): Budgets {
  checkOptions('budgets', options, SHAPE);
  const { maxPerHost = Infinity, maxPerDomain = Infinity, maxTracked = 100_000 } = options;
  const hosts = createCounts(maxTracked);
  const domains = createCounts(maxTracked);

  /** The counters of a URL: only where there is a limit. */
  function countedIn(url: string, { maxPages = maxPerDomain, budgetDomain }: BudgetLimits): Counted {
    const host = hostPartOf(url);
    return {
      host: maxPerHost === Infinity ? undefined : host,
      domain: maxPages === Infinity ? undefined : (budgetDomain ?? registrableDomain(host)),
      maxPages,
    };
  }

  function count({ host, domain }: Counted, step: 1 | -1): void {
    if (host !== undefined) hosts.add(host, step);
    if (domain !== undefined) domains.add(domain, step);
  }

  return {
    take(url, limits = {}) {
      const counted = countedIn(url, limits);
      if (counted.host !== undefined && hosts.get(counted.host) >= maxPerHost) return 'BUDGET_HOST';
      if (counted.domain !== undefined && domains.get(counted.domain) >= counted.maxPages) return 'BUDGET_DOMAIN';
      count(counted, 1);
      return undefined;
    },
    giveBack: (url, limits = {}) => count(countedIn(url, limits), -1),
  };
}

interface Counted {
  readonly host: string | undefined;
  readonly domain: string | undefined;
  readonly maxPages: number;
}

interface Counts {
  get(name: string): number;
  add(name: string, step: 1 | -1): void;
}

// Four rows of 2^16: 1 MB. With a million names the smallest of four cells is rarely shared with a large one.
const ROWS = 4;
const COLUMNS = 65_536;

function createCounts(maxTracked: number): Counts {
  /** In order of use. */
  const exact = new Map<string, number>();
  let sketch: Uint32Array | undefined;

  function cellsOf(name: string): number[] {
    const { hi, lo } = fingerprintOf(name);
    return [hi >>> 16, hi & 0xffff, lo >>> 16, lo & 0xffff].map((column, row) => row * COLUMNS + column);
  }

  function get(name: string): number {
    const known = exact.get(name);
    if (known !== undefined) return known;
    if (!sketch) return 0;
    const table = sketch;
    return Math.min(...cellsOf(name).map((cell) => table[cell] as number));
  }

  /** The least recently used name moves to the sketch, whose cells only grow. */
  function moveOldest(): void {
    const [name, count] = exact.entries().next().value as [string, number];
    sketch ??= new Uint32Array(ROWS * COLUMNS);
    for (const cell of cellsOf(name)) sketch[cell] = Math.max(sketch[cell] as number, count);
    exact.delete(name);
  }

  return {
    get,
    add(name, step) {
      const count = Math.max(0, get(name) + step);
      exact.delete(name);
      exact.set(name, count);
      if (exact.size > maxTracked) moveOldest();
    },
  };
}
