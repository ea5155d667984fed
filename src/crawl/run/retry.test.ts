import { describe, expect, it } from 'vitest';
import { CrawlError, CriticalError, NonRetryableError, RetryRequestError, SessionError } from '../../errors.js';
import { Request } from '../../request/request.js';
import { backoffMs, decideRetry, retryAfterMs } from './retry.js';

const limits = { maxRequestRetries: 3, maxSessionRotations: 2, retryDelayMs: 1000, maxRetryDelayMs: 60_000 };
const request = (options = {}) => new Request({ url: 'https://example.com/', ...options });
const verdict = (error: CrawlError, options = {}) => decideRetry(error, request(options), limits, () => 1);

describe('the verdict on a failed attempt', () => {
  it('retries what is transient, later each time, until the retries are used up', () => {
    const error = new CrawlError('FETCH_TIMEOUT');
    expect(verdict(error)).toEqual({ kind: 'retry', afterMs: 1000 });
    expect(verdict(error, { retryCount: 2 })).toEqual({ kind: 'retry', afterMs: 4000 });
    expect(verdict(error, { retryCount: 3 })).toEqual({ kind: 'fail' });
    expect(verdict(error, { maxRetries: 0 })).toEqual({ kind: 'fail' });
    expect(verdict(error, { noRetry: true })).toEqual({ kind: 'fail' });
  });

  it('follows what the error asks for', () => {
    expect(verdict(new NonRetryableError())).toEqual({ kind: 'fail' });
    expect(verdict(new CrawlError('TLS_INVALID'))).toEqual({ kind: 'fail' });
    expect(verdict(new CriticalError())).toEqual({ kind: 'stop-crawl' });
    expect(verdict(new CrawlError('STORAGE_FULL'))).toEqual({ kind: 'stop-crawl' });
    expect(verdict(new RetryRequestError(), { retryCount: 99 })).toEqual({ kind: 'retry', afterMs: 0 });
    expect(verdict(new SessionError())).toEqual({ kind: 'rotate-session' });
    expect(verdict(new SessionError(), { sessionRotationCount: 2 })).toEqual({ kind: 'fail' });
  });
});

describe('the wait before a retry', () => {
  it('doubles up to its limit, times a factor from a half to one', () => {
    expect(backoffMs(0, limits, () => 0)).toBe(500);
    expect(backoffMs(3, limits, () => 1)).toBe(8000);
    expect(backoffMs(1e9, limits, () => 1)).toBe(60_000);
  });
});

describe('Retry-After', () => {
  it('is seconds or a date, and nothing else', () => {
    const now = Date.UTC(2026, 0, 1);
    expect(retryAfterMs('3', now)).toBe(3000);
    expect(retryAfterMs(new Date(now + 5000).toUTCString(), now)).toBe(5000);
    for (const text of [undefined, '', 'soon', '-1', '99999999999999']) expect(retryAfterMs(text, now)).toBeUndefined();
  });

  it('asks for a second at least, or for nothing', () => {
    const now = Date.UTC(2026, 0, 1);
    expect(retryAfterMs(new Date(now + 1000).toUTCString(), now + 999)).toBe(1000);
    for (const text of ['0', '000', new Date(now).toUTCString(), new Date(now - 5000).toUTCString()]) {
      expect(retryAfterMs(text, now)).toBeUndefined();
    }
  });
});
