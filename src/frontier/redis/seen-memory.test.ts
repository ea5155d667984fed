import { describe, expect, it } from 'vitest';
import { bloomBytesPerPod, seenNumbers } from './seen-memory.js';

describe('how seen URLs are remembered', () => {
  it('splits buckets long before they outgrow the packed form, whatever the server’s limit is', () => {
    for (const limit of [64, 128, 512, 4_096]) {
      const { a: load } = seenNumbers({ kind: 'exact' }, 1, limit);
      // A bucket that is next to split holds twice the average, and chance adds six standard deviations at most.
      expect(load * 2 + 6 * Math.sqrt(load * 2)).toBeLessThanOrEqual(limit);
      expect(load).toBeGreaterThan(0);
    }
  });

  it('sizes a Bloom filter for its share of the capacity, in slices a Redis string can hold', () => {
    const { a: slices, b: bits, c: hashes } = seenNumbers({ kind: 'bloom', capacity: 10e9 }, 16, 512);
    const bytesPerUrl = (slices * bits) / 8 / (10e9 / 16);
    expect(bytesPerUrl).toBeGreaterThan(1.8);
    expect(bytesPerUrl).toBeLessThan(2);
    expect(hashes).toBe(10);
    expect(bits).toBeLessThan(2 ** 32);
    expect(seenNumbers({ kind: 'bloom', capacity: 1 }, 1, 512)).toMatchObject({ a: 1 });
    expect(() => seenNumbers({ kind: 'bloom', capacity: 0 }, 1, 512)).toThrow(/capacity/);
    expect(() => seenNumbers({ kind: 'bloom', capacity: 10, errorRate: 1 }, 1, 512)).toThrow(/error rate/);
  });
});

describe('the memory of Bloom filters', () => {
  it('is told in advance: the default of ten billion URLs on two pods takes 9.5 GB each, a million 1 MB', () => {
    expect(bloomBytesPerPod(1e10, 0.001, 2) / 1e9).toBeCloseTo(9.5, 1);
    expect(bloomBytesPerPod(1e6, 0.001, 2) / 1e6).toBeCloseTo(0.95, 1);
    expect(bloomBytesPerPod(1e10, 0.001, 16)).toBeLessThan(bloomBytesPerPod(1e10, 0.001, 2) / 7.9);
  });
});
