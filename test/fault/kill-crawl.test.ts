// Guarantees 1 and 2 under `kill -9`: nothing accepted is lost, every item stands once.
import { describe, expect, it } from 'vitest';
import { crawlUnderFire } from './kill-crawl.js';

describe('a crawl whose process is killed again and again', () => {
  it.each([
    { name: 'one owner process', workers: 1, pages: 400, kills: 5 },
    { name: 'three processes sharing the queue', workers: 3, pages: 700, kills: 5 },
  ])('handles every page, stores every item once and refetches little: $name', async ({ workers, pages, kills }) => {
    const report = await crawlUnderFire({ pages, kills, workers, maxConcurrency: 16, random: Math.random });
    expect(report.kills).toBe(kills);
    expect(report.missing).toBe(0);
    expect(report.duplicateItems).toBe(0);
    expect(report.refetched).toBeLessThanOrEqual(report.refetchBound);
  });
});
