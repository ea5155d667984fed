// Issue 8's speed and round trip: main content + markdown in CPU time, beside Readability.js on jsdom in the same run,
// and what of the elements of real pages survives html → markdown → html. Scores are in bench/EXTRACTION.md.
import type { RoundTrip } from '../../test/support/markdown-round-trip.js';
import { roundTrip, roundTripOfSource } from '../../test/support/markdown-round-trip.js';
import { OPTIONS, besideReadability, passMs, readPages } from '../extract-speed.js';
import type { Figure } from '../measure.js';

const { extractContent } = (await import(
  new URL('../../dist/index.js', import.meta.url).href
)) as typeof import('../../src/index.js');
/** Through parse5 and micromark a page takes a hundred times as long: every sixth is about a hundred pages. */
const ROUND_TRIP_EVERY = Number(process.env['BENCH_ROUND_TRIP_EVERY'] ?? 6);

function speed(): Figure[] {
  const { source, pages } = readPages();
  const bytes = pages.reduce((sum, page) => sum + page.length, 0);
  const run = (page: Buffer): string => extractContent(page, OPTIONS).markdown;
  for (const page of pages) run(page);
  const ms = passMs(pages, run);
  const figures: Figure[] = [
    {
      what: `main content + markdown, ${pages.length} pages of ${source}, ${(bytes / 1e6).toFixed(1)} MB`,
      measured: `${(bytes / 1e3 / ms).toFixed(0)} MB a CPU-s`,
      goal: '≥ 30, 60 is the stretch',
    },
  ];
  const beside = besideReadability(pages, run);
  if (beside !== null) {
    const { theirsMs, oursMs } = beside;
    figures.push({
      what: `beside Readability.js on jsdom, ${beside.pages} of these pages`,
      measured: `${(theirsMs / oursMs).toFixed(0)} × (${theirsMs.toFixed(0)} and ${oursMs.toFixed(2)} CPU-ms per page)`,
      goal: '≥ 40 ×',
    });
  }
  return figures;
}

function roundTrips(what: string, trip: (page: Uint8Array) => RoundTrip): Figure[] {
  const { source, pages } = readPages(ROUND_TRIP_EVERY);
  const sums = new Map<string, [kept: number, all: number]>();
  let sameText = 0;
  for (const page of pages) {
    const result = trip(page);
    if (result.sameText) sameText++;
    for (const [sort, [kept, all]] of result.kept) {
      const sum = sums.get(sort) ?? [0, 0];
      sums.set(sort, [sum[0] + kept, sum[1] + all]);
    }
  }
  const [kept, all] = [...sums.values()].reduce(([a, b], [c, d]) => [a + c, b + d], [0, 0]);
  const share = (part: number, whole: number): string => `${((100 * part) / Math.max(1, whole)).toFixed(2)} %`;
  const bySort = [...sums].map(([sort, [part, whole]]) => `${sort} ${share(part, whole)} of ${whole}`);
  return [
    {
      what: `${what}, elements kept on ${pages.length} whole pages of ${source}`,
      measured: `${share(kept, all)} of ${all}: ${bySort.join(', ')}`,
      goal: '≥ 99 %',
    },
    {
      what: `${what}, pages whose whole text is the same`,
      measured: `${sameText} of ${pages.length}`,
      goal: 'all',
    },
  ];
}

export async function measure(): Promise<Figure[]> {
  return [
    ...speed(),
    ...roundTrips('html → markdown → html', roundTrip),
    ...roundTrips("the page's bytes as parse5 reads them → markdown → html", roundTripOfSource),
  ];
}
