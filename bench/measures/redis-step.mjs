// One step of the Redis measurement in its own process: node redis-step.mjs URL NAME
import { closeSync, createReadStream, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { createJiti } from 'jiti';

const jiti = createJiti(import.meta.url);
const { createRecentFingerprints } = await jiti.import('../../src/frontier/recent.ts');
const { openRedisFrontier } = await jiti.import('../../src/frontier/redis/frontier.ts');
const { fingerprintOf } = await jiti.import('../../src/request/fingerprint.ts');

const { measureShare } = await jiti.import('./share.ts');
const { Request } = await jiti.import('../../src/request/request.ts');
const { entryOf: entryOfRequest } = await jiti.import('../../src/frontier/entry.ts');

const [, , url, name] = process.argv;
/** Sizes in millions, by the share that is asked for. */
const millions = (count) => Math.round((count * 1e6 * measureShare()) / 1000) * 1000;
const server = new Redis(url);
const info = async (section) =>
  Object.fromEntries((await server.info(section)).split('\r\n').map((line) => line.split(':')));
const usedMemory = async () => Number((await info('memory')).used_memory);
const open = (more = {}) =>
  openRedisFrontier({ url, pacing: { delayMs: 0, turns: 100 }, fingerprintOf, seen: { kind: 'exact' }, ...more });

/** A URL of 60 characters. */
function urlOf(domain, page) {
  return `https://${domain}/`.padEnd(60 - String(page).length, 'articles/of/some/length/') + page;
}

function entryOf(domain, page) {
  const record = urlOf(domain, page);
  return { fingerprint: fingerprintOf(record), domain, record };
}

/** Adds `count` entries made by `make` and returns the bytes each took between `from` and `count`. */
async function slope(make, from, count, more) {
  const frontier = await open(more);
  let call = 0;
  let before = 0;
  for (let at = 0; at < count; at += 1000) {
    if (at === from) before = await usedMemory();
    await frontier.add({ holder: 'h', call: ++call, entries: Array.from({ length: 1000 }, (_, i) => make(at + i)) });
  }
  const bytes = ((await usedMemory()) - before) / (count - from);
  await frontier.close();
  return { slope: bytes };
}

const bloom = { seen: { kind: 'bloom', capacity: 8_000_000 } };
/** As many domains as make lines of 500 at the smaller size and 1,500 at the larger. */
const LONG_DOMAINS = millions(1) / 500;
const inLongDomains = (i) => entryOf(`site-${i % LONG_DOMAINS}.example`, i);

async function bloomFull() {
  const capacity = millions(2);
  const before = await usedMemory();
  const frontier = await open({ seen: { kind: 'bloom', capacity } });
  // Only the filter is measured: one entry makes its slices, the rest is marked through one domain and not counted.
  const add = (from, call) =>
    frontier.add({
      holder: 'h',
      call,
      entries: Array.from({ length: 1000 }, (_, i) => ({
        fingerprint: fingerprintOf(`url ${from + i}`),
        domain: 'a',
        record: '',
      })),
    });
  await add(0, 1);
  const bytes = Number(await server.call('MEMORY', 'USAGE', 'b:0')) * (await server.keys('b:*')).length;
  for (let at = 1000; at < capacity; at += 1000) await add(at, at);
  let known = 0;
  const probes = Math.max(200_000, millions(0.5));
  for (let at = 0; at < probes; at += 1000) {
    const list = Array.from({ length: 1000 }, (_, i) => fingerprintOf(`other ${at + i}`));
    for (const found of await frontier.find(list)) if (found) known++;
  }
  await frontier.close();
  return { bytes: bytes / capacity, falsePositives: known / probes, before };
}

/** 5,000 pages of 100 links, about ten of them new, in the batches of a crawl. */
async function pages() {
  const PAGES = 5_000;
  const DOMAINS = 400;
  const frontier = await open({ pacing: { delayMs: 0, turns: 10 } });
  const recent = createRecentFingerprints();
  let call = 0;
  let seed = 42;
  const random = (below) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  let made = 0;
  const known = [];
  const fresh = (domain) => {
    const entry = entryOf(domain, made++);
    known.push(entry);
    return entry;
  };
  const site = (i) => `site-${i}.example`;
  // Every site's navigation: the links that each of its pages repeats.
  const navigation = Array.from({ length: DOMAINS }, (_, i) => Array.from({ length: 40 }, () => fresh(site(i))));
  const holder = 'measured';
  for (const some of navigation) await frontier.add({ holder, call: ++call, entries: some.slice(0, 5) });
  await server.config('RESETSTAT');
  const cpuBefore = await info('cpu');
  const sentBefore = frontier.commandsSent;
  const clientBefore = process.cpuUsage();
  let done = 0;
  let links = 0;
  let sent = 0;
  let making = 0;
  const held = [];
  while (done < PAGES) {
    if (held.length < 128) held.push(...(await frontier.lease({ holder, call: ++call, max: 200 })).leases);
    const batch = held.splice(0, 64);
    const madeAt = process.cpuUsage();
    const settlements = batch.map((lease) => {
      const index = Number(lease.domain.slice(5, -8));
      const found = [];
      for (let i = 0; i < 60; i++) found.push(navigation[index][random(40)]);
      for (let i = 0; i < 30; i++) found.push(known[random(known.length)]);
      for (let i = 0; i < 10; i++) found.push(fresh(i < 5 ? lease.domain : site(random(DOMAINS))));
      links += found.length;
      const list = [...new Set(found)].filter(({ fingerprint }) => !recent.has(fingerprint));
      sent += list.length;
      return { kind: 'done', lease: lease.id, links: list };
    });
    const { user, system } = process.cpuUsage(madeAt);
    making += user + system;
    await frontier.settle({ holder, call: ++call, landings: batch.map(({ id }) => ({ lease: id })), settlements });
    for (const { links: list } of settlements) for (const { fingerprint } of list) recent.add(fingerprint);
    done += batch.length;
  }
  const client = process.cpuUsage(clientBefore);
  const cpuAfter = await info('cpu');
  const stats = await info('commandstats');
  const calls = (command) => Number(/calls=(\d+)/.exec(stats[`cmdstat_${command}`] ?? '')?.[1] ?? 0);
  const all = Object.keys(stats).reduce((sum, key) => sum + (key ? calls(key.slice(8)) : 0), 0);
  const cpu = (reading) => Number(reading.used_cpu_user) + Number(reading.used_cpu_sys);
  const commands = frontier.commandsSent - sentBefore;
  const timings = process.env.QUICK ? {} : await scriptTimings(frontier, holder, () => ++call, fresh, site);
  await frontier.close();
  return {
    saddMicros: await calibration(),
    commands: commands / done,
    serverMs: ((cpu(cpuAfter) - cpu(cpuBefore)) * 1000) / done,
    clientMs: (client.user + client.system - making) / 1000 / done,
    inScripts: (all - commands) / done,
    dropped: 1 - sent / links,
    sent: sent / done,
    p99Ms: timings,
  };
}

/**
 * CPU of the server for script calls at their largest, with the sockets and the sync around them: by the clock, a call on
 * a shared machine mostly waits for a core.
 */
async function scriptTimings(frontier, holder, next, fresh, site) {
  const { process_id: pid } = await info('server');
  const cpuMs = () => Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  const p99 = (list) => list.sort((a, b) => a - b)[Math.floor(list.length * 0.99)];
  const times = { 'add of 300 new in 200 domains': [], 'lease of 100': [], 'settle of 64': [] };
  const timed = async (name, work) => {
    const before = cpuMs();
    const result = await work();
    times[name].push(cpuMs() - before);
    return result;
  };
  const settle = (leases) =>
    frontier.settle({
      holder,
      call: next(),
      landings: leases.map(({ id }) => ({ lease: id })),
      settlements: leases.map(({ id }) => ({ kind: 'done', lease: id })),
    });
  for (let round = 0; round < 300; round++) {
    // As many as one script call takes.
    const entries = Array.from({ length: 300 }, (_, i) => fresh(site((round * 7 + i) % 200)));
    await timed('add of 300 new in 200 domains', () => frontier.add({ holder, call: next(), entries }));
    const { leases } = await timed('lease of 100', () => frontier.lease({ holder, call: next(), max: 100 }));
    await timed('settle of 64', () => settle(leases.slice(0, 64)));
    await settle(leases.slice(64));
  }
  return Object.fromEntries(Object.entries(times).map(([name, list]) => [name, p99(list)]));
}

/** A million URLs of one domain with the tail on disk: memory beside the (fixed) filter, and the order they come back in. */
async function longDomain() {
  const folder = mkdtempSync(join(tmpdir(), 'orcrawl-spill-'));
  const frontier = await open({ ...bloom, spill: { folder } });
  // Enough to make every slice of the filter, which is not what is measured.
  const others = Array.from({ length: 200 }, (_, i) => entryOf('other.example', i));
  await frontier.add({ holder: 'h', call: 0, entries: others });
  const before = await usedMemory();
  let peak = 0;
  let call = 0;
  for (let at = 0; at < millions(1); at += 1000) {
    const entries = Array.from({ length: 1000 }, (_, i) => entryOf('long.example', at + i));
    await frontier.add({ holder: 'h', call: ++call, entries });
    if (at % 20_000 === 0) peak = Math.max(peak, await usedMemory());
  }
  while ((await server.llen('overflow')) > 0) await new Promise((resume) => setTimeout(resume, 50));
  const spilled = (await usedMemory()) - before;
  let inOrder = 0;
  let isOrdered = true;
  while (inOrder < Math.min(50_000, millions(1) / 2)) {
    const { leases } = await frontier.lease({ holder: 'h', call: ++call, max: 100 });
    for (const { record, domain } of leases) {
      if (domain === 'long.example' && record !== urlOf(domain, inOrder++)) isOrdered = false;
    }
    const landings = leases.map(({ id }) => ({ lease: id }));
    const settlements = leases.map(({ id }) => ({ kind: 'done', lease: id }));
    await frontier.settle({ holder: 'h', call: ++call, landings, settlements });
    if (leases.length === 0) await new Promise((resume) => setTimeout(resume, 5));
  }
  await frontier.close();
  rmSync(folder, { recursive: true });
  return { peak: peak - before, spilled, isOrdered };
}

/** What the cheapest write costs here and now: machines are shared, so a page's cost is also told in these. */
async function calibration() {
  const cpu = async () => {
    const { used_cpu_user: user, used_cpu_sys: system } = await info('cpu');
    return Number(user) + Number(system);
  };
  const before = await cpu();
  const script = "for i = 1, 2000 do redis.call('SADD', 'c:' .. i % 200, ARGV[1] * 2000000007 + i * 1000003) end";
  for (let i = 0; i < 50; i++) await server.eval(script, 0, i);
  return (((await cpu()) - before) * 1e6) / 100_000;
}

/** Seeds from a file of domains, as a run reads them: a line, a request, an entry, a batch. */
async function seeding() {
  const count = millions(1);
  const folder = mkdtempSync(join(tmpdir(), 'orcrawl-seeds-'));
  const file = join(folder, 'seeds.txt');
  const made = openSync(file, 'w');
  for (let at = 0; at < count; at += 1000) {
    writeSync(made, Array.from({ length: 1000 }, (_, i) => `seed-domain-${at + i}.example\n`).join(''));
  }
  closeSync(made);
  const frontier = await open();
  const cpu = async () => {
    const { used_cpu_user: user, used_cpu_sys: system } = await info('cpu');
    return Number(user) + Number(system);
  };
  const [serverBefore, before] = [await cpu(), process.cpuUsage()];
  let call = 0;
  let peak = 0;
  let sending = Promise.resolve();
  let batch = [];
  for await (const line of createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Infinity })) {
    batch.push(entryOfRequest(new Request({ url: `https://${line}` })));
    if (batch.length < 1000) continue;
    const entries = batch;
    batch = [];
    await sending;
    sending = frontier.add({ holder: 'h', call: ++call, entries });
    if (call % 20 === 0) peak = Math.max(peak, process.memoryUsage.rss());
  }
  await sending;
  const { user, system } = process.cpuUsage(before);
  const serverSeconds = (await cpu()) - serverBefore;
  const { counters } = await frontier.overview();
  await frontier.close();
  rmSync(folder, { recursive: true });
  return {
    count: counters.queued,
    clientSeconds: (user + system) / 1e6,
    serverSeconds,
    rss: Math.max(peak, process.memoryUsage.rss()),
    redis: (await usedMemory()) / count,
  };
}

const steps = {
  seeding,
  pages,
  'long-domain': longDomain,
  'domains-of-1500-exact': () => slope(inLongDomains, millions(1), millions(3), {}),
  'domains-of-1500-bloom': () => slope(inLongDomains, millions(1), millions(3), bloom),
  'single-url-domains': () => slope((i) => entryOf(`domain-${i}.example`, i), millions(1), millions(3), bloom),
  'bloom-full': bloomFull,
};
const report = await steps[name]();
server.disconnect();
console.log(JSON.stringify(report));
