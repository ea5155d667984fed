// Change detection and near duplicates on the given real pages: false alarms, misses, recall, false matches. What the main
// content is, people said where they did (nine of ten pages); of the others it is what we extract.
import type { Figure } from '../measure.js';
import { extractContent, viewPage } from '../../src/crawl/page/extraction.js';
import { comparedText } from '../../src/extract/page/compared-text.js';
import { normaliseContent } from '../../src/fresh/change/normalise.js';
import { createNearIndex } from '../../src/fresh/duplicates/near-index.js';
import { type Simhash, simhashOf } from '../../src/fresh/duplicates/simhash.js';
import { truths } from './other-mutations.js';
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
  /** Pages that match one with other words. */
  readonly mistaken: number;
  /** What went wrong, by kind and page. */
  readonly wrong: readonly string[];
}

/** Below this there is too little to compare. */
const FEWEST_WORDS = 30;

export function judgePages(step: number): PageFigures {
  const figures = { pages: 0, falseAlarms: 0, changed: 0, missed: 0, compared: 0, found: 0 };
  const marked = truths();
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
    const content = marked.get(name)?.join('\n') ?? extractContent(html).text;
    const sentence = withOtherSentence(html, normaliseContent(content), seed);
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
  const matches = matchesAmong(originals);
  const pairs = (originals.length * (originals.length - 1)) / 2;
  const mistaken = matches.filter((pair) => !sharesText(...pair)).flat();
  const named = matches.map((pair) => {
    const [one, other] = pair.map(({ name }) => name);
    return `${sharesText(...pair) ? 'share text' : 'mistaken'}: ${one} and ${other}`;
  });
  return {
    ...{ ...figures, pairs },
    falseMatches: matches.length,
    mistaken: new Set(mistaken).size,
    wrong: [...wrong, ...named],
  };
}

interface Original {
  readonly name: string;
  readonly text: string;
  readonly simhash: Simhash;
}

/** Pairs that are near, but not the same. */
function matchesAmong(originals: readonly Original[]): [Original, Original][] {
  const index = createNearIndex();
  originals.forEach(({ simhash }, number) => index.add(simhash, number));
  const matches: [Original, Original][] = [];
  originals.forEach((one, number) => {
    for (const { note } of index.find(one.simhash)) {
      const other = originals[note]!;
      if (note > number && other.text !== one.text) matches.push([one, other]);
    }
  });
  return matches;
}

/** Of all that either says in three words, both say a good part: one is made from the other, or both from a third. */
function sharesText(one: Original, other: Original): boolean {
  const [few, many] = [triplesOf(one), triplesOf(other)].sort((a, b) => a.size - b.size) as [Set<string>, Set<string>];
  const shared = [...few].filter((triple) => many.has(triple)).length;
  return shared > SHARED_PART * (few.size + many.size - shared);
}

const SHARED_PART = 0.3;

function triplesOf({ text }: Original): Set<string> {
  const words = text.toLowerCase().match(/[\p{Script=Han}\p{Script=Kana}]|[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.slice(2).map((word, at) => `${words[at]} ${words[at + 1]} ${word}`));
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
    {
      what: 'pages taken for a copy of one with other words, or one for theirs',
      measured: percent(found.mistaken, found.compared),
      goal: 'next to none',
    },
  ];
}
