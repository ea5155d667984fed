// A crawl as its console sees it, in a process of its own: outcomes at a given rate, over many hosts, without fetching.
// Run by console-load.ts, which tells it what to do by messages.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openDashboard } from '../../src/serve/console/dashboard.js';
import type { Outcome } from '../../src/serve/jobs/store.js';
import type { FeedAnswer, FeedOrder } from './console-load.js';

const STEP_MS = 20;
const TOGETHER = 200;

const [hosts, pageFolder] = [Number(process.argv[2]), new URL(process.argv[3]!)];
const folder = await mkdtemp(path.join(tmpdir(), 'orcrawl-feed-'));
let put = 0;
let perSec = 0;

const dashboard = await openDashboard({
  mode: 'crawl',
  folder,
  isFresh: true,
  url: 'https://host-0.example/',
  request: {},
  version: 'feed',
  figures: () => ({ done: put, failed: 0, queued: 1_000_000, concurrency: 50 }),
  stop: () => undefined,
  pageFolder,
});

function outcome(number: number): Outcome {
  const url = `https://host-${(number * 7_919) % hosts}.example/section/${number % 13}/page-${number}`;
  const facts = { status: 200, bytes: 20_000 + (number % 5_000), ms: 40 + (number % 300), type: 'text/html' };
  if (number % 40 === 39) {
    const error = {
      id: url,
      timestamp: new Date().toISOString(),
      url,
      code: 'HTTP_STATUS',
      error: '500 from the host',
    };
    return { kind: 'error', key: url, facts: { ...facts, status: 500 }, error };
  }
  const title = `Notes on page ${number} of a site with a title of usual length`;
  const document = JSON.stringify({ url, markdown: `# ${title}\n\nA text.` });
  return { kind: 'document', key: url, url, facts: { ...facts, title }, document };
}

async function feed(count: number): Promise<void> {
  const all: Promise<void>[] = [];
  for (let n = 0; n < count; n++) all.push(dashboard.put(outcome(put++)));
  await Promise.all(all);
}

let due = 0;
let busy = Promise.resolve();
let lastMs = performance.now();
const timer = setInterval(() => {
  const nowMs = performance.now();
  due += (perSec * (nowMs - lastMs)) / 1_000;
  lastMs = nowMs;
  const now = Math.floor(due);
  due -= now;
  if (now > 0) busy = busy.then(() => feed(now));
}, STEP_MS);

async function obey(order: FeedOrder): Promise<FeedAnswer> {
  switch (order.kind) {
    case 'fill':
      while (put < order.rows) await feed(Math.min(TOGETHER, order.rows - put));
      break;
    case 'rate':
      perSec = order.perSec;
      await busy;
      break;
    case 'look':
      break;
    case 'end':
      clearInterval(timer);
      await busy;
      await dashboard.end('completed');
      await dashboard.close();
      await rm(folder, { recursive: true, force: true });
      break;
    default:
      return order satisfies never;
  }
  const { user, system } = process.cpuUsage();
  return { address: dashboard.address, put, cpuMs: (user + system) / 1_000 };
}

process.on('message', (order: FeedOrder) => {
  void obey(order).then((answer) => {
    process.send!(answer, () => order.kind === 'end' && process.exit(0));
  });
});
process.on('disconnect', () => process.exit(1));
process.send!('ready');
