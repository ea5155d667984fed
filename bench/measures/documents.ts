// PDF files of five producers, made here from sources whose words, headings and tables are known, and read again.
// A producer that is not installed is named and left out: Chromium, LibreOffice (soffice), LaTeX (pdflatex with lmodern),
// groff, WeasyPrint.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { convertDocument } from '../../src/documents/convert.js';
import { findBrowser } from '../../src/fetch/browser/find-browser.js';
import { asHtml, HTML_STYLES, sourceDocument } from '../../test/support/pdf-corpus.js';
import { type Made, PRODUCERS } from '../../test/support/pdf-producers.js';
import { scoreDocument } from '../../test/support/pdf-score.js';
import type { Figure } from '../measure.js';

// Through the TypeScript loader it does not load.
const { chromium } = createRequire(import.meta.url)('playwright-core') as typeof import('playwright-core');

export async function measure(): Promise<Figure[]> {
  const folder = process.env.DOCUMENTS_DIR ?? mkdtempSync(join(tmpdir(), 'orcrawl-documents-'));
  const made: Made[] = [];
  const figures: Figure[] = [];
  const producers: Record<string, (folder: string) => Made[] | Promise<Made[]>> = { Chromium: printAll };
  for (const { name, make, count } of PRODUCERS) producers[name] = (into) => make(into, count);
  for (const [producer, make] of Object.entries(producers)) {
    try {
      made.push(...(await make(folder)));
    } catch (error) {
      figures.push({
        what: producer,
        measured: 'left out',
        goal: (error as Error).message.split('\n', 1)[0]!.slice(0, 120),
      });
    }
  }
  const scores = new Map<string, { words: number[]; headings: number[]; tables: number[] }>();
  for (const { producer, name, source, file } of made) {
    const { html } = await convertDocument(readFileSync(file), 'pdf', {});
    const score = scoreDocument(source, html);
    const all = scores.get(producer) ?? { words: [], headings: [], tables: [] };
    all.words.push(score.words);
    all.headings.push(score.headings);
    all.tables.push(score.tables);
    scores.set(producer, all);
    const [words, headings, tables] = [score.words, score.headings, score.tables].map((share) => share.toFixed(3));
    console.log(`    ${producer} ${name}: words ${words}, headings ${headings}, tables ${tables}`);
  }
  for (const [producer, { words, headings, tables }] of scores) {
    figures.push({
      what: `${producer}, ${words.length} files`,
      measured: `words in order ${percent(words)}, headings ${percent(headings)}, table cells ${percent(tables)}`,
      goal: '≥ 99 %, ≥ 90 %, ≥ 90 %',
    });
  }
  const of = (name: 'words' | 'headings' | 'tables') => [...scores.values()].flatMap((all) => all[name]);
  figures.push({
    what: `all ${made.length} files`,
    measured: `words in order ${percent(of('words'))} (least ${(Math.min(...of('words')) * 100).toFixed(1)} %), headings ${percent(of('headings'))}, table cells ${percent(of('tables'))}`,
    goal: '≥ 30 files of three producers; ≥ 99 %, ≥ 90 %, ≥ 90 %',
  });
  if (process.env.DOCUMENTS_DIR === undefined) rmSync(folder, { recursive: true, force: true });
  return figures;
}

function percent(shares: readonly number[]): string {
  return `${((shares.reduce((sum, share) => sum + share, 0) / shares.length) * 100).toFixed(2)} %`;
}

async function printAll(folder: string): Promise<Made[]> {
  const browser = await chromium.launch({
    executablePath: findBrowser({ headless: true, hasProfile: false }),
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  const made: Made[] = [];
  try {
    const page = await browser.newPage();
    let seed = 0;
    for (const [style, css] of Object.entries(HTML_STYLES)) {
      for (let n = 0; n < 3; n++, seed++) {
        const source = sourceDocument(seed);
        const file = join(folder, `chromium-${style}-${seed}.pdf`);
        await page.setContent(asHtml(source, css));
        writeFileSync(file, await page.pdf({ format: n === 1 ? 'Letter' : 'A4', landscape: n === 2, tagged: n === 1 }));
        made.push({ producer: 'Chromium', name: `${style}-${seed}`, source, file });
      }
    }
  } finally {
    await browser.close();
  }
  return made;
}
