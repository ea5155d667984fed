// The third look, trained on all three sets of reviewed pages, and the score of what all looks choose together.
// Promise: no page is scored by a third look that saw its site, nor a page of WCXB by first looks that did.
import { binColumns, fit, generator, predict } from './boost.mjs';
import { packModels } from './pack.mjs';
import { scorePage } from './sets.mjs';
import { viewOf } from './third-dataset.mjs';
import { FOLDS } from './truth.mjs';
import { createJiti } from 'jiti';

const jiti = createJiti(import.meta.url);
const { chooseContent } = await jiti.import('../../src/extract/choose/choose-content.ts');
const { FAVOR, lookAgain } = await jiti.import('../../src/extract/choose/main-content.ts');

export const SETTINGS = {
  trees: 150,
  depth: 4,
  rate: 0.06,
  groupShare: 0.7,
  rowShare: 0.3,
  columnShare: 0.2,
  l2: 6,
  /** What a row of WCXB weighs, by the kind of its page. */
  wcxb: (kind) => (kind === 'article' ? 0.25 : 0),
  /** One model's score differs by 0.003 with its seed; the mean of some, as one model with all their trees, by less. */
  seeds: [0, 100],
};

/** The rows of all pages as one table. */
export function createTable(pages, { wcxb }) {
  let total = 0;
  const starts = pages.map(({ rows }) => (total += rows.length) - rows.length);
  const width = pages.find(({ rows }) => rows.length > 0).rows[0].length;
  const columns = Array.from({ length: width }, () => new Float32Array(total));
  const target = new Float32Array(total);
  const weight = new Float32Array(total);
  const group = new Int32Array(total);
  pages.forEach(({ set, kind, rows, target: labels, weight: weights }, index) => {
    const share = set === 'wcxb' ? wcxb(kind) : 1;
    rows.forEach((row, k) => {
      const at = starts[index] + k;
      for (let f = 0; f < width; f++) columns[f][at] = row[f];
      target[at] = labels[k];
      weight[at] = weights[k] * share;
      group[at] = index;
    });
  });
  const rowsOf = (isWanted, needsWeight) => {
    const list = [];
    pages.forEach((page, index) => {
      if (!isWanted(page)) return;
      for (let k = 0; k < page.rows.length; k++)
        if (!needsWeight || weight[starts[index] + k] > 0) list.push(starts[index] + k);
    });
    return list;
  };
  return { starts, columns, target, weight, group, rowsOf, total };
}

function fitOn({ columns, target, weight, group, rowsOf }, settings, isWanted, seed) {
  const rows = rowsOf(isWanted, true);
  const data = binColumns(columns, rows, generator(7));
  const models = settings.seeds.map((more) => fit({ data, rows, target, weight, group, settings, seed: seed + more }));
  const share = 1 / models.length;
  return {
    base: models.reduce((sum, { base }) => sum + base * share, 0),
    trees: models.flatMap(({ trees }) => trees.map((tree) => ({ ...tree, leaves: tree.leaves.map((x) => x * share) }))),
  };
}

/** What third looks that saw nothing of its fold say of each asked block, by page. */
export function lookByFolds(pages, table, settings, say) {
  const said = new Float32Array(table.total);
  for (let fold = 0; fold < FOLDS; fold++) {
    const model = fitOn(table, settings, (page) => page.fold !== fold, 11 + fold);
    predict(
      model,
      table.columns,
      table.rowsOf((page) => page.fold === fold, false),
      said,
    );
    say(`third look without fold ${fold}`);
  }
  return pages.map(({ rows }, index) => said.subarray(table.starts[index], table.starts[index] + rows.length));
}

/** The weights of a third look at all pages, packed. */
export const fitThird = (table, settings) => packModels([fitOn(table, settings, () => true, 19)]);

/** The scores of one page: `before` by two looks, then by mode of `favor`. `said` are the third look's logits. */
export function scoreLooks(page, { second, kinds, asked }, said) {
  const view = viewOf(page);
  const scored = (lines) => scorePage(page, lines);
  if (view.standIn !== null) {
    const score = scored(view.standIn.join('\n'));
    return { before: score, ...Object.fromEntries(Object.keys(FAVOR).map((mode) => [mode, score])) };
  }
  const by = (logits) => scored(view.text(chooseContent(view.segments, kinds, logits).chosen));
  const third = new Float32Array(second.length);
  asked.forEach((b, k) => {
    third[b] = said[k];
  });
  const again = Float32Array.from(second);
  lookAgain(again, third, kinds);
  return {
    before: by(Float32Array.from(second)),
    ...Object.fromEntries(Object.entries(FAVOR).map(([mode, shift]) => [mode, by(again.map((x) => x + shift))])),
  };
}
