import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createSkipsWriter } from './skips.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('writes what was left out in portions, in order, and the rest within a second or when told', async () => {
  const written: string[][] = [];
  const skips = createSkipsWriter(
    (items) => Promise.resolve(void written.push(items.map(({ url }) => url))),
    (error) => expect.fail(String(error)),
  );
  const add = (n: number) => skips.add({ url: `https://a.example/${n}`, reason: 'limit' });
  for (let n = 0; n < 2_500; n++) await add(n);
  expect(written.map(({ length }) => length)).toEqual([1_000, 1_000]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(written.map(({ length }) => length)).toEqual([1_000, 1_000, 500]);
  expect(written.flat().at(-1)).toBe('https://a.example/2499');
  await add(2_500);
  await skips.flush();
  expect(written.at(-1)).toEqual(['https://a.example/2500']);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(written).toHaveLength(4);
});
