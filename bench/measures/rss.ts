// Peak resident memory of a crawl of the real pages at 200 concurrent requests.
import { CONTESTANTS, runContestant } from '../crawl/contestants.js';
import { hasRealPages, type Scheme, startWeb } from '../crawl/webs.js';
import type { Figure } from '../measure.js';

const ROUNDS = 3;

export async function measure(): Promise<Figure[]> {
  if (!hasRealPages) throw new Error('this measurement needs ../shared/data/pages');
  const figures: Figure[] = [];
  for (const scheme of ['http', 'https'] satisfies Scheme[]) {
    const web = await startWeb('pages', scheme, false);
    try {
      for (const name of ['orcrawl-content', 'orcrawl-cheerio']) {
        const contestant = CONTESTANTS.find((one) => one.name === name)!;
        const peaks = Array.from({ length: ROUNDS }, () =>
          Math.round(runContestant(contestant, web, { node: process.execPath, concurrency: 200 }).rssMb),
        ).sort((a, b) => a - b);
        figures.push({
          what: `${web.title}: ${contestant.title}, 200 at once`,
          measured: `${peaks[ROUNDS >> 1]} MB (${peaks[0]}–${peaks.at(-1)})`,
          goal: '≤ 400 MB',
        });
      }
    } finally {
      await web.close();
    }
  }
  return figures;
}
