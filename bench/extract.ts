// Measures main content and markdown on real pages, stage by stage, beside Readability.js on jsdom in the same run.
// Run: node --import jiti/register bench/extract.ts [--without-readability]
// Readability and jsdom are installed into a folder of their own under the system's temporary folder, never here.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { extractContent, toMarkdown, viewPage } from '../src/crawl/extraction.js';

const FOLDERS = ['wcxb/html/', 'pages/'].map((name) => new URL(`../../shared/data/${name}`, import.meta.url));
const ROUND_MS = Number(process.env['BENCH_ROUND_MS'] ?? 1000);
const OPTIONS = { url: 'https://example.com/a/b' };

function readPages(): { source: string; pages: Buffer[] } {
  const folder = FOLDERS.find((candidate) => existsSync(candidate));
  if (folder === undefined) {
    const text =
      '<p>Some words of text, with <b>bold</b> ones and a <a href="/x">link</a>, that go on for a while.</p>';
    return {
      source: 'synthetic pages (../shared/data is not here)',
      pages: [Buffer.from(`<main>${text.repeat(500)}</main>`)],
    };
  }
  const files = readdirSync(folder).filter((file) => file.endsWith('.html.gz'));
  // Every third page keeps a run short; their mean size is that of all.
  const chosen = files.filter((_, k) => k % 3 === 0);
  return { source: folder.pathname, pages: chosen.map((file) => gunzipSync(readFileSync(new URL(file, folder)))) };
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** CPU milliseconds for one pass over the pages: the best of three rounds, as noise only ever slows. */
function measure(pages: readonly Buffer[], run: (page: Buffer) => unknown, rounds = 3): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const start = cpuMs();
    let passes = 0;
    do {
      for (const page of pages) run(page);
      passes++;
    } while (cpuMs() - start < ROUND_MS && rounds > 1);
    best = Math.min(best, (cpuMs() - start) / passes);
  }
  return best;
}

/** Readability on jsdom, or `null` when it cannot be installed. */
function loadReadability(): ((page: Buffer) => unknown) | null {
  const folder = path.join(tmpdir(), 'orcrawl-bench-readability');
  mkdirSync(folder, { recursive: true });
  if (!existsSync(path.join(folder, 'node_modules', '@mozilla', 'readability'))) {
    const packages = ['@mozilla/readability@0.6', 'jsdom@26'];
    const { status } = spawnSync('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', ...packages], {
      stdio: 'ignore',
    });
    if (status !== 0) return null;
  }
  const require = createRequire(path.join(folder, 'index.js'));
  const { JSDOM, VirtualConsole } = require('jsdom') as {
    JSDOM: new (html: string, options: object) => { window: { document: unknown; close(): void } };
    VirtualConsole: new () => object;
  };
  const { Readability } = require('@mozilla/readability') as {
    Readability: new (document: unknown) => { parse(): unknown };
  };
  return (page) => {
    const dom = new JSDOM(page.toString('utf8'), { url: OPTIONS.url, virtualConsole: new VirtualConsole() });
    try {
      return new Readability(dom.window.document).parse();
    } finally {
      dom.window.close();
    }
  };
}

const { source, pages } = readPages();
const bytes = pages.reduce((sum, page) => sum + page.length, 0);
console.log(`${pages.length} pages of ${source}, ${(bytes / 1e6).toFixed(1)} MB; Node ${process.version}; CPU time`);
const stages: [string, (page: Buffer) => unknown][] = [
  ['tree', (page) => viewPage(page, OPTIONS)],
  ['tree + blocks', (page) => viewPage(page, OPTIONS).segments],
  ['choice of main content', (page) => viewPage(page, OPTIONS).main],
  ['main content + markdown', (page) => extractContent(page, OPTIONS).markdown],
  ['every field', (page) => ({ ...extractContent(page, OPTIONS) })],
  ['whole page as markdown', (page) => toMarkdown(page, OPTIONS).raw],
];
for (const [name, run] of stages) {
  for (const page of pages) run(page);
  const ms = measure(pages, run);
  console.log(
    `${name.padEnd(26)} ${(bytes / 1e3 / ms).toFixed(0).padStart(5)} MB/s ${(ms / pages.length).toFixed(2).padStart(8)} ms/page`,
  );
}
if (!process.argv.includes('--without-readability')) {
  const readability = loadReadability();
  if (readability === null) console.log('Readability.js could not be installed: no comparison');
  else {
    const few = pages.filter((page, k) => k % 8 === 0 && page.length < 2_000_000);
    const theirs = measure(few, readability, 1) / few.length;
    const ours = measure(few, (page) => extractContent(page, OPTIONS).markdown) / few.length;
    console.log(
      `on ${few.length} of them: Readability.js on jsdom ${theirs.toFixed(1)} ms/page, main content + markdown ${ours.toFixed(2)}: ` +
        `${(theirs / ours).toFixed(0)} times (goal: 40)`,
    );
  }
}
