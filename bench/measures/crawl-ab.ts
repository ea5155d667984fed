// Another build beside this one: both crawl the real pages in turns, many short rounds in one run, so that what else the
// machine does meets both. BENCH_OTHER=FOLDER names the other build; BENCH_ROUNDS (9), BENCH_ONLY (content,cheerio) and
// BENCH_HOSTS (24) make it shorter or longer.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Contestant, CONTESTANTS, runContestant } from '../crawl/contestants.js';
import { type Scheme, startWeb, type Web } from '../crawl/webs.js';
import type { Figure } from '../measure.js';

const { BENCH_OTHER, BENCH_ROUNDS, BENCH_ONLY = 'content,cheerio', BENCH_HOSTS, BENCH_SCHEME } = process.env;
const ROUNDS = Number(BENCH_ROUNDS ?? 9);
const GOALS: Readonly<Record<string, string>> = { content: '≤ 0.85 × the other', cheerio: '≤ 1.0 × the other' };

const middle = (list: readonly number[]): number => [...list].sort((a, b) => a - b)[list.length >> 1]!;

function ownAndOther(handler: string, folder: string): readonly [Contestant, Contestant] {
  const own = CONTESTANTS.find(({ name }) => name === `orcrawl-${handler}`);
  if (!own) throw new Error(`BENCH_ONLY names content, cheerio or both, not "${handler}"`);
  return [own, { ...own, order: { ...own.order, build: folder } }];
}

function headOf(folder: string): string {
  const { stdout } = spawnSync('git', ['-C', folder, 'rev-parse', '--short', 'HEAD'], { encoding: 'utf8' });
  return stdout.trim() || folder;
}

/** Rounds of both, this build first in every second one; each cost in CPU milliseconds per page. */
function takeTurns(pair: readonly [Contestant, Contestant], web: Web): readonly [number[], number[]] {
  const costs: readonly [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    for (const which of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const { cpuMs, pages } = runContestant(pair[which], web, { node: process.execPath, concurrency: 50 });
      costs[which].push(cpuMs / pages);
    }
    const [own, other] = [costs[0].at(-1)!, costs[1].at(-1)!];
    console.log(
      `  ${pair[0].name} ${own.toFixed(3)}, the other ${other.toFixed(3)} CPU-ms per page: ${(own / other).toFixed(3)}`,
    );
  }
  return costs;
}

export async function measure(): Promise<Figure[]> {
  if (BENCH_OTHER === undefined || !existsSync(resolve(BENCH_OTHER, 'dist/index.js'))) {
    throw new Error('BENCH_OTHER must name the folder of another build of orcrawl, with its dist/');
  }
  const folder = resolve(BENCH_OTHER);
  const hosts = BENCH_HOSTS === undefined ? undefined : Number(BENCH_HOSTS);
  const web = await startWeb('pages', (BENCH_SCHEME ?? 'http') as Scheme, false, hosts);
  try {
    return BENCH_ONLY.split(',').map((handler) => {
      const [own, other] = takeTurns(ownAndOther(handler, folder), web);
      const ratios = own.map((cost, round) => cost / other[round]!);
      const both = (of: (list: readonly number[]) => number): string =>
        `${of(own).toFixed(2)} and ${of(other).toFixed(2)}`;
      const least = Math.min(...own) / Math.min(...other);
      return {
        what: `${web.title}, \`${handler}\`, this build and ${headOf(folder)}, ${ROUNDS} rounds of ${web.hosts * web.pagesPerHost} pages`,
        measured:
          `median ${both(middle)}, least ${both((list) => Math.min(...list))} CPU-ms per page; ` +
          `${(middle(own) / middle(other)).toFixed(3)} × by medians, ${least.toFixed(3)} × by minima, ` +
          `${middle(ratios).toFixed(3)} × by rounds`,
        goal: GOALS[handler]!,
      };
    });
  } finally {
    await web.close();
  }
}
