// What bench/extract.ts and `npm run measure -- extraction` share: real pages, CPU time, and Readability.js on jsdom.
// Readability and jsdom are installed into a folder of their own under the system's temporary folder, never here.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';

const FOLDERS = ['wcxb/html/', 'pages/'].map((name) => new URL(`../../shared/data/${name}`, import.meta.url));
const ROUND_MS = Number(process.env['BENCH_ROUND_MS'] ?? 1000);
export const OPTIONS = { url: 'https://example.com/a/b' };

/** Every third page keeps a run short; their mean size is that of all. */
export function readPages(every = 3): { source: string; pages: Buffer[] } {
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
  const chosen = files.filter((_, k) => k % every === 0);
  const source = `../shared/data/${path.basename(path.dirname(folder.pathname))}`;
  return { source, pages: chosen.map((file) => gunzipSync(readFileSync(new URL(file, folder)))) };
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** CPU milliseconds for one pass over the pages: the best round, as noise only ever slows. */
export function passMs(pages: readonly Buffer[], run: (page: Buffer) => unknown, rounds = 3): number {
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
export function loadReadability(): ((page: Buffer) => unknown) | null {
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

/** CPU milliseconds a page of Readability.js and of `ours`, on the same few pages; `null` without Readability. */
export function besideReadability(pages: readonly Buffer[], ours: (page: Buffer) => unknown) {
  const readability = loadReadability();
  if (readability === null) return null;
  const few = pages.filter((page, k) => k % 8 === 0 && page.length < 2_000_000);
  const theirsMs = passMs(few, readability, 1) / few.length;
  return { pages: few.length, theirsMs, oursMs: passMs(few, ours) / few.length };
}
