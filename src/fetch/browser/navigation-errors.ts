// Translates a browser's navigation errors to our error codes.
// Promise: everything Playwright throws becomes a CrawlError; the relay's reason takes precedence over the browser's.
import { CrawlError, type ErrorCode } from '../../errors.js';
import type { GuardRelay } from './relay/guard-relay.js';

const CODES: readonly (readonly [pattern: RegExp, code: ErrorCode])[] = [
  [/ERR_NAME_NOT_RESOLVED|ERR_NAME_RESOLUTION_FAILED/, 'DNS_NOT_FOUND'],
  [/ERR_CONNECTION_REFUSED/, 'CONNECT_REFUSED'],
  [/ERR_CONNECTION_RESET|ERR_CONNECTION_CLOSED|ERR_EMPTY_RESPONSE|ERR_SOCKET_NOT_CONNECTED/, 'CONNECT_RESET'],
  [/ERR_CONNECTION_TIMED_OUT|ERR_TIMED_OUT/, 'CONNECT_TIMEOUT'],
  [/ERR_CERT_|ERR_SSL_|ERR_BAD_SSL|SSL_ERROR/, 'TLS_INVALID'],
  [/ERR_PROXY_|ERR_TUNNEL_|ERR_SOCKS_|ERR_NO_SUPPORTED_PROXIES/, 'PROXY_FAILED'],
  [/ERR_TOO_MANY_REDIRECTS/, 'REDIRECT_LIMIT'],
  [/ERR_INVALID_REDIRECT|ERR_UNSAFE_REDIRECT|ERR_DISALLOWED_URL_SCHEME|ERR_UNKNOWN_URL_SCHEME/, 'REDIRECT_INVALID'],
  [/ERR_CONTENT_LENGTH_MISMATCH|ERR_INCOMPLETE_CHUNKED_ENCODING/, 'BODY_INCOMPLETE'],
  [/ERR_CONTENT_DECODING_FAILED/, 'BODY_DECODE'],
  [/ERR_INVALID_HTTP_RESPONSE|ERR_RESPONSE_HEADERS|ERR_INVALID_CHUNKED_ENCODING/, 'HTTP_MALFORMED'],
  [/ERR_ADDRESS_UNREACHABLE|ERR_INTERNET_DISCONNECTED|ERR_CONNECTION_FAILED|ERR_NETWORK_/, 'CONNECT_FAILED'],
  [/Download is starting/, 'CONTENT_TYPE'],
  [/Page crashed|Target crashed/, 'PAGE_CRASHED'],
  [/has been closed|Target closed|browser has disconnected|Connection closed/i, 'PAGE_CRASHED'],
];

/** The navigation was cut short by one that the old document had begun, or by the error page of the one before. */
export function isInterrupted(thrown: unknown, isReused: boolean): boolean {
  const { message } = thrown as Error;
  return /interrupted by another navigation/.test(message) && (isReused || message.includes('chrome-error://'));
}

/** @param failedUrl where the navigation was when it failed: the URL itself, or a redirect's target */
export function navigationError(thrown: unknown, failedUrl: string, relay: GuardRelay | undefined): CrawlError {
  if (thrown instanceof CrawlError) return thrown;
  const message = ((thrown as Error).message.split('\n', 1)[0] ?? '').replace(/^page\.goto: /, '');
  // Behind a relay the browser only knows that the relay did not connect.
  const isRelays = /ERR_SOCKS_|ERR_TUNNEL_|ERR_PROXY_|ERR_EMPTY_RESPONSE|ERR_CONNECTION_/.test(message);
  const known = isRelays ? relay?.failureOf(failedUrl) : undefined;
  if (known) return new CrawlError(known.code, known.message, { cause: thrown });
  const code = CODES.find(([pattern]) => pattern.test(message))?.[1] ?? 'NAVIGATION_FAILED';
  const text =
    code === 'CONTENT_TYPE' ? `${failedUrl} is a download, and downloads are off` : `${failedUrl}: ${message}`;
  return new CrawlError(code, text.slice(0, 1_000), { cause: thrown });
}
