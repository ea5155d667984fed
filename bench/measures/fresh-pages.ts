// Change detection and near duplicates on the given real pages: false alarms, misses, recall, false matches.
import type { Figure } from '../measure.js';
import { extractContent, viewPage } from '../../src/crawl/page/extraction.js';
import { comparedText } from '../../src/extract/page/compared-text.js';
import { normaliseContent } from '../../src/fresh/change/normalise.js';
import { createNearIndex } from '../../src/fresh/duplicates/near-index.js';
import { type Simhash, simhashOf } from '../../src/fresh/duplicates/simhash.js';
import { realPages, withOtherFurniture, withOtherSentence, withOtherWords } from './page-mutations.js';

export interface PageFigures {
  readonly pages: number;
  readonly falseAlarms: number;
  /** Pages with a sentence that could be changed, and of those the ones whose change was not seen. */
  readonly changed: number;
  readonly missed: number;
  readonly compared: number;
  readonly found: number;
  readonly pairs: number;
  readonly falseMatches: number;
  /** What went wrong, by kind and page. */
  readonly wrong: readonly string[];
}

/** Below this there is too little to compare. */
const FEWEST_WORDS = 30;

export function judgePages(step: number): PageFigures {
  const figures = { pages: 0, falseAlarms: 0, changed: 0, missed: 0, compared: 0, found: 0 };
  const originals: Original[] = [];
  const wrong: string[] = [];
  const compared = (html: string, host = 'a.example') =>
    normaliseContent(comparedText(viewPage(html, { url: `https://${host}/page` })));
  for (const { html, name } of realPages(step)) {
    const seed = ++figures.pages;
    const text = compared(html);
    const simhash = simhashOf(text);
    if (compared(withOtherFurniture(html, seed)) !== text) {
      figures.falseAlarms++;
      wrong.push(`false alarm: ${name}`);
    }
    const sentence = withOtherSentence(html, normaliseContent(extractContent(html).text), seed);
    if (sentence !== undefined) {
      figures.changed++;
      if (compared(sentence) === text) {
        figures.missed++;
        wrong.push(`missed: ${name}`);
      }
    }
    if (text.split(/\s+/).length < FEWEST_WORDS) continue;
    figures.compared++;
    const copy = simhashOf(compared(withOtherFurniture(withOtherWords(html, seed), seed + 1), 'mirror.example'));
    const index = createNearIndex();
    index.add(simhash, 1);
    if (index.find(copy).length > 0) figures.found++;
    else wrong.push(`copy not found: ${name}`);
    originals.push({ name, text, simhash });
  }
  const matches = falseMatches(originals);
  const pairs = (originals.length * (originals.length - 1)) / 2;
  return { ...figures, pairs, falseMatches: matches.length, wrong: [...wrong, ...matches] };
}

interface Original {
  readonly name: string;
  readonly text: string;
  readonly simhash: Simhash;
}

function falseMatches(originals: readonly Original[]): string[] {
  const index = createNearIndex();
  originals.forEach(({ simhash }, number) => index.add(simhash, number));
  const matches: string[] = [];
  originals.forEach(({ simhash, text, name }, number) => {
    for (const { note } of index.find(simhash)) {
      if (note > number && originals[note]!.text !== text) matches.push(`alike: ${name} and ${originals[note]!.name}`);
    }
  });
  return matches;
}

export async function measure(): Promise<Figure[]> {
  const found = judgePages(Number(process.env.FRESH_STEP ?? 1));
  // A figure of nothing would pass for a perfect one.
  if (found.pages === 0) throw new Error('no pages to measure: ../shared/data is not here');
  if (process.env.FRESH_SHOW !== undefined) for (const one of found.wrong) console.log(one);
  const percent = (part: number, whole: number) =>
    `${((100 * part) / Math.max(1, whole)).toFixed(2)} % (${part} of ${whole})`;
  return [
    {
      what: 'changed furniture taken for a change of the page',
      measured: percent(found.falseAlarms, found.pages),
      goal: '≤ 1 %',
    },
    { what: 'changed sentences of the main content missed', measured: percent(found.missed, found.changed), goal: '0' },
    {
      what: 'near copies found (a word in 50, other furniture, other host)',
      measured: percent(found.found, found.compared),
      goal: '≥ 95 %',
    },
    {
      what: 'pairs of different pages taken for near copies',
      measured: percent(found.falseMatches, found.pairs),
      goal: '≤ 0.1 %',
    },
  ];
}
