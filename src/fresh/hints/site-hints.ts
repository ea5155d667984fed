// What sites say of their pages before these are visited: when they last changed, how long they stay as they are.
// Promise: a hint never replaces what is known by a visit: some pages are visited against it, to learn whether it is right.
import type { Fingerprint } from '../../request/fingerprint.js';
import { parseUrl } from '../../request/url.js';
import type { KnownPage, MemoryNotes } from '../memory/memory.js';
import { type HintKind, isBelievedOfChange, isBelievedOfSameness, learnt, readCounts, type Said } from './trust.js';
import type { TrustCounts } from './trust.js';

export interface SiteHints {
  /** A sitemap or feed names a page, and when it changed. */
  list(key: Fingerprint, lastmod: Date | undefined): void;
  /** The page need not be visited: its site says that it is the same, and is believed. */
  isLeftAlone(key: Fingerprint, known: KnownPage): boolean;
  /** The page should be visited now: its site says that it changed, and is believed. */
  isUrgent(key: Fingerprint, known: KnownPage): boolean;
  /** A visit found out whether a page has changed; `known` is what was known before it. */
  judged(key: Fingerprint, known: KnownPage, hasChanged: boolean): void;
  /** Keeps what was learned. */
  save(): Promise<void>;
}

const NOTE = 'hints';
/** Most pages whose hints are held, some 100 MB; of others nothing is known. */
const MAX_PAGES = 1_000_000;
const MAX_SITES = 10_000;
/** One look of so many visits the page against a hint that is believed: other pages every second. */
const VERIFIED = 20;
const DAY_SECS = 86_400;
/** Longer is not a promise but a setting. */
const LONGEST_FRESH_SECS = 30 * DAY_SECS;

export function createSiteHints(memory: MemoryNotes, nowSecs: () => number): SiteHints {
  const changedAt = new Map<number, { readonly from: number; readonly to: number; readonly readAt: number }>();
  const sites = new Map<string, TrustCounts>();
  for (const [site, counts] of Object.entries((memory.note(NOTE) as Record<string, unknown> | undefined) ?? {})) {
    const read = readCounts(counts);
    if (read) sites.set(site, read);
  }

  /** What is said of a page, and by whom. */
  function saidOf(key: Fingerprint, { page, names }: KnownPage): { said: Said; kind: HintKind } | undefined {
    if (page.visits === 0) return undefined;
    const changed = changedAt.get(nameOf(key));
    if (changed && changed.from > page.visitedAt) return { said: 'changed', kind: 'lists' };
    if (changed && changed.to < page.visitedAt && isStillSaid(changed.readAt, page.visitedAt)) {
      return { said: 'same', kind: 'lists' };
    }
    return (names.freshUntil ?? 0) > nowSecs() ? { said: 'same', kind: 'headers' } : undefined;
  }

  /** A list says nothing of the time after it was read; it is believed for as long again as it has answered for. */
  function isStillSaid(readAt: number, visitedAt: number): boolean {
    return visitedAt <= readAt && nowSecs() <= readAt + Math.max(1, readAt - visitedAt);
  }

  return {
    list(key, lastmod) {
      const when = lastmod === undefined ? undefined : momentOf(lastmod);
      // What is to come has not changed the page.
      if (!when || when.from > nowSecs() + DAY_SECS) return;
      if (changedAt.size < MAX_PAGES || changedAt.has(nameOf(key))) {
        changedAt.set(nameOf(key), { ...when, readAt: nowSecs() });
      }
    },
    isLeftAlone(key, known) {
      const hint = saidOf(key, known);
      if (hint?.said !== 'same' || (key.lo + nowSecs()) % VERIFIED === 0) return false;
      return isBelievedOfSameness(sites.get(siteOf(hint.kind, known.names.url)));
    },
    isUrgent(key, known) {
      const hint = saidOf(key, known);
      return hint?.said === 'changed' && isBelievedOfChange(sites.get(siteOf(hint.kind, known.names.url)));
    },
    judged(key, known, hasChanged) {
      const hint = saidOf(key, known);
      if (!hint) return;
      const site = siteOf(hint.kind, known.names.url);
      if (sites.size < MAX_SITES || sites.has(site)) sites.set(site, learnt(sites.get(site), hint.said, hasChanged));
    },
    save: () => memory.setNote(NOTE, Object.fromEntries(sites)),
  };
}

/** 53 bits are enough to tell a million pages apart. */
function nameOf({ hi, lo }: Fingerprint): number {
  return hi * 2 ** 21 + (lo >>> 11);
}

function siteOf(kind: HintKind, url: string): string {
  return `${kind} ${parseUrl(url)?.hostname ?? ''}`;
}

/**
 * The seconds in which a change lies: midnight is how a date without a time is read, and means all of that day.
 *
 * @example
 * momentOf(new Date('2026-11-16')) // { from: 1794787200, to: 1794873599 }
 */
export function momentOf(date: Date): { readonly from: number; readonly to: number } | undefined {
  const from = Math.floor(date.getTime() / 1000);
  if (Number.isNaN(from)) return undefined;
  return { from, to: from % DAY_SECS === 0 ? from + DAY_SECS - 1 : from };
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Until when a response says that it stays as it is, in seconds since 1970; undefined where it says nothing. */
export function freshUntilOf(headers: Headers, nowSecs: number): number | undefined {
  const secs = freshSecsOf(headers, nowSecs);
  return secs === undefined ? undefined : nowSecs + Math.min(LONGEST_FRESH_SECS, secs);
}

function freshSecsOf(headers: Headers, nowSecs: number): number | undefined {
  const cacheControl = textOf(headers['cache-control']).slice(0, 1_000).toLowerCase();
  if (/\bno-(?:cache|store)\b/.test(cacheControl)) return undefined;
  const maxAge = /\bmax-age\s*=\s*"?(\d{1,10})/.exec(cacheControl)?.[1];
  if (maxAge !== undefined) return Number(maxAge) > 0 ? Number(maxAge) : undefined;
  const expires = Date.parse(textOf(headers.expires).slice(0, 64));
  const secs = Number.isNaN(expires) ? 0 : Math.floor(expires / 1000) - nowSecs;
  return secs > 0 ? secs : undefined;
}

function textOf(value: string | readonly string[] | undefined): string {
  return typeof value === 'string' ? value : (value?.join(', ') ?? '');
}
