// Small scripts under Crawlee 3.18 and under this build, and what came out; the table goes into docs/from-crawlee.md.
// PARITY_ONLY=REGEXP takes some; PARITY_STORED=1 runs only ours, beside what Crawlee said when it was measured last (a
// script that is new has no such outcome, and counts as different). What differs without a purpose is printed.
import { readFileSync, writeFileSync } from 'node:fs';
import { type Compared, compareAll, installCrawlee, listScenarios, OUTCOMES, PARTS } from '../crawlee-parity/run.js';
import { typeErrors } from '../crawlee-parity/samples.js';
import type { Figure } from '../measure.js';

const DOCUMENT = new URL('../../docs/from-crawlee.md', import.meta.url);
const [BEGIN, END] = ['<!-- parity -->', '<!-- /parity -->'];

export async function measure(): Promise<Figure[]> {
  const only = process.env['PARITY_ONLY'];
  const isStored = process.env['PARITY_STORED'] === '1';
  const crawlee = isStored ? undefined : installCrawlee();
  const results = await compareAll(await listScenarios(new RegExp(only ?? '')), crawlee, (result) => {
    const { isSame, purpose, name, theirs, ours } = result;
    if (!isSame && !purpose) console.log(`  differs: ${name}\n    Crawlee ${theirs}\n    orcrawl ${ours}`);
  });
  const wrong = crawlee === undefined ? [] : typeErrors(crawlee, PARTS);
  for (const line of wrong) console.log(`  Crawlee's types: ${line}`);
  if (only === undefined) {
    writeTable(results);
    if (!isStored) writeOutcomes(results);
  }
  const same = results.filter(({ isSame }) => isSame).length;
  const unnamed = results.filter(({ isSame, purpose }) => !isSame && !purpose);
  return [
    {
      what: isStored ? "scripts (Crawlee's outcomes stored)" : 'scripts',
      measured: String(results.length),
      goal: '≥ 250',
    },
    { what: 'the same', measured: `${same} (${((100 * same) / results.length).toFixed(1)} %)`, goal: '≥ 97 %' },
    { what: 'different without a purpose', measured: String(unnamed.length), goal: '0' },
    ...(crawlee === undefined
      ? []
      : [{ what: "errors of Crawlee's types in the samples", measured: String(wrong.length), goal: '0' }]),
  ];
}

export function writeOutcomes(results: readonly Compared[]): void {
  const entries = results.map(({ name, theirs }) => [name, theirs] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(OUTCOMES, `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`);
}

export function writeTable(results: readonly Compared[]): void {
  const areas = new Map<string, Compared[]>();
  for (const result of results) areas.set(result.area, [...(areas.get(result.area) ?? []), result]);
  const rows = [...areas].sort().map(([area, list]) => {
    const same = list.filter(({ isSame }) => isSame).length;
    const purposes = new Set(list.filter(({ isSame }) => !isSame).map(({ purpose, name }) => purpose ?? `**${name}**`));
    return `| ${area} | ${list.length} | ${same} | ${[...purposes].join('; ')} |`;
  });
  const table = ['| area | scripts | the same | different |', '|---|---|---|---|', ...rows].join('\n');
  const text = readFileSync(DOCUMENT, 'utf8');
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from < 0 || to < 0) throw new Error(`docs/from-crawlee.md has no place for the table: ${BEGIN} … ${END}`);
  writeFileSync(DOCUMENT, `${text.slice(0, from + BEGIN.length)}\n${table}\n${text.slice(to)}`);
}
