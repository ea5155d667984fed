// The first two looks and the names, trained on the pages of WCXB: by five folds that never split a site, then on all.
// Promise: what is said of a page comes from models that saw nothing of its fold. Seeded: the same pages give the same.
import { binColumns, generator, predict } from './boost.mjs';
import { buildDataset } from './dataset.mjs';
import { createFitPool } from './fit-pool.mjs';
import { fitNames, packNames, readNames, tellNames } from './names.mjs';
import { packModels } from './pack.mjs';
import { scoreParts, summary } from './select.mjs';
import { FOLDS } from './truth.mjs';
import { SETTINGS, cleanedWeights, clearedTarget, contextColumns, fitKinds, kindsOf, rowsOf } from './stages.mjs';

/**
 * What the looks say of every block of WCXB, unseen, in the order of the pages: `{ ids, first, names, second, kinds }`;
 * and with `isFinal` the packed weights of a fit on all pages: `{ weights, nameWeights }`.
 */
export async function trainTwoLooks({ threads, seed: runSeed, isFinal, say }) {
  const SEED = runSeed * 10_000;
  const pool = createFitPool(threads);
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
  const finalFirst = isFinal ? fitFirst(() => true, 199) : null;

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
      say(`second look without fold ${i}`);
    }),
  );
  const scores = scoreParts(parts, second, kindsUnseen);
  say(`second look by expected F1 alone\n${summary(parts, scoreParts(parts, second))}`);
  say(`second look, cross-validated\n${summary(parts, scores)}`);
  const told = { ids: parts.map(({ id, count }) => [id, count]), first: unseen, names: unseenOf(said), second };
  const looks = { ...told, kinds: kindsUnseen };
  if (!isFinal) {
    await pool.close();
    return { looks };
  }
  const table = [...contextColumns(dataset, unseen, looks.names, kindsUnseen), ...columns];
  const all = () => true;
  const last = await fitSecond(table, clearedTarget(dataset, unseen), all, 999);
  const trees = packModels([...fitKinds(dataset, all, 3), await finalFirst, last]);
  const nameWeights = packNames(names, fitNames(names, dataset, all, kindsUnseen));
  await pool.close();
  return { looks, weights: trees, nameWeights };
}
