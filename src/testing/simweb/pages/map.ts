// The map of the synthetic web: which pages exist, what each answers, and which links it carries.
// Promise: every page of a host is reachable from its home page, and with cross-host links every host
// from host 0; pages that break are leaves, so nothing healthy hides behind them.
import { createRolls, hash32, SALT, share } from './chance.js';
import type { HostPlan, SimwebPlan } from '../knobs.js';
import { createHostTree } from '../hosts.js';
import { createTopics, type Topics } from './topics.js';
import { ADJECTIVES, NOUNS, SECTIONS } from './words.js';

/** `private` is forbidden by robots.txt, `missing` answers 404, `failing` 500, `recovering` 503 at first. */
export type PageKind = 'page' | 'private' | 'missing' | 'failing' | 'recovering';

export interface PlannedLink {
  /** As written in the page, before escaping: absolute, root-relative or relative. */
  readonly href: string;
  readonly nofollow: boolean;
  /** The page of the same host that it leads to straight; only in a web with topics. */
  readonly target?: number;
}

/** A URL of the synthetic web and what is behind it. */
export interface MappedUrl {
  /** The URL itself. */
  readonly url: string;
  /** The number of its host. */
  readonly host: number;
  /** The number of its page on that host. */
  readonly page: number;
  /** How the server answers it. */
  readonly kind: PageKind;
  /** What the page is about, in a web with topics: a number below `topics`. */
  readonly topic?: number;
}

export interface SiteMap {
  readonly origin: (host: number) => string;
  host(host: number): HostPlan;
  path(page: number): string;
  /** The page at this path (without query), or -1. */
  pageAt(path: string): number;
  kind(host: number, page: number): PageKind;
  isHealthy(host: number): boolean;
  /** The host whose pages a host has: itself, or for a mirror the one that it repeats. */
  sourceOf(host: number): number;
  links(host: number, page: number): PlannedLink[];
  readonly topics: Topics | undefined;
  /** Every page of every host that answers, also those that end in an error. */
  entries(): Generator<MappedUrl>;
}

// Paths repeat on every host and link; beyond this many they are made again instead of kept.
const MAX_KEPT_PATHS = 65_536;
const NOT_A_PAGE = -1;

export function createSiteMap(
  plan: SimwebPlan,
  hostPlanOf: (host: number) => HostPlan,
  origin: (host: number) => string,
): SiteMap {
  const { seed, hosts, pagesPerHost, branching } = plan;
  const isHealthy = (host: number): boolean => hostPlanOf(host).fault === 'none';
  const hostTree = createHostTree(plan, isHealthy);
  const topics = createTopics(plan);
  const isLeaf = (page: number): boolean => page > 0 && page * branching + 1 >= pagesPerHost;
  const isPrivate = (page: number): boolean =>
    plan.privatePages > 0 && isLeaf(page) && share(hash32(seed, page, 0, SALT.privatePage)) < plan.privatePages;

  function sourceOf(host: number): number {
    if (plan.changes.mirrors === 0 || host <= 0) return host;
    const chance = hash32(seed, host, 0, SALT.mirror);
    return share(chance) < plan.changes.mirrors ? sourceOf(chance % host) : host;
  }

  const keptPaths = new Array<string | undefined>(Math.min(pagesPerHost, MAX_KEPT_PATHS)).fill(undefined);
  function path(page: number): string {
    if (page === 0) return '/';
    const kept = keptPaths[page];
    if (kept !== undefined) return kept;
    const roll = hash32(seed, page, 0, SALT.path);
    const section = isPrivate(page) ? 'private' : SECTIONS[roll & 15];
    const words = `${ADJECTIVES[(roll >>> 4) & 31]}-${NOUNS[(roll >>> 9) & 31]}-${NOUNS[(roll >>> 14) & 31]}`;
    const made = `/${section}/${words}-${page}`;
    if (page < keptPaths.length) keptPaths[page] = made;
    return made;
  }

  function pageAt(text: string): number {
    if (text === '/') return 0;
    const dash = text.lastIndexOf('-');
    if (dash < 0) return NOT_A_PAGE;
    const page = Number(text.slice(dash + 1));
    return Number.isInteger(page) && page > 0 && page < pagesPerHost && path(page) === text ? page : NOT_A_PAGE;
  }

  function kind(of: number, page: number): PageKind {
    const host = sourceOf(of);
    const { missing, failing, recovering } = plan.statusMix;
    if (isLeaf(page)) {
      if (isPrivate(page)) return 'private';
      const fate = missing + failing > 0 ? share(hash32(seed, host, page, SALT.fate)) : 1;
      if (fate < missing) return 'missing';
      if (fate < missing + failing) return 'failing';
    }
    return recovering > 0 && share(hash32(seed, host, page, SALT.recovering)) < recovering ? 'recovering' : 'page';
  }

  function links(host: number, page: number): PlannedLink[] {
    const roll = createRolls(hash32(seed, sourceOf(host), page, SALT.links));
    const out: PlannedLink[] = [];
    const push = (href: string, nofollow = false, target?: number): number =>
      out.push({ href, nofollow, ...(topics && target !== undefined && { target }) });
    const { linkNoise, redirects, crossHostLinks, linksPerPage } = plan;

    const written = (target: number): string => {
      const to = path(target);
      const form = roll() & 7;
      if (form < 4) return to;
      if (form === 4) return origin(host) + to;
      return page === 0 ? (target === 0 ? './' : to.slice(1)) : `..${to}`;
    };
    const hops = (): number => 1 + (roll() % redirects.maxHops);

    push('/');
    if (page > 0) push(written(Math.floor((page - 1) / branching)));
    const firstChild = page * branching + 1;
    for (let child = firstChild; child < Math.min(firstChild + branching, pagesPerHost); child++) {
      push(
        redirects.share > 0 && share(roll()) < redirects.share ? `/go/${child}/${hops()}` : written(child),
        false,
        child,
      );
    }
    if (page === 0) {
      for (const other of hostTree(host)) push(`${origin(other)}/`);
      if (hostPlanOf(host).trap) push('/trap/calendar/2026/1');
    }
    if (redirects.loops > 0 && share(roll()) < redirects.loops) push(`/loop/${page}`);

    const [fewest, most] = linksPerPage;
    const wanted = fewest + (roll() % (most - fewest + 1));
    while (out.length < wanted) {
      const nofollow = linkNoise.nofollow > 0 && share(roll()) < linkNoise.nofollow;
      if (share(roll()) < linkNoise.duplicates) {
        push((out[roll() % out.length] as PlannedLink).href, nofollow);
        continue;
      }
      let target = topics ? topics.near(page, roll) : roll() % pagesPerHost;
      if (crossHostLinks > 0 && hosts > 1 && share(roll()) < crossHostLinks) {
        const other = roll() % hosts;
        // Half of the links between hosts lead to a home page, as on the real web.
        if (roll() & 1) target = 0;
        const through = redirects.share > 0 && share(roll()) < redirects.share;
        push(through ? `/out/${other}/${target}` : origin(other) + path(target), nofollow);
        continue;
      }
      let href = written(target);
      if (linkNoise.utm > 0 && share(roll()) < linkNoise.utm) href += `?utm_source=page-${page}&utm_medium=link`;
      if (share(roll()) < linkNoise.fragments) href += `#part-${roll() % 5}`;
      push(href, nofollow, target);
    }
    return out;
  }

  function* entries(): Generator<MappedUrl> {
    for (let host = 0; host < hosts; host++) {
      if (!isHealthy(host)) continue;
      for (let page = 0; page < pagesPerHost; page++) {
        const topic = topics && { topic: topics.of(page) };
        yield { url: origin(host) + path(page), host, page, kind: kind(host, page), ...topic };
      }
    }
  }

  return { origin, host: hostPlanOf, path, pageAt, kind, isHealthy, sourceOf, links, entries, topics };
}
