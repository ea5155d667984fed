import { describe, expect, it } from 'vitest';
import { fingerprintOf } from '../../request/fingerprint.js';
import { createPageMemory, type KnownPage } from '../memory/memory.js';
import { newPage } from '../memory/new-page.js';
import { createSiteHints, freshUntilOf, momentOf } from './site-hints.js';

const NOW = 1_800_000_000;
const day = (n: number) => new Date((NOW + n * 86_400) * 1000);
const keyOf = (n: number) => fingerprintOf(`https://a.example/${n}`);
const knownOf = (n: number, freshUntil?: number): KnownPage => ({
  page: newPage(NOW - 5 * 86_400, 200),
  names: { url: `https://a.example/${n}`, freshUntil },
});

describe('the hints of a site', () => {
  it('make a page urgent that changed after its last visit, until they prove wrong', () => {
    const hints = createSiteHints(createPageMemory(), () => NOW);
    hints.list(keyOf(1), day(-1));
    hints.list(keyOf(2), day(-9));
    expect([hints.isUrgent(keyOf(1), knownOf(1)), hints.isUrgent(keyOf(2), knownOf(2))]).toEqual([true, false]);
    for (let visit = 0; visit < 10; visit++) hints.judged(keyOf(1), knownOf(1), false);
    expect(hints.isUrgent(keyOf(1), knownOf(1))).toBe(false);
  });

  it('leave most pages alone once they proved right, and are remembered', async () => {
    const memory = createPageMemory();
    const first = createSiteHints(memory, () => NOW);
    for (let n = 0; n < 20; n++) {
      first.list(keyOf(n), day(-9));
      expect(first.isLeftAlone(keyOf(n), knownOf(n)) && n < 10).toBe(false);
      first.judged(keyOf(n), knownOf(n), false);
    }
    await first.save();
    const hints = createSiteHints(memory, () => NOW);
    const pages = Array.from({ length: 200 }, (_, n) => n);
    for (const n of pages) hints.list(keyOf(n), day(-9));
    const alone = pages.filter((n) => hints.isLeftAlone(keyOf(n), knownOf(n))).length;
    expect(alone).toBeGreaterThan(150);
    expect(alone).toBeLessThan(200);
  });

  it('of headers and of lists are judged apart', () => {
    const hints = createSiteHints(createPageMemory(), () => NOW);
    for (let visit = 0; visit < 10; visit++) hints.judged(keyOf(1), knownOf(1, NOW + 60), false);
    const key = { hi: 1, lo: 1 };
    expect(hints.isLeftAlone(key, knownOf(2, NOW + 60))).toBe(true);
    hints.list(key, day(-9));
    expect(hints.isLeftAlone(key, knownOf(2, NOW + 60))).toBe(false);
  });

  it('say nothing by a date that is to come, or that is none', () => {
    const hints = createSiteHints(createPageMemory(), () => NOW);
    for (const date of [day(9), new Date('yesterday'), undefined]) {
      hints.list(keyOf(1), date);
      expect(hints.isUrgent(keyOf(1), knownOf(1))).toBe(false);
    }
    expect(momentOf(new Date('2026-11-16'))).toEqual({ from: 1_794_787_200, to: 1_794_873_599 });
    expect(momentOf(new Date('2026-11-16T00:00:01Z'))).toEqual({ from: 1_794_787_201, to: 1_794_787_201 });
  });

  it('of headers: max-age before Expires, and no promise beyond a month', () => {
    const until = (headers: Record<string, string>) => freshUntilOf(headers, NOW);
    expect(until({ 'cache-control': 'public, max-age=60', expires: day(3).toUTCString() })).toBe(NOW + 60);
    expect(until({ expires: new Date((NOW + 90) * 1000).toUTCString() })).toBe(NOW + 90);
    expect(until({ 'cache-control': 'max-age=31536000' })).toBe(NOW + 30 * 86_400);
    for (const text of ['no-cache, max-age=60', 'no-store', 'max-age=0', 'private']) {
      expect(until({ 'cache-control': text })).toBeUndefined();
    }
  });
});
