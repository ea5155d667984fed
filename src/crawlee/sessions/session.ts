// Crawlee's Session: the same identity as ours, with the members that its subclasses and tests reach for.
// Promise: a session of a crawler is an instance of this class too, whichever of the two made it.
import type { CookieJar } from 'tough-cookie';
import { CrawlError } from '../../errors.js';
import type { CookieObject } from '../../session/cookies.js';
import { Session as OwnSession } from '../../session/session.js';
import type { SessionOptions as OwnOptions, SessionOwner, SessionState } from '../../session/session.js';

/** The options of a session; `cookieJar` may also be a jar of tough-cookie. */
export interface SessionOptions extends Omit<OwnOptions, 'cookieJar'> {
  cookieJar?: OwnOptions['cookieJar'] | CookieJar;
}

const EVERY_SESSION_SECS = 3_000;

/**
 * A session: one user, as a site sees it.
 *
 * @example
 * const session = new Session({ sessionPool: await SessionPool.open(), maxUsageCount: 10 });
 * session.markGood();
 */
export class Session extends OwnSession {
  readonly maxAgeSecs: number;
  protected _errorScore: number;
  protected _usageCount: number;
  protected _maxErrorScore: number;
  protected _errorScoreDecrement: number;
  protected _maxUsageCount: number;
  protected _expiresAt: Date;
  protected _createdAt: Date;
  protected readonly sessionPool: SessionOwner;

  constructor(options: SessionOptions) {
    super(checked(options));
    this.maxAgeSecs = options.maxAgeSecs ?? EVERY_SESSION_SECS;
    this._errorScore = options.errorScore ?? 0;
    this._usageCount = options.usageCount ?? 0;
    this._maxErrorScore = options.maxErrorScore ?? 3;
    this._errorScoreDecrement = options.errorScoreDecrement ?? 0.5;
    this._maxUsageCount = options.maxUsageCount ?? 50;
    this._createdAt = super.createdAt;
    this._expiresAt = super.expiresAt;
    this.sessionPool = options.sessionPool!;
    // Crawlee's subclasses change the underscored fields; ours are plain values, so they read those here.
    Object.defineProperties(this, {
      maxErrorScore: { get: () => this._maxErrorScore, enumerable: true },
      errorScoreDecrement: { get: () => this._errorScoreDecrement, enumerable: true },
      maxUsageCount: { get: () => this._maxUsageCount, enumerable: true },
    });
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this !== Session) return Function.prototype[Symbol.hasInstance].call(this, value) as boolean;
    return value instanceof OwnSession;
  }

  override get errorScore(): number {
    return this._errorScore;
  }

  override get usageCount(): number {
    return this._usageCount;
  }

  override get createdAt(): Date {
    return this._createdAt;
  }

  override get expiresAt(): Date {
    return this._expiresAt;
  }

  override isBlocked(): boolean {
    return this.errorScore >= this.maxErrorScore;
  }

  override isExpired(): boolean {
    return this.expiresAt.getTime() <= Date.now();
  }

  override isMaxUsageCountReached(): boolean {
    return this.usageCount >= this.maxUsageCount;
  }

  override isUsable(): boolean {
    return !this.isBlocked() && !this.isExpired() && !this.isMaxUsageCountReached();
  }

  override markGood(): void {
    this._usageCount++;
    this._errorScore = Math.max(0, this._errorScore - this._errorScoreDecrement);
    this._maybeSelfRetire();
  }

  override markBad(): void {
    this._usageCount++;
    this._errorScore++;
    this._maybeSelfRetire();
  }

  override retire(): void {
    this._usageCount++;
    this._errorScore += this._maxErrorScore;
    this.sessionPool.sessionRetired?.(this);
  }

  /** Cookies without an end live as long as the session. */
  override setCookies(cookies: readonly CookieObject[], url: string): void {
    const expires = this.expiresAt.getTime() / 1_000;
    super.setCookies(
      cookies.map((cookie) => ({ ...cookie, expires: cookie.expires ?? expires })),
      url,
    );
  }

  override getState(): SessionState {
    return {
      ...super.getState(),
      cookieJar: this.cookieJar.toJSON()!,
      errorScore: this.errorScore,
      maxErrorScore: this.maxErrorScore,
      errorScoreDecrement: this.errorScoreDecrement,
      usageCount: this.usageCount,
      maxUsageCount: this.maxUsageCount,
      expiresAt: this.expiresAt.toISOString(),
      createdAt: this.createdAt.toISOString(),
    };
  }

  protected _maybeSelfRetire(): void {
    if (this.isUsable()) this.sessionPool.sessionChanged?.(this);
    else this.retire();
  }
}

/** A session without a pool is a mistake in Crawlee, and its message is what scripts look for. */
function checked(options: SessionOptions | undefined): OwnOptions {
  if (typeof options !== 'object' || options === null) {
    throw new CrawlError(
      'OPTION_INVALID',
      `Expected \`options\` to be of type \`object\` but received type \`${kindOf(options)}\``,
    );
  }
  const pool: unknown = options.sessionPool;
  if (typeof pool !== 'object' || pool === null) {
    throw new CrawlError(
      'OPTION_INVALID',
      `Expected property \`sessionPool\` to be of type \`object\` but received type \`${kindOf(pool)}\``,
    );
  }
  if (typeof (pool as { on?: unknown }).on !== 'function') {
    throw new CrawlError(
      'OPTION_INVALID',
      `Expected property object \`sessionPool\` \`${JSON.stringify(pool)}\` to be of type \`EventEmitter\` in object \`options\``,
    );
  }
  return options as OwnOptions;
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : typeof value;
}
