// `npm run measure -- s3`: a crawl on pods whose pages and items go to an object store that refuses, slows down and cuts
// connections, while fetchers are killed and the orchestrator dies at each step of moving a segment (S3_PAGES for less).
// Then every page is read back. The server of test/support keeps S3's rules and counts how often an object was written.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KILL_POINTS } from '../../src/base/kill-points.js';
import { findPage } from '../../src/store/content/reading.js';
import { workersOf } from '../../test/support/pods-crawl.js';
import { type S3Request, startS3, type Trouble } from '../../test/support/s3-server.js';
import type { Figure } from '../measure.js';

const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const PAGES = Number(process.env.S3_PAGES ?? 10_000);
const HOSTS = 40;
/** Fetchers killed in all: each leaves segments that are moved while the crawl goes on. */
const FETCHER_KILLS = 6;
/** One request of so many goes wrong. */
const FAILS = { write: 4, read: 15 };
/** Read through the object store, and by the command: each takes many requests, or a process. */
const BY_STORE = 100;
const BY_COMMAND = 20;
const ADDRESS = 's3://crawl/measure';
const TROUBLES: readonly Trouble[] = [
  { status: 503, code: 'SlowDown' },
  'cut-before',
  { status: 500, code: 'InternalError' },
  'cut-amid',
  'cut-after',
  { status: 503, code: 'ServiceUnavailable' },
];
const HANDLER = `export default async ({ request, pushData, enqueueLinks }) => {
  await pushData({ url: request.url });
  await enqueueLinks({ strategy: 'all' });
};`;

interface Run {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** A web whose every byte is known: page n is on host n % HOSTS and leads to 2n + 1 and 2n + 2. */
async function startPages() {
  let served = 0;
  let port = 0;
  const urlOf = (n: number): string => `http://127.0.8.${(n % HOSTS) + 1}:${port}/${n}`;
  // Hashes hardly compress, so that segments are sent in parts.
  const noise = (n: number): string =>
    Array.from({ length: 60 }, (_, at) => createHash('sha256').update(`${n} ${at}`).digest('base64')).join(' ');
  const bodyOf = (n: number): string =>
    `<title>Page ${n}</title><p>${noise(n)}` +
    [2 * n + 1, 2 * n + 2].map((next) => (next < PAGES ? `<a href="${urlOf(next)}">on</a>` : '')).join(' ');
  const server = createServer((request, response) => {
    const n = Number(request.url!.slice(1));
    if (!(n < PAGES)) return void response.writeHead(404).end();
    served++;
    response.writeHead(200, { 'content-type': 'text/html' }).end(bodyOf(n));
  });
  await once(server.listen(0, '0.0.0.0'), 'listening');
  ({ port } = server.address() as AddressInfo);
  return { urlOf, bodyOf, served: () => served, close: () => void server.close() };
}

export async function measure(): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'orcrawl-measure-s3-'));
  const web = await startPages();
  const s3 = await startS3();
  const account = {
    AWS_ACCESS_KEY_ID: 'S3RVER',
    AWS_SECRET_ACCESS_KEY: 'S3RVER',
    AWS_REGION: 'eu-north-1',
    AWS_ENDPOINT_URL_S3: s3.endpoint,
  };
  Object.assign(process.env, account);
  let asked = 0;
  let failed = 0;
  let isWell = false;
  s3.bucket('crawl');
  s3.fail(({ method }: S3Request) => {
    const every = method === 'GET' || method === 'HEAD' ? FAILS.read : FAILS.write;
    if (isWell || ++asked % every !== 0) return undefined;
    return TROUBLES[failed++ % TROUBLES.length];
  });
  try {
    writeFiles(folder, web.urlOf(0));
    const crawled = await crawlThrough(folder, () => web.served());
    isWell = true;
    const objects = [...s3.bucket('crawl')].filter(([name]) => name.startsWith('measure/'));
    const different = new Set(objects.map(([, bytes]) => createHash('sha1').update(bytes).digest('hex')));
    // A write whose answer was cut off is sent again, as it was.
    const again = objects.filter(([name]) => s3.writes.get(name) !== 1).length;
    const left = filesIn(folder);
    for (const name of left) console.log(`  left: ${name}`);

    // The objects as files: `get` reads them alike, and the whole list takes no hours.
    const copy = join(folder, 'copy');
    mkdirSync(join(copy, 'content'), { recursive: true });
    for (const [name, bytes] of objects) {
      const file = name.slice('measure/'.length);
      if (!file.includes('/')) writeFileSync(join(copy, 'content', file), bytes);
    }
    const wrong = await wrongPages([copy], web, 1);
    console.log(`  ${wrong} of ${PAGES} pages wrong in the objects, ${left.length} files left on disk`);
    const wrongByStore = await wrongPages([ADDRESS], web, Math.max(1, Math.floor(PAGES / BY_STORE)));
    console.log(`  ${wrongByStore} wrong through the store`);
    let wrongByCommand = 0;
    for (let n = 0; n < PAGES; n += Math.ceil(PAGES / BY_COMMAND)) {
      const { code, stdout } = await run(folder, ['get', web.urlOf(n), '-d', ADDRESS, '--raw']);
      if (code !== 0 || stdout.toString() !== web.bodyOf(n)) wrongByCommand++;
    }
    const { stdout } = await run(folder, ['export', ADDRESS, 'ssd1', '--format', 'jsonl', '--fields', 'url']);
    const items = stdout.toString().trimEnd().split('\n');
    const itemCount = new Set(items).size;
    return [
      {
        what: `${PAGES} pages, ${failed} of ${asked} requests of the store failed, ${crawled.fetchers} fetchers and ${crawled.orchestrators} orchestrators killed`,
        measured: `exit ${crawled.code}, ${objects.length} objects, ${Math.round(objects.reduce((sum, [, bytes]) => sum + bytes.length, 0) / 2 ** 20)} MB, ${crawled.seconds} s`,
        goal: 'exit 0',
      },
      {
        what: 'pages that are not there byte for byte, read from the objects',
        measured: `${wrong} of ${PAGES}`,
        goal: '0',
      },
      {
        what: `the same through the store, ${BY_STORE} of them; and by \`orcrawl get\`, ${BY_COMMAND} of them`,
        measured: `${wrongByStore}; ${wrongByCommand}`,
        goal: '0; 0',
      },
      {
        what: 'items that are missing; that are there twice',
        measured: `${PAGES - itemCount}; ${items.length - itemCount}`,
        goal: '0; 0',
      },
      {
        what: `objects with the bytes of another; changed by a second write (${again} were sent again); uploads left unfinished`,
        measured: `${objects.length - different.size}; ${s3.changed.size}; ${s3.unfinished}`,
        goal: '0; 0; 0',
      },
      { what: 'segments, indexes and items left on disk', measured: String(left.length), goal: '0' },
    ];
  } finally {
    web.close();
    await s3.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 500 });
  }
}

function writeFiles(folder: string, seed: string): void {
  writeFileSync(join(folder, 'seeds.txt'), `${seed}\n`);
  writeFileSync(join(folder, 'handler.mjs'), HANDLER);
  writeFileSync(
    join(folder, 'crawl.yaml'),
    'pods: [{ path: ./pod0 }, { path: ./pod1 }]\ndata_dirs: [./ssd1]\nlog_dir: ./logs\nseed_file: seeds.txt\n' +
      'email: you@example.com\nenable_cpu_affinity: false\nenable_prometheus: false\npoliteness_delay_seconds: 0.02\n' +
      'handler: ./handler.mjs\nallow_private_addresses: true\nextract_text: true\nstore_raw_html: true\n' +
      `lease_seconds: 20\ncontent: ${ADDRESS}\ndatasets: ${ADDRESS}\n`,
  );
}

/** Until the crawl ends by itself: dies once at each step of moving, and is resumed. */
async function crawlThrough(folder: string, served: () => number) {
  const startedMs = performance.now();
  const points: (typeof KILL_POINTS)[number][] = KILL_POINTS.filter((point) => /^ship(?:-items)?\./.test(point));
  // Only a large segment is sent in parts: those come last, when the crawl ends.
  points.push(...points.splice(points.indexOf('ship.amid-upload'), 1));
  const killed = { fetchers: 0, orchestrators: 0 };
  for (let attempt = 0; ; attempt++) {
    const point = points[attempt];
    const child = spawn(
      process.execPath,
      [CLI, 'run', '--config', 'crawl.yaml', ...(attempt === 0 ? [] : ['--resume'])],
      {
        cwd: folder,
        stdio: ['ignore', 'ignore', 'pipe'],
        env: { ...process.env, ...(point === undefined ? {} : { ORCRAWL_KILL_AT: `${point}:1` }) },
      },
    );
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-2_000)));
    const isOver = () => child.exitCode !== null || child.signalCode !== null;
    const timer = setInterval(() => {
      if (killed.fetchers >= FETCHER_KILLS || served() < ((killed.fetchers + 1) * PAGES) / (FETCHER_KILLS + 2)) return;
      killed.fetchers++;
      void workersOf(child, 'fetcher').then(([pid]) => pid !== undefined && !isOver() && process.kill(pid, 'SIGKILL'));
    }, 200);
    const [code] = (await once(child, 'exit')) as [number | null];
    clearInterval(timer);
    const words = code === null ? `died at ${point}` : `ended with ${code}`;
    const seconds = Math.round((performance.now() - startedMs) / 1_000);
    console.log(`  ${seconds} s: ${served()} pages served, ${words}`);
    if (code === null && point !== undefined) {
      killed.orchestrators++;
      continue;
    }
    if (code !== 0) console.log(stderr);
    return { ...killed, code, seconds };
  }
}

async function wrongPages(
  dataDirs: readonly string[],
  { urlOf, bodyOf }: { urlOf(n: number): string; bodyOf(n: number): string },
  step: number,
): Promise<number> {
  let wrong = 0;
  for (let n = 0; n < PAGES; n += step) {
    const found = await findPage(dataDirs, urlOf(n), { having: 'response' });
    if (found?.response?.body.toString() === bodyOf(n)) continue;
    if (++wrong <= 5) console.log(`  wrong: ${urlOf(n)}: ${found === undefined ? 'not there' : 'other bytes'}`);
  }
  return wrong;
}

/** What is stored in the data directory; fates of URLs stay there. */
function filesIn(folder: string): string[] {
  const files = readdirSync(join(folder, 'ssd1'), { recursive: true, withFileTypes: true });
  return files
    .filter((file) => file.isFile() && /content|datasets/.test(file.parentPath))
    .filter(({ name }) => /\.(?:jsonl|gz|cdxj|tail)$/.test(name) && !name.includes('.fates.'))
    .map(({ name }) => name);
}

async function run(cwd: string, args: readonly string[]): Promise<Run> {
  const child = spawn(process.execPath, [CLI, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const out: Buffer[] = [];
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  if (code !== 0) console.log(`  orcrawl ${args[0]}: ${stderr.slice(0, 500)}`);
  return { code, signal, stdout: Buffer.concat(out), stderr };
}
