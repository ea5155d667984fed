// A request: where to go, how, and what user code wants to remember about it.
// Validated once when made; its unique key decides whether the queue has seen it.
import { createHash } from 'node:crypto';
import { RequestValidationError } from '../errors.js';
import { type Fingerprint, fingerprintOf, fingerprintToId } from './fingerprint.js';
import { packRecord, unpackRecord } from './record.js';
import { checkHttpUrl, normalizeUrl } from './url.js';

/** Any plain object. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- Crawlee's name and shape, so that its scripts compile.
export type Dictionary<T = any> = Record<PropertyKey, T>;

/** The HTTP methods a request may have. */
export type AllowedHttpMethods = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE' | 'TRACE' | 'OPTIONS' | 'CONNECT' | 'PATCH';

/**
 * Where a request is in its life.
 *
 * @example
 * const isLoaded = request.state >= RequestState.AFTER_NAV;
 */
export enum RequestState {
  UNPROCESSED = 0,
  BEFORE_NAV = 1,
  AFTER_NAV = 2,
  REQUEST_HANDLER = 3,
  DONE = 4,
  ERROR_HANDLER = 5,
  ERROR = 6,
  SKIPPED = 7,
}

/** −2 (last) to 2 (first) within a domain. */
export type Priority = -2 | -1 | 0 | 1 | 2;

/** All that can be said about a request. */
export interface RequestOptions<UserData extends Dictionary = Dictionary> {
  url: string;
  uniqueKey?: string;
  method?: AllowedHttpMethods | Lowercase<AllowedHttpMethods>;
  payload?: string;
  headers?: Record<string, string>;
  label?: string;
  userData?: UserData;
  retryCount?: number;
  sessionRotationCount?: number;
  maxRetries?: number;
  noRetry?: boolean;
  loadedUrl?: string;
  errorMessages?: string[];
  sessionId?: string;
  skipNavigation?: boolean;
  keepUrlFragment?: boolean;
  useExtendedUniqueKey?: boolean;
  crawlDepth?: number;
  priority?: Priority;
  enqueueStrategy?: 'all' | 'same-domain' | 'same-hostname' | 'same-origin';
  state?: RequestState;
  handledAt?: string;
  /** Set by the queue for what the user added, not a page: only such a request may name a private address. */
  seeded?: boolean;
  /** How often the host said when to come back (Retry-After) and this was waited for: no retries. */
  retryAfterCount?: number;
  /** @internal Of a redirect that is queued as a request of its own: the URLs that led to `url`, the one asked for first. */
  redirectedFrom?: readonly string[];
  /** @internal With it: the unique key of the request that was asked for, if it had one of its own. */
  askedKey?: string;
  /** Accepted for Crawlee's sake; an id is always derived from the unique key. */
  id?: string;
}

/** What `addRequests` and `run` take for one request. */
export type Source = string | RequestOptions | Request;

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'TRACE', 'OPTIONS', 'CONNECT', 'PATCH']);
const STRATEGIES = new Set(['all', 'same-domain', 'same-hostname', 'same-origin']);
const NO_REDIRECTS: readonly string[] = Object.freeze([]);
const MAX_ERROR_MESSAGES = 20;
const MAX_ERROR_MESSAGE_LENGTH = 4_096;

const CHECKS: Record<Exclude<keyof RequestOptions, 'url'> | 'appointments', (value: unknown) => string | undefined> = {
  uniqueKey: (value) => (typeof value === 'string' && value !== '' ? undefined : 'a non-empty string'),
  method: (value) =>
    typeof value === 'string' && METHODS.has(value.toUpperCase()) ? undefined : `one of ${[...METHODS].join(', ')}`,
  payload: (value) => (typeof value === 'string' ? undefined : 'a string'),
  headers: (value) =>
    isPlainObject(value) && Object.values(value).every((header) => typeof header === 'string')
      ? undefined
      : 'an object of strings',
  label: (value) => (typeof value === 'string' ? undefined : 'a string'),
  userData: (value) => (isPlainObject(value) ? undefined : 'an object'),
  retryCount: wholeNumber,
  sessionRotationCount: wholeNumber,
  maxRetries: wholeNumber,
  noRetry: flag,
  loadedUrl: (value) => (typeof value === 'string' ? undefined : 'a string'),
  errorMessages: (value) => (Array.isArray(value) ? undefined : 'an array of strings'),
  sessionId: (value) => (typeof value === 'string' ? undefined : 'a string'),
  skipNavigation: flag,
  keepUrlFragment: flag,
  useExtendedUniqueKey: flag,
  crawlDepth: wholeNumber,
  priority: (value) =>
    Number.isInteger(value) && Math.abs(value as number) <= 2 ? undefined : 'a whole number from -2 to 2',
  enqueueStrategy: (value) => (STRATEGIES.has(value as string) ? undefined : `one of ${[...STRATEGIES].join(', ')}`),
  redirectedFrom: (value) => (Array.isArray(value) && value.length > 0 ? undefined : 'an array of URLs'),
  askedKey: (value) => (typeof value === 'string' ? undefined : 'a string'),
  state: wholeNumber,
  handledAt: (value) => (typeof value === 'string' || value instanceof Date ? undefined : 'an ISO date'),
  seeded: flag,
  retryAfterCount: wholeNumber,
  // Its name in what 0.1.0 wrote.
  appointments: () => undefined,
  id: () => undefined,
};

function wholeNumber(value: unknown): string | undefined {
  return Number.isInteger(value) && (value as number) >= 0 ? undefined : 'a whole number, 0 or more';
}

function flag(value: unknown): string | undefined {
  return typeof value === 'boolean' ? undefined : 'true or false';
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * One URL to visit, with method, headers, label and user data.
 *
 * @example
 * const request = new Request({ url: 'https://example.com/a?b=1#top', label: 'DETAIL' });
 * request.uniqueKey; // 'https://example.com/a?b=1'
 */
export class Request<UserData extends Dictionary = Dictionary> {
  url: string;
  method: AllowedHttpMethods;
  payload: string | undefined;
  headers: Record<string, string>;
  userData: UserData;
  retryCount: number;
  sessionRotationCount: number;
  maxRetries: number | undefined;
  noRetry: boolean;
  loadedUrl: string | undefined;
  errorMessages: string[];
  sessionId: string | undefined;
  skipNavigation: boolean;
  keepUrlFragment: boolean;
  useExtendedUniqueKey: boolean;
  crawlDepth: number;
  priority: Priority;
  enqueueStrategy: RequestOptions['enqueueStrategy'];
  /** The URLs that redirected on the way to `loadedUrl`, in order; the first is `url`. Empty when none did. */
  redirectChain: readonly string[] = NO_REDIRECTS;
  state: RequestState;
  handledAt: string | undefined;
  /** @internal */ seeded: boolean;
  /** @internal */ retryAfterCount: number;

  /** Given by the user, or worked out on first use. */
  #uniqueKey: string | undefined;
  #customKey: boolean;
  #fingerprint: Fingerprint | undefined;
  #hop: Hop | undefined;

  /** @param trusted skips validation; only for what was validated before, such as a stored record */
  constructor(options: RequestOptions<UserData>, trusted = false) {
    if (!trusted) validateRequestOptions(options);
    this.url = options.url;
    this.method = (options.method?.toUpperCase() ?? 'GET') as AllowedHttpMethods;
    this.payload = options.payload;
    this.headers = { ...options.headers };
    this.userData = { ...options.userData } as UserData;
    if (options.label !== undefined) this.label = options.label;
    this.retryCount = options.retryCount ?? 0;
    this.sessionRotationCount = options.sessionRotationCount ?? 0;
    this.maxRetries = options.maxRetries;
    this.noRetry = options.noRetry ?? false;
    this.loadedUrl = options.loadedUrl;
    this.errorMessages = options.errorMessages ? [...options.errorMessages] : [];
    this.sessionId = options.sessionId;
    this.skipNavigation = options.skipNavigation ?? false;
    this.keepUrlFragment = options.keepUrlFragment ?? false;
    this.useExtendedUniqueKey = options.useExtendedUniqueKey ?? false;
    this.crawlDepth = options.crawlDepth ?? 0;
    this.priority = options.priority ?? 0;
    this.enqueueStrategy = options.enqueueStrategy;
    this.state = options.state ?? RequestState.UNPROCESSED;
    this.handledAt = isoDate(options.handledAt);
    this.seeded = options.seeded ?? false;
    this.retryAfterCount = options.retryAfterCount ?? 0;
    this.#uniqueKey = options.uniqueKey;
    this.#customKey = options.uniqueKey != null;
  }

  /** What the queue deduplicates by. */
  get uniqueKey(): string {
    return (this.#uniqueKey ??= computeUniqueKey(this));
  }

  /** 64 bits of the key under which the queue has it: the unique key, or that of where a redirect led. */
  get fingerprint(): Fingerprint {
    return (this.#fingerprint ??= fingerprintOf(this.#hop ? hopKey(this.#hop, this) : this.uniqueKey));
  }

  /** @internal What is asked for: the URL, or where its last redirect led when that is a request of its own. */
  get target(): string {
    return this.#hop?.url ?? this.url;
  }

  /** @internal The page is there. `chain`: the redirects that were followed from `target` on. */
  arrived(loadedUrl: string, chain: readonly string[]): void {
    this.loadedUrl = loadedUrl;
    const before = this.#hop?.chain ?? NO_REDIRECTS;
    this.redirectChain = chain.length === 0 ? before : [...before, ...chain];
  }

  /** @internal It will be asked for again: what the last attempt found is forgotten. */
  left(): void {
    this.loadedUrl = undefined;
    this.redirectChain = this.#hop?.chain ?? NO_REDIRECTS;
  }

  /**
   * @internal The same request on its way to where a redirect led, to be queued as a request of its own: user code
   * knows it by the URL and the key that were asked for, the queue by those of the target.
   */
  redirectedTo(url: string, changes: Pick<RequestOptions, 'method' | 'payload' | 'headers' | 'sessionId'>): Request {
    const { userData, crawlDepth, priority, enqueueStrategy, maxRetries, noRetry, keepUrlFragment } = this;
    const kept = { userData, crawlDepth, priority, enqueueStrategy, maxRetries, noRetry, keepUrlFragment };
    const hasOwnKey = this.#customKey || this.useExtendedUniqueKey;
    const uniqueKey = hasOwnKey ? this.uniqueKey : undefined;
    const request = new Request({ ...kept, ...changes, url: this.url, uniqueKey }, true);
    const chain = [...(this.#hop?.chain ?? []), this.target];
    // The page itself once more, or a request that is more than its URL: the queue must not take it for one it knows.
    const isKnown = chain.some((one) => normalizeUrl(one, keepUrlFragment) === normalizeUrl(url, keepUrlFragment));
    const key = hasOwnKey || isKnown ? `redirect ${chain.length} of ${this.uniqueKey}` : undefined;
    request.#hop = { url, key, chain };
    request.redirectChain = chain;
    return request;
  }

  /** The request's id in any queue. */
  get id(): string {
    return fingerprintToId(this.fingerprint);
  }

  /** The router's discriminant; the same value as `userData.label`. */
  get label(): string | undefined {
    return this.userData.label as string | undefined;
  }

  set label(label: string | undefined) {
    (this.userData as Dictionary).label = label;
  }

  /** Adds the message of a failed attempt; the newest twenty are kept. */
  pushErrorMessage(thrown: unknown, options: { omitStack?: boolean } = {}): void {
    const error = thrown instanceof Error ? thrown : undefined;
    const text = error ? ((options.omitStack ? undefined : error.stack) ?? error.message) : String(thrown);
    this.errorMessages.push(text.slice(0, MAX_ERROR_MESSAGE_LENGTH));
    if (this.errorMessages.length > MAX_ERROR_MESSAGES) this.errorMessages.shift();
  }

  /** The packed form for the queue. */
  toRecord(): string {
    const customKey = this.#customKey ? this.#uniqueKey : undefined;
    if (!this.#hop) return packRecord(this, customKey);
    const { url, key, chain } = this.#hop;
    return packRecord({ ...this, url, redirectedFrom: chain, askedKey: customKey }, key);
  }

  /** The request behind a packed form. Trusted: it was validated before it was stored. */
  static fromRecord(record: string, priority: Priority = 0): Request {
    const options = unpackRecord(record);
    const { redirectedFrom: chain, askedKey, url, uniqueKey } = options;
    if (chain === undefined) {
      const request = new Request(options, true);
      request.priority = priority;
      return request;
    }
    const request = new Request({ ...options, url: chain[0]!, uniqueKey: askedKey }, true);
    request.#hop = { url, key: uniqueKey, chain };
    request.redirectChain = chain;
    request.priority = priority;
    return request;
  }

  /** @internal A request whose parts were checked and whose key was worked out before. */
  static ofLink(options: RequestOptions, uniqueKey: string, fingerprint: Fingerprint): Request {
    const request = new Request(options, true);
    request.#uniqueKey = uniqueKey;
    request.#fingerprint = fingerprint;
    return request;
  }

  toJSON(): RequestOptions {
    return { id: this.id, ...this.#options(), uniqueKey: this.uniqueKey };
  }

  #options(): RequestOptions {
    return {
      url: this.url,
      method: this.method,
      payload: this.payload,
      headers: this.headers,
      userData: this.userData,
      retryCount: this.retryCount,
      sessionRotationCount: this.sessionRotationCount,
      maxRetries: this.maxRetries,
      noRetry: this.noRetry,
      loadedUrl: this.loadedUrl,
      errorMessages: this.errorMessages,
      sessionId: this.sessionId,
      skipNavigation: this.skipNavigation,
      keepUrlFragment: this.keepUrlFragment,
      useExtendedUniqueKey: this.useExtendedUniqueKey,
      crawlDepth: this.crawlDepth,
      priority: this.priority,
      enqueueStrategy: this.enqueueStrategy,
      state: this.state,
      handledAt: this.handledAt,
      seeded: this.seeded,
      retryAfterCount: this.retryAfterCount,
    };
  }
}

/** Where a redirect led, as the queue knows it. */
interface Hop {
  readonly url: string;
  /** Undefined: that of the URL. */
  readonly key: string | undefined;
  /** The URLs that redirected so far. */
  readonly chain: readonly string[];
}

function hopKey({ key, url }: Hop, { keepUrlFragment }: Request): string {
  return key ?? normalizeUrl(url, keepUrlFragment);
}

/** Crawlee takes a Date too. */
function isoDate(given: string | Date | undefined): string | undefined {
  return given instanceof Date ? given.toISOString() : given;
}

/** Throws what is wrong with the options of a request. */
export function validateRequestOptions(options: RequestOptions): void {
  if (!isPlainObject(options)) {
    throw new RequestValidationError(`a request needs a URL or an object with one, not ${String(options)}`);
  }
  for (const name in options) {
    const value = options[name as keyof RequestOptions];
    if (name === 'url' || value === undefined || value === null) continue;
    const check = CHECKS[name as keyof typeof CHECKS];
    if (!check) throw new RequestValidationError(`unknown request property "${name}"`);
    const expected = check(value);
    if (expected) throw new RequestValidationError(`request property "${name}" must be ${expected}`);
  }
  checkHttpUrl(options.url);
  if (options.payload && (options.method ?? 'GET').toUpperCase() === 'GET') {
    throw new RequestValidationError('a GET request cannot have a payload: set another method');
  }
}

function computeUniqueKey(request: Request): string {
  const key = normalizeUrl(request.url, request.keepUrlFragment);
  if (!request.useExtendedUniqueKey) return key;
  const payloadHash = request.payload
    ? createHash('sha256').update(request.payload).digest('base64').replace(/[+/=]/g, '').slice(0, 8)
    : '';
  return `${request.method}(${payloadHash}):${key}`;
}

/** The request that a source stands for. */
export function toRequest(source: Source): Request {
  if (source instanceof Request) return source;
  return new Request(typeof source === 'string' ? { url: source } : source);
}
