// `npm run score`: F1 of extractContent over ../shared/data/wcxb, by kind, beside the cross-validated figures that ship.
// The weights were fitted on these pages, so the first column flatters; `npm run train -- --report-only` measures what
// counts, on all three sets. Run after npm run build.
import { readFileSync } from 'node:fs';
import { compare, hasTruth, readPages, tokens } from './extract/truth.mjs';

if (!hasTruth()) {
  console.log('../shared/data/wcxb is not here: nothing to score');
  process.exit(0);
}
const { extractContent } = await import('../dist/index.js');
const committed = new Map(
  [
    ...readFileSync(new URL('../bench/EXTRACTION.md', import.meta.url), 'utf8').matchAll(
      /^\| \**(\w+)\** +\| +\d+ +\| +([\d.]+) /gm,
    ),
  ].map(([, kind, f1]) => [kind === 'wcxb' ? 'all' : kind, f1]),
);
const byKind = new Map();
let right = 0;
const pages = readPages();
const found = { snippets: 0, present: 0, unwanted: 0, absent: 0 };
for (const { kind, url, body, main, with_: wanted, without } of pages) {
  const content = extractContent(body, { url: url || null });
  const score = compare(tokens(content.text), tokens(main));
  for (const name of [kind, 'all']) byKind.set(name, [...(byKind.get(name) ?? []), score]);
  if (content.kind === kind) right++;
  const text = tokens(content.text).join(' ');
  for (const snippet of wanted ?? []) {
    found.snippets++;
    if (text.includes(tokens(snippet).join(' '))) found.present++;
  }
  for (const snippet of without ?? []) {
    found.unwanted++;
    if (!text.includes(tokens(snippet).join(' '))) found.absent++;
  }
}
console.log('kind            pages   F1      precision  recall   cross-validated');
for (const [kind, scores] of [...byKind].sort(([a], [b]) => (a === 'all') - (b === 'all') || a.localeCompare(b))) {
  const mean = (field) => (scores.reduce((sum, score) => sum + score[field], 0) / scores.length).toFixed(4);
  console.log(
    `${kind.padEnd(15)} ${String(scores.length).padStart(5)}   ${mean('f1')}  ${mean('precision')}     ${mean('recall')}   ${committed.get(kind) ?? '-'}`,
  );
}
console.log(`kinds told right: ${((100 * right) / pages.length).toFixed(1)} %`);
const share = (part, whole) => ((100 * part) / Math.max(1, whole)).toFixed(1);
console.log(
  `snippets that must be there: ${share(found.present, found.snippets)} %; that must not: ${share(found.absent, found.unwanted)} % absent`,
);
