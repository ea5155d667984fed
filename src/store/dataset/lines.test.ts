// Reading and counting lines over a store in memory, against plain string splitting.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLineIndex, LINES_PER_MARK, readLines } from './lines.js';
import { createMemoryBackend } from '../memory.js';

const line = fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => text.replaceAll('\n', ''));

async function storeOf(segments: readonly (readonly string[])[]) {
  const store = createMemoryBackend().segments('d');
  for (const lines of segments) {
    const writer = await store.openVisit('w');
    if (lines.length > 0) await writer.append(lines.map((text) => `${text}\n`).join(''));
  }
  return store;
}

describe('readLines', () => {
  it('gives the same lines whatever the size of a chunk', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 30 }), fc.integer({ min: 1, max: 40 }), async (lines, chunk) => {
        const store = await storeOf([lines]);
        const [segment] = await store.list();
        const read: string[] = [];
        if (segment !== undefined) {
          const place = { name: segment.name, fromByte: 0, skipLines: 0, endByte: segment.lengthBytes };
          for await (const batch of readLines(store, place, chunk)) read.push(...batch);
        }
        expect(read).toEqual(lines);
      }),
      { numRuns: 60 },
    );
  });
});

describe('a line index', () => {
  it('locates any line in any segment', async () => {
    const lengths = [LINES_PER_MARK - 1, 0, 1, 3 * LINES_PER_MARK + 7, 2];
    let next = 0;
    const segments = lengths.map((length) => Array.from({ length }, () => `line ${next++}`));
    const store = await storeOf(segments);
    const index = createLineIndex(store);
    const total = lengths.reduce((sum, length) => sum + length, 0);
    expect(await index.count()).toBe(total);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: total + 3 }), async (offset) => {
        const [place] = await index.locate(offset);
        let first: string | undefined;
        if (place !== undefined) {
          expect(place.skipLines).toBeLessThan(LINES_PER_MARK);
          for await (const lines of readLines(store, place)) first ??= lines[0];
        }
        expect(first).toBe(offset < total ? `line ${offset}` : undefined);
      }),
      { numRuns: 60 },
    );
  });

  it('counts a segment anew when it became shorter', async () => {
    const store = createMemoryBackend().segments('d');
    const writer = await store.openVisit('w');
    await writer.append('a\nb\nc\n');
    const index = createLineIndex(store);
    expect(await index.count()).toBe(3);
    await writer.cutTo(2);
    expect(await index.count()).toBe(1);
  });

  it('counts once when asked many times at once', async () => {
    const store = await storeOf([['a', 'b'], ['c']]);
    const index = createLineIndex(store);
    expect(await Promise.all([index.count(), index.count(), index.count()])).toEqual([3, 3, 3]);
  });
});
