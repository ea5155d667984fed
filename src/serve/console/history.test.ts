import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createHistory, MAX_SAMPLES, openHistory } from './history.js';
import { SAMPLE } from './wire.js';

const sample = (atSecs: number, p95 = 5): number[] => [atSecs, atSecs * 10, 0, atSecs * 1000, 4, 2, 100, 3, p95];

describe('a history of samples', () => {
  it('covers a crawl of any length with a bounded number of samples, and keeps its totals and its slowest', () => {
    const history = createHistory(undefined);
    for (let second = 0; second < 100_000; second++) history.add(sample(second, second === 77 ? 900 : 5));
    expect(history.samples.length).toBeLessThanOrEqual(MAX_SAMPLES);
    expect(history.samples.length).toBeGreaterThan(MAX_SAMPLES / 4);
    expect(history.generation).toBeGreaterThan(5);
    expect(Math.max(...history.samples.map((one) => one[SAMPLE.p95]!))).toBe(900);
    const times = history.samples.map((one) => one[SAMPLE.atSecs]!);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    const last = history.samples.at(-1)!;
    expect(last[SAMPLE.done]).toBe(last[SAMPLE.atSecs]! * 10);
  });

  it('goes on after a restart; a damaged file begins anew', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'orcrawl-history-'));
    const file = path.join(folder, 'job.json');
    const first = await openHistory(file);
    for (let second = 0; second < 20; second++) first.add(sample(second));
    await first.save();
    const second = await openHistory(file);
    expect(second.samples).toEqual(first.samples);
    expect(second.add(sample(30))).toBe(true);
    await writeFile(file, '{"everySecs":1,"samples":[["x"]]}');
    expect((await openHistory(file)).samples).toEqual([]);
    await rm(folder, { recursive: true });
  });
});
