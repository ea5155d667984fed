// A table for the third look: the blocks that the second look may keep, of all three sets, with what each set says of them.
// Blocks of which a set says nothing are left out: `segments` lists a few texts of each page only.
import { labelBlocks } from './labels.mjs';
import { foldOf, tokens } from './truth.mjs';
import { createJiti } from 'jiti';

const jiti = createJiti(import.meta.url);
const { viewPage } = await jiti.import('../../src/crawl/page/extraction.ts');
const { lookTwice } = await jiti.import('../../src/extract/choose/main-content.ts');
const { CONTEXT_COUNT, contextFeatures } = await jiti.import('../../src/extract/model/context-features.ts');
const { FEATURE_COUNT, blockFeatures } = await jiti.import('../../src/extract/model/features.ts');
const { ASK_FROM, THIRD_COUNT, thirdFeatures } = await jiti.import('../../src/extract/model/third-features.ts');

const TWO_LOOKS = CONTEXT_COUNT + FEATURE_COUNT;
const WIDTH = TWO_LOOKS + THIRD_COUNT;

const onOneLine = (text) => text.replace(/\s+/g, ' ').trim();

/** The page as the extractor sees it, with the options that it has by default. */
export const viewOf = (page) => viewPage(page.body, { url: page.url || null });

/** Cuts what {@link trainTwoLooks} returned into what was said of each page, by its id. */
export function looksByPage({ ids, first, names, second, kinds }) {
  let from = 0;
  return new Map(
    ids.map(([id, count], k) => {
      const own = (list) => list.slice(from, from + count);
      const said = { first: own(first), names: own(names), second: own(second), kinds: kinds[k] };
      from += count;
      return [id, said];
    }),
  );
}

/** As the extractor's two looks, with what models said that have not seen the page. */
function tableOf({ segments, head }, { first, names, second, kinds }) {
  const { count } = segments;
  if (second.length !== count) throw new Error('the page is cut otherwise than when the looks were trained');
  const table = new Float32Array(WIDTH * count);
  blockFeatures(segments, head, table.subarray(CONTEXT_COUNT * count, TWO_LOOKS * count));
  contextFeatures(segments, first, names, kinds, table.subarray(0, CONTEXT_COUNT * count));
  thirdFeatures(segments, second, table.subarray(TWO_LOOKS * count));
  return { table, second, kinds, width: WIDTH };
}

/**
 * One page: rows of asked blocks with their features, targets and weights, and what scoring needs. `looks` are those of
 * models that have not seen the page; without them the shipped models are asked.
 */
export function readThirdPage(page, looks = null) {
  const view = viewOf(page);
  const { segments } = view;
  const { table, second, kinds, width } =
    looks === null ? lookTwice(segments, view.head, view.url) : tableOf(view, looks);
  const { count } = segments;
  const texts = Array.from({ length: count }, (_, b) => view.blockText(b));
  const asked = [];
  for (let b = 0; b < count; b++) if (second[b] > ASK_FROM) asked.push(b);
  const { target, weight } = page.set === 'segments' ? bySegments(page, texts, asked) : byWords(page, texts, asked);
  const rows = asked.map((b) => Float32Array.from({ length: width }, (_, f) => table[f * count + b]));
  const { set, id, kind, language } = page;
  const fold = foldOf(page.url || page.id);
  return { set, id, kind, language, fold, asked, rows, target, weight, second: second.slice(), kinds };
}

function byWords(page, texts, asked) {
  const words = texts.map(tokens);
  const wanted = tokens(page.main);
  const labels = labelBlocks(words, wanted);
  const size = Math.max(30, wanted.length);
  return {
    target: asked.map((b) => labels[b]),
    // A short block counts for what it is to a reader, a long one for its words.
    weight: asked.map((b) => Math.min(3, (60 * words[b].length) / size + 0.15)),
  };
}

function bySegments(page, texts, asked) {
  const lines = texts.map(onOneLine);
  const target = new Array(asked.length).fill(0.5);
  const weight = new Array(asked.length).fill(0);
  const mark = (segment, value) => {
    const wanted = onOneLine(segment);
    asked.forEach((b, k) => {
      if (wanted === '' || !lines[b].includes(wanted)) return;
      // A short text within a long one says little of it.
      if (value === 0 && lines[b].length > 6 * wanted.length + 80) return;
      if (weight[k] > 0 && target[k] !== value) weight[k] = 0;
      else {
        target[k] = value;
        weight[k] = 1;
      }
    });
  };
  for (const segment of page.with_) mark(segment, 1);
  for (const segment of page.without) mark(segment, 0);
  return { target, weight };
}
