import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createNearIndex } from './near-index.js';
import { distanceOf, simhashOf } from './simhash.js';

const u32 = fc.integer({ min: 0, max: 0xffffffff });
const hash = fc.record({ hi: u32, lo: u32 });

function flipped({ hi, lo }: { hi: number; lo: number }, bits: readonly number[]) {
  for (const bit of bits) {
    if (bit < 32) lo = (lo ^ (1 << bit)) >>> 0;
    else hi = (hi ^ (1 << (bit - 32))) >>> 0;
  }
  return { hi, lo };
}

describe('the index of near duplicates', () => {
  it('finds whatever differs in at most three bits, and nothing else', () => {
    const bits = fc.uniqueArray(fc.integer({ min: 0, max: 63 }), { maxLength: 6 });
    fc.assert(
      fc.property(fc.array(hash, { maxLength: 30 }), hash, bits, (others, one, turned) => {
        const index = createNearIndex();
        const all = [...others, one];
        all.forEach((each, note) => index.add(each, note));
        const asked = flipped(one, turned);
        const near = all.flatMap((each, note) => (distanceOf(each, asked) <= 3 ? [note] : []));
        const found = index.find(asked).map(({ note }) => note);
        expect(found.sort((a, b) => a - b)).toEqual(near);
      }),
    );
  });

  it('ends every search, however many pages have the same bits and whenever it is made', () => {
    const index = createNearIndex();
    for (let page = 0; page < 200; page++) {
      index.add({ hi: 0x1234, lo: 0x5678 }, page);
      expect(index.find({ hi: 0x1234, lo: 0x5678 })).toHaveLength(page + 1);
      expect(index.find({ hi: 0x1234, lo: 0x5678 ^ 0xf })).toEqual([]);
    }
  });

  it('takes at most 60 bytes per page once it holds many', () => {
    const index = createNearIndex();
    let state = 1;
    const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) ^ (state >>> 7);
    for (let page = 0; page < 65_536; page++) index.add({ hi: next() >>> 0, lo: next() >>> 0 }, page);
    expect(index.size).toBe(65_536);
    expect(index.bytes / index.size).toBeLessThanOrEqual(60);
    index.add({ hi: 5, lo: 6 }, 77);
    expect(index.find({ hi: 5, lo: 6 ^ 0b10101 })).toContainEqual(expect.objectContaining({ note: 77, distance: 3 }));
  }, 120_000);
});

describe('a simhash', () => {
  const text = Array.from({ length: 400 }, (_, n) => ['orca', 'hunts', 'in', 'the', 'sea', `word${n % 90}`][n % 6]);
  it('hardly changes when a word in fifty does', () => {
    const index = createNearIndex();
    index.add(simhashOf(text.join(' ')), 1);
    const changed = text.map((word, n) => (n % 50 === 7 ? `other${n}` : word));
    expect(index.find(simhashOf(changed.join(' '))).length).toBe(1);
  });

  it('is another for each of many long texts that share the small words of their language', () => {
    const small = 'the of and to in a is that for it as was with be by on not he his but'.split(' ');
    const index = createNearIndex();
    for (let topic = 0; topic < 100; topic++) {
      const words = Array.from({ length: 1_600 }, (_, n) =>
        n % 5 < 2 ? small[Math.floor(20 * ((n * 0.618) % 1) ** 3)] : `word${(topic * 7_919 + (n % 200)) % 4_001}`,
      );
      const simhash = simhashOf(words.join(' '));
      expect(index.find(simhash)).toEqual([]);
      index.add(simhash, topic);
    }
  });

  it('is another for another text, and the same for the same words', () => {
    const other = text.map((word, n) => `${word}${n % 3}`);
    expect(distanceOf(simhashOf(text.join(' ')), simhashOf(other.join(' ')))).toBeGreaterThan(10);
    expect(distanceOf(simhashOf(text.join(' ')), simhashOf(text.join('\n  ').toUpperCase()))).toBe(0);
  });

  it('reads scripts without spaces', () => {
    const sentence = '虎鲸以群体方式捕猎每个群体都有自己的叫声';
    expect(distanceOf(simhashOf(sentence), simhashOf(sentence.replace('叫', '声')))).toBeLessThan(24);
    expect(distanceOf(simhashOf(sentence), simhashOf('今天的天气非常好我们去公园散步吧'))).toBeGreaterThan(12);
  });
});
