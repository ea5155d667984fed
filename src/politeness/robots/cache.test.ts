import { describe, expect, it } from 'vitest';
import { freshHost, type HostRecord } from '../hosts.js';
import { afterReading, hostFor, type RobotsAnswer, type RobotsPolicy, standingOf } from './cache.js';

const DAY = 86_400_000;
const HOUR = 3_600_000;
const NOW = 1_800_000_000_000;
const ORIGIN = 'https://example.com';
const POLICY: RobotsPolicy = { agent: 'bot', ttlMs: DAY, retryMs: 1_000, maxDelayMs: HOUR };
const fresh = freshHost('bot');

const answer = (statusCode: number, body = '', retryAfterMs?: number): RobotsAnswer => ({
  kind: 'answer',
  statusCode,
  body: Buffer.from(body),
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});
const standing = (record: HostRecord, nowMs = NOW) => standingOf(record, ORIGIN, POLICY, nowMs);
const read = (record: HostRecord, came: RobotsAnswer, nowMs = NOW) => afterReading(record, came, POLICY, nowMs);
const silence: RobotsAnswer = { kind: 'failure', code: 'CONNECT_TIMEOUT', message: 'no connection' };

describe('robots.txt of a host', () => {
  it('comes first', () => {
    expect(standing(fresh)).toEqual({ kind: 'read', url: 'https://example.com/robots.txt' });
  });

  it('is not looked for by a crawl that does not respect it', () => {
    expect(standingOf(fresh, ORIGIN, { ...POLICY, agent: undefined }, NOW)).toEqual({ kind: 'rules', rules: '' });
  });

  it('is good for a day, and no longer when the clock was set back', () => {
    const { record } = read(fresh, answer(200, 'User-agent: bot\nDisallow: /x'));
    expect(standing(record, NOW + DAY - 1)).toMatchObject({ kind: 'rules' });
    expect(standing(record, NOW + DAY)).toMatchObject({ kind: 'read' });
    expect(standing(record, NOW - 1)).toMatchObject({ kind: 'read' });
  });

  it('allows everything when it answers 4xx', () => {
    for (const status of [400, 401, 403, 404, 410]) {
      expect(standing(read(fresh, answer(status)).record)).toEqual({ kind: 'rules', rules: '' });
    }
  });

  it('is asked for three times while it answers 5xx, after growing waits, then given up for an hour', () => {
    const first = read(fresh, answer(500));
    expect(first.pauseMs).toBe(5_000);
    expect(standing(first.record)).toEqual({ kind: 'wait', ms: 5_000 });
    expect(standing(first.record, NOW + 5_000)).toMatchObject({ kind: 'read' });
    const second = read(first.record, silence);
    expect(second.pauseMs).toBe(25_000);
    const third = read(second.record, answer(502));
    expect(third.pauseMs).toBe(0);
    expect(standing(third.record)).toMatchObject({ kind: 'unreachable', why: expect.stringContaining('502') });
    expect(standing(third.record, NOW + HOUR)).toMatchObject({ kind: 'read' });
  });

  it('is asked for once where a retry would not help, and names the reason of a host that is not reached', () => {
    const certificate: RobotsAnswer = { kind: 'failure', code: 'TLS_INVALID', message: 'certificate not accepted' };
    const { record, pauseMs } = read(fresh, certificate);
    expect(pauseMs).toBe(0);
    expect(standing(record)).toEqual({ kind: 'unreachable', why: 'certificate not accepted', code: 'TLS_INVALID' });
    // A host that answers but not with its file is not dead.
    const last = [1, 2, 3].reduce((before) => read(before, answer(500)).record, fresh);
    expect(standing(last)).toEqual({ kind: 'unreachable', why: 'cannot read robots.txt: status 500' });
  });

  it('of a seed that cannot be reached is tried once more after a second, others after growing waits', () => {
    for (const code of ['DNS_NOT_FOUND', 'CONNECT_REFUSED'] as const) {
      const gone: RobotsAnswer = { kind: 'failure', code, message: 'not there' };
      const first = afterReading(fresh, gone, POLICY, NOW, true);
      expect(first.pauseMs).toBe(1_000);
      const second = afterReading(first.record, gone, POLICY, NOW, true);
      expect(standing(second.record)).toEqual({ kind: 'unreachable', why: 'not there', code });
      expect(read(fresh, gone).pauseMs).toBe(5_000);
    }
    expect(afterReading(fresh, answer(503), POLICY, NOW, true).pauseMs).toBe(5_000);
  });

  it('rests as long as the host asks', () => {
    expect(read(fresh, answer(503, '', 7_000)).pauseMs).toBe(7_000);
    expect(read(fresh, answer(503, '', 10 * HOUR)).pauseMs).toBe(HOUR);
  });

  it('takes too many requests for "later" twice, and then for a 4xx', () => {
    const once = read(fresh, answer(429, '', 2_000));
    expect(once.pauseMs).toBe(2_000);
    const thrice = read(read(once.record, answer(429)).record, answer(429));
    expect(standing(thrice.record)).toEqual({ kind: 'rules', rules: '' });
  });

  it('is replaced by an older copy while it cannot be read, up to a week', () => {
    let { record } = read(fresh, answer(200, 'User-agent: *\nDisallow: /old'));
    for (let i = 0; i < 3; i++) ({ record } = read(record, silence, NOW + DAY));
    expect(standing(record, NOW + DAY + 1)).toMatchObject({ kind: 'rules', rules: expect.stringContaining('/old') });
    for (let i = 0; i < 3; i++) ({ record } = read(record, silence, NOW + 8 * DAY));
    expect(standing(record, NOW + 8 * DAY + 1)).toMatchObject({ kind: 'unreachable' });
  });

  it('is followed through five redirects; the sixth counts as if there were none', () => {
    let record: HostRecord = fresh;
    for (let hop = 1; hop <= 5; hop++) {
      ({ record } = read(record, { kind: 'redirect', to: `https://example.com/${hop}` }));
      expect(standing(record)).toEqual({ kind: 'read', url: `https://example.com/${hop}` });
    }
    ({ record } = read(record, { kind: 'redirect', to: 'https://example.com/6' }));
    expect(standing(record)).toEqual({ kind: 'rules', rules: '' });
  });

  it('is unreachable at once when it leads to a refused address', () => {
    const moved = read(fresh, { kind: 'redirect', to: 'http://169.254.169.254/latest' }).record;
    const { record } = read(moved, { kind: 'failure', code: 'ADDRESS_REFUSED', message: 'a link-local address' });
    expect(standing(record)).toMatchObject({ kind: 'unreachable', why: expect.stringContaining('ADDRESS_REFUSED') });
  });

  it('is read again for another robot, which inherits what is known of the host', () => {
    const { record } = read(fresh, answer(200, ''));
    const other = hostFor({ ...POLICY, agent: 'otherbot' }, { ...record, failures: 3 });
    expect(other).toMatchObject({ agent: 'otherbot', failures: 3 });
    expect(other.rules).toBeUndefined();
  });

  it('does not matter while the host is down', () => {
    expect(standing({ ...fresh, failures: 5, downUntilMs: NOW + 1 })).toMatchObject({ kind: 'down' });
  });

  it('is kept in at most 16 KB, whatever the file holds', () => {
    const many = Array.from({ length: 20_000 }, (_, i) => `Disallow: /path-${i}/`).join('\n');
    const { record } = read(fresh, answer(200, `User-agent: *\n${many}`));
    expect(Buffer.byteLength(record.rules!)).toBeLessThanOrEqual(16 * 1024);
  });
});
