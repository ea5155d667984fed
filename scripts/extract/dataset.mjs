// The reviewed pages as a table for training: a row per block, a column a feature, the label, and what scoring needs.
// Reads the extractor's own sources, so that training sees the features that ship.
import { labelBlocks } from './labels.mjs';
import { shared } from './boost.mjs';
import { foldOf, readPages, tokens } from './truth.mjs';
import { createJiti } from 'jiti';

const jiti = createJiti(import.meta.url);
const { ELEMENTS } = await jiti.import('../../src/extract/page/elements.ts');
const { BLOCK_FEATURES, readTrainingPage } = await jiti.import('../../src/extract/model/training.ts');
const { createTreeReader } = await jiti.import('../../src/parse/tree/reader.ts');

const readTree = createTreeReader(ELEMENTS);

export function buildDataset(limit = Infinity) {
  const pages = readPages().slice(0, limit);
  const parts = pages.map((page, index) => {
    const { features, count, texts, signals, segments, standIn } = readTrainingPage(readTree(page.body), page.url);
    const words = texts.map(tokens);
    const wanted = tokens(page.main);
    return {
      id: page.id,
      index,
      kind: page.kind,
      url: page.url,
      fold: foldOf(page.url || page.id),
      wanted,
      count,
      features,
      signals,
      segments,
      words,
      standIn: standIn === null ? null : tokens(standIn.join('\n')),
      labels: labelBlocks(words, wanted),
    };
  });
  const total = parts.reduce((sum, part) => sum + part.count, 0);
  const width = BLOCK_FEATURES.length;
  const columns = Array.from({ length: width }, () => shared(Float32Array, total));
  const target = shared(Float32Array, total);
  const weight = shared(Float32Array, total);
  const group = shared(Int32Array, total);
  let row = 0;
  for (const part of parts) {
    part.first = row;
    const pageWords = part.words.reduce((sum, list) => sum + list.length, 0);
    for (let b = 0; b < part.count; b++, row++) {
      for (let f = 0; f < width; f++) columns[f][row] = part.features[f * part.count + b];
      target[row] = part.labels[b];
      group[row] = part.index;
      // What a wrong block costs in F1 depends on its share of the text; articles are many and easy.
      const size = part.wanted.length * 0.7 + pageWords * 0.3 + 1;
      weight[row] = ((part.kind === 'article' ? 100 : 160) * part.words[b].length) / size;
    }
    part.features = null;
  }
  return { parts, columns, target, weight, group, names: BLOCK_FEATURES };
}
