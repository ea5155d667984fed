// 1,000 pages at concurrency 8 in a browser, 5 % of them hostile, the batch cancelled twice.
import { findBrowser } from '../../src/fetch/browser/find-browser.js';
import type { Figure } from '../measure.js';
import { hostileRun, type Leftovers, type Sample } from './browser-hostile-run.js';

export async function measure(): Promise<Figure[]> {
  const executablePath = process.env.ORCRAWL_DEFAULT_BROWSER_PATH ?? findBrowser({ headless: true, hasProfile: true });
  const pages = Number(process.env.PAGES ?? 1_000);
  const found = await hostileRun({
    pages,
    concurrency: 8,
    executablePath,
    // Long enough for a busy machine: only what never ends runs into it.
    pageTimeoutMs: 15_000,
    onProgress: (done) => done % 100 === 0 && process.stderr.write(`${done} of ${pages} pages\n`),
  });
  const { results, missing, mixedUp, successes, failures, innocentFailures, cancelled, launches } = found;
  return [
    {
      what: `results of ${pages} pages at concurrency 8, batch cancelled ${cancelled} times`,
      measured: `${results} results, ${successes} good, ${missing} URLs without exactly one, ${mixedUp} mixed up`,
      goal: 'every URL has a result',
    },
    {
      what: 'failures, by kind of page and code',
      measured: `${Object.entries(failures)
        .map(([name, count]) => `${name} ${count}`)
        .sort()
        .join(', ')}; of pages that are not hostile ${innocentFailures}`,
      goal: 'only hostile ones',
    },
    { what: 'open before and after', measured: `${openOf(found.before)}; ${openOf(found.after)}`, goal: 'equal' },
    {
      what: `browsers started; summed RSS of their processes, highest in the first and in the second half of ${found.samples.length} samples`,
      measured: `${launches}; ${peaks(found.samples, ({ browserRssMb }) => browserRssMb).join(' and ')} MB`,
      goal: 'bounded: no growth',
    },
    {
      what: 'browser processes and open pages, highest in the first and in the second half',
      measured: `${peaks(found.samples, ({ processes }) => processes).join(' and ')}; ${peaks(found.samples, (one) => one.pages).join(' and ')}`,
      goal: 'bounded: no growth',
    },
  ];
}

const openOf = ({ pages, contexts, browsers, processes, folders, handles }: Leftovers) =>
  `${pages} pages, ${contexts} contexts, ${browsers} browsers, ${processes} processes, ${folders} temporary folders, ${handles} handles`;

function peaks(samples: readonly Sample[], read: (sample: Sample) => number): [number, number] {
  const middle = Math.ceil(samples.length / 2);
  const highest = (some: readonly Sample[]) => Math.max(0, ...some.map(read));
  return [highest(samples.slice(0, middle)), highest(samples.slice(middle))];
}
