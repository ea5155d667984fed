// The page memory as visits use it: what to ask the server, what a page's change is, what to remember of the visit.
// Promise: nothing is remembered but what a visit hands to its settlement; in doubt a page is asked for in full.
import type { Capture } from '../fetch/engine.js';
import { bytesOf } from '../fetch/engine.js';
import { type Fingerprint, fingerprintOf } from '../request/fingerprint.js';
import type { Request } from '../request/request.js';
import { normalizeUrl } from '../request/url.js';
import { confirmed, type FetchedPage, isThere, judge } from './change/judge.js';
import { freshUntilOf, type SiteHints } from './hints/site-hints.js';
import type { DuplicateFinder } from './duplicates/finder.js';
import type { KnownPage, PageMemory, PageNames, PageVersion, PageVisit, StoredOriginal } from './memory/memory.js';
import { isSameHash, type RememberedPage } from './memory/page-row.js';
import { createPageChange, type PageChange } from './page-change.js';
import { afterVisit, priorBelief } from './schedule/rate.js';
import type { Schedule } from './schedule/schedule.js';
import { foundPage } from './memory/new-page.js';

/** A page as a visit has it, for its change. */
export interface PageInHand extends FetchedPage {
  /** The main content as markdown. */
  markdown(): string;
}

/** What the visits of a crawl with a page memory are given. */
export interface Remembering {
  /** The memory to stage visits in. */
  readonly memory: Pick<PageMemory, 'stage' | 'settle'>;
  /** Request headers that ask whether the page has changed; undefined to ask for all of it. */
  conditionsFor(request: Request): Record<string, string> | undefined;
  /** A 304 came: the page is unchanged, or must be asked for again in full. Undefined when it was not asked. */
  notModified(request: Request, capture: Capture): 'unchanged' | 'again' | undefined;
  /** What the visit found. Every visit's once. */
  changeOf(request: Request, capture: Capture, page: PageInHand): PageChange;
  /** What the visit found by a 304. */
  unchanged(request: Request): PageChange | undefined;
  /** Pages that a visit led to, to be visited in their turn: remembered with it, unless they are already. */
  found(request: Request, pages: readonly { readonly url: string; readonly depth: number }[], mostNew: number): void;
  /** The stored response that has the body of the page as it was last seen. */
  originalOf(request: Request): StoredOriginal | undefined;
  /** The visit's response is stored, or stands for one that is: undefined if it is not stored. */
  stored(request: Request, original: StoredOriginal | undefined): void;
  /** What is to be told of the visit, once it is settled. */
  tell(request: Request, text: string): void;
  /** Whether a page belongs to a mirror of another site, or is a print version or the like, as far as is known. */
  isCopy(url: string): boolean;
  /** What is remembered of a visit that is about to be settled. */
  visitsOf(request: Request): PageVisit[];
}

/** A page whose importance is asked for. */
export interface WeighedPage {
  readonly url: string;
  /** Links from the start. */
  readonly depth: number;
  /** How many pages link to it, as far as they were visited; 0 where links are not counted. */
  readonly inlinks: number;
}

export interface RememberingParts {
  readonly memory: PageMemory;
  readonly nowMs: () => number;
  /** The number of this update. */
  readonly run: number;
  /** Whether the markdown of each version is kept, for `diff()`. */
  readonly keepsVersions: boolean;
  readonly duplicates?: DuplicateFinder | undefined;
  /** Who plans the next visits; without one nobody does. */
  readonly schedule?: Pick<Schedule, 'firstBelief' | 'nextVisitAt'> | undefined;
  /** What a page's freshness counts, compared with 1. */
  readonly importanceOf?: ((page: WeighedPage) => number) | undefined;
  /** Whether the links to each page are counted, for its importance. */
  readonly countsLinks?: boolean | undefined;
  /** Whether the validators of a URL's site can be believed. */
  readonly believesValidators?: (url: string) => boolean;
  /** Told what a visit found of a page that was there before. */
  readonly hints?: Pick<SiteHints, 'judged'> | undefined;
}

/** After so many 304s in a row one visit asks for the whole page: some servers say 304 whatever happens. */
const VERIFY_AFTER = 20;
/** Another process may be the one that reads the page, and then it stays in the list. */
const MAX_IN_FULL = 10_000;
/** Of a page that nothing is known of: once a month. */
const FIRST_RATE = 1 / (30 * 86_400);

interface Open {
  readonly key: Fingerprint;
  readonly known: KnownPage | undefined;
  page?: RememberedPage;
  names?: PageNames;
  version?: PageVersion | undefined;
  change?: PageChange;
  later?: PageVisit[];
  links?: Fingerprint[];
  original?: StoredOriginal | undefined;
  tell?: string;
}

export function createRemembering(parts: RememberingParts): Remembering {
  const { memory, schedule } = parts;
  const open = new WeakMap<Request, Open>();
  /** Pages whose 304 could not be believed: asked in full at the next try. */
  const inFull = new Set<string>();

  function opened(request: Request): Open {
    let visit = open.get(request);
    if (!visit) {
      const key = pageKeyOf(request);
      open.set(request, (visit = { key, known: memory.find(key) }));
    }
    return visit;
  }

  const nowSecs = () => Math.floor(parts.nowMs() / 1000);
  /** Kept only where somebody reads it. */
  const freshnessOf = ({ headers }: Capture): Pick<PageNames, 'freshUntil'> =>
    parts.hints ? { freshUntil: freshUntilOf(headers, nowSecs()) } : {};

  /** The rate of change, the number of the update and the next visit. */
  function completed(
    { known, key }: Open,
    page: RememberedPage,
    { crawlDepth: depth, target: url }: Pick<Request, 'crawlDepth' | 'target'>,
  ): RememberedPage {
    const before = known && known.page.visits > 0 ? known.page : undefined;
    const belief = before && before.scaleSecs > 0 ? before : (schedule?.firstBelief() ?? priorBelief(FIRST_RATE));
    const hasChanged = page.found === 'changed' || page.found === 'removed';
    const { shape, scaleSecs } =
      before && isThere(before) ? afterVisit(belief, page.visitedAt - before.visitedAt, hasChanged) : belief;
    if (before && isThere(before)) parts.hints?.judged(key, known!, hasChanged);
    const whole = { ...page, shape, scaleSecs, run: parts.run, depth: Math.min(known?.page.depth ?? depth, depth) };
    if (!schedule) return { ...whole, nextVisitAt: 0 };
    const importance = parts.importanceOf?.({ url, depth: whole.depth, inlinks: memory.inlinksOf(key) }) ?? 1;
    // A function of the user may give anything.
    const weight = Number.isNaN(importance) ? 1 : importance;
    const weighed = { ...whole, importance: Math.min(4_096, Math.max(1 / 4_096, weight)) };
    return { ...weighed, nextVisitAt: schedule.nextVisitAt(weighed, before) };
  }

  function changeFrom(visit: Open, before: PageVersion | undefined, markdown: () => string): PageChange {
    const { known } = visit;
    const page = visit.page!;
    const wasThere = known !== undefined && known.page.visits > 0 && isThere(known.page);
    return createPageChange({
      kind: page.found,
      lastSeen: wasThere ? new Date(known.page.visitedAt * 1000) : undefined,
      lastChanged: wasThere ? new Date(known.page.changedAt * 1000) : undefined,
      visits: page.visits,
      changes: page.changes,
      duplicateOf: undefined,
      before,
      markdown,
      keepFields: (fields) => (visit.version = { ...visit.version, fields }),
    });
  }

  return {
    memory,
    conditionsFor(request) {
      if (!isRemembered(request)) return undefined;
      const { known, key } = opened(request);
      if (!known || known.page.visits === 0 || !isThere(known.page) || known.page.hashIsOfText) return undefined;
      const { etag, lastModified, url } = known.names;
      if (inFull.has(`${key.hi}-${key.lo}`) || parts.believesValidators?.(url) === false) return undefined;
      if (known.page.confirmedBy304 >= VERIFY_AFTER) return undefined;
      if (etag === undefined && lastModified === undefined) return undefined;
      return {
        ...(etag === undefined ? {} : { 'if-none-match': etag }),
        ...(lastModified === undefined ? {} : { 'if-modified-since': lastModified }),
      };
    },
    notModified(request, capture) {
      const visit = open.get(request);
      if (!visit?.known || !isRemembered(request)) return undefined;
      // Of another page, or of another version: what it says is not about what is remembered.
      if (capture.redirectChain.length > 0 || isOtherTag(visit.known.names, capture)) {
        if (inFull.size >= MAX_IN_FULL) inFull.delete(inFull.values().next().value!);
        inFull.add(`${visit.key.hi}-${visit.key.lo}`);
        return 'again';
      }
      visit.page = completed(visit, confirmed(visit.known.page, nowSecs()), request);
      visit.names = { ...visit.known.names, ...validatorsOf(capture), ...freshnessOf(capture) };
      return 'unchanged';
    },
    unchanged(request) {
      const visit = open.get(request);
      if (!visit?.page) return undefined;
      return (visit.change ??= changeFrom(visit, undefined, () => ''));
    },
    changeOf(request, capture, page) {
      const visit = opened(request);
      if (visit.change) return visit.change;
      const { known, key } = visit;
      const { page: found, simhash } = judge(known, page, nowSecs());
      visit.page = completed(visit, found, request);
      const isDirect = capture.redirectChain.length === 0 && isThere(found);
      const url = request.keepUrlFragment ? request.target : withoutFragment(request.target);
      visit.names = { url, ...(isDirect ? { ...validatorsOf(capture), ...freshnessOf(capture) } : {}) };
      inFull.delete(`${key.hi}-${key.lo}`);
      const before = found.found === 'changed' && known ? memory.versionOf(key) : undefined;
      const fields = found.found === 'new' ? undefined : memory.versionOf(key)?.fields;
      const change = changeFrom(visit, { markdown: before?.markdown, fields }, page.markdown);
      if (parts.keepsVersions && (found.found === 'new' || found.found === 'changed')) {
        visit.version = { ...visit.version, markdown: page.markdown() };
      }
      const duplicateOf = simhash && isThere(found) ? parts.duplicates?.see(key, simhash, request.target) : undefined;
      return (visit.change = duplicateOf ? { ...change, duplicateOf } : change);
    },
    found(request, pages, mostNew) {
      const visit = opened(request);
      const later = new Map<string, PageVisit>();
      for (const { url, depth } of pages) {
        const key = fingerprintOf(normalizeUrl(url));
        if (later.size >= mostNew) break;
        if (memory.find(key)) continue;
        const page = foundPage(nowSecs(), depth);
        later.set(`${key.hi}-${key.lo}`, {
          key,
          request: request.fingerprint,
          page,
          names: { url: withoutFragment(url) },
        });
      }
      visit.later = [...later.values()];
      // Once per page: a page that changed has mostly the same links.
      if (parts.countsLinks && visit.page?.visits === 1) visit.links = linksTo(pages, visit.key);
    },
    originalOf: (request) => (isStoredByUrl(request) ? opened(request).known?.names.original : undefined),
    stored(request, original) {
      if (isStoredByUrl(request)) opened(request).original = original;
    },
    tell(request, text) {
      opened(request).tell = text;
    },
    isCopy: (url) => parts.duplicates?.sites.isCopy(url) === true,
    visitsOf(request) {
      const visit = open.get(request);
      if (!visit?.page || !visit.names) return [];
      const { key, page, version, tell, links, later = [] } = visit;
      const names = visit.original ? { ...visit.names, original: visit.original } : visit.names;
      const isCopy = visit.change?.duplicateOf !== undefined;
      return [{ key, request: request.fingerprint, page, names, version, tell, links, isCopy }, ...later];
    },
  };
}

/** Each page once, and not the page itself. */
function linksTo(pages: readonly { readonly url: string }[], own: Fingerprint): Fingerprint[] {
  const keys = new Map<string, Fingerprint>();
  for (const { url } of pages) {
    const key = fingerprintOf(normalizeUrl(url));
    if (!isSameHash(key, own)) keys.set(`${key.hi}-${key.lo}`, key);
  }
  return [...keys.values()];
}

/** Pages are what a GET gives; what a payload gives is another thing each time. */
export function isRemembered(request: Request): boolean {
  return request.method === 'GET' && request.payload === undefined && !request.skipNavigation;
}

/** Archives know a page by its request's key: with one of its own, it is not what is stored under its URL. */
function isStoredByUrl(request: Request): boolean {
  return isRemembered(request) && isSameHash(pageKeyOf(request), request.fingerprint);
}

/** By what is asked for, not by who asked: a page that redirects lead to is the same page. */
export function pageKeyOf({ target, keepUrlFragment }: Pick<Request, 'target' | 'keepUrlFragment'>): Fingerprint {
  return fingerprintOf(normalizeUrl(target, keepUrlFragment));
}

export function pageInHand(capture: Capture, texts: Omit<PageInHand, 'statusCode' | 'bytes'>): PageInHand {
  return { ...texts, statusCode: capture.statusCode, bytes: bytesOf(capture) };
}

/** A fragment is never sent. */
function withoutFragment(url: string): string {
  const end = url.indexOf('#');
  return end < 0 ? url : url.slice(0, end);
}

function validatorsOf({ headers }: Capture): Pick<PageNames, 'etag' | 'lastModified'> {
  const { etag, 'last-modified': lastModified } = headers;
  return {
    ...(typeof etag === 'string' ? { etag } : {}),
    ...(typeof lastModified === 'string' ? { lastModified } : {}),
  };
}

/** A 304 may name its version: then it must be the remembered one. */
function isOtherTag({ etag }: PageNames, { headers }: Capture): boolean {
  const said = headers.etag;
  if (typeof said !== 'string' || etag === undefined) return false;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return opaque(said) !== opaque(etag);
}
