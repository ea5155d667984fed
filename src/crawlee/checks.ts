// Crawlee's checks and constants that scripts import by name.
import { CrawlError } from '../errors.js';
import { checkUserData, type UserDataSchema } from '../handle/user-data-schema.js';
import { log, type Log } from '../observe/log.js';
import type { Dictionary } from '../request/request.js';
import { ProxyConfiguration } from '../session/proxy.js';
import type { Session } from '../session/session.js';

interface Checked {
  validator: boolean;
  message: (label: string) => string;
}

const has = (value: unknown, ...methods: string[]): boolean =>
  methods.every((name) => typeof (value as Dictionary | undefined)?.[name] === 'function');
const checked = (isValid: boolean, what: string): Checked => ({
  validator: isValid,
  message: (label) => `Expected argument '${label}' to be a ${what}, got something else.`,
});

/**
 * Checks of objects by what they can do.
 *
 * @example
 * const { validator: isList, message } = validators.requestList(value);
 */
export const validators = {
  browserPage: (value: Dictionary): Checked => checked(has(value, 'goto', 'evaluate', '$', 'on'), 'Puppeteer Page'),
  proxyConfiguration: (value: Dictionary): Checked =>
    checked(value instanceof ProxyConfiguration || has(value, 'newUrl', 'newProxyInfo'), 'ProxyConfiguration'),
  requestList: (value: Dictionary): Checked => checked(has(value, 'fetchNextRequest', 'persistState'), 'RequestList'),
  requestQueue: (value: Dictionary): Checked => checked(has(value, 'fetchNextRequest', 'addRequest'), 'RequestQueue'),
};

/**
 * `userData` as a schema returns it; an error names every field that does not fit.
 *
 * @example
 * const data = await validateUserData('DETAIL', z.object({ sku: z.string() }), request.userData);
 */
export async function validateUserData(
  label: string | symbol,
  schema: UserDataSchema,
  userData: unknown,
): Promise<Dictionary> {
  return checkUserData(schema, userData as Dictionary, typeof label === 'string' ? label : undefined);
}

/**
 * A navigation took too long: the session is marked bad, and an error says how long.
 *
 * @example
 * handleRequestTimeout({ session, errorMessage: 'timed out after 30000 milliseconds' });
 */
export function handleRequestTimeout(timeout: { session?: Session; errorMessage: string }): never {
  timeout.session?.markBad();
  const millis = Number(/\b(\d{1,12}) ?(?:ms|milliseconds)/i.exec(timeout.errorMessage)?.[1]);
  throw new Error(`Navigation timed out after ${millis / 1_000} seconds.`);
}

/**
 * Options for a crawler, as a class. Crawlers here have no `use()`: spread what `getCrawlerOptions()` gives.
 *
 * @example
 * class Slow extends CrawlerExtension {
 *   override getCrawlerOptions() { return { maxConcurrency: 1 }; }
 * }
 * const crawler = new CheerioCrawler({ ...new Slow().getCrawlerOptions() });
 */
export abstract class CrawlerExtension {
  name = this.constructor.name;
  log: Log = log.child({ prefix: this.name });

  getCrawlerOptions(): Record<string, unknown> {
    throw new CrawlError('OPTION_INVALID', `${this.name} needs a getCrawlerOptions() of its own`);
  }
}

/**
 * A cookie header that cannot be read.
 *
 * @example
 * if (error instanceof CookieParseError) log.warning('bad cookies', { header: error.cookieHeaderString });
 */
export class CookieParseError extends Error {
  constructor(readonly cookieHeaderString: unknown) {
    super(`Could not parse cookie header string: ${String(cookieHeaderString)}`);
  }
}

/**
 * The key under which a `RequestList` saves where it is.
 *
 * @example
 * const key = `my-list-${STATE_PERSISTENCE_KEY}`;
 */
export const STATE_PERSISTENCE_KEY = 'REQUEST_LIST_STATE';
/**
 * The key under which a `RequestList` saves its requests.
 *
 * @example
 * const key = `my-list-${REQUESTS_PERSISTENCE_KEY}`;
 */
export const REQUESTS_PERSISTENCE_KEY = 'REQUEST_LIST_REQUESTS';
/**
 * How much longer than a handler a crawler waits for one request.
 *
 * @example
 * const secs = requestHandlerTimeoutSecs + BASIC_CRAWLER_TIMEOUT_BUFFER_SECS;
 */
export const BASIC_CRAWLER_TIMEOUT_BUFFER_SECS = 10;
/**
 * How many requests Crawlee's queues read ahead.
 *
 * @example
 * const head = Math.max(QUERY_HEAD_MIN_LENGTH, concurrency * QUERY_HEAD_BUFFER);
 */
export const QUERY_HEAD_MIN_LENGTH = 100;
/**
 * How many requests per running one Crawlee's queues read ahead.
 *
 * @example
 * const head = Math.max(QUERY_HEAD_MIN_LENGTH, concurrency * QUERY_HEAD_BUFFER);
 */
export const QUERY_HEAD_BUFFER = 3;
/**
 * How long Crawlee's remote storages may take to agree; here they agree at once.
 *
 * @example
 * await sleep(STORAGE_CONSISTENCY_DELAY_MILLIS);
 */
export const STORAGE_CONSISTENCY_DELAY_MILLIS = 3_000;
/**
 * How long Crawlee's remote queues may take to show a change; here it shows at once.
 *
 * @example
 * await sleep(API_PROCESSED_REQUESTS_DELAY_MILLIS);
 */
export const API_PROCESSED_REQUESTS_DELAY_MILLIS = 10_000;
/**
 * How often Crawlee's queues ask again; here one answer is enough.
 *
 * @example
 * const attempts = MAX_QUERIES_FOR_CONSISTENCY;
 */
export const MAX_QUERIES_FOR_CONSISTENCY = 6;

/**
 * Storages are open to every handler here, except where a crawler lends its own.
 *
 * @example
 * checkStorageAccess();
 */
export const checkStorageAccess = (): void => undefined;
/**
 * Calls `callback` after `checkFunction`; see `checkStorageAccess`.
 *
 * @example
 * const value = await withCheckedStorageAccess(() => undefined, async () => 1);
 */
export async function withCheckedStorageAccess<T>(
  checkFunction: () => void,
  callback: () => T | PromiseLike<T>,
): Promise<T> {
  checkFunction();
  return callback();
}

const CLOUDFLARE_CHALLENGE = '#turnstile-wrapper iframe[src^="https://challenges.cloudflare.com"]';

/**
 * Where Cloudflare asks a page's visitor to prove that they are human.
 *
 * @example
 * const isAsked = (await page.$(CLOUDFLARE_RETRY_CSS_SELECTORS.join())) !== null;
 */
export const CLOUDFLARE_RETRY_CSS_SELECTORS: readonly string[] = [CLOUDFLARE_CHALLENGE];
/**
 * Elements of pages that block crawlers.
 *
 * @example
 * const isBlocked = $(RETRY_CSS_SELECTORS.join()).length > 0;
 */
export const RETRY_CSS_SELECTORS: readonly string[] = [
  CLOUDFLARE_CHALLENGE,
  'div#infoDiv0 a[href*="//www.google.com/policies/terms/"]',
  'iframe[src*="_Incapsula_Resource"]',
];
/**
 * Parts of messages that mean: take another proxy.
 *
 * @example
 * const isProxyError = ROTATE_PROXY_ERRORS.some((part) => error.message.includes(part));
 */
export const ROTATE_PROXY_ERRORS: readonly string[] = [
  'ECONNRESET',
  'ECONNREFUSED',
  'ERR_PROXY_CONNECTION_FAILED',
  'ERR_TUNNEL_CONNECTION_FAILED',
  'Proxy responded with',
];
