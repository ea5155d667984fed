// One domain whose links come in uneven waves, so that its queue grows past its head, spills to disk and comes back: each
// page once, for any head, with and without kills.
import type { Bench, FaultClass } from './bench.js';
import { podsCrawl, workersOf } from './crawls.js';

export interface WavesPlan {
  readonly pages: number;
  /** URLs of a domain that stay in Redis. */
  readonly head: number;
  readonly kills: number;
  /** Pages of the largest wave. */
  readonly largest: number;
  readonly limitMs?: number;
}

export function wavesClass(plan: WavesPlan): FaultClass {
  return {
    name: `pods/waves of ${plan.pages} at head ${plan.head}${plan.kills > 0 ? ` with ${plan.kills} kills` : ''}`,
    placement: 'pods',
    needs: ['redis'],
    act: (bench) => crawlWaves(bench, plan),
  };
}

async function crawlWaves(bench: Bench, plan: WavesPlan): Promise<void> {
  const seed = Math.floor(bench.random() * 1e6);
  const web = await bench.web({ shape: 'waves', pages: plan.pages, largest: plan.largest, seed }, [0, 2]);
  const crawl = await podsCrawl(bench, {
    web,
    delaySecs: 0,
    more: { domain_head: plan.head, fetcher_workers: 60, max_connections_per_address: 100, state_dir: './state' },
  });
  let run = crawl.run();
  for (let n = 0; n < plan.kills; n++) {
    const share = (plan.pages * 0.9 * (n + bench.random())) / plan.kills;
    await bench.until(async () => !run.isRunning || (await web.served()) >= share, `${share} pages`, plan.limitMs);
    if (!run.isRunning) break;
    // The keeper is a worker: it dies with the rows it was moving.
    if (n % 3 < 2) {
      await bench.until(() => !run.isRunning || workersOf(run, 'fetcher').length > 0, 'a fetcher');
      bench.kill(bench.pick(workersOf(run, 'fetcher')));
      continue;
    }
    bench.countKill();
    await run.kill();
    run = crawl.resume();
  }
  const code = await run.ended(plan.limitMs);
  bench.expect(code === 0, `exit 0 expected, not ${code}`);
}
