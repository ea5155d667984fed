// 1,000 pages at concurrency 8 in a browser, 5 % of them hostile, the batch cancelled twice.
import { findBrowser } from '../../src/fetch/browser/find-browser.js';
import type { Figure } from '../measure.js';
import { hostileRun } from './browser-hostile-run.js';

export async function measure(): Promise<Figure[]> {
  const executablePath = process.env.ORCRAWL_DEFAULT_BROWSER_PATH ?? findBrowser({ headless: true, hasProfile: true });
  const pages = Number(process.env.PAGES ?? 1_000);
  const found = await hostileRun({
    pages,
    concurrency: 8,
    executablePath,
    pageTimeoutMs: 10_000,
    onProgress: (done) => process.stderr.write(`\r${done}/${pages} `),
  });
  const { results, missing, mixedUp, successes, failures, cancelled, left, launches, peakBrowserRssMb } = found;
  return [
    {
      what: `results of ${pages} pages at concurrency 8, batch cancelled ${cancelled} times`,
      measured: `${results} results, ${successes} good, ${missing} URLs without exactly one, ${mixedUp} mixed up`,
      goal: 'every URL has a result',
    },
    { what: 'failures by code', measured: JSON.stringify(failures), goal: 'only the hostile ones' },
    { what: 'left afterwards', measured: JSON.stringify(left), goal: 'all 0' },
    {
      what: 'browsers started; peak memory of their processes',
      measured: `${launches}; ${peakBrowserRssMb} MB`,
      goal: 'bounded',
    },
  ];
}
