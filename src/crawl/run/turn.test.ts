import { describe, expect, it } from 'vitest';
import { RateLimiter } from '../../dispatch/rate-limiter.js';
import { freshHost } from '../../politeness/hosts.js';
import type { Ending, PaceRules } from '../../politeness/delay.js';
import { createLimitedTurn, createPlainTurn, HostTurn, type TurnHost } from './turn.js';

const HOUR_MS = 3_600_000;
const pace: PaceRules = { minDelayMs: 100, maxDelayMs: HOUR_MS, backoffMs: 1_000, adaptiveFactor: 0 };

function hostTurn(noted: number[] = [], crawlDelaySecs?: number) {
  let host: TurnHost = { origin: 'http://a.test', record: freshHost(''), crawlDelaySecs };
  const hosts = {
    current: () => host,
    save: (_: TurnHost, record: TurnHost['record']) => void (host = { ...host, record }),
    note: (_left: string, _startMs: number, _ending: Ending, restMs: number) => void noted.push(restMs),
    nowMs: () => 0,
    wallMs: () => 0,
  };
  return new HostTurn(hosts, host, pace, 'request');
}

const turns = () =>
  [
    ['where nothing is remembered', createPlainTurn(HOUR_MS, 0)],
    ['of a polite crawl', hostTurn()],
    [
      'of a batch with a limiter',
      createLimitedTurn(createPlainTurn(HOUR_MS, 0), new RateLimiter({ baseDelayMs: 10 }), 'a.test'),
    ],
  ] as const;

describe.each(turns())('a turn %s', (_, turn) => {
  it('rests as long as a Retry-After asks, and coming back is no retry', () => {
    const end = turn.end({ statusCode: 503, tookMs: 5, retryAfterMs: 2_000 });
    expect(end.landing.pauseMs).toBeGreaterThanOrEqual(2_000);
    expect(end).toMatchObject({ afterMs: 0, isRetryAfter: true });
  });

  it('fails a request whose host asks for more than an hour', () => {
    const { error } = turn.end({ statusCode: 429, tookMs: 5, retryAfterMs: HOUR_MS + 1 });
    expect(error?.code).toBe('RETRY_AFTER_TOO_LONG');
  });

  it('asks nothing more of a request that succeeded', () => {
    const { landing: _landing, ...advice } = turn.end({ statusCode: 200, tookMs: 5 });
    expect(advice).toEqual({});
  });
});

describe('the turn of a polite crawl', () => {
  it('keeps the longest of delay, Crawl-delay and backoff', () => {
    const noted: number[] = [];
    hostTurn(noted).end({ statusCode: 200, tookMs: 1 });
    hostTurn(noted, 3).end({ statusCode: 200, tookMs: 1 });
    hostTurn(noted).end({ failure: 'FETCH_TIMEOUT' });
    expect(noted).toEqual([100, 3_000, 1_000]);
  });

  it('counts failures of a host over several turns', () => {
    const turn = hostTurn();
    const rests = [1, 2, 3].map(() => turn.end({ failure: 'CONNECT_REFUSED' }).landing.pauseMs);
    expect(rests).toEqual([1_001, 2_001, 4_001]);
  });
});

describe('the turn of a limiter', () => {
  const plain = createPlainTurn(HOUR_MS, 0);

  it('takes the longer of both rests', () => {
    const limiter = new RateLimiter({ baseDelayMs: 50 }, { random: () => 0 });
    const { landing } = createLimitedTurn(plain, limiter, 'a.test').end({
      statusCode: 503,
      tookMs: 1,
      retryAfterMs: 4_000,
    });
    expect(landing).toMatchObject({ delayMs: 750, pauseMs: 4_001 });
  });

  it('lets one of its codes come back as often as it says', () => {
    const limiter = new RateLimiter({ baseDelayMs: 0, maxRetries: 2, codes: [404] });
    const turn = createLimitedTurn(plain, limiter, 'a.test');
    expect(turn.end({ statusCode: 404, tookMs: 1 })).toMatchObject({ isRetryAfter: true, maxRetryAfters: 2 });
    expect(turn.end({ statusCode: 429, tookMs: 1 })).not.toHaveProperty('isRetryAfter');
  });

  it('lets one batch ask a domain at a time, and frees it when nothing was sent', async () => {
    const limiter = new RateLimiter({ baseDelayMs: 0 });
    const [first, second] = [1, 2].map(() => createLimitedTurn(plain, limiter, 'a.test'));
    const { signal } = new AbortController();
    await first!.ready!(signal);
    let isReady = false;
    const waiting = second!.ready!(signal).then(() => (isReady = true));
    await Promise.resolve();
    expect(isReady).toBe(false);
    first!.release!(0);
    await waiting;
    expect(isReady).toBe(true);
  });
});
