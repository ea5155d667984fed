// One step of the queue measurement in its own process: node queue-step.mjs FOLDER port|port-one-domain|add|resume|work COUNT [BATCH]
import { Configuration, RequestQueue } from '../../dist/index.js';
import { createJiti } from 'jiti';

const [, , folder, step, countText, batchText = '64'] = process.argv;
/** As many as a crawl settles at once, unless told otherwise. */
const batch = Number(batchText);
const count = Number(countText);
const config = new Configuration({
  purgeOnStart: false,
  storageClientOptions: { localDataDirectory: folder },
});

function* urls() {
  for (let i = 0; i < count; i++) yield `https://site-${i % 1000}.example/articles/of/some/length/page-${i}`;
}

const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
const queue = await RequestQueue.open('measured', { config });
const report = {};
if (step === 'port' || step === 'port-one-domain') {
  // Only the calls themselves: what they are given is made outside the measured time, by parts dist/ does not export.
  const jiti = createJiti(import.meta.url);
  const { fingerprintOf } = await jiti.import('../../src/request/fingerprint.ts');
  const { domainOf } = await jiti.import('../../src/request/url.ts');
  let microseconds = 0;
  let entries = [];
  for (const record of urls()) {
    const domain = step === 'port' ? domainOf(record) : 'site.example';
    entries.push({ fingerprint: fingerprintOf(record), domain, record });
    if (entries.length < 1000) continue;
    const before = process.cpuUsage();
    await queue.client.add(entries);
    const { user, system } = process.cpuUsage(before);
    microseconds += user + system;
    entries = [];
  }
  report.portCpuSecs = microseconds / 1e6;
} else if (step === 'add') {
  await queue.addRequestsBatched(urls(), { waitForAllRequestsToBeAdded: true });
} else if (step === 'resume') {
  if (!(await queue.fetchNextRequest())) throw new Error('nothing to fetch');
} else {
  const before = process.cpuUsage();
  const { client } = queue;
  // As a crawl does it: the next batch is leased in the same breath as the last one is settled.
  let { leases } = await client.lease({ max: batch });
  for (let done = 0; done < count;) {
    if (leases.length === 0) throw new Error('nothing to lease');
    const settled = client.settle({
      landings: leases.map(({ id }) => ({ lease: id })),
      settlements: leases.map(({ id }) => ({ kind: 'done', lease: id })),
    });
    done += leases.length;
    const next = client.lease({ max: batch });
    await settled;
    ({ leases } = await next);
  }
  const { user, system } = process.cpuUsage(before);
  report.perCpuSec = count / ((user + system) / 1e6);
}
const { user, system } = process.cpuUsage(cpuBefore);
Object.assign(report, {
  cpuSecs: (user + system) / 1e6,
  wallSecs: (performance.now() - startedAt) / 1000,
  rssMb: Math.round(process.memoryUsage.rss() / 1e6),
});
await queue.close();
console.log(JSON.stringify(report));
