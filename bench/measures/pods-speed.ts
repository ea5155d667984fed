// What a page costs in CPU time at each placement, over HTTPS on the real pages: a pod of one fetcher on one core with its
// store in Redis, in a Redis Cluster or embedded; with full handshakes; with the work split between a fetcher and a
// parser; and a script with its queue in a folder or in Postgres.
// PODS_SPEED=plain,full,split,embedded,cluster,script,postgres,bare chooses parts of it; BENCH_PROFILE_FOLDER=… leaves CPU
// profiles of the workers.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { postgresMissing } from '../../test/support/postgres-server.js';
import { bareStoring, CONTESTANTS, runContestant } from '../crawl/contestants.js';
import { type PodsCost, podsCost } from '../crawl/pods-cost.js';
import { type ScriptCost, scriptCost } from '../crawl/script-cost.js';
import { hasRealPages, startWeb } from '../crawl/webs.js';
import type { Figure } from '../measure.js';

const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
/** The default of the content store: src/store/content/options.ts. */
const GZIP_LEVEL = 3;
const GOAL = 300;
const PARTS = ['plain', 'full', 'split', 'embedded', 'cluster', 'script', 'postgres', 'bare'] as const;
type Part = (typeof PARTS)[number];
const chosen = process.env.PODS_SPEED?.split(',');
const parts = PARTS.filter((part) => chosen?.includes(part) ?? true);

export const isPart = parts.length < PARTS.length;

function ofPods(what: string, cost: PodsCost, goal = '', store = 'Redis'): Figure {
  const workers = Object.entries(cost.workersMs);
  const sum = workers.reduce((total, [, ms]) => total + ms, 0);
  const each = workers.map(([role, ms]) => `${role} ${ms.toFixed(2)}`);
  const stored = store === '' ? '' : `, ${store} ${cost.storeMs.toFixed(2)} CPU-ms per page`;
  const measured =
    `${Math.round(1_000 / sum)} pages per CPU-s of the workers (${each.join(' + ')} CPU-ms per page); ` +
    `${cost.pages} pages in ${cost.wallSecs.toFixed(1)} s, ${cost.newLinks.toFixed(1)} new links per page, ` +
    `${Math.round(cost.resumed * 100)} % of handshakes resumed${stored}`;
  return { what, measured, goal };
}

function ofScript(what: string, { pages, wallSecs, scriptMs, storeMs }: ScriptCost, store = ''): Figure {
  const stored = store === '' ? '' : `, ${store} ${storeMs.toFixed(2)} CPU-ms per page`;
  const measured =
    `${Math.round(1_000 / scriptMs)} pages per CPU-s of the script (script ${scriptMs.toFixed(2)} CPU-ms per page); ` +
    `${pages} pages in ${wallSecs.toFixed(1)} s${stored}`;
  return { what, measured, goal: '' };
}

async function bareLoops(): Promise<Figure[]> {
  const web = await startWeb('pages', 'https', false, 24);
  try {
    const bare = CONTESTANTS.find(({ name }) => name === 'bare')!;
    return [bare, bareStoring(GZIP_LEVEL)].map((contestant) => {
      const { cpuMs, pages } = runContestant(contestant, web, { node: process.execPath, concurrency: 100 });
      const measured = `${(cpuMs / pages).toFixed(2)} CPU-ms per page, ${Math.round((1_000 * pages) / cpuMs)} pages per CPU-s`;
      return { what: `context, ${contestant.title}; ${pages} pages, start included`, measured, goal: '' };
    });
  } finally {
    await web.close();
  }
}

const HOW = `extract_text: true, segments, gzip level ${GZIP_LEVEL}, no raw HTML`;
const MEASURED: Readonly<Record<Part, () => Promise<Figure[]>>> = {
  plain: async () => [ofPods(`fetcher alone; ${HOW}`, await podsCost(), `≥ ${GOAL} pages per CPU-s`)],
  full: async () => [ofPods('the same, no tickets: every handshake in full', await podsCost({ tickets: false }))],
  split: async () => [ofPods('fetcher and parser', await podsCost({ parsers: 1 }), 'the cost of the split')],
  embedded: async () => [ofPods('fetcher alone, embedded pod', await podsCost({ store: 'embedded' }), '', '')],
  cluster: async () => [
    ofPods(
      'fetcher alone, in a Redis Cluster of three masters with a replica each',
      await podsCost({ store: 'Redis Cluster' }),
      '',
      'all six servers',
    ),
  ],
  script: async () => [ofScript('a script, queue and dataset in its folder', await scriptCost('folder'))],
  postgres: async () => [ofScript('a script, queue and dataset in Postgres', await scriptCost('Postgres'), 'Postgres')],
  bare: bareLoops,
};

export async function measure(): Promise<Figure[]> {
  if (!hasRealPages) throw new Error('../shared/data/pages is not here: there is nothing to measure with');
  if (!existsSync(CLI)) throw new Error('dist/ is missing: run npm run build first');
  if (parts.includes('postgres') && postgresMissing) throw new Error(postgresMissing);
  const figures: Figure[] = [];
  for (const part of parts) {
    const found = await MEASURED[part]();
    // Some minutes pass until all is measured.
    for (const { what, measured } of found) console.log(`  ${what}: ${measured}`);
    figures.push(...found);
  }
  return figures;
}
