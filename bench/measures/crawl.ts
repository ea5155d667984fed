// A whole crawl on one core, in three interleaved rounds: on real pages and on the synthetic web.
import { compare, type Row } from '../crawl/comparison.js';
import { CONTESTANTS } from '../crawl/contestants.js';
import { hasRealPages, type Scheme, startWeb, type WebName } from '../crawl/webs.js';
import type { Figure } from '../measure.js';

const GOALS: Readonly<Record<string, string>> = {
  'orcrawl-content': '≥ 0.5 of the bare loop, ≥ 10 × Crawlee',
  'orcrawl-cheerio': '≥ 3 × Crawlee',
};
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
/** Fewer contestants, for a quick look. */
const ONLY = process.env['BENCH_ONLY']?.split(',');
const CHOSEN = CONTESTANTS.filter(({ name }) => !ONLY || ONLY.includes(name));

function figureOf(title: string, row: Row, rows: readonly Row[]): Figure {
  const against = (name: string, digits: number): string => {
    const peer = rows.find((other) => other.contestant.name === name);
    return peer ? (row.pagesPerCpuSec / peer.pagesPerCpuSec).toFixed(digits) : '–';
  };
  const { contestant, msPerPage, lowest, highest, pagesPerCpuSec, rssMb, pages } = row;
  const cost = `${msPerPage.toFixed(2)} CPU-ms per page (${lowest.toFixed(2)}–${highest.toFixed(2)})`;
  const ratios = `${against('bare', 2)} of the bare loop, ${against('crawlee-memory', 1)} × Crawlee`;
  return {
    what: `${title}: ${contestant.title}; ${pages} pages`,
    measured: `${cost}; ${Math.round(pagesPerCpuSec)} pages per CPU-s; ${Math.round(rssMb)} MB; ${ratios}`,
    goal: GOALS[contestant.name] ?? '',
  };
}

export async function measureCrawls(node: string, scheme: Scheme): Promise<Figure[]> {
  const figures: Figure[] = [];
  const webs: WebName[] = hasRealPages ? ['pages', 'simweb'] : ['simweb'];
  if (!hasRealPages) console.warn('real pages: skipped, ../shared/data/pages is not here');
  for (const name of webs) {
    const web = await startWeb(name, scheme, false);
    try {
      const rows = compare(CHOSEN, web, {
        node,
        rounds: ROUNDS,
        concurrency: 50,
        onCost: (contestant, { cpuMs, pages }) =>
          console.log(`  ${web.title}: ${contestant.name} ${(cpuMs / pages).toFixed(3)} CPU-ms per page`),
      });
      figures.push(...rows.map((row) => figureOf(web.title, row, rows)));
    } finally {
      await web.close();
    }
  }
  return figures;
}

export const measure = (): Promise<Figure[]> => measureCrawls(process.execPath, 'http');
