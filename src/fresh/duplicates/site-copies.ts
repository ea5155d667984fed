// Whole sites that repeat another one, and versions of pages that repeat the page: learned from near duplicates, per site.
// Promise: nothing is a copy by its name alone: enough pages were compared, and nearly all of them said the same.
import { parseUrl } from '../../request/url.js';

/** A site, or the pages of a site with a mark in their URL, that repeat others. */
export interface SiteCopy {
  /** Its host, with a mark if only such pages are meant: `example.com ?print=1`, `example.com /print/`. */
  readonly site: string;
  /** The host of the pages that it repeats. */
  readonly of: string;
  /** Pages that were compared and found alike. */
  readonly pages: number;
}

export interface SiteCopies {
  /** A page was compared with all others; `of` is the one that it repeats. */
  see(url: string, of: string | undefined): void;
  /** Whether a page belongs to a mirror, or is a print version or the like. */
  isCopy(url: string): boolean;
  list(): SiteCopy[];
}

interface Counts {
  /** Pages that were compared, and those that repeat the same page elsewhere. */
  seen: number;
  alike: number;
}

interface Site {
  readonly order: number;
  seen: number;
  /** By mark. */
  readonly versions: Map<string, Counts>;
}

const MAX_SITES = 10_000;
const MAX_MARKS = 20;
const MAX_PAIRS = 50_000;
const MAX_URL_CHARACTERS = 2_048;
/** A mark is short: an article's name is none. */
const MAX_MARK_CHARACTERS = 24;
/** Each of them is tried in turn: beyond these, a URL has no further ones. */
const MAX_MARKS_OF_URL = 40;
const LEAST_PAGES = 20;
const LEAST_VERSIONS = 10;
const ALIKE_PART = 0.9;

export function createSiteCopies(): SiteCopies {
  const sites = new Map<string, Site>();
  /** Pages that two sites have under the same path, by both hosts. */
  const pairs = new Map<string, number>();
  /** Mirrors, by host: what they repeat. */
  const mirrors = new Map<string, { of: string; pages: number }>();

  function siteOf(host: string): Site | undefined {
    let site = sites.get(host);
    if (!site && sites.size < MAX_SITES) {
      sites.set(host, (site = { order: sites.size, seen: 0, versions: new Map() }));
    }
    return site;
  }

  function seePair(url: URL, of: URL): void {
    const [one, other] = [sites.get(url.host), sites.get(of.host)];
    if (!one || !other || url.pathname + url.search !== of.pathname + of.search) return;
    const [first, later] = one.order < other.order ? [of.host, url.host].reverse() : [of.host, url.host];
    const name = `${first} ${later}`;
    if (pairs.size >= MAX_PAIRS && !pairs.has(name)) return;
    const count = (pairs.get(name) ?? 0) + 1;
    pairs.set(name, count);
    const least = Math.min(one.seen, other.seen);
    if (count >= LEAST_PAGES && count >= ALIKE_PART * least) mirrors.set(later!, { of: first!, pages: count });
  }

  return {
    see(url, of) {
      const parsed = short(url);
      const site = parsed && siteOf(parsed.host);
      if (!site) return;
      site.seen++;
      const original = of === undefined ? undefined : short(of);
      const marks = marksOf(parsed);
      const isHere = original?.host === parsed.host;
      const found = isHere ? markBetween(parsed, original) : undefined;
      if (found !== undefined && !site.versions.has(found) && site.versions.size < MAX_MARKS) {
        // The version may be the one that was seen before the page, when nobody counted it.
        site.versions.set(found, { seen: marks.has(found) ? 0 : 1, alike: 0 });
      }
      for (const [mark, counts] of site.versions) {
        if (mark === found) counts.alike++;
        if (marks.has(mark)) counts.seen++;
      }
      if (original && !isHere) seePair(parsed, original);
    },
    isCopy(url) {
      const parsed = short(url);
      if (!parsed) return false;
      if (mirrors.has(parsed.host)) return true;
      const site = sites.get(parsed.host);
      if (!site || site.versions.size === 0) return false;
      const marks = marksOf(parsed);
      return [...site.versions].some(([mark, counts]) => isVersion(counts) && marks.has(mark));
    },
    list() {
      const versions = [...sites].flatMap(([host, site]) =>
        [...site.versions]
          .filter(([, counts]) => isVersion(counts))
          .map(([mark, { alike }]) => ({ site: `${host} ${mark}`, of: host, pages: alike })),
      );
      return [...[...mirrors].map(([site, { of, pages }]) => ({ site, of, pages })), ...versions];
    },
  };
}

const isVersion = ({ seen, alike }: Counts): boolean => alike >= LEAST_VERSIONS && alike >= ALIKE_PART * seen;

function short(url: string): URL | undefined {
  return url.length > MAX_URL_CHARACTERS ? undefined : parseUrl(url);
}

/** What one of two URLs of a site has and the other has not, if they are the same besides. */
function markBetween(one: URL, other: URL): string | undefined {
  const [longer, shorter] = one.href.length > other.href.length ? [one, other] : [other, one];
  const rest = (url: URL) => url.pathname.replace(/\/$/, '') + url.search;
  for (const mark of marksOf(longer)) if (rest(without(longer, mark)) === rest(shorter)) return mark;
  return undefined;
}

/** The parameters and the folders of a URL. */
function marksOf(url: URL): ReadonlySet<string> {
  const marks = new Set<string>();
  const add = (mark: string): void => {
    if (mark.length <= MAX_MARK_CHARACTERS && marks.size < MAX_MARKS_OF_URL) marks.add(mark);
  };
  for (const [name, value] of url.searchParams) add(`?${name}=${value}`);
  for (const part of url.pathname.split('/')) if (part) add(`/${part}/`);
  return marks;
}

function without(url: URL, mark: string): URL {
  const copy = new URL(url);
  if (mark.startsWith('?')) {
    const [name = '', value] = mark.slice(1).split(/=(.*)/s);
    copy.searchParams.delete(name, value);
  } else {
    const parts = url.pathname.split('/');
    parts.splice(parts.indexOf(mark.slice(1, -1)), 1);
    copy.pathname = parts.join('/');
  }
  return copy;
}
