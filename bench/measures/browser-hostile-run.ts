// The hostile run: many pages, one in twenty of which breaks browsers, with the batch cancelled twice on the way.
// Used small by the tests and whole by `npm run measure -- browser-hostile`.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SemaphoreDispatcher, WebCrawler } from '../../src/index.js';
import { browserProcesses } from '../../test/support/processes.js';

export interface HostileOptions {
  readonly pages: number;
  /** One page in so many is hostile. Default 20. */
  readonly oneIn?: number;
  readonly concurrency: number;
  readonly executablePath: string;
  readonly pageTimeoutMs: number;
  readonly onProgress?: (done: number) => void;
}

export interface HostileFindings {
  readonly results: number;
  readonly successes: number;
  /** How many of which kind of page with which code. */
  readonly failures: Readonly<Record<string, number>>;
  /** Pages that are not hostile and failed all the same. */
  readonly innocentFailures: number;
  /** URLs of the list without exactly one result. */
  readonly missing: number;
  /** Results that show another URL's page. */
  readonly mixedUp: number;
  readonly cancelled: number;
  readonly before: Leftovers;
  readonly after: Leftovers;
  readonly launches: number;
  /** Memory and number of all browser processes together, about every second. */
  readonly samples: readonly Sample[];
}

export interface Sample {
  /** URLs that had their result by then. */
  readonly done: number;
  /** Pages that processes share count once for each of them. */
  readonly browserRssMb: number;
  readonly processes: number;
  readonly pages: number;
}

/** What is there now; before and after must be equal. */
export interface Leftovers {
  readonly pages: number;
  readonly contexts: number;
  readonly browsers: number;
  readonly processes: number;
  readonly folders: number;
  readonly handles: number;
}

const KINDS = ['crash', 'hang', 'hang-later', 'popups', 'dialogs', 'endless', 'reset'] as const;
type Kind = (typeof KINDS)[number];

const PAGES: Readonly<Record<Exclude<Kind, 'endless' | 'reset'>, string>> = {
  crash: '<title>crash</title>',
  hang: '<title>hang</title><script>for (;;);</script>',
  'hang-later': '<title>hang later</title><script>setTimeout(() => { for (;;); }, 20)</script>',
  popups: '<title>popups</title><script>for (let i = 0; i < 8; i++) window.open("/popup/" + i)</script>',
  dialogs: '<title>dialogs</title><script>alert(1); confirm(2); prompt(3); onbeforeunload = () => "stay"</script>',
};

/** One page in so many is hostile, the kinds in turn. */
export function kindOf(index: number, oneIn: number): Kind | undefined {
  return index % oneIn === 7 % oneIn ? KINDS[Math.floor(index / oneIn) % KINDS.length] : undefined;
}

export async function hostileRun(options: HostileOptions): Promise<HostileFindings> {
  // A folder of its own for all temporary ones: others on the machine have browsers, too.
  const home = mkdtempSync(join(tmpdir(), 'orcrawl-hostile-'));
  const { TMPDIR } = process.env;
  process.env.TMPDIR = home;
  try {
    return await runWithin(home, options);
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function runWithin(home: string, options: HostileOptions): Promise<HostileFindings> {
  const server = createServer((request, response) => answer(request.url ?? '/', response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { oneIn = 20 } = options;
  const urls = Array.from(
    { length: options.pages },
    (_, index) => `${base}/${kindOf(index, oneIn) ?? 'page'}/${index}`,
  );
  const before: Leftovers = { pages: 0, contexts: 0, browsers: 0, ...leftovers(home) };
  const samples: Sample[] = [];
  let done = 0;
  const crawler = await WebCrawler.open({
    browser: { executablePath: options.executablePath },
    hooks: {
      // The one way to make Chromium's renderer crash that pages themselves do not have.
      onPage: (page, { url }) => {
        if (url.includes('/crash/'))
          page.on('domcontentloaded', () => void page.goto('chrome://crash').catch(() => undefined));
      },
    },
  });
  const gauge = setInterval(() => {
    const pids = browserProcesses();
    const { pages } = crawler.browserCounts;
    samples.push({ done, browserRssMb: rssMb(pids), processes: pids.length, pages });
  }, 1_000).unref();
  const dispatcher = () => new SemaphoreDispatcher({ permits: options.concurrency });
  const config = { pageTimeoutMs: options.pageTimeoutMs, maxRetries: 0, delayBeforeReturnMs: 50 };
  const counts = new Map<string, number>(urls.map((url) => [url, 0]));
  const failures: Record<string, number> = {};
  let [successes, mixedUp, cancelled, innocentFailures] = [0, 0, 0, 0];
  try {
    let rest = urls;
    // Left in the middle twice, and begun again with what is missing.
    for (const stopAfter of [Math.floor(options.pages / 3), Math.floor(options.pages / 3), Infinity]) {
      let seen = 0;
      for await (const result of crawler.runMany(rest, config, dispatcher())) {
        counts.set(result.url, (counts.get(result.url) ?? 0) + 1);
        options.onProgress?.(++done);
        if (result.success) successes++;
        else {
          const kind = new URL(result.url).pathname.split('/')[1]!;
          const name = `${kind} ${result.errorCode}`;
          failures[name] = (failures[name] ?? 0) + 1;
          if (kind === 'page') innocentFailures++;
        }
        if (
          result.success &&
          result.url.includes('/page/') &&
          !result.html.includes(`at ${new URL(result.url).pathname}<`)
        )
          mixedUp++;
        if (++seen >= stopAfter) {
          cancelled++;
          break;
        }
      }
      rest = urls.filter((url) => counts.get(url) === 0);
      if (rest.length === 0) break;
    }
    const { launches } = crawler.browserCounts;
    await crawler.close();
    clearInterval(gauge);
    const { pages, contexts, browsers } = crawler.browserCounts;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await settled();
    const after = { pages, contexts, browsers, ...leftovers(home) };
    const missing = [...counts.values()].filter((count) => count !== 1).length;
    const results = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const facts = { results, successes, failures, innocentFailures, missing, mixedUp, cancelled, launches };
    return { ...facts, before, after, samples };
  } finally {
    clearInterval(gauge);
    await crawler.close();
    server.closeAllConnections();
    server.close();
  }
}

function answer(url: string, response: ServerResponse): void {
  const kind = url.split('/')[1] as Kind | 'page' | 'popup';
  if (kind === 'reset') return void response.socket?.resetAndDestroy();
  response.writeHead(200, { 'content-type': 'text/html' });
  if (kind === 'endless') return void response.write('<title>endless</title><p>never ends');
  response.end(kind === 'page' || kind === 'popup' ? `<title>page</title><p>at ${url}</p>` : PAGES[kind]);
}

/** Children that ended are reaped a moment after. */
async function settled(): Promise<void> {
  for (let tries = 0; tries < 50 && browserProcesses().length > 0; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function leftovers(home: string): Pick<Leftovers, 'processes' | 'folders' | 'handles'> {
  // A thread that runs from source leaves jiti's cache of what it compiled.
  const folders = readdirSync(home).filter((name) => name !== 'jiti').length;
  const handles = process.getActiveResourcesInfo().filter((name) => /Socket|Server|Process|Pipe/.test(name)).length;
  return { processes: browserProcesses().length, folders, handles };
}

function rssMb(pids: readonly number[]): number {
  let pages = 0;
  for (const pid of pids) {
    try {
      pages += Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
    } catch {
      // Gone meanwhile.
    }
  }
  return Math.round((pages * 4096) / 1e6);
}
