import { describe, expect, it } from 'vitest';
import { parseCron } from './cron.js';
import { resolveSchedule } from './schedule.js';

const next = (cron: string, after: string, zone = 'UTC'): string | undefined => {
  const ms = parseCron(cron).nextAfter(Date.parse(after), zone);
  return ms === undefined ? undefined : new Date(ms).toISOString().slice(0, 16);
};

describe('a cron expression', () => {
  it('names its next time', () => {
    expect(next('*/30 * * * *', '2026-01-01T00:00:00Z')).toBe('2026-01-01T00:30');
    expect(next('*/30 * * * *', '2026-01-01T23:59:59Z')).toBe('2026-01-02T00:00');
    expect(next('5,10 8-9 * * *', '2026-01-01T08:10:00Z')).toBe('2026-01-01T09:05');
    expect(next('0 9 * * mon-fri', '2026-01-02T09:00:00Z')).toBe('2026-01-05T09:00');
    expect(next('0 0 * * 7', '2026-01-01T00:00:00Z')).toBe('2026-01-04T00:00');
    expect(next('0 0 31 * *', '2026-01-31T00:00:00Z')).toBe('2026-03-31T00:00');
    expect(next('0 0 29 feb *', '2096-03-01T00:00:00Z')).toBe('2104-02-29T00:00');
    expect(next('0 0 30 2 *', '2026-01-01T00:00:00Z')).toBeUndefined();
  });

  it('takes either day when both kinds are given, as cron does', () => {
    expect(next('0 0 13 * fri', '2026-01-01T00:00:00Z')).toBe('2026-01-02T00:00');
    expect(next('0 0 13 * fri', '2026-01-09T00:00:00Z')).toBe('2026-01-13T00:00');
  });

  it('follows the clocks of its time zone', () => {
    expect(next('0 9 * * *', '2026-01-01T08:00:00Z', 'Europe/Berlin')).toBe('2026-01-02T08:00');
    expect(next('0 9 * * *', '2026-07-01T00:00:00Z', 'Europe/Berlin')).toBe('2026-07-01T07:00');
    // 02:30 is left out on 29 March and comes twice on 25 October.
    expect(next('30 2 * * *', '2026-03-28T12:00:00Z', 'Europe/Berlin')).toBe('2026-03-30T00:30');
    expect(next('30 2 * * *', '2026-10-24T12:00:00Z', 'Europe/Berlin')).toBe('2026-10-25T00:30');
    expect(next('30 2 * * *', '2026-10-25T00:30:00Z', 'Europe/Berlin')).toBe('2026-10-26T01:30');
    expect(next('0 0 * * *', '2026-01-01T00:00:00Z', 'Asia/Kathmandu')).toBe('2026-01-01T18:15');
    expect(next('*/15 * * * *', '2026-01-01T00:00:00Z', 'Pacific/Auckland')).toBe('2026-01-01T00:15');
  });

  it('names the field that is wrong', () => {
    expect(() => parseCron('60 * * * *')).toThrow('"60" is not a minute');
    expect(() => parseCron('* 5-2 * * *')).toThrow('"5-2" is not an hour');
    expect(() => parseCron('* * 0 * *')).toThrow('day of the month');
    expect(() => parseCron('* * * foo *')).toThrow('month');
    expect(() => parseCron('*/0 * * * *')).toThrow('minute');
    expect(() => parseCron('* * * *')).toThrow('five fields');
  });
});

describe('a schedule in words', () => {
  it.each([
    ['hourly', '0 * * * *'],
    ['every minute', '* * * * *'],
    ['Every 30 minutes', '*/30 * * * *'],
    ['every hour', '0 * * * *'],
    ['every 6 hours', '0 */6 * * *'],
    ['every 24 hours', '0 0 * * *'],
    ['daily', '0 0 * * *'],
    ['daily at 9:00', '0 9 * * *'],
    ['every day at 9:30 pm', '30 21 * * *'],
    ['every day at 12am', '0 0 * * *'],
    ['weekdays at 8am', '0 8 * * 1-5'],
    ['weekly', '0 0 * * 1'],
    ['weekly on friday at 17:00', '0 17 * * 5'],
    ['every monday at 18:30', '30 18 * * 1'],
    ['tuesdays', '0 0 * * 2'],
    ['monthly', '0 0 1 * *'],
  ])('%s is %s', (text, cron) => {
    expect(resolveSchedule({ text })).toEqual({ cron, timezone: 'UTC' });
  });

  it.each(['every 45 minutes', 'every 5 hours', 'every 0 minutes', 'daily at 25:00', 'daily at 13pm', 'sometimes', ''])(
    'refuses %j',
    (text) => {
      expect(() => resolveSchedule({ text })).toThrow('for anything else use "cron"');
    },
  );
});
