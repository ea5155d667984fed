import { describe, expect, it } from 'vitest';
import * as zlib from 'node:zlib';
import fc from 'fast-check';
import type { Coding } from './body.js';
import { contentCodings, decodeBody, ZSTD_AVAILABLE } from './body.js';

const HOST = 'a.example';
const MANY = 10 * 1024 * 1024;
const text = Buffer.from('orcas hunt in pods. '.repeat(500));
const encoders: Record<string, (body: Buffer) => Buffer> = {
  gzip: zlib.gzipSync,
  deflate: zlib.deflateSync,
  'bare deflate': zlib.deflateRawSync,
  br: zlib.brotliCompressSync,
  ...(ZSTD_AVAILABLE && {
    zstd: (zlib as unknown as { zstdCompressSync(body: Buffer): Buffer }).zstdCompressSync,
  }),
};
const codingOf = (name: string): Coding => (name === 'bare deflate' ? 'deflate' : (name as Coding));
const decode = async (wire: Buffer, codings: readonly Coding[], maxBytes = MANY) =>
  decodeBody(wire, codings, maxBytes, HOST);

describe('contentCodings', () => {
  it.each([
    [undefined, []],
    ['', []],
    ['identity', []],
    ['gzip', ['gzip']],
    ['GZip', ['gzip']],
    ['x-gzip', ['gzip']],
    ['deflate, br', ['deflate', 'br']],
    [' gzip , identity ,, gzip', ['gzip', 'gzip']],
    ['utf-8', []],
    ['gzip, aws-chunked', []],
  ])('reads %o as %o', (header, expected) => expect(contentCodings(header, HOST)).toEqual(expected));

  it('refuses a pile of codings', () => {
    expect(contentCodings('gzip, gzip, gzip', HOST)).toHaveLength(3);
    expect(() => contentCodings('gzip, gzip, gzip, gzip', HOST)).toThrow(
      expect.objectContaining({ code: 'BODY_DECODE' }),
    );
  });

  it.runIf(!ZSTD_AVAILABLE)('says so when this Node cannot decode zstd', () => {
    expect(() => contentCodings('zstd', HOST)).toThrow(/zstd/);
  });
});

describe('decodeBody', () => {
  for (const [name, encode] of Object.entries(encoders)) {
    const coding = codingOf(name);

    it(`gives back what ${name} packed, at once when small and off the loop when large`, async () => {
      const small = decodeBody(encode(text), [coding], MANY, HOST);
      expect(small).not.toBeInstanceOf(Promise);
      expect(small).toEqual(text);
      const noise = Buffer.alloc(600_000, 0);
      for (let index = 0; index < noise.length; index++) noise[index] = (index * 2654435761) >>> 13;
      const large = decodeBody(encode(noise), [coding], MANY, HOST);
      if (encode(noise).length > 256 * 1024) expect(large).toBeInstanceOf(Promise);
      expect((await large).equals(noise)).toBe(true);
    });

    it(`stops ${name} at the cap on decoded bytes`, async () => {
      const bomb = encode(Buffer.alloc(5_000_000));
      await expect(decode(bomb, [coding], 100_000)).rejects.toMatchObject({ code: 'BODY_TOO_LARGE' });
    });

    it(`calls a cut ${name} body incomplete`, async () => {
      const whole = encode(text);
      await expect(decode(whole.subarray(0, whole.length >> 1), [coding])).rejects.toMatchObject({
        code: 'BODY_INCOMPLETE',
      });
    });
  }

  it('calls bytes that are no gzip undecodable', async () => {
    await expect(decode(Buffer.from('<html>plain</html>'), ['gzip'])).rejects.toMatchObject({ code: 'BODY_DECODE' });
    await expect(decode(Buffer.from('<html>plain</html>'), ['br'])).rejects.toMatchObject({ code: 'BODY_DECODE' });
  });

  it('undoes stacked codings in reverse order', async () => {
    const wire = zlib.brotliCompressSync(zlib.deflateSync(zlib.gzipSync(text)));
    expect(await decode(wire, ['gzip', 'deflate', 'br'])).toEqual(text);
  });

  it('caps every layer of a stack', async () => {
    const wire = zlib.gzipSync(zlib.gzipSync(Buffer.alloc(5_000_000)));
    await expect(decode(wire, ['gzip', 'gzip'], 50_000)).rejects.toMatchObject({ code: 'BODY_TOO_LARGE' });
  });

  it('decodes a small body that outgrows the loop under a large cap', async () => {
    const size = 20 * 1024 * 1024;
    const body = await decode(zlib.gzipSync(Buffer.alloc(size)), ['gzip'], Infinity);
    expect(body.length).toBe(size);
  });

  it('leaves an empty body alone whatever its label', async () => {
    expect(await decode(Buffer.alloc(0), ['gzip'])).toHaveLength(0);
  });

  it('is not fooled by a lying length at the end of a gzip body', async () => {
    for (const lie of [0, 1, 5, 0xffffffff]) {
      const two = Buffer.concat([zlib.gzipSync(text), zlib.gzipSync(Buffer.from('tail'))]);
      expect((await decode(two, ['gzip'])).length).toBe(text.length + 4);
      const wire = zlib.gzipSync(text);
      wire.writeUInt32LE(lie, wire.length - 4);
      await expect(decode(wire, ['gzip'])).rejects.toMatchObject({ code: 'BODY_DECODE' });
    }
  });

  it('answers any bytes under any coding with a body or a named error', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 300 }),
        fc.constantFrom<Coding>('gzip', 'deflate', 'br'),
        async (bytes, coding) => {
          try {
            expect((await decode(Buffer.from(bytes), [coding], 10_000)).length).toBeLessThanOrEqual(10_000);
          } catch (error) {
            expect(['BODY_DECODE', 'BODY_INCOMPLETE', 'BODY_TOO_LARGE']).toContain((error as { code: string }).code);
          }
        },
      ),
    );
  });
});
