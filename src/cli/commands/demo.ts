// `orcrawl demo`, also run by `npm start`: a crawl of the synthetic web from start to dataset.
// Promise: needs no network, takes seconds, can be repeated, and checks its result against the server's map.
import type { Command } from 'commander';
import { createReadStream } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { countOf } from '../../observe/figures.js';
import { normalizeUrl } from '../../request/url.js';
import type { Simweb, SimwebOptions, SimwebProcess } from '../../testing/index.js';
import { EXIT } from '../exit-codes.js';
import type { PageItem } from '../crawl/page-item.js';
import type { CrawlReport } from '../crawl/report.js';
import { programName, say, shown } from '../terminal.js';

const FOLDER = path.join('orcrawl-out', 'demo');
const SAMPLES = 3;

/** A small web with the features of a real one: latency, dead links, errors, pages that recover. */
const WEB: SimwebOptions = {
  seed: 7,
  hosts: 6,
  pagesPerHost: 50,
  branching: 6,
  crossHostLinks: 0.15,
  latencyMs: [5, 60],
  statusMix: { missing: 0.03, failing: 0.01, recovering: 0.03, recoverAfter: 1 },
};

export function addDemoCommand(program: Command, onExit: (code: number) => void): void {
  program
    .command('demo')
    .summary('crawl a built-in synthetic web (the default)')
    .description('Starts a synthetic web on loopback, crawls it with live progress and shows the result.')
    .addHelpText('after', '\nExample:\n  $ orcrawl demo\n')
    .action(async () => onExit(await demo()));
}

async function demo(): Promise<number> {
  const web = await startWeb();
  try {
    say(`A synthetic web of ${countOf(web.hosts, 'host')} runs on this machine. Crawling it from ${web.seeds()[0]}`);
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
        format: 'jsonl',
        // No delay is needed here; robots.txt is still read.
        delay: 0,
        retries: 1,
        retryDelayMs: 300,
      },
      { folder: FOLDER, mode },
      {},
    );
    say();
    for (const line of summaryLines(report)) say(line);
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

/** Shows some items and compares the stored pages with the server's. */
async function check(report: CrawlReport, web: SimwebProcess | Simweb): Promise<number> {
  const stored = new Set<string>();
  const samples: PageItem[] = [];
  for await (const line of createInterface({ input: createReadStream(report.result.path), crlfDelay: Infinity })) {
    const item = JSON.parse(line) as PageItem;
    if (item.status === 200) stored.add(normalizeUrl(item.loadedUrl));
    if (samples.length < SAMPLES && item.depth === samples.length) samples.push(item);
  }
  say('\nSome of the items:');
  for (const { url, title, text } of samples) {
    say(`  ${shown(title ?? '', 70)}\n    ${shown(url)}\n    ${shown(text.replace(/\s+/g, ' '), 100)}`);
  }
  const expected = [...web.allUrls()];
  const missing = expected.filter((url) => !stored.has(normalizeUrl(url)));
  const compared = missing.length === 0 ? 'all were stored' : `${missing.length} missing`;
  say(`\nThe server has ${countOf(expected.length, 'page')} that answer 200: ${compared}.`);
  say(`Crawl the real web: ${programName()} crawl https://example.com --max-pages 50`);
  if (report.outcome === 'interrupted') return EXIT.interrupted;
  return missing.length === 0 ? EXIT.done : EXIT.someFailed;
}
