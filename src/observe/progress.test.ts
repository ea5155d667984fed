import { describe, expect, it } from 'vitest';
import { bytesText, countOf, countText, durationText, rateText } from './figures.js';
import { progressText, startProgress } from './progress.js';
import type { ProgressFigures } from './progress.js';

const FIGURES: ProgressFigures = { done: 1234, failed: 2, queued: 86, concurrency: 40, host: 'example.com' };

function terminal(isTTY: boolean, columns?: number) {
  const written: string[] = [];
  return { written, output: { isTTY, columns, write: (text: string) => written.push(text) } };
}

describe('progress', () => {
  it('rewrites one line on a terminal and removes it in the end', async () => {
    const { written, output } = terminal(true, 200);
    const progress = startProgress({ output, read: () => FIGURES });
    await progress.tick();
    await progress.tick();
    progress.close();
    expect(written).toHaveLength(3);
    expect(written.every((text) => text.startsWith('\r\u001b[K') && !text.includes('\n'))).toBe(true);
    expect(written[0]).toContain('1,234 pages · 86 queued · 2 failed');
    expect(written[2]).toBe('\r\u001b[K');
  });

  it('never fills the last column, so that the terminal does not wrap the line', async () => {
    const { written, output } = terminal(true, 30);
    const progress = startProgress({ output, read: () => FIGURES });
    await progress.tick();
    progress.close();
    expect(written[0]!.replace('\r\u001b[K', '')).toHaveLength(29);
  });

  it('writes plain lines when nobody can watch', async () => {
    const { written, output } = terminal(false);
    const progress = startProgress({ output, read: () => FIGURES });
    await progress.tick();
    progress.print('a note\n');
    progress.close();
    expect(written[0]).toMatch(/^1,234 pages .* example\.com\n$/);
    expect(written[1]).toBe('a note\n');
    expect(written.join('')).not.toContain('\u001b');
  });

  it('puts what others print above the live line and shows the line again', async () => {
    const { written, output } = terminal(true, 200);
    const progress = startProgress({ output, read: () => FIGURES });
    await progress.tick();
    progress.print('a note\n');
    progress.close();
    expect(written[1]).toMatch(/^\r\u001b\[Ka note\n. 1,234 pages/u);
  });

  it('says that it starts or waits for hosts when nothing is in progress, never "0 at once"', () => {
    expect(progressText({ ...FIGURES, concurrency: 0 }, 2, 1_000)).toContain(' · waiting for hosts · ');
    expect(progressText({ ...FIGURES, concurrency: 0, queued: 0 }, 2, 1_000)).toContain(' · waiting for hosts · ');
    const nothing = { ...FIGURES, concurrency: 0, queued: 0, done: 0, failed: 0 };
    expect(progressText(nothing, 0, 1_000)).toContain(' · starting · ');
    expect(progressText(FIGURES, 2, 1_000)).toContain(' · 40 at once · ');
  });

  it('shows the rate of the last moments, not of the whole crawl', async () => {
    const { written, output } = terminal(false);
    let nowMs = 0;
    let done = 0;
    const progress = startProgress({
      output,
      clock: () => nowMs,
      read: () => ({ ...FIGURES, done, failed: 0, endedBefore: 1000 }),
    });
    for (const [atMs, ended] of [
      [0, 1000],
      [1000, 1000],
      [10_000, 1000],
      [11_000, 1050],
      [12_000, 1100],
      [13_000, 1150],
    ] as const) {
      nowMs = atMs;
      done = ended;
      await progress.tick();
    }
    progress.close();
    expect(written[1]).toContain(' 0.0/s');
    expect(written[5]).toContain(' 50/s');
  });

  it('stays silent when the figures cannot be read, and after it was closed', async () => {
    const { written, output } = terminal(true);
    const failing = startProgress({ output, read: () => Promise.reject(new Error('closed')) });
    await failing.tick();
    failing.close();
    await failing.tick();
    expect(written).toEqual([]);
  });

  it('escapes what a host could put on the terminal', () => {
    expect(progressText({ ...FIGURES, host: 'a\u001b[2J' }, 1, 1)).toContain('a\\u001b[2J');
  });
});

describe('figures', () => {
  it('are short and the same everywhere', () => {
    expect([0, 999, 1000, 1234567].map(countText)).toEqual(['0', '999', '1,000', '1,234,567']);
    expect([countOf(1, 'page'), countOf(1200, 'page')]).toEqual(['1 page', '1,200 pages']);
    expect([0, 400, 9_990, 59_600, 65_000, 7_620_000].map(durationText)).toEqual([
      '0.0 s',
      '0.4 s',
      '10 s',
      '1 min 00 s',
      '1 min 05 s',
      '2 h 07 min',
    ]);
    expect([0.52, 9.97, 1204].map(rateText)).toEqual(['0.5', '10', '1,204']);
    expect([0, 999, 1400, 12_345_678].map(bytesText)).toEqual(['0 B', '999 B', '1.4 kB', '12 MB']);
  });
});
