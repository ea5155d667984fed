// `node scripts/train-extract.mjs [--threads N] [--folds-only] [--seed N] [--dump FILE]`: trains the extractor on ../shared/data/wcxb.
// Scores by five-fold cross-validation (sites never split), writes that to bench/EXTRACTION.md, then fits on all pages
// and writes src/extract/model/*.bin. Seeded: the same pages and code give the same weights.
import { writeFileSync } from 'node:fs';
import { serialize } from 'node:v8';
import { binColumns, generator, predict } from './extract/boost.mjs';
import { buildDataset } from './extract/dataset.mjs';
import { createFitPool } from './extract/fit-pool.mjs';
import { fitNames, packNames, readNames, tellNames } from './extract/names.mjs';
import { packModels } from './extract/pack.mjs';
import { writeReport } from './extract/report.mjs';
import { scoreParts, summary } from './extract/select.mjs';
import {
  SETTINGS,
  cleanedWeights,
  clearedTarget,
  contextColumns,
  fitKinds,
  kindsOf,
  rowsOf,
} from './extract/stages.mjs';
import { hasTruth } from './extract/truth.mjs';
import { createJiti } from 'jiti';

const jiti = createJiti(import.meta.url);
const { PAGE_KINDS } = await jiti.import('../src/extract/model/context-features.ts');
const { STRIDE } = await jiti.import('../src/extract/page/segment.ts');

const FOLDS = 5;
const option = (name) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : undefined);
const SEED = Number(option('--seed') ?? 0) * 10_000;
if (!hasTruth()) {
  console.error('../shared/data/wcxb is not here: there is nothing to train on');
  process.exit(1);
}
const started = Date.now();
const say = (text) => console.log(`${((Date.now() - started) / 1000).toFixed(0).padStart(5)} s  ${text}`);
const pool = createFitPool(Number(option('--threads') ?? 2));
const dataset = buildDataset();
const { parts, columns, target, weight, group } = dataset;
say(`${parts.length} pages, ${target.length} blocks, ${columns.length} features`);

// Kinds: `kinds[i][page]` is told by models without fold i and without the page's own.
const kinds = Array.from({ length: FOLDS }, () => new Array(parts.length));
for (let i = 0; i < FOLDS; i++) {
  for (let j = 0; j < FOLDS; j++) {
    const models = fitKinds(dataset, (part) => part.fold !== i && part.fold !== j, 5 + i * FOLDS + j);
    for (const part of parts) if (part.fold === j) kinds[i][part.index] = kindsOf(models, part.signals);
  }
}
const kindsUnseen = parts.map((part) => kinds[part.fold][part.index]);
const kindShare =
  parts.filter(
    (part) => PAGE_KINDS[kindsUnseen[part.index].indexOf(Math.max(...kindsUnseen[part.index]))] === part.kind,
  ).length / parts.length;
say(`kinds told right: ${kindShare.toFixed(3)}`);

// First look. A model without folds i and j tells fold j to the second look that is tested on fold i, and the reverse.
const data = binColumns(
  columns,
  rowsOf(dataset, () => true),
  generator(1),
);
const fitFirst = (isWanted, seed) =>
  pool.fit({
    data,
    rows: rowsOf(dataset, isWanted),
    target,
    weight,
    group,
    settings: SETTINGS.first,
    seed: SEED + seed,
  });
const logits = Array.from({ length: FOLDS }, () => new Float32Array(target.length));
const firstJobs = [];
for (let i = 0; i < FOLDS; i++) {
  for (let j = i; j < FOLDS; j++) {
    const job = fitFirst((part) => part.fold !== i && part.fold !== j, 100 + i * 10 + j).then((model) => {
      predict(
        model,
        columns,
        rowsOf(dataset, (part) => part.fold === j),
        logits[i],
      );
      if (i !== j)
        predict(
          model,
          columns,
          rowsOf(dataset, (part) => part.fold === i),
          logits[j],
        );
      say(`first look without folds ${i} and ${j}`);
    });
    firstJobs.push(job);
  }
}
const finalFirst = fitFirst(() => true, 199);

// Names, in the same way, while the threads fit the first look.
const names = readNames(parts);
const said = Array.from({ length: FOLDS }, () => new Float32Array(target.length));
for (let i = 0; i < FOLDS; i++) {
  for (let j = i; j < FOLDS; j++) {
    await new Promise(setImmediate);
    const weights = fitNames(names, dataset, (part) => part.fold !== i && part.fold !== j, kinds[i]);
    const inFold = (fold) => parts.filter((part) => part.fold === fold);
    tellNames(names, weights, inFold(j), kinds[i], said[i]);
    if (i !== j) tellNames(names, weights, inFold(i), kinds[j], said[j]);
  }
  say(`names without fold ${i}`);
}
await Promise.all(firstJobs);
/** Of each page what the models say that saw nothing of its fold. */
const unseenOf = (byFold) => {
  const out = new Float32Array(target.length);
  for (const { fold, first: from, count } of parts) out.set(byFold[fold].subarray(from, from + count), from);
  return out;
};
const unseen = unseenOf(logits);
say(`first look\n${summary(parts, scoreParts(parts, unseen))}`);
say(`names\n${summary(parts, scoreParts(parts, unseenOf(said)))}`);

// Second look: each fold by a model that saw neither it nor a first look that had seen it.
const weights = cleanedWeights(dataset, unseen);
const fitSecond = (table, cleared, isWanted, seed) => {
  const rows = rowsOf(dataset, isWanted);
  const data = binColumns(table, rows, generator(SEED + seed));
  const settings = SETTINGS.second;
  return pool.fit({ data, rows, target: cleared, weight: weights, group, settings, seed: SEED + seed });
};
const second = new Float32Array(target.length);
let fitted = 0;
await Promise.all(
  Array.from({ length: FOLDS }, async (_, i) => {
    const table = [...contextColumns(dataset, logits[i], said[i], kinds[i]), ...columns];
    const model = await fitSecond(table, clearedTarget(dataset, logits[i]), (part) => part.fold !== i, 900 + i);
    predict(
      model,
      table,
      rowsOf(dataset, (part) => part.fold === i),
      second,
    );
    const train = parts.filter((part) => part.fold !== i);
    const trainScores = scoreParts(
      train,
      predict(
        model,
        table,
        rowsOf(dataset, (part) => part.fold !== i),
      ),
    );
    fitted += trainScores.reduce((sum, { f1 }) => sum + f1, 0) / trainScores.length / FOLDS;
    say(`second look without fold ${i}`);
  }),
);
const scores = scoreParts(parts, second, kindsUnseen);
say(`second look by expected F1 alone\n${summary(parts, scoreParts(parts, second))}`);
say(`second look, cross-validated\n${summary(parts, scores)}\nF1 on pages fitted on: ${fitted.toFixed(4)}`);
if (option('--dump')) {
  // For studying the choice without fitting again: the cross-validated logits and what they are scored against.
  const kept = parts.map(({ segments: { blocks, count, words, hintLow, hintHigh, tree }, ...part }) => ({
    ...part,
    segments: {
      blocks: blocks.slice(0, count * STRIDE),
      count,
      words,
      hintLow,
      hintHigh,
      tree: {
        count: tree.count,
        parent: tree.parent.slice(0, tree.count),
        end: tree.end.slice(0, tree.count),
        tag: tree.tag.slice(0, tree.count),
      },
    },
  }));
  writeFileSync(option('--dump'), serialize({ parts: kept, first: unseen, second, kinds: kindsUnseen }));
}
if (!process.argv.includes('--folds-only')) {
  const kindModels = fitKinds(dataset, () => true, 3);
  const table = [...contextColumns(dataset, unseen, unseenOf(said), kindsUnseen), ...columns];
  const all = () => true;
  const models = [...kindModels, await finalFirst, await fitSecond(table, clearedTarget(dataset, unseen), all, 999)];
  const trees = packModels(models);
  const words = packNames(names, fitNames(names, dataset, all, kindsUnseen));
  writeWeights('weights', trees);
  writeWeights('name-weights', words);
  writeReport({ parts, scores, kindShare, fitted });
  say(`src/extract/model: weights.bin ${trees.length} bytes, name-weights.bin ${words.length} bytes`);
}
await pool.close();

function writeWeights(name, packed) {
  writeFileSync(new URL(`../src/extract/model/${name}.bin`, import.meta.url), packed);
}
