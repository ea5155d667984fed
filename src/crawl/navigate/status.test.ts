import { describe, expect, it } from 'vitest';
import type { CrawlError } from '../../errors.js';
import { Session } from '../../session/session.js';
import { checkStatus, type StatusRules } from './status.js';

const rules: StatusRules = {
  ignoreHttpErrorStatusCodes: [],
  additionalHttpErrorStatusCodes: [],
  blockedStatusCodes: [401, 403, 429],
  retryOnBlocked: false,
};

function outcome(statusCode: number, changes: Partial<StatusRules> = {}, session?: Session, text = ''): string {
  try {
    const capture = { statusCode, body: Buffer.from(text), loadedUrl: 'http://a.test/' };
    checkStatus(capture, session, { ...rules, ...changes });
    return 'page';
  } catch (error) {
    const { code, name } = error as CrawlError;
    return name === 'NonRetryableError' ? `${code} for good` : code;
  }
}

describe('a status', () => {
  it.each([200, 204, 301, 404, 403, 410])('%d is a page for a handler', (status) => {
    expect(outcome(status)).toBe('page');
  });

  it.each([408, 425, 500, 502, 503])('%d is a failure that may be gone at the next try', (status) => {
    expect(outcome(status)).toBe('HTTP_STATUS');
    expect(outcome(status, { failsFrom400: true })).toBe('HTTP_STATUS');
  });

  it('429 is a block, whoever asks', () => {
    expect(outcome(429)).toBe('HTTP_BLOCKED');
  });

  it('that blocks sessions does so where there is one', () => {
    const session = new Session();
    expect(outcome(403, {}, session)).toBe('HTTP_BLOCKED');
    expect(outcome(403, { retryOnBlocked: true }, session)).toBe('SESSION_BAD');
    expect(outcome(200, { retryOnBlocked: true }, session, '<div id="turnstile-wrapper">')).toBe('SESSION_BAD');
  });

  it('from 400 on fails a batch, for good unless it may be gone', () => {
    expect(outcome(404, { failsFrom400: true })).toBe('HTTP_STATUS for good');
    expect(outcome(404, { failsFrom400: true, additionalHttpErrorStatusCodes: [404] })).toBe('HTTP_STATUS');
    expect(outcome(302, { failsFrom400: true })).toBe('page');
  });

  it.each([
    ['{"message":"no seats\\n left"}', '(no seats left)'],
    [`{"message":"${'x'.repeat(200)}"}`, `(${'x'.repeat(100)})`],
    ['{"message":""}', '(Service Unavailable)'],
    ['{"message":', '(Service Unavailable)'],
    ['<h1>sorry</h1>', '(Service Unavailable)'],
  ])('that fails says why, as the server does: %s', (text, reason) => {
    const capture = { statusCode: 503, body: Buffer.from(text), loadedUrl: 'http://a.test/' };
    expect(() => checkStatus(capture, undefined, rules)).toThrow(`http://a.test/ answered 503 ${reason}`);
  });

  it('is what the user says it is', () => {
    expect(outcome(500, { ignoreHttpErrorStatusCodes: [500] })).toBe('page');
    expect(outcome(200, { additionalHttpErrorStatusCodes: [200] })).toBe('HTTP_STATUS');
  });
});
