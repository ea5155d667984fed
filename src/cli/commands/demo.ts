// `orcrawl demo`, also run by `npm start`: a crawl of the synthetic web from start to files of markdown.
// Promise: needs no network, takes seconds, can be repeated, leaves everything in one folder that it names, and checks
// its result against the server's map.
import type { Command } from 'commander';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { countOf } from '../../observe/figures.js';
import { normalizeUrl } from '../../request/url.js';
import type { Simweb, SimwebOptions, SimwebProcess } from '../../testing/index.js';
import { EXIT } from '../exit-codes.js';
import type { CrawlReport } from '../crawl/report.js';
import { programName, quoted, say, saySummary, shown } from '../terminal.js';

const FOLDER = path.join('orcrawl-out', 'demo');
/** Lines of the page that is shown. */
const SAMPLE_LINES = 10;
/** Where a line of it is cut, on terminals that are not narrower. */
const SAMPLE_WIDTH = 100;

/** A small web with the features of a real one: latency, dead links, errors, pages that recover. */
const WEB: SimwebOptions = {
  seed: 7,
  hosts: 6,
  pagesPerHost: 20,
  branching: 6,
  crossHostLinks: 0.15,
  latencyMs: [5, 60],
  statusMix: { missing: 0.03, failing: 0.01, recovering: 0.03, recoverAfter: 1 },
};

export function addDemoCommand(program: Command, onExit: (code: number) => void): void {
  program
    .command('demo')
    .summary('crawl a built-in synthetic web')
    .description('Starts a synthetic web on loopback, crawls it with live progress and shows the result.')
    .addHelpText('after', `\nExample:\n  $ orcrawl demo      writes to ${FOLDER}\n`)
    .action(async () => onExit(await demo()));
}

async function demo(): Promise<number> {
  const web = await startWeb();
  try {
    say(`A synthetic web of ${countOf(web.hosts, 'host')} runs on this machine. Crawling it from ${web.seeds()[0]}`);
    say(`Everything is written to ${FOLDER}${path.sep}`);
    const { runCrawl } = await import('../crawl/run.js');
    const { summaryLines } = await import('../crawl/report.js');
    const { chooseStart } = await import('../crawl/folder.js');
    const mode = await chooseStart(FOLDER, { fresh: true });
    const report = await runCrawl(
      {
        urls: web.seeds(),
        strategy: 'all',
        // Loopback only: the synthetic web is on this machine.
        allowPrivate: ['127.0.0.0/8'],
        proxy: false,
        format: 'markdown',
        inFolder: true,
        // No delay is needed here; robots.txt is still read.
        delay: 0,
        retries: 1,
        retryDelayMs: 300,
      },
      { folder: FOLDER, mode },
      {},
    );
    say();
    for (const line of summaryLines(report)) saySummary(line);
    return await check(report, web);
  } finally {
    await web.close();
  }
}

/** In its own process, like a real server; where processes cannot be started, in this one. */
async function startWeb(): Promise<SimwebProcess | Simweb> {
  const testing = await import('../../testing/index.js');
  try {
    return await testing.startSimwebProcess(WEB);
  } catch {
    return await testing.Simweb.start(WEB);
  }
}

interface IndexLine {
  readonly url: string;
  readonly title: string | null;
  readonly file: string | null;
}

/** Shows a page and compares the stored ones with the server's. */
async function check(report: CrawlReport, web: SimwebProcess | Simweb): Promise<number> {
  const pages = path.dirname(report.result.path);
  const index = path.join(pages, 'index.jsonl');
  const stored = new Set<string>();
  let sample: (IndexLine & { file: string }) | undefined;
  const started = new Set(web.seeds());
  for await (const line of createInterface({ input: createReadStream(index), crlfDelay: Infinity })) {
    const entry = JSON.parse(line) as IndexLine;
    if (entry.file === null) continue;
    stored.add(normalizeUrl(entry.url));
    if (!sample && !started.has(entry.url)) sample = { ...entry, file: entry.file };
  }
  if (sample) await showPage(path.join(pages, sample.file), sample.url);
  const expected = [...web.allUrls()];
  const missing = expected.filter((url) => !stored.has(normalizeUrl(url)));
  const compared = missing.length === 0 ? 'all were stored' : `${missing.length} missing`;
  say(`\nThe server has ${countOf(expected.length, 'page')} that answer 200: ${compared}.`);
  say(`All of it is in ${FOLDER}${path.sep}: the pages as markdown in ${quoted(pages)}.`);
  say(`Crawl the real web: ${programName()} crawl https://example.com --max-pages 50`);
  if (report.outcome === 'interrupted') return EXIT.interrupted;
  return missing.length === 0 ? EXIT.done : EXIT.someFailed;
}

async function showPage(file: string, url: string): Promise<void> {
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  say(`\nThe main content of ${shown(url)} as markdown:\n`);
  const width = Math.max(20, Math.min(SAMPLE_WIDTH, (process.stdout.columns || Infinity) - 4));
  for (const line of lines.slice(0, SAMPLE_LINES)) {
    const tell = line.startsWith('#') ? saySummary : say;
    tell(line === '' ? '' : `  ${shown(line, width)}`);
  }
  if (lines.length > SAMPLE_LINES) say(`  … ${countOf(lines.length - SAMPLE_LINES, 'more line')} in ${file}`);
}
