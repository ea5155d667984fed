// The client's view of a synthetic web: its URLs, seeds and map, from the options and ports alone.
// The process that crawls and the process that serves each make their own and always agree.
import { createOrigins } from '../addresses.js';
import type { Ports } from '../addresses.js';
import { createHostPlans } from '../hosts.js';
import type { SimwebPlan } from '../knobs.js';
import { createSiteMap } from './map.js';
import { TOPICS } from './topics.js';
import type { MappedUrl, SiteMap } from './map.js';

/** The URLs of a synthetic web. */
export interface SimwebUrls {
  /** Number of hosts. */
  readonly hosts: number;
  /** Number of pages per host. */
  readonly pagesPerHost: number;
  /** The words of each topic, for queries; empty without topics. */
  readonly topics: readonly string[];
  /** `http://address:port` of a host. */
  origin(host: number): string;
  /** URL of a page, or of any path of a host, for example `url(0, '/_/json')`. */
  url(host?: number, pageOrPath?: number | string): string;
  /** Where a crawl starts: host 0's home page if it leads to all hosts, else every healthy host's home page. */
  seeds(): string[];
  /** Every URL that answers 200 in the end and that robots.txt allows: what a whole crawl must have found. */
  allUrls(): Generator<string>;
  /** Every page with its kind, also private, missing and failing ones; hosts with a fault are left out. */
  map(): Generator<MappedUrl>;
  /** The absolute URLs that a page links to, in order, repeats and fragments included. */
  linksOf(host: number, page: number): string[];
  /** The host whose pages a host has: itself, or for a mirror (`changes.mirrors`) the one that it repeats. */
  sourceOf(host: number): number;
}

export function createUrls(plan: SimwebPlan, ports: Ports): { urls: SimwebUrls; site: SiteMap } {
  const hostPlanOf = createHostPlans(plan);
  const origin = createOrigins(plan, ports, (host) => hostPlanOf(host).fault === 'refuse');
  const site = createSiteMap(plan, hostPlanOf, origin);

  function url(host = 0, pageOrPath: number | string = 0): string {
    return origin(host) + (typeof pageOrPath === 'string' ? pageOrPath : site.path(pageOrPath));
  }

  function seeds(): string[] {
    const healthy: number[] = [];
    for (let host = 0; host < plan.hosts; host++) {
      if (!site.isHealthy(host)) continue;
      healthy.push(host);
      if (plan.crossHostLinks > 0) break;
    }
    return healthy.map((host) => url(host));
  }

  function* allUrls(): Generator<string> {
    for (const entry of site.entries()) {
      if (entry.kind === 'page' || entry.kind === 'recovering') yield entry.url;
    }
  }

  const urls: SimwebUrls = {
    hosts: plan.hosts,
    pagesPerHost: plan.pagesPerHost,
    topics: TOPICS.slice(0, plan.topics).map((words) => words.join(' ')),
    origin,
    url,
    seeds,
    allUrls,
    map: () => site.entries(),
    sourceOf: site.sourceOf,
    linksOf: (host, page) => site.links(host, page).map(({ href }) => new URL(href, url(host, page)).href),
  };
  return { urls, site };
}
