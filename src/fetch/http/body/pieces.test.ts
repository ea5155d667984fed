import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BodyPieces } from './pieces.js';

describe('the pieces of a body', () => {
  it('become what they were, whatever their sizes', () => {
    const sizes = fc.array(fc.oneof(fc.nat(8), fc.integer({ min: 1_000, max: 1_100 }), fc.constant(20_000)), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(sizes, (lengths) => {
        const pieces = new BodyPieces();
        const given = lengths.map((length, index) => Buffer.alloc(length, index + 1));
        for (const piece of given) pieces.add(piece);
        expect(pieces.join().equals(Buffer.concat(given))).toBe(true);
        expect(pieces.join()).toHaveLength(0);
      }),
    );
  });

  it('take little more than their bytes when they come one by one', () => {
    const pieces = new BodyPieces();
    const cut = Buffer.alloc(64 * 1024, 7);
    const bytes = 2_000_000;
    const before = process.memoryUsage().heapUsed;
    for (let at = 0; at < bytes; at++) pieces.add(cut.subarray(at % cut.length, (at % cut.length) + 1));
    // A Buffer kept for each would be 200 MB; those that are garbage by now count as well.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(60_000_000);
    expect(pieces.join()).toHaveLength(bytes);
  });
});
