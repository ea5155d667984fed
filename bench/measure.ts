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

/** What a file of `measures/` exports. */
interface Measure {
  readonly measure: () => Promise<Figure[]>;
  /** Only some rows are measured this time; the others stay in the table. */
  readonly isPart?: boolean;
}

const MEASURES = {
  redis: 'the frontier in Redis by itself: commands and server CPU per page, time of a script call',
  'redis-pages': 'what a page of a real crawl on two pods costs their Redis servers: commands and CPU',
  'redis-seeding': 'a million domains from a file into Redis',
  'redis-memory': 'the frontier in Redis: bytes per URL and per domain, as slopes between 1 M and 3 M',
  'redis-long': 'a domain of a million URLs with its tail on disk; a full Bloom filter',
  postgres:
    'the frontier in Postgres by itself: URLs added, leased and settled per second (POSTGRES_URLS, POSTGRES_ROUNDS)',
  pods: 'four pods on four Redis servers, 3,000 hosts: ownership, politeness, directories, max_pages',
  'pods-speed':
    'CPU time per page over HTTPS on real pages: pods on Redis, on a cluster and embedded, with and without parsers; scripts (PODS_SPEED)',
  'pods-ramp':
    '1 to 16 pods on this machine, embedded, on Redis and on a cluster: CPU per page, links between pods, connections, memory (RAMP_STORES, RAMP_PODS, RAMP_PAGES)',
  cluster:
    'a crawl on a Redis Cluster of six servers, 30 masters killed, 10 slots moved, one lost in its move (CLUSTER_PAGES, CLUSTER_KILLS, CLUSTER_MOVES, CLUSTER_PARTS)',
  machines:
    'a crawl on three machines in network namespaces: cuts, one-way cuts, stops, kills and moves (MACHINES_FAULTS, by default 20; MACHINES_HOSTS, MACHINES_PAGES)',
  s3: 'a crawl on pods into an object store that fails, with kills: every page read back, no object twice (S3_PAGES)',
  'pods-kill': 'crawls on pods whose processes and servers are killed 50 times',
  faults:
    'every class of faults five times: kills at named points, disks, Redis, networks, clocks, pages, servers (an hour)',
  waves: 'one domain of 50,000 links in uneven waves at heads from 1 to 1,000, with and without kills',
  'serve-kills': '20 servers killed amid ten jobs with webhooks: one again and again, and three on one Redis in turn',
  'serve-load':
    'a server with 200 clients beside a crawl of 10,000 pages, 10,000 silent connections, and what a scrape costs',
  console:
    'the console in Chromium beside 1,000 pages per second, 100,000 pages and 10,000 domains (CONSOLE_SECS), and what it costs a crawl',
  simulation: 'the frontier in Redis at a million domains and 50 million URLs, on a simulated clock',
  queue: 'the embedded queue at a million URLs, through RequestQueue',
  kill: 'a crawl of 5,000 pages killed 20 times, by one owner and by three sharing processes',
  'best-first': 'pages fetched until 90 % of those about a query are there: best first beside breadth first',
  rate: 'maxRequestsPerMinute 600, seen from the server',
  polite: 'two processes on one queue, 2,000 hosts, 1 s between two requests of a domain',
  'slow-hosts': '60 hosts that hang or drip, 30 slots: what the healthy ones lose in library, batch and pods',
  'retry-after': '429 with Retry-After: 3, seen from the server',
  memory: 'resident memory at page 5,000 and at page 20,000',
  import: 'CPU time of import "orcrawl"',
  crawl: 'a whole crawl on one core over HTTP, beside Crawlee 3.18 and the bare loop; concurrency 50',
  'crawlee-parity': 'small scripts, one feature each, under Crawlee 3.18 and this build: what came out (some minutes)',
  'crawl-ab': 'another build (BENCH_OTHER=FOLDER) beside this one, in turns, on real pages; CPU time of each round',
  'crawl-https': 'the same over HTTPS, a new connection for every page',
  'crawl-node24': 'the same on Node 24',
  many: 'batches: 100 permits against 200 ms of latency, rate limits, a container whose memory fills up',
  'many-million': 'a million URLs through one batch (some minutes)',
  content: 'storing pages as WET and WARC, and finding them again',
  parquet:
    'a dataset of a million items as Parquet: rows per CPU-second, memory, and what DuckDB reads (PARQUET_ITEMS)',
  amid: 'hostile pages and hosts among 40 good pages through batch, crawl, scrape, script, pods and browser, heap 512 MB',
  'browser-hostile': '1,000 pages in a browser, 5 % of them hostile, cancelled twice: results and leftovers',
  'browser-speed': 'PlaywrightCrawler beside Crawlee, and what sessions save of a browser launch a URL',
  'frontier-model':
    'every backend of the frontier beside its model, 5 million random steps each (MODEL_STEPS, MODEL_BACKENDS)',
  extraction: 'main content and markdown: speed beside Readability.js on jsdom, and html → markdown → html',
  metadata: 'author, dates and language of pages that state them in JSON-LD, found without it',
  documents:
    'PDF files of Chromium, LibreOffice, LaTeX, groff and WeasyPrint (those installed): words in order, headings, tables',
  growth:
    'every reader of pages, URLs, headers and files over hostile inputs of n, 2n and 4n (GROWTH_SHARE, GROWTH_SEED, GROWTH_PARTS)',
  'fresh-schedule':
    'the schedule of `orcrawl watch` on a simulated clock, beside the optimum and uniform visits (FRESH_PAGES, FRESH_PARTS)',
  'fresh-pages': 'changes and near copies of the given real pages: false alarms, misses, recall (FRESH_STEP)',
  'fresh-changes':
    'furniture and marked sentences changed on real pages, in eight languages (FRESH_STEP, FRESH_OFFSET)',
  'fresh-kills':
    '`orcrawl watch`, alone and on pods, killed 60 times while pages change: each change told once, no visit lost or early (FRESH_KILLS, FRESH_WAYS)',
  'fresh-redis': 'what remembering pages costs Redis, in a crawl, in a second one and in a watch (FRESH_PAGES)',
  'fresh-sitemap': 'the sitemaps of a million pages, streamed into hints: memory and CPU (FRESH_PAGES)',
  'fresh-index':
    'near duplicates and the page memory at ten million pages: bytes, lookups, opening (FRESH_PAGES, FRESH_PARTS)',
  'fresh-update': 'crawl --update twice over an unchanged web of 10,000 pages: CPU, bytes, report (FRESH_PAGES)',
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
  const { measure, isPart = false } = (await import(`./measures/${name}.ts`)) as Measure;
  const figures = await measure();
  for (const { what, measured, goal } of figures) console.log(`  ${what}: ${measured} (${goal})`);
  const share = process.env.ORCRAWL_MEASURE_SHARE;
  const command = `${share === undefined ? '' : `ORCRAWL_MEASURE_SHARE=${share} `}npm run measure -- ${name}`;
  results.write(name, title, command, figures, isPart);
}
