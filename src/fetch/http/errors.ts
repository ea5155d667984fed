// Translates errors of node and undici: each gets a code, a message with the host and the phase, and the
// original as cause. Nothing outside src/fetch/http sees a raw one.
import type { ErrorCode } from '../../errors.js';
import { type LimitName, limitReached, LIMITS } from '../../limits.js';
import { CrawlError } from '../../errors.js';

/** How far an exchange had come. */
export type Phase = 'connect' | 'headers' | 'body';

interface CodedError extends Error {
  readonly code?: string;
}

/** Certificates we do not accept: their codes come from OpenSSL by way of node. */
const CERTIFICATE_CODES: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_DECRYPT_CERT_SIGNATURE',
  'UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'PATH_LENGTH_EXCEEDED',
  'HOSTNAME_MISMATCH',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERR_TLS_CERT_ALTNAME_FORMAT',
]);

function isCertificateCode(code: string): boolean {
  return CERTIFICATE_CODES.has(code) || code.startsWith('CERT_') || code.startsWith('ERROR_IN_CERT_');
}

function isTlsCode(code: string): boolean {
  return code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_') || code === 'EPROTO';
}

/** An error on the way to a server (DNS, TCP, TLS), `host` as it stands in the URL. */
export function connectError(host: string, thrown: unknown): CrawlError {
  if (thrown instanceof CrawlError) return thrown;
  const error = firstOf(thrown);
  const code = error.code ?? '';
  const make = (ours: ErrorCode, what: string) => new CrawlError(ours, `${host}: ${what}`, { cause: thrown });
  switch (code) {
    case 'ENOTFOUND':
    case 'ENODATA':
    case 'EAI_NONAME':
    case 'EAI_NODATA':
    case 'EAI_AGAIN':
    case 'EAI_FAIL':
    case 'ESERVFAIL':
    case 'EREFUSED':
    case 'EBADNAME':
    case 'ETIMEOUT':
      return make('DNS_NOT_FOUND', `host not found (${code})`);
    case 'ECONNREFUSED':
      return make('CONNECT_REFUSED', 'connection refused');
    case 'ECONNRESET':
    case 'EPIPE':
      return make('CONNECT_RESET', 'connection reset while connecting');
    case 'ETIMEDOUT':
    case 'ERR_SOCKET_CONNECTION_TIMEOUT':
      return make('CONNECT_TIMEOUT', 'no connection: the network timed out');
    default:
      if (isCertificateCode(code)) {
        const advice = 'ignoreSslErrors (--insecure) accepts any; coming from Crawlee, see docs/from-crawlee.md';
        return make('TLS_INVALID', `certificate not accepted: ${error.message}. ${advice}`);
      }
      if (isTlsCode(code)) return make('CONNECT_FAILED', `TLS handshake failed (${code})`);
      return make('CONNECT_FAILED', `cannot connect (${code || error.message})`);
  }
}

/** An error of an exchange that was under way in `phase`. */
export function exchangeError(host: string, phase: Phase, thrown: unknown): CrawlError {
  if (thrown instanceof CrawlError) return thrown;
  if (phase === 'connect' && !isArgumentError(thrown) && !isClosedError(thrown)) return connectError(host, thrown);
  const error = firstOf(thrown);
  const code = error.code ?? '';
  const make = (ours: ErrorCode, what: string) => new CrawlError(ours, `${host}: ${what}`, { cause: thrown });
  if (isArgumentError(error)) return make('REQUEST_INVALID', `cannot be sent: ${error.message}`);
  if (isClosedError(error)) return make('ABORTED', 'the engine was closed');
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    limitReached('headerBytes');
    return make('HTTP_MALFORMED', 'response headers are too large');
  }
  // What the library of HTTP/2 finds wrong itself; what a server says of its own stream is not its fault alone.
  if (code === 'ERR_HTTP2_ERROR' || error.message.includes('NGHTTP2_PROTOCOL_ERROR')) {
    return make('HTTP_MALFORMED', `breaks the rules of HTTP/2 (${error.message.slice(0, 100)})`);
  }
  const malformed = code === 'UND_ERR_SOCKET' && error.message.startsWith('bad ');
  if (malformed) return make('HTTP_MALFORMED', 'not a valid HTTP/1.1 exchange (unexpected response)');
  // The parser's errors carry no code; the one for an early end says so in its message.
  if (error.name === 'HTTPParserError' && !error.message.includes('EOF')) {
    return make('HTTP_MALFORMED', `in ${phase}: ${error.message || 'not HTTP/1.1'}`);
  }
  // Before the headers are complete the client blames any fault on a length it has just read.
  if (phase === 'headers' && code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
    return make('HTTP_MALFORMED', 'in headers: not a valid HTTP/1.1 response');
  }
  if (phase === 'body') return make('BODY_INCOMPLETE', `the body ended early (${code || error.message})`);
  return make('CONNECT_RESET', `connection closed without a response (${code || error.message})`);
}

/** The name of the limit that this number of bytes belongs to. */
function bodyLimitOf(maxBytes: number): LimitName {
  if (maxBytes === LIMITS.downloadBytes.max) return 'downloadBytes';
  return maxBytes === LIMITS.listBytes.max ? 'listBytes' : 'bodyBytes';
}

/** Whether a request failed only because a kept connection was stale: no part of a response arrived. */
export function isStaleConnection(error: CrawlError): boolean {
  return error.code === 'CONNECT_RESET';
}

/** A deadline passed; `phase` says what it waited for. */
export function timeoutError(host: string, phase: Phase, limitMs: number, whole: boolean): CrawlError {
  if (phase === 'connect' && !whole) {
    return new CrawlError('CONNECT_TIMEOUT', `${host}: no connection within ${limitMs} ms`);
  }
  const missing = { connect: 'no connection', headers: 'no response headers', body: 'the body did not end' }[phase];
  const span = whole ? `within the visit's ${limitMs} ms` : `within ${limitMs} ms`;
  const waiting = phase === 'body' && !whole ? `no body bytes ${span}` : `${missing} ${span}`;
  return new CrawlError('FETCH_TIMEOUT', `${host}: timed out in ${phase}: ${waiting}`);
}

/** An error from zlib, or the cap it ran into. */
export function decodeError(host: string, coding: string, maxBytes: number, thrown: unknown): CrawlError {
  if (thrown instanceof CrawlError) return thrown;
  const { code = '', message } = firstOf(thrown);
  if (code === 'ERR_BUFFER_TOO_LARGE') return tooLargeError(host, maxBytes, 'decoded');
  // Brotli and zstd report a missing end as Z_BUF_ERROR too.
  if (code === 'Z_BUF_ERROR') {
    return new CrawlError('BODY_INCOMPLETE', `${host}: the ${coding} body ended early`, { cause: thrown });
  }
  return new CrawlError('BODY_DECODE', `${host}: not valid ${coding}: ${message}`, { cause: thrown });
}

export function tooLargeError(host: string, maxBytes: number, where: 'on the wire' | 'decoded' | 'announced') {
  limitReached(bodyLimitOf(maxBytes));
  return new CrawlError('BODY_TOO_LARGE', `${host}: the body is larger than ${maxBytes} bytes (${where})`);
}

function isArgumentError(thrown: unknown): boolean {
  const { code = '' } = thrown as CodedError;
  return (
    code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED' || code === 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH'
  );
}

function isClosedError(thrown: unknown): boolean {
  const { code } = thrown as CodedError;
  return code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED';
}

/** Trying several addresses fails with an AggregateError; its first error speaks for all. */
function firstOf(thrown: unknown): CodedError {
  if (thrown instanceof AggregateError && thrown.errors[0] instanceof Error) return thrown.errors[0];
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
