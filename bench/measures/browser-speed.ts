// Pages per CPU-second of PlaywrightCrawler beside Crawlee's defaults, and what a session saves over a launch per URL.
// CPU time is that of Node and all browser processes, read from /proc (Linux).
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { findBrowser } from '../../src/fetch/browser/find-browser.js';
import { WebCrawler } from '../../src/index.js';
import type { Figure } from '../measure.js';

const CONTESTANT = fileURLToPath(new URL('../browser/contestant.mjs', import.meta.url));
const OURS = new URL('../../dist/index.js', import.meta.url).href;
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Crawlee with its own Playwright, outside the project. */
function crawleeEntry(): string {
  const folder = process.env.CRAWLEE_FOLDER ?? join(tmpdir(), 'orcrawl-bench', 'crawlee-playwright');
  if (!existsSync(join(folder, 'node_modules/@crawlee/playwright'))) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
    const args = ['i', '--no-audit', '--no-fund', '--ignore-scripts', '@crawlee/playwright@3.18', 'playwright@1.65'];
    spawnSync('npm', args, { cwd: folder, stdio: 'inherit' });
  }
  return pathToFileURL(join(folder, 'node_modules/@crawlee/playwright/index.mjs')).href;
}

interface Run {
  readonly cpuMs: number;
  readonly seen: number;
}

/** A run and how many requests the server had meanwhile. */
interface Contest extends Run {
  readonly asked: number;
}

const ROUNDS = 2;

/** Fields 14 and 15 of /proc/PID/stat count hundredths of a second. */
const TICK_MS = 10;
const SAMPLE_MS = 50;

/**
 * CPU of a contestant and all its descendants: the last reading of every process ever seen below it. What the kernel adds
 * up for parents would miss renderers, which outlive the process that would have waited for them.
 */
function run(args: readonly string[]): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CONTESTANT, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    const below = new Set([child.pid!]);
    const cpu = new Map<number, number>();
    const sampling = setInterval(() => sample(below, cpu), SAMPLE_MS);
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.on('error', reject);
    child.on('close', () => {
      clearInterval(sampling);
      const cpuMs = [...cpu.values()].reduce((sum, ticks) => sum + ticks * TICK_MS, 0);
      resolve({ cpuMs, seen: Number(/"seen":(\d+)/.exec(out)?.[1] ?? NaN) });
    });
  });
}

/** Processes are listed by number, so children mostly follow their parents; one that does not is found the next time. */
function sample(below: Set<number>, cpu: Map<number, number>): void {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const pid = Number(name);
      if (below.has(Number(fields[1]))) below.add(pid);
      if (below.has(pid)) cpu.set(pid, Number(fields[11]) + Number(fields[12]));
    } catch {
      // Gone meanwhile.
    }
  }
}

export async function measure(): Promise<Figure[]> {
  const executable = process.env.ORCRAWL_DEFAULT_BROWSER_PATH ?? findBrowser({ headless: true, hasProfile: true });
  const pages = process.env.PAGES ?? '100';
  let asked = 0;
  const server = createServer((request, response) => {
    asked++;
    const url = request.url ?? '/';
    if (url.startsWith('/a.css'))
      return response
        .writeHead(200, { 'content-type': 'text/css', 'cache-control': 'max-age=600' })
        .end('p{margin:1em}');
    if (url.startsWith('/a.js'))
      return response
        .writeHead(200, { 'content-type': 'text/javascript', 'cache-control': 'max-age=600' })
        .end('document.title += "!"');
    if (url.startsWith('/a.png')) return response.writeHead(200, { 'content-type': 'image/png' }).end(PNG);
    const body = '<p>Some text of a page with a <a href="/x">link</a>.</p>'.repeat(200);
    return response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(
        `<title>page ${url}</title><link rel="stylesheet" href="/a.css"><script src="/a.js"></script><img src="/a.png?${url}">${body}`,
      );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const contest = async (name: string, entry: string): Promise<Contest> => {
    asked = 0;
    const found = await run([name, base, pages, '4', executable, entry]);
    return { ...found, asked };
  };
  const crawlee = crawleeEntry();
  const rounds: { ours: Contest; theirs: Contest }[] = [];
  // Interleaved: what else the machine does meets both.
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({ ours: await contest('orcrawl', OURS), theirs: await contest('crawlee', crawlee) });
  }
  const sessions = await sessionSavings(base, executable);
  server.closeAllConnections();
  server.close();
  const version = existsSync('/proc/version') ? readFileSync('/proc/version', 'utf8').split(' ')[2] : '';
  return [
    {
      what: `PlaywrightCrawler, ${pages} pages at concurrency 4, CPU-ms a page of Node and all browser processes, ours and Crawlee 3.18's, ${ROUNDS} rounds in turn (Linux ${version})`,
      measured: rounds.map(({ ours, theirs }) => ratio(ours, theirs, Number(pages))).join('; '),
      goal: '≥ 1.3×',
    },
    sessions,
  ];
}

function ratio(ours: Contest, theirs: Contest, pages: number): string {
  const [a, b] = [ours.cpuMs / pages, theirs.cpuMs / pages];
  return `${a.toFixed(0)} and ${b.toFixed(0)}: ${(b / a).toFixed(2)}× (${ours.seen} and ${theirs.seen} pages seen, ${ours.asked} and ${theirs.asked} requests served)`;
}

/** The same URLs: a browser launched for each, one browser without a session, and one session. */
async function sessionSavings(base: string, executablePath: string): Promise<Figure> {
  const urls = Array.from({ length: 6 }, (_, n) => `${base}/page/${n}`);
  const config = { delayBeforeReturnMs: 0 };
  const timed = async (work: () => Promise<void>) => {
    const startMs = performance.now();
    await work();
    return (performance.now() - startMs) / urls.length;
  };
  const open = () => WebCrawler.open({ browser: { executablePath } });
  const launched = await timed(async () => {
    for (const url of urls) {
      const crawler = await open();
      await crawler.run(url, config);
      await crawler.close();
    }
  });
  const crawler = await open();
  await crawler.run(urls[0]!, { ...config, sessionId: 's' });
  const session = await timed(async () => {
    for (const url of urls) await crawler.run(url, { ...config, sessionId: 's' });
  });
  // Nothing is loaded: what a page itself costs counts as overhead too, which makes the share smaller.
  const bare = await timed(async () => {
    for (const url of urls) await crawler.run(url, { ...config, sessionId: 's', jsOnly: true, jsCode: '1' });
  });
  await crawler.close();
  const saved = (launched - session) / (launched - bare);
  return {
    what: 'ms per URL: a browser launched for each; one session; nothing loaded at all (wall clock, one run)',
    measured: `${launched.toFixed(0)}; ${session.toFixed(0)}; ${bare.toFixed(0)}: saves ${(saved * 100).toFixed(0)} % of the overhead`,
    goal: '≥ 80 %',
  };
}
