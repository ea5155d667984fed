// What can be said about a request, and whether it may be.
import { RequestValidationError } from '../errors.js';
import { checkHttpUrl } from './url.js';

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
  /** The URL to visit, http or https. */
  url: string;
  /** What the queue deduplicates by; default: the URL, normalized. */
  uniqueKey?: string;
  /** The HTTP method. Default GET. */
  method?: AllowedHttpMethods | Lowercase<AllowedHttpMethods>;
  /** The body, for example of a POST. */
  payload?: string;
  /** Sent with this request, to its own origin only. */
  headers?: Record<string, string>;
  /** Chooses the handler of a router; also `userData.label`. */
  label?: string;
  /** Data of yours that travels with the request and is there in its handler. JSON. */
  userData?: UserData;
  /** How often it has been retried. */
  retryCount?: number;
  /** How often it was tried again with another session because it was blocked. */
  sessionRotationCount?: number;
  /** Retries of this request, in place of `maxRequestRetries` of the crawler. */
  maxRetries?: number;
  /** A failure is final. Default false. */
  noRetry?: boolean;
  /** The URL of the page after redirects; undefined before it was fetched. */
  loadedUrl?: string;
  /** One message per failed attempt, the newest last; at most 20. */
  errorMessages?: string[];
  /** The session to use; another one if the pool no longer has it. */
  sessionId?: string;
  /** Runs the handler without fetching the page. Default false. */
  skipNavigation?: boolean;
  /** The fragment (`#…`) is part of the unique key. Default false. */
  keepUrlFragment?: boolean;
  /** Method and payload are part of the unique key: for POSTs to one URL. Default false. */
  useExtendedUniqueKey?: boolean;
  /** Links between it and a start URL, which has 0. */
  crawlDepth?: number;
  /** -2 (last) to 2 (first) within its domain. Default 0. */
  priority?: Priority;
  /** Where a redirect may lead, as for links; elsewhere the request is skipped. */
  enqueueStrategy?: 'all' | 'same-domain' | 'same-hostname' | 'same-origin';
  /** Where it is in its life. */
  state?: RequestState;
  /** When it was done or failed for good, as an ISO date. */
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

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'TRACE', 'OPTIONS', 'CONNECT', 'PATCH']);
const STRATEGIES = new Set(['all', 'same-domain', 'same-hostname', 'same-origin']);

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

/** Crawlee takes such a request, and fails at its visit; that page says why this one does not. */
const SEE = '(see docs/from-crawlee.md)';

/** Throws what is wrong with the options of a request. */
export function validateRequestOptions(options: RequestOptions): void {
  if (!isPlainObject(options)) {
    throw new RequestValidationError(`a request needs a URL or an object with one, not ${String(options)}`);
  }
  for (const name in options) {
    const value = options[name as keyof RequestOptions];
    if (name === 'url' || value === undefined || value === null) continue;
    const check = CHECKS[name as keyof typeof CHECKS];
    if (!check) throw new RequestValidationError(`unknown request property "${name}" ${SEE}`);
    const expected = check(value);
    if (expected) throw new RequestValidationError(`request property "${name}" must be ${expected} ${SEE}`);
  }
  checkHttpUrl(options.url);
  if (options.payload && (options.method ?? 'GET').toUpperCase() === 'GET') {
    throw new RequestValidationError('a GET request cannot have a payload: set another method');
  }
}
