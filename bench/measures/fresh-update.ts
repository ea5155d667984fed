// `--update` twice over an unchanged web: CPU and bytes of the second run, and what a 304 costs beside a page.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startSimwebProcess } from '../../dist/testing/index.js';
import type { Figure } from '../measure.js';
import { runCrawl } from '../../src/cli/crawl/run.js';
import { chooseStart } from '../../src/cli/crawl/folder.js';
import type { CrawlReport } from '../../src/cli/crawl/report.js';

const PAGES = Number(process.env.FRESH_PAGES ?? 10_000);

export interface UpdateFigures {
  readonly first: UpdateRun;
  readonly second: UpdateRun;
  /** Of both runs: responses with a body, and without. */
  readonly bodies: number;
  readonly unchanged: number;
}

export interface UpdateRun {
  readonly report: CrawlReport;
  readonly cpuMs: number;
}

/** A first crawl with a memory, and an update of the same pages. The first crawl of a process also compiles it. */
export async function updateTwice(pages: number): Promise<UpdateFigures> {
  await using web = await startSimwebProcess({ seed: 3, hosts: 1, pagesPerHost: pages });
  const folder = await mkdtemp(path.join(tmpdir(), 'fresh-update-'));
  try {
    const run = async (): Promise<UpdateRun> => {
      const settings = { urls: web.seeds(), format: 'jsonl' as const, delay: 0, update: true, traps: false };
      const mode = await chooseStart(folder, { update: true });
      const before = process.cpuUsage();
      const report = await runCrawl(settings, { folder, mode }, { quiet: true });
      const { user, system } = process.cpuUsage(before);
      return { report, cpuMs: (user + system) / 1000 };
    };
    const [first, second] = [await run(), await run()];
    const answered = async (status: number) => (await web.requests()).filter((one) => one.status === status).length;
    return { first, second, bodies: await answered(200), unchanged: await answered(304) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export async function measure(): Promise<Figure[]> {
  const { first, second, bodies, unchanged } = await updateTwice(PAGES);
  const { update } = second.report;
  return [
    {
      what: `second update of ${PAGES} unchanged pages: CPU, of the first run's`,
      measured: `${((100 * second.cpuMs) / first.cpuMs).toFixed(1)} %`,
      goal: '≤ 25 %',
    },
    {
      what: 'CPU per page, first and second run',
      measured: `${(first.cpuMs / first.report.pages).toFixed(2)} ms, ${(second.cpuMs / second.report.pages).toFixed(2)} ms`,
      goal: 'a 304 ≤ 1/5 of a page',
    },
    {
      what: 'answers in both runs: 200 with a body, 304 without',
      measured: `${bodies}, ${unchanged}`,
      goal: 'no body twice (≤ 5 % of the bytes)',
    },
    {
      what: 'new, changed, same, gone',
      measured: `${update!.new}, ${update!.changed}, ${update!.same}, ${update!.gone}`,
      goal: `0, 0, ${first.report.update!.new}, 0`,
    },
    {
      what: 'result file',
      measured: second.report.result.bytes === first.report.result.bytes ? 'unchanged' : 'changed',
      goal: 'unchanged',
    },
  ];
}
