import { describe, expect, it } from 'vitest';
import { fingerprintOf } from '../request/fingerprint.js';
import { createRecentFingerprints } from './recent.js';

describe('recent fingerprints', () => {
  it('remembers what was added and never what was not', () => {
    const recent = createRecentFingerprints({ size: 4_096 });
    const added = Array.from({ length: 500 }, (_, i) => fingerprintOf(`in ${i}`));
    for (const fingerprint of added) recent.add(fingerprint);
    // Two ways a set: with an eighth of the room taken nearly all stay.
    expect(added.filter((fingerprint) => recent.has(fingerprint)).length).toBeGreaterThan(480);
    const others = Array.from({ length: 5_000 }, (_, i) => fingerprintOf(`out ${i}`));
    expect(others.some((fingerprint) => recent.has(fingerprint))).toBe(false);
    expect(recent.has({ hi: 0, lo: 0 })).toBe(false);
  });

  it('keeps the younger two of a set, and does not count one twice', () => {
    const recent = createRecentFingerprints({ size: 2 });
    const [a, b, c] = [
      { hi: 1, lo: 10 },
      { hi: 2, lo: 20 },
      { hi: 3, lo: 30 },
    ] as const;
    for (const fingerprint of [a, b, b, b]) recent.add(fingerprint);
    expect([a, b, c].map((fingerprint) => recent.has(fingerprint))).toEqual([true, true, false]);
    recent.add(c);
    expect([a, b, c].map((fingerprint) => recent.has(fingerprint))).toEqual([false, true, true]);
    expect(recent.capacity).toBe(2);
  });
});
