// Fingerprints: stable across versions of the program, and the same as the id users see.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fingerprintFromId, fingerprintOf, fingerprintToId } from './fingerprint.js';

describe('a fingerprint', () => {
  it('is the first eight bytes of the SHA-1 of the key in UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (key) => {
        const expected = createHash('sha1').update(key, 'utf8').digest('hex').slice(0, 16);
        expect(fingerprintToId(fingerprintOf(key))).toBe(expected);
      }),
    );
  });

  it('has not changed since queues were first written with it', () => {
    expect(fingerprintToId(fingerprintOf('https://example.com/a'))).toBe('c4ed1c218d14a0f1');
  });

  it('survives being written as an id', () => {
    const half = fc.integer({ min: 0, max: 0xffff_ffff });
    fc.assert(
      fc.property(half, half, (hi, lo) => {
        expect(fingerprintFromId(fingerprintToId({ hi, lo }))).toEqual({ hi, lo });
      }),
    );
  });

  it.each(['', 'abc', 'ABCDEF0123456789', '0123456789abcdef0', '0123456789abcdeg', ' 123456789abcdef'])(
    'is not read from %j',
    (id) => {
      expect(fingerprintFromId(id)).toBeUndefined();
    },
  );
});
