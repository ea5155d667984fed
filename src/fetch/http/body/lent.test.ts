// Bodies in memory that is used again: the same bytes as Node's own functions give, and never those of another body.
import * as zlib from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBody, lendBody } from './body.js';
import { gunzipIntoOf } from './gunzip-into.js';

const MANY = 10 * 1024 * 1024;
const GZIP = ['gzip'] as const;
const page = (text: string) => Buffer.from(`${text}. `.repeat(2_000));
const lend = (body: Buffer) => lendBody(zlib.gzipSync(body), GZIP, MANY)!;

describe('gunzip into memory that is there', () => {
  it('works in this version of Node', () => {
    expect(gunzipIntoOf()).toBeTypeOf('function');
  });

  it('gives what gunzipSync gives, or leaves it to that one: whole, cut, damaged and joined bodies in turns', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 5_000 }),
        fc.constantFrom('whole', 'cut', 'damaged', 'joined', 'lying'),
        fc.nat(),
        (content, kind, at) => {
          const wire = Buffer.from(zlib.gzipSync(content));
          if (kind === 'damaged') wire[at % wire.length]! ^= 1 + (at % 255);
          if (kind === 'lying') wire.writeUInt32LE(at >>> 0, wire.length - 4);
          const sent =
            kind === 'cut'
              ? wire.subarray(0, at % wire.length)
              : kind === 'joined'
                ? Buffer.concat([wire, zlib.gzipSync('more')])
                : wire;
          const lent = lendBody(sent, GZIP, MANY);
          if (kind === 'whole') expect(lent).toBeDefined();
          if (lent) expect(lent.bytes.equals(zlib.gunzipSync(sent))).toBe(true);
          lent?.giveBack();
        },
      ),
      { numRuns: 500 },
    );
  });

  it('leaves to others what is not one gzip, too large, or beyond the limit', () => {
    const wire = zlib.gzipSync(page('a'));
    expect(lendBody(wire, ['gzip', 'gzip'], MANY)).toBeUndefined();
    expect(lendBody(zlib.brotliCompressSync(page('a')), ['br'], MANY)).toBeUndefined();
    expect(lendBody(wire, GZIP, 100)).toBeUndefined();
    expect(() => decodeBody(wire, GZIP, 100, 'a.example')).toThrow(expect.objectContaining({ code: 'BODY_TOO_LARGE' }));
    expect(lendBody(zlib.gzipSync(Buffer.alloc(5 * 1024 * 1024)), GZIP, MANY)).toBeUndefined();
  });
});

describe('a lent body', () => {
  it('uses the memory of one that was given back', () => {
    const first = lend(page('first'));
    const { buffer } = first.bytes;
    first.giveBack();
    const second = lend(page('second'));
    expect(second.bytes.buffer).toBe(buffer);
    expect(second.bytes.equals(page('second'))).toBe(true);
    second.giveBack();
  });

  it('is decoded anew for who asks after it was given back, and stays', () => {
    const early = lend(page('early'));
    early.giveBack();
    const other = lend(page('other'));
    const late = early.bytes;
    expect(late.equals(page('early'))).toBe(true);
    expect(other.bytes.equals(page('other'))).toBe(true);
    early.giveBack();
    expect(early.bytes).toBe(late);
    other.giveBack();
  });

  it('is never written to again once it is kept', () => {
    const kept = lend(page('kept'));
    const bytes = kept.keep();
    kept.giveBack();
    for (let k = 0; k < 20; k++) lend(page(`other ${k}`)).giveBack();
    expect(bytes.equals(page('kept'))).toBe(true);
  });

  it('is not given back twice', () => {
    const once = lend(page('once'));
    once.giveBack();
    once.giveBack();
    const [a, b] = [lend(page('a')), lend(page('b'))];
    expect(a.bytes.buffer).not.toBe(b.bytes.buffer);
    a.giveBack();
    b.giveBack();
  });
});
