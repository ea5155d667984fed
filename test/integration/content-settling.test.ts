// Content and a real queue: the order of steps in which a worker settles visits, and what is left when it may not.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFrontierClient } from '../../src/frontier/client.js';
import { openLmdbFrontier } from '../../src/frontier/embedded/store/lmdb.js';
import { ContentStore } from '../../src/store/content/content.js';
import type { ContentBatch } from '../../src/store/content/content.js';
import { findPage } from '../../src/store/content/reading.js';
import { done, entry } from '../../src/testing/conformance/bench.js';
import { folders } from './content-fixtures.js';
import { page, textOf, urlOf } from './content-pages.js';

const lengths = ({ written }: ContentBatch): Record<string, string> =>
  Object.fromEntries(written.map(({ writer }) => [writer.key, writer.note]));

describe('content settled with a queue', () => {
  it('is there when its visits are acknowledged, and is not when the holder had lost them', async () => {
    const [queue, ...dataDirs] = (await folders(3)) as [string, string, string];
    const frontier = await openLmdbFrontier(join(queue, 'queue'), { holder: 'a', pacing: { delayMs: 0, turns: 9 } });
    const client = createFrontierClient(frontier, { id: 'a' });
    await client.add([0, 1, 2, 3].map((n) => entry(urlOf(n))));
    let noteRepeats = 0;
    const content = await ContentStore.open({
      dataDirs,
      warn: () => undefined,
      segmentBytes: 1,
      notes: (await frontier.overview()).notes,
      note: async (notes) => {
        // Refused when the life was over: the holder has begun a new one, and nothing was recorded.
        while (!(await client.settle({ settlements: [], notes })).held) noteRepeats++;
      },
    });
    const visit = async (numbers: number[]): Promise<boolean> => {
      const life = client.id;
      const { leases } = await client.lease({ max: numbers.length });
      const packed = [];
      for (const n of numbers) packed.push(await content.pack(page(n)));
      if (numbers.includes(2)) await frontier.release(life);
      const batch = await content.append(packed);
      const answer = await client.settle({ settlements: leases.map(done), notes: lengths(batch) }, life);
      if (!answer.held) for (const { writer, before } of batch.written) await writer.cutTo(before);
      return answer.held;
    };
    expect(await visit([0, 1])).toBe(true);
    expect(await visit([2, 3])).toBe(false);
    expect(noteRepeats).toBe(1);
    const { notes, counters } = await frontier.overview();
    expect(Object.values(notes)).toContain('0 0');
    expect(counters).toMatchObject({ done: 2, queued: 2 });
    // As after a death at this point: the next process reads the notes.
    const next = await ContentStore.open({ dataDirs, notes, isWriterGone: () => true });
    expect(next.recovered.length).toBeGreaterThan(0);
    expect(next.recovered.filter(({ outcome }) => outcome !== 'whole')).toEqual([]);
    for (const n of [0, 1]) expect((await findPage(dataDirs, urlOf(n)))?.text).toBe(textOf(n));
    for (const n of [2, 3]) expect(await findPage(dataDirs, urlOf(n))).toBeUndefined();
    await next.close();
    await content.close();
    await frontier.close();
  });
});
