// Writes bench/EXTRACTION.md: the cross-validated scores of the weights that ship.
import { writeFileSync } from 'node:fs';

const GOALS = {
  article: 0.945,
  documentation: 0.94,
  service: 0.85,
  forum: 0.83,
  collection: 0.74,
  listing: 0.73,
  product: 0.68,
};

export function writeReport({ parts, scores, kindShare, fitted }) {
  const rows = [...Object.keys(GOALS), 'all'].map((kind) => {
    const list = scores.filter((_, k) => kind === 'all' || parts[k].kind === kind);
    const mean = (field) => (list.reduce((sum, score) => sum + score[field], 0) / list.length).toFixed(4);
    return `| ${kind} | ${list.length} | ${mean('f1')} | ${mean('precision')} | ${mean('recall')} | ${GOALS[kind] ?? 0.875} |`;
  });
  writeFileSync(
    new URL('../../bench/EXTRACTION.md', import.meta.url),
    `# Extraction

Bag-of-words F1 on the ${parts.length} pages of \`../shared/data/wcxb\`, by five-fold cross-validation: no page is scored by a model
that saw it or another page of its site. Written by \`node scripts/train-extract.mjs\`, which also writes the weights;
\`npm run score\` scores the shipped weights, which have seen these pages, and compares with this table.

| Kind | Pages | F1 | Precision | Recall | Goal |
|---|---|---|---|---|---|
${rows.join('\n')}

F1 of the same models on the pages they were fitted on: ${fitted.toFixed(4)}. Kinds told right: ${(kindShare * 100).toFixed(1)} %.
`,
  );
}
