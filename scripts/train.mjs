// `npm run train -- [--report-only] [--threads N] [--seed N] [--cache FOLDER]`: trains the extractor on ../shared/data.
// Cross-validates all three sets by site, writes that to bench/EXTRACTION.md, fits on all pages and writes
// src/extract/model/*.bin. `--report-only` writes no weights; `--cache` keeps the first two looks, which take minutes.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { writeReport } from './extract/report.mjs';
import { SET_NAMES, hasSet, readSet, summarize } from './extract/sets.mjs';
import { looksByPage, readThirdPage } from './extract/third-dataset.mjs';
import { SETTINGS, createTable, fitThird, lookByFolds, scoreLooks } from './extract/third-look.mjs';
import { trainTwoLooks } from './extract/two-looks.mjs';
import { createJiti } from 'jiti';

const { PAGE_KINDS } = await createJiti(import.meta.url).import('../src/extract/model/context-features.ts');

const option = (name) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : undefined);
const isFinal = !process.argv.includes('--report-only');
if (!SET_NAMES.every(hasSet)) {
  console.error('../shared/data is not here, or not whole: there is nothing to train on');
  process.exit(1);
}
const started = Date.now();
const say = (text) => console.log(`${((Date.now() - started) / 1000).toFixed(0).padStart(5)} s  ${text}`);

async function twoLooks() {
  const file = option('--cache') === undefined ? null : join(option('--cache'), 'two-looks.bin');
  if (file !== null && existsSync(file)) return deserialize(readFileSync(file));
  const threads = Number(option('--threads') ?? 2);
  const trained = await trainTwoLooks({ threads, seed: Number(option('--seed') ?? 0), isFinal, say });
  if (file !== null) {
    mkdirSync(option('--cache'), { recursive: true });
    writeFileSync(file, serialize(trained));
  }
  return trained;
}

const { looks, weights, nameWeights } = await twoLooks();
if (isFinal && weights !== undefined) {
  writeWeights('weights', weights);
  writeWeights('name-weights', nameWeights);
}
// From here on the extractor's own models are asked of the other two sets: those that were just written.
const unseen = looksByPage(looks);
const sources = SET_NAMES.flatMap(readSet);
const pages = sources.map((page) => readThirdPage(page, page.set === 'wcxb' ? unseen.get(page.id) : null));
say(`${pages.length} pages of three sets`);
const table = createTable(pages, SETTINGS);
const said = lookByFolds(pages, table, SETTINGS, say);
const scores = sources.map((page, k) => scoreLooks(page, pages[k], said[k]));
for (const set of SET_NAMES) {
  const own = scores.filter((_, k) => pages[k].set === set);
  for (const mode of Object.keys(own[0])) {
    const { f1, precision, recall } = summarize(
      set,
      own.map((score) => score[mode]),
    );
    const numbers = `F1 ${f1.toFixed(4)}  P ${precision.toFixed(4)}  R ${recall.toFixed(4)}`;
    console.log(`${set.padEnd(9)} ${mode.padEnd(10)} ${numbers}`);
  }
}
const wcxb = pages.filter(({ set }) => set === 'wcxb');
const isTold = ({ kind, kinds }) => PAGE_KINDS[kinds.indexOf(Math.max(...kinds))] === kind;
writeReport({ pages, scores, told: wcxb.filter(isTold).length / wcxb.length });
if (isFinal) writeWeights('third-weights', fitThird(table, SETTINGS));

function writeWeights(name, packed) {
  writeFileSync(new URL(`../src/extract/model/${name}.bin`, import.meta.url), packed);
  say(`src/extract/model/${name}.bin: ${packed.length} bytes`);
}
