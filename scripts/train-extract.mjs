// `node scripts/train-extract.mjs [--threads N] [--folds-only] [--seed N] [--dump FILE]`: trains the extractor on ../shared/data/wcxb.
// Scores by five-fold cross-validation (sites never split), writes that to bench/EXTRACTION.md, then fits on all pages
// and writes src/extract/weights.ts. Seeded: the same pages and code give the same weights.
import { writeFileSync } from 'node:fs';
import { serialize } from 'node:v8';
import { binColumns, generator, predict } from './extract/boost.mjs';
import { buildDataset } from './extract/dataset.mjs';
import { createFitPool } from './extract/fit-pool.mjs';
import { packModels } from './extract/pack.mjs';
import { writeReport } from './extract/report.mjs';
import { scoreParts, summary } from './extract/select.mjs';
import { SETTINGS, cleanedWeights, contextColumns, fitKinds, kindsOf, rowsOf } from './extract/stages.mjs';
import { hasTruth } from './extract/truth.mjs';
import { createJiti } from 'jiti';

const jiti = createJiti(import.meta.url);
const { PAGE_KINDS } = await jiti.import('../src/extract/context-features.ts');
const { STRIDE } = await jiti.import('../src/extract/segment.ts');

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
await Promise.all(firstJobs);
const unseen = new Float32Array(target.length);
for (const part of parts)
  for (let b = 0; b < part.count; b++) unseen[part.first + b] = logits[part.fold][part.first + b];
say(`first look\n${summary(parts, scoreParts(parts, unseen))}`);

// Second look: each fold by a model that saw neither it nor a first look that had seen it.
const weights = cleanedWeights(dataset, unseen);
const fitSecond = (table, isWanted, seed) => {
  const rows = rowsOf(dataset, isWanted);
  const binned = binColumns(table, rows, generator(SEED + seed));
  return pool.fit({ data: binned, rows, target, weight: weights, group, settings: SETTINGS.second, seed: SEED + seed });
};
const second = new Float32Array(target.length);
const kindsUnseen = new Array(parts.length);
let fitted = 0;
await Promise.all(
  Array.from({ length: FOLDS }, async (_, i) => {
    const kinds = new Array(parts.length);
    for (let j = 0; j < FOLDS; j++) {
      const models = fitKinds(dataset, (part) => part.fold !== i && part.fold !== j, 5 + i * FOLDS + j);
      for (const part of parts) if (part.fold === j) kinds[part.index] = kindsOf(models, part.signals);
    }
    for (const part of parts) if (part.fold === i) kindsUnseen[part.index] = kinds[part.index];
    const table = [...contextColumns(dataset, logits[i], kinds), ...columns];
    const model = await fitSecond(table, (part) => part.fold !== i, 900 + i);
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
const kindShare =
  parts.filter(
    (part) => PAGE_KINDS[kindsUnseen[part.index].indexOf(Math.max(...kindsUnseen[part.index]))] === part.kind,
  ).length / parts.length;
say(
  `second look, cross-validated\n${summary(parts, scores)}\nkinds told right: ${kindShare.toFixed(3)}; F1 on pages fitted on: ${fitted.toFixed(4)}`,
);
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
  const table = [...contextColumns(dataset, unseen, kindsUnseen), ...columns];
  const models = [...kindModels, await finalFirst, await fitSecond(table, () => true, 999)];
  const packed = packModels(models);
  writeFileSync(
    new URL('../src/extract/weights.ts', import.meta.url),
    '// Trained weights, generated by scripts/train-extract.mjs: see docs/decisions/013-extraction.md.\n' +
      "// One literal with its line breaks escaped: joining a thousand strings overflows the linter's stack.\n" +
      `export const WEIGHTS = \`\\\n${packed.match(/.{1,100}/g).join('\\\n')}\`;\n`,
  );
  writeReport({ parts, scores, kindShare, fitted });
  say(`src/extract/weights.ts: ${packed.length} characters`);
}
await pool.close();
