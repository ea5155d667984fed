// Measures the byte scanner beside htmlparser2, parse5 and cheerio on the same pages in the same run.
// Run: node --import jiti/register bench/scan.ts   (reads dist/ when built, else src/)
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { loadavg } from 'node:os';
import { gunzipSync } from 'node:zlib';
import { load } from 'cheerio';
import { Parser } from 'htmlparser2';
import { parse } from 'parse5';
import type * as Scanner from '../src/parse/scan/scan.js';

const PAGES = new URL('../../shared/data/pages/', import.meta.url);
/** Each contender works at least this long per round. */
const ROUND_MS = Number(process.env['BENCH_ROUND_MS'] ?? 500);
/** Contenders take turns, so that a busy spell of the machine meets all of them; the best round counts, as noise only slows. */
const ROUNDS = 5;

interface Contender {
  readonly name: string;
  run(page: Buffer): number;
}

function syntheticPage(index: number): Buffer {
  const rows = Array.from(
    { length: 400 },
    (_, k) => `<div class="card item-${k}"><h3><a href="/p/${index}/${k}?a=1&amp;b=2" rel="nofollow">Item ${k}</a></h3>
      <p>Some words of text &mdash; with <b>bold</b> ones and a price of &euro;${k}.</p></div>`,
  );
  const script = `<script>${'var a=1;if(a<2){f(a)};'.repeat(2000)}</script>`;
  return Buffer.from(`<!doctype html><html lang="en"><title>Page ${index}</title>${script}${rows.join('\n')}</html>`);
}

function readPages(): { source: string; pages: Buffer[] } {
  if (!existsSync(PAGES)) {
    return {
      source: 'synthetic pages (../shared/data/pages is not here)',
      pages: Array.from({ length: 40 }, (_, k) => syntheticPage(k)),
    };
  }
  const files = readdirSync(PAGES).filter((file) => file.endsWith('.html.gz'));
  return { source: '../shared/data/pages', pages: files.map((file) => gunzipSync(readFileSync(new URL(file, PAGES)))) };
}

async function loadScanner(): Promise<typeof Scanner> {
  const built = new URL('../dist/index.js', import.meta.url);
  if (existsSync(built)) return (await import(built.href)) as typeof Scanner;
  console.log('dist/ is not built: what follows measures the TypeScript loader more than the scanner');
  return import('../src/parse/scan/scan.js');
}

function saxLinksAndText(page: Buffer): number {
  let links = 0;
  let hidden = 0;
  const text: string[] = [];
  const parser = new Parser({
    onopentag(name, attributes) {
      if (name === 'script' || name === 'style') hidden++;
      if (name === 'a' && attributes['href'] !== undefined) links++;
    },
    ontext(data) {
      if (hidden === 0) text.push(data);
    },
    onclosetag(name) {
      if (name === 'script' || name === 'style') hidden--;
    },
  });
  parser.end(page.toString('utf8'));
  return links + text.join('').length;
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** CPU milliseconds for one pass over all pages, after one that pays for what the contender before left behind. */
function measure({ run }: Contender, pages: readonly Buffer[]): number {
  for (const page of pages) run(page);
  const start = cpuMs();
  let passes = 0;
  do {
    for (const page of pages) run(page);
    passes++;
  } while (cpuMs() - start < ROUND_MS);
  return (cpuMs() - start) / passes;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}

const { source, pages } = readPages();
const { scanPage } = await loadScanner();
const options = { url: 'https://example.com/a/b', contentType: 'text/html; charset=utf-8' };
const everything = (page: Buffer): number => {
  const scanned = scanPage(page, options);
  const { title, text, links, canonical, robots, description, language, openGraph, jsonLd, charset } = scanned;
  let touched = [title, text, canonical, robots, description, language, openGraph, jsonLd, charset].length;
  for (const link of links) touched += link.url.length + link.text.length + link.rel.length;
  return touched;
};
const contenders: Contender[] = [
  { name: 'scanPage, every property', run: everything },
  {
    name: 'scanPage, links + text + title',
    run: (page) => {
      const { links, text, title } = scanPage(page, options);
      return links.length + text.length + title.length;
    },
  },
  { name: 'scanPage, links only', run: (page) => scanPage(page, options).links.length },
  { name: 'htmlparser2 SAX, links + text', run: saxLinksAndText },
  { name: 'parse5 tree', run: (page) => parse(page.toString('utf8')).childNodes.length },
  {
    name: 'cheerio on htmlparser2',
    run: (page) => {
      const $ = load(page.toString('utf8'), { xml: { xmlMode: false, decodeEntities: true } });
      return $('a[href]').length + $.root().text().length;
    },
  },
  {
    name: 'cheerio on parse5',
    run: (page) => {
      const $ = load(page.toString('utf8'));
      return $('a[href]').length + $.root().text().length;
    },
  },
];
const only = process.argv.find((argument) => argument.startsWith('--only='))?.slice(7);
const totalBytes = pages.reduce((sum, page) => sum + page.length, 0);
const chosen = contenders.filter(({ name }) => only === undefined || name.includes(only));
for (const { run } of chosen) for (const page of pages) run(page);
const rounds = Array.from({ length: ROUNDS }, () => chosen.map((contender) => measure(contender, pages)));
console.log(
  `${pages.length} pages of ${source}, ${(totalBytes / 1e6).toFixed(1)} MB; Node ${process.version}; CPU time, ` +
    `best of ${ROUNDS} rounds in turn, load ${loadavg()[0]!.toFixed(1)}; ratio: median of the rounds`,
);
for (const [k, { name }] of chosen.entries()) {
  const best = Math.min(...rounds.map((round) => round[k]!));
  const mbPerSecond = (totalBytes / 1e3 / best).toFixed(0).padStart(5);
  const perPage = (best / pages.length).toFixed(3).padStart(7);
  const ratio = median(rounds.map((round) => round[k]! / round[0]!));
  console.log(`${name.padEnd(32)} ${mbPerSecond} MB/s ${perPage} ms/page  ${ratio.toFixed(1).padStart(5)}x`);
}
