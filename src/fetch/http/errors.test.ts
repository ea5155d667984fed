import { describe, expect, it } from 'vitest';
import { CrawlError } from '../../errors.js';
import { connectError, decodeError, exchangeError, timeoutError } from './errors.js';

const coded = (code: string, message = code) => Object.assign(new Error(message), { code });

describe('connectError', () => {
  it.each([
    ['ENOTFOUND', 'DNS_NOT_FOUND'],
    ['ENODATA', 'DNS_NOT_FOUND'],
    ['EAI_AGAIN', 'DNS_NOT_FOUND'],
    ['ESERVFAIL', 'DNS_NOT_FOUND'],
    ['ETIMEOUT', 'DNS_NOT_FOUND'],
    ['ECONNREFUSED', 'CONNECT_REFUSED'],
    ['ECONNRESET', 'CONNECT_RESET'],
    ['ETIMEDOUT', 'CONNECT_TIMEOUT'],
    ['EHOSTUNREACH', 'CONNECT_FAILED'],
    ['EMFILE', 'CONNECT_FAILED'],
    ['CERT_HAS_EXPIRED', 'TLS_INVALID'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'TLS_INVALID'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'TLS_INVALID'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'TLS_INVALID'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'CONNECT_FAILED'],
    ['EPROTO', 'CONNECT_FAILED'],
  ])('maps %s to %s, naming the host and keeping the cause', (code, ours) => {
    const cause = coded(code);
    const error = connectError('a.example:8443', cause);
    expect(error).toMatchObject({ code: ours, cause, message: expect.stringContaining('a.example:8443') });
  });

  it('lets the first of several attempts speak', () => {
    const all = new AggregateError([coded('ECONNREFUSED'), coded('EHOSTUNREACH')]);
    expect(connectError('a.example', all)).toMatchObject({ code: 'CONNECT_REFUSED', cause: all });
  });

  it('takes anything thrown', () => {
    expect(connectError('a.example', 'odd')).toMatchObject({ code: 'CONNECT_FAILED' });
    expect(connectError('a.example', undefined)).toBeInstanceOf(CrawlError);
  });
});

describe('exchangeError', () => {
  it.each([
    ['headers', 'UND_ERR_SOCKET', 'other side closed', 'CONNECT_RESET'],
    ['headers', 'ECONNRESET', 'read ECONNRESET', 'CONNECT_RESET'],
    ['headers', 'UND_ERR_SOCKET', 'bad response', 'HTTP_MALFORMED'],
    ['headers', 'UND_ERR_HEADERS_OVERFLOW', 'Headers Overflow Error', 'HTTP_MALFORMED'],
    ['body', 'UND_ERR_SOCKET', 'other side closed', 'BODY_INCOMPLETE'],
    ['body', 'ECONNRESET', 'read ECONNRESET', 'BODY_INCOMPLETE'],
    ['body', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'mismatch', 'BODY_INCOMPLETE'],
    ['connect', 'ECONNREFUSED', 'refused', 'CONNECT_REFUSED'],
    ['connect', 'UND_ERR_INVALID_ARG', 'invalid header', 'REQUEST_INVALID'],
    ['connect', 'UND_ERR_DESTROYED', 'destroyed', 'ABORTED'],
  ] as const)('in %s maps %s (%s) to %s', (phase, code, message, ours) => {
    expect(exchangeError('a.example', phase, coded(code, message))).toMatchObject({ code: ours });
  });

  it('leaves our own errors as they are', () => {
    const ours = new CrawlError('PROXY_FAILED');
    expect(exchangeError('a.example', 'connect', ours)).toBe(ours);
  });
});

describe('timeoutError', () => {
  it('names the phase, the span and whose limit it was', () => {
    expect(timeoutError('a.example', 'connect', 10, false)).toMatchObject({ code: 'CONNECT_TIMEOUT' });
    expect(timeoutError('a.example', 'connect', 10, true).message).toBe(
      "a.example: timed out in connect: no connection within the visit's 10 ms",
    );
    expect(timeoutError('a.example', 'body', 10, false).message).toBe(
      'a.example: timed out in body: no body bytes within 10 ms',
    );
  });
});

describe('decodeError', () => {
  it('tells a cut body from garbage and from one that is too large', () => {
    expect(decodeError('h', 'gzip', 5, coded('Z_BUF_ERROR')).code).toBe('BODY_INCOMPLETE');
    expect(decodeError('h', 'gzip', 5, coded('Z_DATA_ERROR')).code).toBe('BODY_DECODE');
    expect(decodeError('h', 'br', 5, coded('ERR_BROTLI_DECODER_ERROR_1')).code).toBe('BODY_DECODE');
    expect(decodeError('h', 'gzip', 5, coded('ERR_BUFFER_TOO_LARGE')).code).toBe('BODY_TOO_LARGE');
  });
});
