// The log is the witness in every politeness and rate test, so its arithmetic is checked against plain arrays.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRequestLog } from './log.js';
import type { RequestLog } from './log.js';

function build(options: { hosts?: number; maxEntries?: number } = {}) {
  let nowMs = 1000;
  const pagePath = (page: number): string => `/page-${page}`;
  const log = createRequestLog({ hosts: 4, maxEntries: 1_000_000, pagePath, clock: () => nowMs, ...options });
  const begin = (host: number, path = '/page-3', page = 3): number =>
    log.begin({ host, page, path, method: 'GET', connection: 9, headers: { cookie: 'a=1', accept: '*/*' } });
  return { log, begin, at: (ms: number) => (nowMs = 1000 + ms) };
}

const visit = ({ at, begin, log }: ReturnType<typeof build>, host: number, startMs: number, endMs: number): void => {
  at(startMs);
  const ticket = begin(host);
  at(endMs);
  log.end(ticket, host, 200);
};

describe('the log of the synthetic web', () => {
  it('keeps what was asked, answered and when', () => {
    const web = build();
    web.at(5);
    const ticket = web.begin(2);
    web.begin(1, '/other?x=1', -1);
    web.at(9);
    web.log.end(ticket, 2, 404);
    expect(web.log.requests()).toEqual([
      {
        host: 2,
        method: 'GET',
        path: '/page-3',
        page: 3,
        status: 404,
        startMs: 5,
        endMs: 9,
        connection: 9,
        headers: { cookie: 'a=1' },
      },
      {
        host: 1,
        method: 'GET',
        path: '/other?x=1',
        page: undefined,
        status: 0,
        startMs: 5,
        endMs: undefined,
        connection: 9,
        headers: { cookie: 'a=1' },
      },
    ]);
    expect(web.log.requests({ host: 1 })).toHaveLength(1);
    expect(web.log.requests({ status: 404 })[0]?.path).toBe('/page-3');
    expect(web.log.requests({ path: '/nowhere' })).toEqual([]);
    expect(web.log.requests({ limit: 1 })).toHaveLength(1);
    expect([...web.log.statuses()]).toEqual([
      [404, 1],
      [0, 1],
    ]);
  });

  it('measures the smallest gaps of each host apart', () => {
    const web = build();
    visit(web, 0, 0, 10);
    visit(web, 1, 12, 13);
    visit(web, 0, 30, 45);
    visit(web, 0, 50, 51);
    expect(web.log.gaps(0)).toEqual({ requests: 3, endToStartMs: 5, startToStartMs: 20 });
    expect(web.log.gaps(1)).toEqual({ requests: 1, endToStartMs: Infinity, startToStartMs: Infinity });
    expect(web.log.gaps(2).requests).toBe(0);
  });

  it('reports overlapping requests as a negative gap, also behind a shorter one', () => {
    const web = build();
    web.at(0);
    const long = web.begin(0);
    web.at(1);
    const short = web.begin(0);
    web.at(2);
    web.log.end(short, 0, 200);
    expect(web.log.gaps(0).endToStartMs).toBe(-Infinity);
    web.at(100);
    web.log.end(long, 0, 200);
    visit(web, 0, 110, 111);
    expect(web.log.gaps(0).endToStartMs).toBe(-99);
    expect(web.log.peakOpen(0)).toBe(2);
    expect(web.log.openRequests).toBe(0);
  });

  it('finds the fullest sliding window, for any arrivals', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat({ max: 300 }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 100 }),
        (steps, windowMs) => {
          const web = build();
          let nowMs = 0;
          const starts = steps.map((step) => {
            nowMs += step;
            visit(web, 0, nowMs, nowMs);
            return nowMs;
          });
          const expected = Math.max(
            0,
            ...starts.map((from) => starts.filter((at) => at >= from && at < from + windowMs).length),
          );
          expect(web.log.maxInWindow(windowMs)).toBe(expected);
          expect(web.log.maxInWindow(windowMs, 1)).toBe(0);
        },
      ),
    );
  });

  it('goes on counting when full, and says how much it did not keep', () => {
    const web = build({ maxEntries: 2 });
    for (let i = 0; i < 5; i++) visit(web, 3, i, i);
    expect([web.log.served(), web.log.served(3), web.log.requests().length, web.log.dropped]).toEqual([5, 5, 2, 3]);
    expect(web.log.openRequests).toBe(0);
  });

  it('forgets everything at reset but the requests still open, whose end touches no new row', () => {
    const web = build();
    const old = web.begin(0);
    web.log.reset();
    expect([web.log.served(), web.log.openRequests, web.log.peakOpen(0)]).toEqual([0, 1, 1]);
    web.begin(1);
    web.log.end(old, 0, 500);
    expect(web.log.requests()).toMatchObject([{ host: 1, status: 0, endMs: undefined }]);
    expect(web.log.openRequests).toBe(1);
  });

  it('keeps rows beyond one chunk', () => {
    const web = build();
    for (let i = 0; i < 70_000; i++) visit(web, i % 4, i, i + 1);
    const log: RequestLog = web.log;
    expect(log.served()).toBe(70_000);
    expect(log.requests({ host: 3 }).at(-1)?.startMs).toBe(69_999);
    expect(log.maxInWindow(10)).toBe(10);
  });
});
