// One domain of 50,000 links in uneven waves at heads from 1 to 1,000, with and without kills: each page once.
// WAVES_HEADS=1,7,1000 takes other heads, WAVES_PAGES another size.
import { FAULTS } from '../../test/fault/suite/case.js';
import { type Report, runClass } from '../../test/fault/suite/bench.js';
import { wavesClass } from '../../test/fault/suite/waves.js';
import type { Figure } from '../measure.js';

const PAGES = Number(process.env.WAVES_PAGES ?? 50_000);
const HEADS = (process.env.WAVES_HEADS ?? '1,2,3,7,20,90,333,1000').split(',').map(Number);
const KILLS = 12;

export const isPart = process.env.WAVES_HEADS !== undefined;

export async function measure(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [n, head] of HEADS.entries()) {
    for (const kills of [0, KILLS]) {
      const one = wavesClass({ pages: PAGES, head, kills, largest: 1_600, limitMs: 1_800_000 });
      const report = await runClass(one, n + 1);
      figures.push({ what: what(head, report), measured: measured(report), goal: '0 / 0 / 0, exit 0' });
      console.log(
        `  ${what(head, report)}: ${measured(report)} in ${report.seconds} s`,
        report.complaints,
        report.verdict?.examples,
      );
    }
  }
  return figures;
}

const what = (head: number, { kills }: Report): string => `head ${head}, ${kills} kills: lost / doubled / damaged`;

function measured({ verdict, complaints }: Report): string {
  if (!verdict) return complaints.join('; ');
  const others = FAULTS.filter((fault) => verdict[fault] > 0 && !/lost|doubled|damaged/.test(fault));
  const rest = [...complaints, ...others.map((fault) => `${verdict[fault]} ${fault}`)];
  return [`${verdict.lost} / ${verdict.doubled} / ${verdict.damaged} of ${verdict.pages}`, ...rest].join('; ');
}
