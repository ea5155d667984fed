// The rest a domain is given: never below the base, doubled by 429 and 503, decayed by success, one slot per domain.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateLimiter } from './rate-limiter.js';

const half = { random: () => 0.5 };

describe('a rate limiter', () => {
  it('rests for a random time within the base', () => {
    const limiter = new RateLimiter({ baseDelayMs: [100, 300] }, half);
    expect(limiter.afterResponse('a', 200, undefined)).toEqual({ delayMs: 200 });
  });

  it('doubles on 429 and 503, up to the maximum, and decays to the base on success', () => {
    const limiter = new RateLimiter({ baseDelayMs: 1000, maxDelayMs: 5000 }, half);
    const delays = (statuses: number[]) => statuses.map((one) => limiter.afterResponse('a', one, undefined).delayMs);
    expect(delays([429, 503, 429])).toEqual([2000, 4000, 5000]);
    expect(delays([200, 200])).toEqual([3750, 2812.5]);
    expect(delays([200, 200, 200, 200, 200])).toEqual([2109.375, 1582.03125, 1186.5234375, 1000, 1000]);
    expect(limiter.afterResponse('b', 200, undefined).delayMs).toBe(1000);
  });

  it('honours Retry-After as a pause, also above the maximum, up to an hour', () => {
    const limiter = new RateLimiter({ baseDelayMs: 10, maxDelayMs: 100 }, half);
    expect(limiter.afterResponse('a', 429, 7000)).toEqual({ delayMs: 100, pauseMs: 7000 });
    expect(limiter.afterResponse('a', 503, 1e12).pauseMs).toBe(3_600_000);
    expect(limiter.afterResponse('a', 200, 7000).pauseMs).toBeUndefined();
  });

  it('never rests below the base nor above the maximum, whatever answers come', () => {
    fc.assert(
      fc.property(
        fc.nat(2000),
        fc.nat(2000),
        fc.array(
          fc.tuple(
            fc.constantFrom('a', 'b'),
            fc.constantFrom(200, 404, 429, 503),
            fc.double({ min: 0, max: 0.999, noNaN: true }),
          ),
        ),
        (least, span, answers) => {
          let chance = 0;
          const limiter = new RateLimiter(
            { baseDelayMs: [least, least + span], maxDelayMs: 9000 },
            { random: () => chance },
          );
          for (const [domain, status, random] of answers) {
            chance = random;
            const { delayMs } = limiter.afterResponse(domain, status, undefined);
            expect(delayMs).toBeGreaterThanOrEqual(least);
            expect(delayMs).toBeLessThanOrEqual(9000);
          }
        },
      ),
    );
  });

  it('gives the slot of a domain to one at a time, in order, and keeps others apart', async () => {
    const limiter = new RateLimiter({ baseDelayMs: 0 });
    const order: string[] = [];
    const first = await limiter.takeSlot('a');
    const waiting = ['second', 'third'].map(async (name) => {
      const free = await limiter.takeSlot('a');
      order.push(name);
      free(0);
    });
    (await limiter.takeSlot('b'))(0);
    order.push('b');
    first(0);
    await Promise.all(waiting);
    expect(order).toEqual(['b', 'second', 'third']);
  });

  it('names what is wrong with its options', () => {
    expect(() => new RateLimiter({ baseDelayMs: [3, 1] })).toThrow('"baseDelayMs" must be milliseconds from 0');
    expect(() => new RateLimiter({ baseDelayMs: 10, maxDelayMs: 5 })).toThrow('above maxDelayMs');
    expect(() => new RateLimiter({ codes: [200] })).toThrow('"codes"');
  });
});
