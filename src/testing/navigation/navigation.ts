// The navigation suite: how a request ends in every placement (a script, a batch, a pod; over HTTP, in a browser).
// One rule holds in all placements; where a placement differs on purpose, the case says so and why.
import type { TestRunner } from '../conformance/conformance.js';
import { NAVIGATION_CASES, type NavigationGroup } from './cases.js';
import { type NavigationSite, serveNavigationSite } from './site.js';

/** A request of the suite. */
export interface NavigationRequest {
  /** The address to visit. */
  readonly url: string;
  /** Default GET. */
  readonly method?: 'GET' | 'POST';
  /** The body of a POST. */
  readonly payload?: string;
  /** Headers of this request alone. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What tells it from other requests. Default: its URL. */
  readonly uniqueKey?: string;
  /** Where its redirects may lead. */
  readonly enqueueStrategy?: 'same-hostname';
  /** Nothing is fetched; the handler is called at once. */
  readonly skipNavigation?: boolean;
}

/** How a placement is to be set up for a group of cases. Every setting that it has is applied. */
export interface NavigationSettings {
  /** Retries of a request that failed. */
  readonly maxRetries: number;
  /** Time limit of a navigation. */
  readonly timeoutMs: number;
  /** The largest body. */
  readonly maxBodyBytes: number;
  /** Addresses that domain rules exclude. */
  readonly exclude: readonly string[];
  /** User agents of single addresses. */
  readonly agents: Readonly<Record<string, string>>;
  /** The User-Agent of all requests; undefined: the default. */
  readonly userAgent: string | undefined;
  /** Whether robots.txt is obeyed. */
  readonly respectRobots: boolean;
  /** Whether pages of bot protections are retried. */
  readonly retryOnBlocked: boolean;
  /** Whether private addresses may be visited. */
  readonly allowPrivateAddresses: boolean;
  /** Added to the requests' headers by a hook before the navigation, where hooks can. */
  readonly hookHeaders: Readonly<Record<string, string>>;
}

/** How a request ended, as reported to the user. */
export interface NavigationEnd {
  /** The handler was called or a result came (`handled`); it failed for good; or it was left out. */
  readonly end: 'handled' | 'failed' | 'skipped';
  /** As the user knows the request. */
  readonly url: string;
  /** The request's key. */
  readonly uniqueKey?: string;
  /** Where the redirects ended. */
  readonly loadedUrl?: string | null;
  /** The addresses on the way there. */
  readonly redirectChain?: readonly string[];
  /** The status of the last response. */
  readonly statusCode?: number | null;
  /** The title of the page. */
  readonly title?: string | null;
  /** The error code of a failure. */
  readonly code?: string | null;
  /** Why it was left out. */
  readonly reason?: string;
  /** The functions of `context.crawler` that are there. */
  readonly crawler?: readonly string[];
}

/** Who makes the requests. */
export interface NavigationPlacement {
  /** Its name in the titles of tests. */
  readonly name: string;
  /** `script`: a crawler's `run`; `batch`: `runMany`; `pod`: a worker. */
  readonly family: 'script' | 'batch' | 'pod';
  /** What fetches. */
  readonly engine: 'http' | 'browser' | 'adaptive';
  /** Redirects are requests of their own: domains are paced. */
  readonly isPaced: boolean;
  /** Makes the requests and tells what became of each, in any order. */
  visit(requests: readonly NavigationRequest[], settings: NavigationSettings): Promise<readonly NavigationEnd[]>;
}

/** How a case ends. Paths stand for URLs of the case. */
export interface NavigationExpectation extends Omit<Partial<NavigationEnd>, 'loadedUrl' | 'redirectChain' | 'url'> {
  /** The path where the redirects end. */
  readonly loaded?: string;
  /** The paths on the way there. */
  readonly chain?: readonly string[];
  /** How many pages were requested in all. */
  readonly asks?: number;
}

/**
 * Runs the navigation cases against a placement.
 *
 * @example
 * navigationSuite({ describe, it, expect }, { name: 'my crawler', family: 'script', engine: 'http', isPaced: false, visit });
 */
export function navigationSuite(runner: TestRunner, placement: NavigationPlacement): void {
  const { expect } = runner;
  const groups = new Map<NavigationGroup, Promise<Visited>>();
  let site: Promise<NavigationSite> | undefined;
  const applying = NAVIGATION_CASES.filter(({ expected }) => expected(placement) !== undefined);
  const names = applying.map(({ name }) => name);
  let left = applying.length;

  async function visit(group: NavigationGroup): Promise<Visited> {
    const at = await (site ??= serveNavigationSite(names));
    const cases = applying.filter((one) => one.group === group);
    const requests = cases.flatMap(({ name, requests: make }) => make((path, role) => at.url(name, path, role)));
    const ends = await placement.visit(requests, settingsOf(group, at));
    return { site: at, ends };
  }

  runner.describe(`navigation by ${placement.name}`, () => {
    for (const { name, group, expected, also } of applying) {
      runner.it(
        name,
        async () => {
          try {
            let visited = groups.get(group);
            if (!visited) groups.set(group, (visited = visit(group)));
            const { site: at, ends } = await visited;
            const own = ends.filter(({ url }) => new URL(url).searchParams.get('c') === name);
            const { loaded, chain, asks, ...facts } = expected(placement)!;
            const [end] = own;
            expect(own.length, `told of ${JSON.stringify(own)}`).toBe(also?.ends?.(placement) ?? 1);
            expect(end).toMatchObject(facts);
            if (loaded !== undefined) expect(pathOf(end!.loadedUrl ?? '')).toBe(loaded);
            if (chain !== undefined) expect(end!.redirectChain?.map(pathOf)).toEqual(chain);
            if (asks !== undefined) expect(at.asked(name).map(({ path }) => path)).toHaveLength(asks);
            also?.check?.({ site: at, end: end!, ends: own, expect, asked: at.asked(name), name, placement });
          } finally {
            if (--left === 0) await (await site)?.close();
          }
        },
        180_000,
      );
    }
  });
}

interface Visited {
  readonly site: NavigationSite;
  readonly ends: readonly NavigationEnd[];
}

function settingsOf(group: NavigationGroup, site: NavigationSite): NavigationSettings {
  const base: NavigationSettings = {
    maxRetries: 1,
    timeoutMs: 30_000,
    maxBodyBytes: 200_000,
    exclude: [],
    agents: {},
    userAgent: undefined,
    respectRobots: false,
    retryOnBlocked: false,
    allowPrivateAddresses: true,
    hookHeaders: {},
  };
  switch (group) {
    case 'ruled':
      return { ...base, exclude: site.addresses('excluded'), hookHeaders: { 'x-hook': 'hooked' } };
    case 'bare':
      return { ...base, userAgent: 'own-agent/1', retryOnBlocked: true };
    // Alone: in other groups, blocked pages retire the sessions that have the cookies.
    case 'cookies':
      return base;
    case 'robots':
      return {
        ...base,
        respectRobots: true,
        agents: Object.fromEntries(site.addresses('renamed').map((address) => [address, 'named-agent'])),
      };
    case 'guarded':
      return { ...base, allowPrivateAddresses: false };
    // Alone: no other case may fail by its timeout, on the busiest machine.
    case 'hurried':
      return { ...base, timeoutMs: 1_500 };
    default:
      return group satisfies never;
  }
}

function pathOf(url: string): string {
  return url === '' ? '' : new URL(url).pathname;
}
