import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { delayOf, DOWN_MS, type Ending, FAILURES_UNTIL_DOWN, type PaceRules, restAfter } from './delay.js';
import { freshHost, type HostRecord } from './hosts.js';

const RULES: PaceRules = { minDelayMs: 500, maxDelayMs: 3_600_000, backoffMs: 1_000, adaptiveFactor: 0 };
const ok: Ending = { statusCode: 200, tookMs: 40 };
const busy: Ending = { statusCode: 503, tookMs: 40 };
const fresh = freshHost('bot');

/** Plays endings one after the other. */
function play(endings: readonly Ending[], rules = RULES) {
  let record: HostRecord = fresh;
  return endings.map((ending) => {
    const rest = restAfter(ending, record, undefined, rules, 1_000_000);
    record = rest.record;
    return rest;
  });
}

describe('the rest after a request', () => {
  it('is the longest of what is promised, asked for and measured', () => {
    expect(restAfter(ok, fresh, undefined, RULES, 0)).toMatchObject({ delayMs: 500, pauseMs: 0, record: fresh });
    expect(delayOf(fresh, 2.5, RULES)).toBe(2_500);
    expect(delayOf(fresh, 0.1, RULES)).toBe(500);
    expect(delayOf(fresh, undefined, { ...RULES, adaptiveFactor: 10 }, 90)).toBe(900);
  });

  it('is what Retry-After says, however often it is said', () => {
    const asked: Ending = { statusCode: 429, tookMs: 5, retryAfterMs: 3_000 };
    expect(play([asked, asked, asked]).map(({ pauseMs, delayMs }) => [pauseMs, delayMs])).toEqual([
      [3_000, 500],
      [3_000, 500],
      [3_000, 500],
    ]);
  });

  it('is not what Retry-After says when that is longer than anybody waits', () => {
    const [rest] = play([{ statusCode: 503, tookMs: 5, retryAfterMs: 3_600_001 }]);
    expect(rest).toMatchObject({ isTooLong: true, pauseMs: 1_000 });
  });

  it('doubles while a host is overloaded and shrinks as it recovers', () => {
    const rests = play([busy, busy, { failure: 'FETCH_TIMEOUT' }, ok, ok, ok, ok]);
    expect(rests.map(({ pauseMs }) => pauseMs)).toEqual([1_000, 2_000, 4_000, 0, 0, 0, 0]);
    expect(rests.map(({ delayMs }) => delayMs)).toEqual([1_000, 2_000, 4_000, 2_000, 1_000, 500, 500]);
  });

  it('grows with failed connections until the host is down, and starts over when it answers', () => {
    const refused: Ending = { failure: 'CONNECT_REFUSED' };
    const rests = play(Array.from({ length: FAILURES_UNTIL_DOWN }, () => refused));
    expect(rests.map(({ pauseMs }) => pauseMs)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000]);
    expect(rests.map(({ record }) => record.downUntilMs)).toEqual([0, 0, 0, 0, 1_000_000 + DOWN_MS]);
    const [, , answered] = play([refused, refused, { statusCode: 404, tookMs: 1 }]);
    expect(answered!.record).toMatchObject({ failures: 0, downUntilMs: 0 });
  });

  it('blames no host for a proxy, a refused address or a broken page', () => {
    for (const failure of ['PROXY_FAILED', 'ADDRESS_REFUSED', 'BODY_TOO_LARGE', 'HANDLER_FAILED'] as const) {
      expect(play([{ failure }])[0]).toMatchObject({ pauseMs: 0, delayMs: 500, record: fresh });
    }
  });

  it('is never under the delay and never above the longest wait, whatever happens', () => {
    const ending: fc.Arbitrary<Ending> = fc.oneof(
      fc.record({
        statusCode: fc.constantFrom(200, 404, 429, 500, 503),
        tookMs: fc.nat(100_000),
        retryAfterMs: fc.option(fc.nat(10_000_000), { nil: undefined }),
      }) as fc.Arbitrary<Ending>,
      fc.record({ failure: fc.constantFrom('CONNECT_REFUSED', 'FETCH_TIMEOUT', 'DNS_NOT_FOUND', 'BODY_DECODE') }),
    );
    fc.assert(
      fc.property(fc.array(ending, { maxLength: 60 }), fc.nat(5_000), (endings, minDelayMs) => {
        for (const { delayMs, pauseMs } of play(endings, { ...RULES, minDelayMs, adaptiveFactor: 2 })) {
          expect(delayMs).toBeGreaterThanOrEqual(minDelayMs);
          expect(Math.max(delayMs, pauseMs)).toBeLessThanOrEqual(RULES.maxDelayMs);
        }
      }),
    );
  });
});
