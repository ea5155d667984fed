// Change detection on a second set of mutations, in other languages; what the content is, people said.
import type { Figure } from '../measure.js';
import { viewPage } from '../../src/crawl/page/extraction.js';
import { comparedText } from '../../src/extract/page/compared-text.js';
import { normaliseContent } from '../../src/fresh/change/normalise.js';
import { changedAt, CHANGES, furnished, FURNITURE, markedPages, sentencesIn } from './other-mutations.js';
import { randomFrom } from './schedule-simulation.js';

export interface Tally {
  tried: number;
  wrong: number;
  readonly pages: string[];
}

export interface ChangeFigures {
  readonly pages: number;
  readonly alarms: ReadonlyMap<string, Tally>;
  readonly misses: ReadonlyMap<string, Tally>;
}

const SENTENCES = 3;

const compared = (html: string): string =>
  normaliseContent(comparedText(viewPage(html, { url: 'https://a.example/page' })));

export function judgeChanges(step: number, offset: number): ChangeFigures {
  const alarms = new Map(Object.keys(FURNITURE).map((kind) => [kind, newTally()]));
  const misses = new Map(Object.keys(CHANGES).map((kind) => [kind, newTally()]));
  let pages = 0;
  for (const page of markedPages(step, offset)) {
    const seed = 1_000_003 * (offset + 1) + 97 * ++pages;
    const random = randomFrom(seed);
    const places = sentencesIn(page, random, SENTENCES);
    const text = compared(page.html);
    for (const [kind, tally] of alarms) {
      const [one, other] = [1, 2].map((turn) => furnished(page, kind, seed + turn, places[0]));
      if (one === undefined || other === undefined) continue;
      count(tally, compared(one) !== compared(other), page.name);
    }
    for (const [kind, tally] of misses) {
      for (const place of places) {
        const sentence = CHANGES[kind]!(place.sentence, random);
        if (sentence === undefined || sentence === place.sentence) continue;
        const html = changedAt(page.html, place, sentence);
        count(tally, compared(html) === text, `${page.name}: ${place.sentence.slice(0, 80)}`);
      }
    }
  }
  return { pages, alarms, misses };
}

const newTally = (): Tally => ({ tried: 0, wrong: 0, pages: [] });

function count(tally: Tally, isWrong: boolean, page: string): void {
  tally.tried++;
  if (!isWrong) return;
  tally.wrong++;
  tally.pages.push(page);
}

export async function measure(): Promise<Figure[]> {
  const step = Number(process.env.FRESH_STEP ?? 1);
  const { pages, alarms, misses } = judgeChanges(step, Number(process.env.FRESH_OFFSET ?? 0));
  // A figure of nothing would pass for a perfect one.
  if (pages === 0) throw new Error('no pages to measure: ../shared/data is not here');
  const named = (kinds: ReadonlyMap<string, Tally>) =>
    [...kinds]
      .filter(([, { wrong }]) => wrong > 0)
      .map(([kind, { wrong, tried }]) => `${kind} ${wrong} of ${tried}`)
      .join(', ');
  if (process.env.FRESH_SHOW !== undefined) {
    for (const [kind, { pages: wrong }] of [...alarms, ...misses])
      for (const one of wrong) console.log(`${kind}: ${one}`);
  }
  const isOfSpec = (kind: string) => FURNITURE[kind]!.isOfSpec;
  const ofSpec = new Map([...alarms].filter(([kind]) => isOfSpec(kind)));
  const others = new Map([...alarms].filter(([kind]) => !isOfSpec(kind)));
  const figure = (what: string, kinds: ReadonlyMap<string, Tally>, goal: string): Figure => {
    const [wrong, tried] = [...kinds.values()].reduce(([w, t], one) => [w + one.wrong, t + one.tried], [0, 0]);
    const which = named(kinds);
    return {
      what,
      measured: `${((100 * wrong) / Math.max(1, tried)).toFixed(2)} % (${wrong} of ${tried})${which && `: ${which}`}`,
      goal,
    };
  };
  return [
    figure(`dates, counters, adverts and tokens in ${pages} pages taken for a change`, ofSpec, '≤ 1 %'),
    figure('other furniture taken for a change', others, '≤ 1 %'),
    figure('changed sentences of marked content missed', misses, '0'),
  ];
}
