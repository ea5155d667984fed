// kill -9, twenty times in one crawl of 5,000 pages.
import { crawlUnderFire } from '../../test/fault/kill-crawl.js';
import type { Figure } from '../measure.js';

export async function measure(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const workers of [1, 3]) {
    const report = await crawlUnderFire({ pages: 5000, kills: 20, workers, maxConcurrency: 20, random: Math.random });
    const who = workers === 1 ? 'one owner' : `${workers} sharing`;
    figures.push(
      { what: `${who}: pages, kills`, measured: `${report.pages}, ${report.kills}`, goal: '≥ 5,000, 20' },
      { what: `${who}: pages without an item`, measured: String(report.missing), goal: '0' },
      { what: `${who}: duplicate items`, measured: String(report.duplicateItems), goal: '0' },
      {
        what: `${who}: requests repeated`,
        measured: `${report.refetched} (${(report.refetched / report.kills).toFixed(1)} a kill)`,
        goal: `≤ ${report.refetchBound}`,
      },
      {
        what: `${who}: longest restart to first request`,
        measured: `${report.longestRestartMs} ms`,
        goal: '≤ 5,000 ms',
      },
    );
  }
  return figures;
}
