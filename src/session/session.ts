// One identity towards sites: its cookies, proxy (by id), headers, and error score.
// Promise: a session that was blocked, expired or used up is never usable again; it costs little without cookies.
import type { CookieJar, SerializedCookieJar } from 'tough-cookie';
import { limitReached, LIMITS } from '../limits.js';
import { aFilledString, aFunction, anObject, aNumber, check, checkOptions } from '../option-checks.js';
import type { ShapeOf } from '../option-checks.js';
import { createCookies } from './cookies.js';
import type { CookieObject, Cookies } from './cookies.js';
import { headerSetOf } from './header-set.js';
import type { HeaderSet } from './header-set.js';

/** What a session reports to its pool. */
export interface SessionOwner {
  readonly blockedStatusCodes: readonly number[];
  sessionChanged(session: Session): void;
  sessionRetired(session: Session): void;
}

/** How long a session lives, and what ends it. */
export interface SessionOptions {
  /** Default: a random one. */
  id?: string;
  /** Default 3000. */
  maxAgeSecs?: number;
  /** Data of yours that is saved with the session. */
  userData?: Record<string, unknown>;
  /** Default 3. */
  maxErrorScore?: number;
  /** What a success takes off the error score. Default 0.5. */
  errorScoreDecrement?: number;
  /** Default: now. */
  createdAt?: Date;
  /** In place of `maxAgeSecs`. */
  expiresAt?: Date;
  /** Visits that used it before. */
  usageCount?: number;
  /** Default 50. */
  maxUsageCount?: number;
  /** To begin with. Default 0. */
  errorScore?: number;
  /** Cookies to begin with, as tough-cookie serializes them. */
  cookieJar?: SerializedCookieJar;
  /** The pool to tell of changes. */
  sessionPool?: SessionOwner;
  /** Accepted for Crawlee scripts; sessions do not log. */
  log?: unknown;
  /** Milliseconds since 1970 (ours, for tests). */
  clock?: () => number;
}

/** A session as it is persisted. */
export interface SessionState {
  /** As of the session. */
  id: string;
  /** All its cookies: keep it as safe as a password. */
  cookieJar?: SerializedCookieJar;
  /** What the crawler's user put there. */
  userData: Record<string, unknown>;
  /** Rises by 1 with `markBad`, falls with `markGood`. */
  errorScore: number;
  /** From this score on the session is blocked. */
  maxErrorScore: number;
  /** By how much `markGood` lowers the score. */
  errorScoreDecrement: number;
  /** Requests made with it. */
  usageCount: number;
  /** After so many it is not used any more. */
  maxUsageCount: number;
  /** ISO 8601. */
  expiresAt: string;
  /** ISO 8601. */
  createdAt: string;
}

type HeaderValues = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Any response with a URL and headers: ours, Playwright's, fetch's. */
export interface ResponseLike {
  /** Whose cookies they are. */
  url?: string | (() => string);
  /** Only `Set-Cookie` is read. */
  headers?: HeaderValues | { getSetCookie(): string[] } | (() => HeaderValues);
}

/** More than any site sets with one answer. */
const MAX_LINES = LIMITS.cookiesPerResponse.max;

const STATE_SHAPE = {
  id: aFilledString,
  userData: anObject,
  maxErrorScore: aNumber({ above: 0, orInfinity: true }),
  errorScoreDecrement: aNumber({ from: 0 }),
  usageCount: aNumber({ from: 0 }),
  maxUsageCount: aNumber({ above: 0, orInfinity: true }),
  errorScore: aNumber({ from: 0, orInfinity: true }),
  cookieJar: anObject,
} as const;
const aDate = check('a Date', (value) => value instanceof Date && !Number.isNaN(value.getTime()));

/** The options a pool may give all its sessions; also checked by the pool before any session exists. */
export const SESSION_SHAPE: ShapeOf<SessionOptions> = {
  ...STATE_SHAPE,
  maxAgeSecs: aNumber({ above: 0, orInfinity: true }),
  createdAt: aDate,
  expiresAt: aDate,
  sessionPool: anObject,
  log: check('a log', () => true),
  clock: aFunction,
};

/**
 * A session: one user, as a site sees it.
 *
 * @example
 * const sessionPool = await SessionPool.open();
 * const session = await sessionPool.getSession();
 * const cookie = session.getCookieString('https://example.com');
 * session.isUsable() ? session.markGood() : session.retire();
 */
export class Session {
  /** Unique within its pool. */
  readonly id: string;
  /** Data of yours that is saved with the session. */
  userData: Record<string, unknown>;
  /** The session is blocked when its error score reaches this. */
  readonly maxErrorScore: number;
  /** What a good visit takes off the error score. */
  readonly errorScoreDecrement: number;
  /** Visits after which it is not used again. */
  readonly maxUsageCount: number;
  #errorScore: number;
  #usageCount: number;
  #retired = false;
  readonly #createdAtMs: number;
  readonly #expiresAtMs: number;
  readonly #clock: () => number;
  readonly #owner: SessionOwner | undefined;
  readonly #persistedJar: SerializedCookieJar | undefined;
  #cookies: Cookies | undefined;

  constructor(options: SessionOptions = {}) {
    checkOptions('Session', options, SESSION_SHAPE);
    this.#clock = options.clock ?? Date.now;
    this.id = options.id ?? newSessionId();
    this.userData = options.userData ?? {};
    this.maxErrorScore = options.maxErrorScore ?? 3;
    this.errorScoreDecrement = options.errorScoreDecrement ?? 0.5;
    this.maxUsageCount = options.maxUsageCount ?? 50;
    this.#errorScore = options.errorScore ?? 0;
    this.#usageCount = options.usageCount ?? 0;
    this.#createdAtMs = options.createdAt?.getTime() ?? this.#clock();
    const maxAgeMs = (options.maxAgeSecs ?? 3000) * 1000;
    this.#expiresAtMs = options.expiresAt?.getTime() ?? Math.min(this.#createdAtMs + maxAgeMs, LAST_DATE_MS);
    this.#owner = options.sessionPool;
    this.#persistedJar = options.cookieJar;
  }

  /** One per bad visit, less for each good one. */
  get errorScore(): number {
    return this.#errorScore;
  }

  /** Visits that used it. */
  get usageCount(): number {
    return this.#usageCount;
  }

  /** When it was made. */
  get createdAt(): Date {
    return new Date(this.#createdAtMs);
  }

  /** When it stops being used. */
  get expiresAt(): Date {
    return new Date(this.#expiresAtMs);
  }

  /** The cookie jar of tough-cookie; made when first asked for. */
  get cookieJar(): CookieJar {
    return this.#jar().jar();
  }

  /** Headers to send with every request of this session (ours); the user agent is the crawler's. */
  get headerSet(): HeaderSet {
    return headerSetOf(this.id);
  }

  /** Whether the error score reached its limit. */
  isBlocked(): boolean {
    return this.#errorScore >= this.maxErrorScore;
  }

  /** Whether its time is over. */
  isExpired(): boolean {
    return this.#expiresAtMs <= this.#clock();
  }

  /** Whether it was used as often as it may be. */
  isMaxUsageCountReached(): boolean {
    return this.#usageCount >= this.maxUsageCount;
  }

  /** Neither retired, blocked, expired nor used up. */
  isUsable(): boolean {
    return !this.#retired && !this.isBlocked() && !this.isMaxUsageCountReached() && !this.isExpired();
  }

  /** A visit went well: one use, and the error score heals a little. */
  markGood(): void {
    this.#usageCount++;
    this.#errorScore = Math.max(0, this.#errorScore - this.errorScoreDecrement);
    this.#afterUse();
  }

  /** A visit failed in a way that may be the session's fault. */
  markBad(): void {
    this.#usageCount++;
    this.#errorScore++;
    // As in Crawlee: once too much, every further failure counts as a retirement.
    if (this.isUsable()) this.#afterUse();
    else this.#countRetirement();
  }

  /** The session is of no more use: blocked, or logged out. */
  retire(): void {
    this.#usageCount++;
    this.#countRetirement();
  }

  #countRetirement(): void {
    this.#errorScore += this.maxErrorScore;
    this.#afterUse();
  }

  /** Retires the session if the status says that the site refuses it; true when it does. */
  retireOnBlockedStatusCodes(statusCode: number, additionalBlockedStatusCodes: readonly number[] = []): boolean {
    const blocked =
      (this.#owner?.blockedStatusCodes ?? DEFAULT_BLOCKED_STATUS_CODES).includes(statusCode) ||
      additionalBlockedStatusCodes.includes(statusCode);
    if (blocked) this.retire();
    return blocked;
  }

  /** The Cookie header for a URL; '' without cookies. */
  getCookieString(url: string): string {
    return this.#hasCookies() ? this.#jar().header(url) : '';
  }

  /** The cookies it would send to a URL. */
  getCookies(url: string): CookieObject[] {
    return this.#hasCookies() ? this.#jar().list(url) : [];
  }

  /** Sets cookies; those the URL's host may not set are dropped. */
  setCookies(cookies: readonly CookieObject[], url: string): void {
    for (const cookie of cookies) this.#jar().setObject(cookie, url);
    if (cookies.length > 0) this.#owner?.sessionChanged(this);
  }

  /** Sets one cookie from a Set-Cookie line. */
  setCookie(rawCookie: string, url: string): void {
    this.#jar().setLine(rawCookie, url);
    this.#owner?.sessionChanged(this);
  }

  /** Keeps the cookies a response sets; malformed ones are dropped. */
  setCookiesFromResponse(response: ResponseLike): void {
    const lines = setCookieLines(response.headers);
    if (lines.length === 0) return;
    const url = typeof response.url === 'function' ? response.url() : response.url;
    if (url === undefined) return;
    if (lines.length > MAX_LINES) limitReached('cookiesPerResponse');
    for (const line of lines.slice(0, MAX_LINES)) this.#jar().setLine(line, url);
    this.#owner?.sessionChanged(this);
  }

  /** All of it as JSON, as the pool saves it. */
  getState(): SessionState {
    const cookieJar = this.#hasCookies() ? this.#jar().serialize() : undefined;
    return {
      id: this.id,
      ...(cookieJar !== undefined && { cookieJar }),
      userData: this.userData,
      errorScore: this.#errorScore,
      maxErrorScore: this.maxErrorScore,
      errorScoreDecrement: this.errorScoreDecrement,
      usageCount: this.#usageCount,
      maxUsageCount: this.maxUsageCount,
      expiresAt: this.expiresAt.toISOString(),
      createdAt: this.createdAt.toISOString(),
    };
  }

  #hasCookies(): boolean {
    return this.#cookies !== undefined || this.#persistedJar !== undefined;
  }

  #jar(): Cookies {
    return (this.#cookies ??= createCookies(this.#persistedJar));
  }

  #afterUse(): void {
    this.#owner?.sessionChanged(this);
    if (this.#retired || this.isUsable()) return;
    this.#retired = true;
    this.#owner?.sessionRetired(this);
  }
}

/** The last moment a Date can hold; a session that never ages expires then. */
const LAST_DATE_MS = 8.64e15;

/** Statuses by which sites refuse a visitor. */
export const DEFAULT_BLOCKED_STATUS_CODES: readonly number[] = Object.freeze([401, 403, 429]);

/** Options of a session from what was persisted; undefined when that is not a session. */
export function sessionOptionsOf(state: unknown): SessionOptions | undefined {
  if (!anObject.accepts(state)) return undefined;
  const persisted = state as Record<string, unknown>;
  const options: Record<string, unknown> = {};
  for (const name of Object.keys(STATE_SHAPE) as (keyof typeof STATE_SHAPE)[]) {
    // JSON writes Infinity as null.
    const value = persisted[name] === null && name !== 'cookieJar' ? Infinity : persisted[name];
    if (value === undefined && name === 'cookieJar') continue;
    if (!STATE_SHAPE[name].accepts(value)) return undefined;
    options[name] = value;
  }
  for (const name of ['createdAt', 'expiresAt'] as const) {
    const date = new Date(String(persisted[name]));
    if (Number.isNaN(date.getTime())) return undefined;
    options[name] = date;
  }
  return options as SessionOptions;
}

/** Ids are not secrets, so loading node:crypto for them is not worth it. */
function newSessionId(): string {
  const digits = () => Math.random().toString(36).slice(2, 7).padEnd(5, '0');
  return `session_${digits()}${digits()}`;
}

function setCookieLines(headers: ResponseLike['headers']): readonly string[] {
  if (headers === undefined) return [];
  if (typeof headers !== 'function' && typeof headers.getSetCookie === 'function') return headers.getSetCookie();
  const values = (typeof headers === 'function' ? headers() : headers) as HeaderValues;
  const found = values['set-cookie'] ?? values['Set-Cookie'];
  // Playwright joins the lines of repeated headers.
  return typeof found === 'string' ? found.split('\n') : (found ?? []);
}
