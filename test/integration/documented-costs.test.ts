// What docs/outgrowing.md says a billion pages cost: arithmetic from bench/RESULTS.md, which may be measured again.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const page = readFileSync('docs/outgrowing.md', 'utf8');
const results = readFileSync('bench/RESULTS.md', 'utf8');

/** The numbers of the first row of a section that fits. */
function measured(section: string, row: RegExp): number[] {
  const text = results.slice(results.indexOf(`<!-- ${section} -->`), results.indexOf(`<!-- /${section} -->`));
  return row.exec(text)!.slice(1).map(Number);
}

/** The numbers of the costs' table: CPU-ms per page, and core-hours of a billion pages. */
function documented(placement: string): { cpuMs: number[]; coreHours: number[] } {
  const [, , cpu, hours] = page
    .split('\n')
    .find((line) => line.startsWith(`| ${placement}`))!
    .split('|');
  const numbersIn = (text: string) => (text.replaceAll(',', '').match(/\d+(?:\.\d+)?/g) ?? []).map(Number);
  return { cpuMs: numbersIn(cpu!), coreHours: numbersIn(hours!) };
}

const PODS = /fetcher ([\d.]+) CPU-ms.*Redis ([\d.]+) CPU-ms/;
const MS_PER_HOUR = 3_600_000;
const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

it.each([
  ['a script over HTTP', 'crawl', /orcrawl, `content`.*\| ([\d.]+) CPU-ms per page/],
  ['a script, queue', 'pods-speed', /dataset in its folder.*script ([\d.]+) CPU-ms/],
  ['a script on Postgres', 'pods-speed', /dataset in Postgres.*script ([\d.]+) CPU-ms.*Postgres ([\d.]+) CPU-ms/],
  ['embedded pods', 'pods-speed', /embedded pod.*fetcher ([\d.]+) CPU-ms/],
  ['pods on a Redis Cluster', 'pods-speed', /Redis Cluster.*fetcher ([\d.]+) CPU-ms.*six servers ([\d.]+) CPU-ms/],
  ['pods on Redis |', 'pods-speed', new RegExp(`fetcher alone.*${PODS.source}`)],
  ['pods on Redis, every handshake in full', 'pods-speed', new RegExp(`every handshake in full.*${PODS.source}`)],
  ['pods with parsers', 'pods-speed', /fetcher ([\d.]+) \+ parser ([\d.]+) CPU-ms.*Redis ([\d.]+) CPU-ms/],
])('says what a page costs: %s', (placement, section, row) => {
  const { cpuMs, coreHours } = documented(placement);
  expect(cpuMs).toEqual(measured(section, row));
  expect(coreHours).toEqual([Math.round((sum(cpuMs) * 1e9) / MS_PER_HOUR)]);
});

it('says what a page in a browser costs, and a page without in the table of choices', () => {
  const { cpuMs, coreHours } = documented('every page in a browser');
  const [first, second] = measured('browser-speed', /\| (\d+) and \d+: .*; (\d+) and \d+:/);
  expect(cpuMs).toEqual([Math.min(first!, second!), Math.max(first!, second!)]);
  expect(coreHours).toEqual(cpuMs.map((ms) => Math.round((ms * 1e9) / MS_PER_HOUR / 1_000) * 1_000));
  const [perSecond] = measured('crawl', /orcrawl, `content`.*?(\d+) pages per CPU-s/);
  expect(page).toContain(`[${perSecond} pages per CPU-second]`);
});
