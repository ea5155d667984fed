// A crawl without a network: the real Redis frontier on a simulated clock, URLs made from integers.
// node simulation-step.mjs URL DOMAINS URLS DELAY_MS: prints what it cost and whether every promise was kept.
import { Redis } from 'ioredis';
import { createJiti } from 'jiti';

const jiti = createJiti(import.meta.url);
const { openRedisFrontier } = await jiti.import('../../src/frontier/redis/frontier.ts');
const { fingerprintOf } = await jiti.import('../../src/request/fingerprint.ts');

const [, , url, ...sizes] = process.argv;
const [DOMAINS, URLS, DELAY_MS] = sizes.map(Number);
const BATCH = 64;
const NEW_LINKS = 10;
const OLD_LINKS = 5;
const holder = 'simulation';

const server = new Redis(url);
const info = async (section) =>
  Object.fromEntries((await server.info(section)).split('\r\n').map((line) => line.split(':')));
const serverCpu = async () => {
  const { used_cpu_user: user, used_cpu_sys: system } = await info('cpu');
  return Number(user) + Number(system);
};
const usedMemory = async () => Number((await info('memory')).used_memory);

// Whole milliseconds: as a sum of fractions, a domain would now and then be seen 4e-9 ms before it is due.
let nowMs = 1_000_000;
let passedMs = 0;
const clock = { monotonicMs: () => nowMs, wallMs: () => nowMs, bootId: 'simulation' };

function pass(ms) {
  passedMs += ms;
  nowMs = 1_000_000 + Math.floor(passedMs);
}

let seed = 1;
function random(below) {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * below);
}

/** URL n: of the page's own domain every second time, else of any. A 32-bit mix, so that it follows from n alone. */
function domainOfNumber(n) {
  if (n < DOMAINS) return n;
  return Math.floor(((Math.imul(n, 0x9e3779b1) >>> 0) / 2 ** 32) * DOMAINS);
}

function entryOf(n) {
  const domain = `d${domainOfNumber(n)}.example`;
  const record = `https://${domain}/page/of/some/length/${n}`;
  return { fingerprint: fingerprintOf(record), domain, record };
}

const started = performance.now();
const cpuBefore = await serverCpu();
const memoryBefore = await usedMemory();
const frontier = await openRedisFrontier({
  url,
  pacing: { delayMs: DELAY_MS, turns: 1 },
  fingerprintOf,
  seen: { kind: 'exact' },
  clock,
});
let call = 0;
let made = 0;
while (made < DOMAINS) {
  const entries = Array.from({ length: Math.min(1000, DOMAINS - made) }, (_, i) => entryOf(made + i));
  await frontier.add({ holder, call: ++call, entries });
  made += entries.length;
}
const seededMs = performance.now() - started;

// Politeness, seen from the servers: when each domain's last response ended, and how soon the next request came.
const lastEnd = new Float64Array(DOMAINS).fill(Number.NEGATIVE_INFINITY);
const known = new Uint8Array(DOMAINS);
let tooEarly = 0;
let domainsVisited = 0;
let visits = 0;
let waits = 0;
const progressEvery = Math.max(1, Math.floor(URLS / 20));
let nextProgress = progressEvery;
// As many pages a second of simulated time as politeness allows.
const batchMs = (BATCH * DELAY_MS) / DOMAINS;
while (made < URLS) {
  const { leases, state, nextDueMs } = await frontier.lease({ holder, call: ++call, max: BATCH });
  if (leases.length === 0) {
    if (state === 'exhausted') throw new Error('the simulated web ended before it was crawled');
    waits++;
    pass(Math.max(1, Math.ceil(nextDueMs ?? 1)));
    continue;
  }
  const settlements = leases.map((lease) => {
    const domain = Number(lease.domain.slice(1, -'.example'.length));
    if (nowMs < lastEnd[domain] + DELAY_MS) tooEarly++;
    domainsVisited += known[domain] ? 0 : 1;
    known[domain] = 1;
    lastEnd[domain] = nowMs;
    const links = [];
    for (let i = 0; i < NEW_LINKS && made < URLS; i++) links.push(entryOf(made++));
    for (let i = 0; i < OLD_LINKS; i++) links.push(entryOf(random(made)));
    return { kind: 'done', lease: lease.id, links };
  });
  const landings = leases.map(({ id }) => ({ lease: id }));
  const { held, accepted } = await frontier.settle({ holder, call: ++call, landings, settlements });
  if (!held || accepted.includes(false)) throw new Error('a settlement was refused');
  visits += leases.length;
  pass(batchMs);
  if (made >= nextProgress) {
    nextProgress += progressEvery;
    console.error(`${made} URLs, ${visits} visits, ${((performance.now() - started) / 1000).toFixed(0)} s`);
  }
}
const { counters } = await frontier.overview();
const wallMs = performance.now() - started;
const client = process.cpuUsage();
const report = {
  domains: DOMAINS,
  urls: URLS,
  visits,
  domainsVisited,
  tooEarly,
  waits,
  // Nothing lost, nothing twice: what was accepted is exactly what was made, and it adds up.
  isExact: counters.accepted === URLS && counters.done === visits && counters.queued === URLS - visits,
  simulatedSeconds: (nowMs - 1_000_000) / 1000,
  seededSeconds: seededMs / 1000,
  wallSeconds: wallMs / 1000,
  clientCpuSeconds: (client.user + client.system) / 1e6,
  serverCpuSeconds: (await serverCpu()) - cpuBefore,
  memoryBytes: (await usedMemory()) - memoryBefore,
  commandsPerVisit: frontier.commandsSent / visits,
};
await frontier.close();
server.disconnect();
console.log(JSON.stringify(report));
