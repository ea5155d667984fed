// `npm run measure -- NAME [NAME…]`: runs what the issues' "Must hold" lines ask to be measured, against dist/,
// prints the figures and writes them into bench/RESULTS.md. Without a name it lists them.
import { existsSync } from 'node:fs';
import { results } from './results.js';

/** What one measurement found: a label, the figure, and what it must be. */
export interface Figure {
  readonly what: string;
  readonly measured: string;
  readonly goal: string;
}

const MEASURES = {
  redis: 'the frontier in Redis by itself: commands and server CPU a page, time of a script call',
  'redis-pages': 'what a page of a real crawl on two pods costs their Redis servers: commands and CPU',
  'redis-seeding': 'a million domains from a file into Redis',
  'redis-memory': 'the frontier in Redis: bytes a URL and a domain, as slopes between 1 M and 3 M',
  'redis-long': 'a domain of a million URLs with its tail on disk; a full Bloom filter',
  pods: 'four pods on four Redis servers, 3,000 hosts: ownership, politeness, directories, max_pages',
  'pods-speed': 'pages per CPU-second of a worker over HTTPS on real pages, with and without parsers',
  'pods-kill': 'crawls on pods whose processes and servers are killed 50 times',
  faults:
    'every class of faults five times: kills at named points, disks, Redis, networks, clocks, pages, servers (an hour)',
  waves: 'one domain of 50,000 links in uneven waves at heads from 1 to 1,000, with and without kills',
  simulation: 'the frontier in Redis at a million domains and 50 million URLs, on a simulated clock',
  queue: 'the embedded queue at a million URLs, through RequestQueue',
  kill: 'a crawl of 5,000 pages killed 20 times, by one owner and by three sharing processes',
  rate: 'maxRequestsPerMinute 600, seen from the server',
  polite: 'two processes on one queue, 2,000 hosts, 1 s between two requests of a domain',
  'slow-hosts': '60 hosts that hang or drip, 30 slots: what the healthy ones lose in library, batch and pods',
  'retry-after': '429 with Retry-After: 3, seen from the server',
  memory: 'resident memory at page 5,000 and at page 20,000',
  import: 'CPU time of import "orcrawl"',
  crawl: 'a whole crawl on one core over HTTP, beside Crawlee 3.18 and the bare loop; concurrency 50',
  'crawl-ab': 'another build (BENCH_OTHER=FOLDER) beside this one, in turns, on real pages; CPU time of each round',
  'crawl-https': 'the same over HTTPS, a new connection for every page',
  'crawl-node24': 'the same on Node 24',
  many: 'batches: 100 permits against 200 ms of latency, rate limits, a container whose memory fills up',
  'many-million': 'a million URLs through one batch (some minutes)',
  content: 'storing pages as WET and WARC, and finding them again',
  amid: 'hostile pages and hosts among 40 good pages through batch, crawl, scrape, script, pods and browser, heap 512 MB',
  'browser-hostile': '1,000 pages in a browser, 5 % of them hostile, cancelled twice: results and leftovers',
  'browser-speed': 'PlaywrightCrawler beside Crawlee, and what sessions save of a browser launch a URL',
  'frontier-model':
    'every backend of the frontier beside its model, 5 million random steps each (MODEL_STEPS, MODEL_BACKENDS)',
  extraction: 'main content and markdown: speed beside Readability.js on jsdom, and html → markdown → html',
  growth:
    'every reader of pages, URLs, headers and files over hostile inputs of n, 2n and 4n (GROWTH_SHARE for a part)',
  rss: 'peak resident memory at 200 concurrent requests on the real pages',
} as const;

const names = process.argv.slice(2);
if (!existsSync(new URL('../dist/index.js', import.meta.url))) {
  console.error('dist/ is missing: run npm run build first');
  process.exit(1);
}
if (names.length === 0) {
  console.log('npm run measure -- NAME\n');
  for (const [name, what] of Object.entries(MEASURES)) console.log(`  ${name.padEnd(12)} ${what}`);
}
for (const name of names) {
  if (!(name in MEASURES)) {
    console.error(`no measurement "${name}": one of ${Object.keys(MEASURES).join(', ')}`);
    process.exit(1);
  }
  const title = MEASURES[name as keyof typeof MEASURES];
  console.log(`\n${name}: ${title}`);
  const { measure } = (await import(`./measures/${name}.ts`)) as { measure: () => Promise<Figure[]> };
  const figures = await measure();
  for (const { what, measured, goal } of figures) console.log(`  ${what}: ${measured} (${goal})`);
  const share = process.env.ORCRAWL_MEASURE_SHARE;
  const command = `${share === undefined ? '' : `ORCRAWL_MEASURE_SHARE=${share} `}npm run measure -- ${name}`;
  results.write(name, title, command, figures);
}
