import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KEY_BYTES, packKey, packPage, ROW_BYTES, type RememberedPage, unpackKey, unpackPage } from './page-row.js';

const u32 = fc.integer({ min: 0, max: 0xffffffff });
const hash = fc.record({ hi: u32, lo: u32 });
const page: fc.Arbitrary<RememberedPage> = fc.record({
  visitedAt: u32,
  changedAt: u32,
  nextVisitAt: u32,
  statusCode: fc.integer({ min: 100, max: 599 }),
  depth: fc.integer({ min: 0, max: 255 }),
  bodyHash: hash,
  contentHash: hash,
  simhash: hash,
  visits: fc.integer({ min: 0, max: 65_535 }),
  changes: fc.integer({ min: 0, max: 65_535 }),
  shape: fc.float({ min: Math.fround(0.01), max: 1000, noNaN: true }),
  scaleSecs: fc.float({ min: Math.fround(0.01), max: Math.fround(1e12), noNaN: true }),
  importance: fc.constantFrom(0.01, 1, 2, 30),
  run: fc.integer({ min: 0, max: 65_535 }),
  hashIsOfText: fc.boolean(),
  confirmedBy304: fc.integer({ min: 0, max: 31 }),
  found: fc.constantFrom('new', 'same', 'changed', 'removed'),
});

describe('a remembered page', () => {
  it('takes at most 64 bytes with its key', () => {
    expect(KEY_BYTES + ROW_BYTES).toBeLessThanOrEqual(64);
  });

  it('is the same after packing', () => {
    fc.assert(
      fc.property(page, (before) => {
        const after = unpackPage(packPage(before))!;
        expect({ ...after, importance: 0 }).toEqual({ ...before, importance: 0 });
        expect(after.importance / before.importance).toBeCloseTo(1, 1);
      }),
    );
  });

  it('caps what does not fit', () => {
    const [one] = fc.sample(page, 1);
    const packed = unpackPage(packPage({ ...one!, visits: 1e6, depth: 999, confirmedBy304: 99, importance: 1e9 }))!;
    expect(packed).toMatchObject({ visits: 65_535, depth: 255, confirmedBy304: 31 });
    expect(packed.importance).toBeCloseTo(4096, -1);
  });

  it('is refused when its bytes are not a row', () => {
    expect(unpackPage(Buffer.alloc(ROW_BYTES - 1))).toBeUndefined();
  });

  it('has a key in the order of its fingerprint', () => {
    fc.assert(
      fc.property(hash, (key) => {
        expect(unpackKey(packKey(key))).toEqual(key);
      }),
    );
  });
});
