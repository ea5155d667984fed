// The one error catalogue: every failure the crawler names carries a code from here.
// Retry policy reads a code's class, never a message; docs/errors.md lists them for people.

/**
 * How a failure is treated: `transient` ones are retried, `permanent` ones end the request at once,
 * `fatal` ones end the crawl.
 */
export type ErrorClass = 'transient' | 'permanent' | 'fatal';

/**
 * Every code with its class.
 *
 * @example
 * const willRetry = ERROR_CLASSES.FETCH_TIMEOUT === 'transient';
 */
export const ERROR_CLASSES = {
  // Input
  OPTION_INVALID: 'fatal',
  URL_INVALID: 'permanent',
  URL_SCHEME: 'permanent',
  REQUEST_INVALID: 'permanent',
  // The way to the server
  DNS_NOT_FOUND: 'transient',
  CONNECT_REFUSED: 'transient',
  CONNECT_RESET: 'transient',
  CONNECT_FAILED: 'transient',
  CONNECT_TIMEOUT: 'transient',
  TLS_INVALID: 'permanent',
  PROXY_FAILED: 'transient',
  ADDRESS_REFUSED: 'permanent',
  ADDRESS_BUSY: 'transient',
  HOST_DOWN: 'permanent',
  ROBOTS_DENIED: 'permanent',
  ROBOTS_UNREACHABLE: 'permanent',
  // The answer
  FETCH_TIMEOUT: 'transient',
  FETCH_SLOW: 'transient',
  HTTP_STATUS: 'transient',
  HTTP_BLOCKED: 'transient',
  RETRY_AFTER_TOO_LONG: 'permanent',
  HTTP_MALFORMED: 'transient',
  REDIRECT_LIMIT: 'permanent',
  REDIRECT_INVALID: 'permanent',
  BODY_TOO_LARGE: 'permanent',
  BODY_DECODE: 'permanent',
  BODY_INCOMPLETE: 'transient',
  CONTENT_TYPE: 'permanent',
  // Documents
  DOCUMENT_INVALID: 'permanent',
  DOCUMENT_ENCRYPTED: 'permanent',
  DOCUMENT_NO_TEXT: 'permanent',
  DOCUMENT_LIMIT: 'permanent',
  // The visit
  HANDLER_FAILED: 'transient',
  HANDLER_TIMEOUT: 'transient',
  VISIT_BLOCKED_LOOP: 'permanent',
  NON_RETRYABLE: 'permanent',
  RETRY_REQUESTED: 'transient',
  SESSION_BAD: 'transient',
  NOT_ON_PODS: 'permanent',
  ROUTE_MISSING: 'fatal',
  CRITICAL: 'fatal',
  ABORTED: 'transient',
  // The browser
  BROWSER_MISSING: 'fatal',
  BROWSER_FAILED: 'transient',
  PROFILE_IN_USE: 'fatal',
  PAGE_CRASHED: 'transient',
  NAVIGATION_FAILED: 'transient',
  WAIT_TIMEOUT: 'transient',
  SCRIPT_FAILED: 'permanent',
  SESSION_UNKNOWN: 'permanent',
  // The queue
  WORKER_LOST: 'permanent',
  LEASE_LOST: 'transient',
  QUEUE_IN_USE: 'fatal',
  QUEUE_VERSION: 'fatal',
  QUEUE_CORRUPT: 'fatal',
  QUEUE_CLOSED: 'fatal',
  QUEUE_UNREACHABLE: 'transient',
  QUEUE_UNSUITABLE: 'fatal',
  QUEUE_FOREIGN: 'fatal',
  QUEUE_EMPTIED: 'fatal',
  QUEUE_ROLLED_BACK: 'fatal',
  QUEUE_FULL: 'transient',
  // Sitemaps
  SITEMAP_INVALID: 'permanent',
  SITEMAP_LIMIT: 'permanent',
  // The page cache
  CACHE_MISS: 'permanent',
  // Models
  MODEL_FAILED: 'permanent',
  // Storage
  STORAGE_UNWRITABLE: 'fatal',
  STORAGE_FULL: 'fatal',
  STORAGE_LOST: 'fatal',
  OBJECT_STORE_FAILED: 'transient',
  STORAGE_IN_USE: 'fatal',
  KEY_INVALID: 'permanent',
  ITEM_INVALID: 'permanent',
  TABLE_TOO_WIDE: 'permanent',
} as const satisfies Record<string, ErrorClass>;

/** A code of the error catalogue (docs/errors.md). */
export type ErrorCode = keyof typeof ERROR_CLASSES;

/**
 * A failure with a code.
 *
 * @example
 * await crawler.run(['https://example.com']).catch((error) => {
 *   if (error instanceof CrawlError && error.code === 'QUEUE_IN_USE') log.warning('another crawl is running here');
 * });
 */
export class CrawlError extends Error {
  /** Stable, from the catalogue in docs/errors.md: switch on it, not on the message. */
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message?: string, options?: ErrorOptions) {
    super(message ?? code, options);
    this.name = new.target.name;
    this.code = code;
  }

  /** The class of this error's code. */
  get class(): ErrorClass {
    return ERROR_CLASSES[this.code];
  }
}

/**
 * Thrown by a handler: the request fails at once and is never retried.
 *
 * @example
 * if ($('.login').length > 0) throw new NonRetryableError('the page needs a login');
 */
export class NonRetryableError extends CrawlError {
  constructor(message?: string, options?: ErrorOptions & { code?: ErrorCode }) {
    super(options?.code ?? 'NON_RETRYABLE', message, options);
  }
}

/**
 * Thrown by a handler or hook: the crawl stops and `run()` rejects with it.
 *
 * @example
 * if (body.includes('account suspended')) throw new CriticalError('the account is suspended');
 */
export class CriticalError extends NonRetryableError {
  constructor(message?: string, options?: ErrorOptions & { code?: ErrorCode }) {
    super(message, { code: 'CRITICAL', ...options });
  }
}

/**
 * A request's label has no handler and the router has no default one.
 *
 * @example
 * await crawler.run(['https://example.com']).catch((error) => {
 *   if (error instanceof MissingRouteError) log.error(`No route: ${error.message}`);
 * });
 */
export class MissingRouteError extends CriticalError {
  constructor(message?: string, options?: ErrorOptions) {
    super(message, { ...options, code: 'ROUTE_MISSING' });
  }
}

/**
 * Thrown by a handler: the request is retried at once, whatever `maxRequestRetries` says.
 *
 * @example
 * if ($('.busy').length > 0) throw new RetryRequestError('the shop is busy');
 */
export class RetryRequestError extends CrawlError {
  constructor(message?: string, options?: ErrorOptions & { code?: ErrorCode }) {
    super(options?.code ?? 'RETRY_REQUESTED', message ?? "Request is being retried at the user's request", options);
  }
}

/**
 * Thrown by a handler or by a blocked response: the session is retired and the request retried with another.
 *
 * @example
 * if ($('#captcha').length > 0) throw new SessionError('a captcha');
 */
export class SessionError extends RetryRequestError {
  constructor(message?: string, options?: ErrorOptions) {
    const words = 'Detected a session error, rotating session...';
    super(message ? `${words} \n${message}` : words, { ...options, code: 'SESSION_BAD' });
  }
}

/** A request that is not sent because its host cannot be reached, or its robots.txt cannot be read. */
export class HostRefusedError extends NonRetryableError {}

/** A connection to an address that the guard refuses. */
export class AddressRefusedError extends CrawlError {
  constructor(
    /** The host, with its port, that was to be reached. */
    readonly host: string,
    message?: string,
  ) {
    super('ADDRESS_REFUSED', message);
  }
}

/**
 * A request that cannot be made: a bad URL, an unknown property, a wrong type.
 *
 * @example
 * try {
 *   new Request({ url: 'nowhere' });
 * } catch (error) {
 *   if (error instanceof RequestValidationError) log.warning(error.message);
 * }
 */
export class RequestValidationError extends CrawlError {
  /** The label whose schema the user data do not fit. */
  readonly label: string | undefined;
  /** What the schema found, if it was one. */
  readonly issues: readonly { readonly message: string; readonly path?: unknown }[];

  constructor(
    message?: string,
    options?: ErrorOptions & { code?: ErrorCode } & Partial<Pick<RequestValidationError, 'label' | 'issues'>>,
  ) {
    super(options?.code ?? 'REQUEST_INVALID', message, options);
    this.label = options?.label;
    this.issues = options?.issues ?? [];
  }
}

/** Anything thrown, as a CrawlError: ours as they are, others as `code` with the original as cause. */
export function asCrawlError(thrown: unknown, code: ErrorCode): CrawlError {
  if (thrown instanceof CrawlError) return thrown;
  const message = thrown instanceof Error ? thrown.message : textOf(thrown);
  return new CrawlError(code, message, { cause: thrown });
}

/** Not every value can be made a string: an object without a prototype cannot. */
function textOf(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return 'something that cannot be written as text was thrown';
  }
}
