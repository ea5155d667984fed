// A whole crawl on one core: orcrawl beside Crawlee and beside the bare loop, on the synthetic web and on real pages.
// npm run bench -- crawl [--web simweb|pages|both] [--scheme http|https|both] [--only NAME,NAME] [--rounds 3]
//   [--concurrency 50] [--hosts 6] [--node 24] [--smoke] [--verbose]
import { parseArgs } from 'node:util';
import { compare, HEAD, tableOf } from './crawl/comparison.js';
import { CONTESTANTS } from './crawl/contestants.js';
import { nodeOfMajor } from './crawl/peers.js';
import { canPin, hasRealPages, type Scheme, startWeb, type WebName } from './crawl/webs.js';

const { values } = parseArgs({
  options: {
    web: { type: 'string', default: 'both' },
    scheme: { type: 'string', default: 'both' },
    only: { type: 'string' },
    rounds: { type: 'string' },
    concurrency: { type: 'string', default: '50' },
    node: { type: 'string' },
    hosts: { type: 'string' },
    smoke: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});
const { smoke, verbose } = values;
const hosts = values.hosts === undefined ? undefined : Number(values.hosts);
const webs: WebName[] = values.web === 'both' ? ['simweb', 'pages'] : [values.web as WebName];
const schemes: Scheme[] = values.scheme === 'both' ? ['http', 'https'] : [values.scheme as Scheme];
const node = values.node === undefined ? process.execPath : nodeOfMajor(values.node);
const rounds = Number(values.rounds ?? (smoke ? 1 : 3));
const wanted = values.only?.split(',');
// Smoke runs install nothing: Crawlee is left to the whole benchmark.
const contestants = CONTESTANTS.filter(({ name }) =>
  wanted ? wanted.some((part) => name.startsWith(part)) : !smoke || !name.startsWith('crawlee'),
);

if (smoke) console.log('smoke: so short a crawl costs mostly its start; the figures only show that it runs');
if (!canPin) console.log('one core, or no taskset: crawler and server are not pinned');
for (const name of webs) {
  if (name === 'pages' && !hasRealPages) {
    console.log('real pages: skipped, ../shared/data/pages is not here');
    continue;
  }
  for (const scheme of schemes) {
    const web = await startWeb(name, scheme, smoke, hosts);
    try {
      const rows = compare(contestants, web, {
        node,
        rounds,
        verbose,
        concurrency: Number(values.concurrency),
        onCost: ({ name: who }, { cpuMs, wallMs, pages, rssMb }) =>
          console.log(
            `  ${who.padEnd(16)} ${(cpuMs / pages).toFixed(3)} CPU-ms, ${(wallMs / pages).toFixed(3)} ms per page, ${Math.round(rssMb)} MB, ${pages} pages`,
          ),
      });
      console.log(`\n${web.title}, Node ${values.node ?? process.version}, concurrency ${values.concurrency}`);
      for (const row of [HEAD, ...tableOf(rows)]) console.log(`| ${row.join(' | ')} |`);
    } finally {
      await web.close();
    }
  }
}
