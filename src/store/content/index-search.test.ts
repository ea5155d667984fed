import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lineNumberAt, scanUnsorted, searchSorted, type FoundLine, type ReadBytes } from './index-search.js';

const keys = fc.array(fc.stringMatching(/^[a-c]{0,4}$/), { maxLength: 60 });
/** Now and then a line longer than what is read at once. */
const payload = fc.oneof(
  fc.stringMatching(/^[x-z]{0,9}$/),
  fc.constant('y'.repeat(9_000)),
  fc.constant('y'.repeat(70_000)),
);

function fileOf(lines: readonly string[], tail = ''): { read: ReadBytes; size: number } {
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join('') + tail);
  return {
    size: bytes.length,
    read: async (from, to) => bytes.subarray(from, Math.max(from, Math.min(to, bytes.length))),
  };
}

const textsOf = (found: readonly FoundLine[]): string[] => found.map(({ text }) => text);

describe('a look-up', () => {
  it('finds exactly the lines of a key in a sorted index', async () => {
    await fc.assert(
      fc.asyncProperty(keys, payload, fc.stringMatching(/^[a-c]{0,4}$/), async (list, text, key) => {
        const lines = list.map((each, n) => `${each} ${n % 7} ${text}`).sort();
        const { read, size } = fileOf(lines);
        const expected = lines.filter((line) => line.startsWith(`${key} `));
        expect(textsOf(await searchSorted(read, size, Buffer.from(`${key} `)))).toEqual(expected);
      }),
    );
  });

  it('finds exactly the whole lines of a key in an index that is being written', async () => {
    const chunks = fc.integer({ min: 1, max: 40 });
    await fc.assert(
      fc.asyncProperty(keys, chunks, fc.stringMatching(/^[a-c]{0,4}$/), async (list, chunkBytes, key) => {
        const lines = list.map((each, n) => `${each} ${n}`);
        const { read, size } = fileOf(lines, `${key} half`);
        const expected = lines.filter((line) => line.startsWith(`${key} `));
        expect(textsOf(await scanUnsorted(read, size, Buffer.from(`${key} `), { chunkBytes }))).toEqual(expected);
      }),
    );
  });

  it('reads a few dozen small pieces of a large sorted index', async () => {
    const lines = Array.from({ length: 30_000 }, (_, n) => `key${String(n).padStart(8, '0')} ${'z'.repeat(200)}`);
    const { read, size } = fileOf(lines);
    let reads = 0;
    const counted: ReadBytes = (from, to) => (reads++, read(from, to));
    expect(textsOf(await searchSorted(counted, size, Buffer.from('key00017777 ')))).toEqual([lines[17_777]]);
    expect(reads).toBeLessThan(40);
  });

  it('is not led astray by damage in a sorted index, and tells where it met some', async () => {
    const damage = fc.oneof(
      fc.constant('~'.repeat(50)),
      fc.constant('\0'.repeat(40_000)),
      fc.constant('\x7f'.repeat(3_000_000)),
      fc.constant(''),
    );
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 1_999 }), fc.nat({ max: 2_000 }), damage, async (wanted, at, garbage) => {
        const good = Array.from({ length: 2_000 }, (_, n) => `key${String(n).padStart(8, '0')} ${'z'.repeat(200)}`);
        const lines = good.toSpliced(at, 0, garbage, garbage);
        const { read, size } = fileOf(lines);
        const damaged = new Set<number>();
        const prefix = Buffer.from(good[wanted]!.slice(0, 12));
        const found = await searchSorted(read, size, prefix, {
          isLine: (bytes) => bytes.subarray(0, 3).toString() === 'key',
          onDamage: (atByte) => damaged.add(atByte),
        });
        expect(textsOf(found)).toEqual([good[wanted]]);
        expect(await lineNumberAt(read, found[0]!.atByte)).toBe(lines.indexOf(good[wanted]!) + 1);
        for (const atByte of damaged) expect([at + 1, at + 2]).toContain(await lineNumberAt(read, atByte));
      }),
      { numRuns: 60 },
    );
  });
});
