// Where a crawl's CPU time goes: runs one contestant under V8's sampling profiler and prints the time by stage.
// npm run bench -- --profile [--web pages|simweb] [--scheme http|https] [--only orcrawl-content] [--top 25] [--keep FOLDER]
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { CONTESTANTS, runContestant } from './crawl/contestants.js';
import { nodeOfMajor } from './crawl/peers.js';
import { readProfile, type Share } from './crawl/stages.js';
import { hasRealPages, type Scheme, startWeb, type WebName } from './crawl/webs.js';

const { values } = parseArgs({
  options: {
    web: { type: 'string', default: hasRealPages ? 'pages' : 'simweb' },
    scheme: { type: 'string', default: 'http' },
    only: { type: 'string', default: 'orcrawl-content' },
    concurrency: { type: 'string', default: '50' },
    node: { type: 'string' },
    hosts: { type: 'string' },
    top: { type: 'string', default: '25' },
    keep: { type: 'string' },
    profile: { type: 'boolean' },
    smoke: { type: 'boolean', default: false },
  },
});
const contestant = CONTESTANTS.find(({ name }) => name === values.only);
if (!contestant) throw new Error(`--only must be one of ${CONTESTANTS.map(({ name }) => name).join(', ')}`);

const hosts = values.hosts === undefined ? undefined : Number(values.hosts);
const folder = values.keep === undefined ? mkdtempSync(join(tmpdir(), 'orcrawl-profile-')) : resolve(values.keep);
const web = await startWeb(values.web as WebName, values.scheme as Scheme, values.smoke, hosts);
try {
  const nodeFlags = ['--cpu-prof', `--cpu-prof-dir=${folder}`, '--cpu-prof-interval=500'];
  const node = values.node === undefined ? process.execPath : nodeOfMajor(values.node);
  const cost = runContestant(contestant, web, { node, nodeFlags, concurrency: Number(values.concurrency) });
  const file = readdirSync(folder)
    .filter((name) => name.endsWith('.cpuprofile'))
    .sort()
    .at(-1)!;
  const { busyMs, stages, files, functions } = readProfile(join(folder, file));
  const perPage = (ms: number): string => (ms / cost.pages).toFixed(3);
  const print = (title: string, shares: readonly Share[], limit: number): void => {
    console.log(`\n| ${title} | ms per page | share |\n|---|---|---|`);
    for (const { name, ms } of shares.slice(0, limit)) {
      if (ms / busyMs >= 0.002) console.log(`| ${name} | ${perPage(ms)} | ${((100 * ms) / busyMs).toFixed(1)} % |`);
    }
  };
  console.log(`${contestant.title}; ${web.title}; ${cost.pages} pages, ${process.version}`);
  console.log(
    `all threads ${perPage(cost.cpuMs)} CPU-ms per page; the main thread was busy ${perPage(busyMs)} ms a page of wall time`,
  );
  print('stage', stages, Infinity);
  print('file', files, Number(values.top));
  print('function', functions, Number(values.top));
} finally {
  await web.close();
  if (values.keep === undefined) rmSync(folder, { recursive: true, force: true });
}
