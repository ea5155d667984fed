// Faults of the disks and clocks of a machine that runs pods: full, read-only, folders lost, wall clocks that jump.
import { rmSync } from 'node:fs';
import path from 'node:path';
import type { Bench, FaultClass } from './bench.js';
import { podsCrawl } from './crawls.js';
import { shiftedClock } from './shifted-clock.js';

const share = (bench: Bench, from: number, to: number) =>
  Math.floor(bench.pages * (from + bench.random() * (to - from)));
/** Whoever writes there meanwhile makes a folder that is not empty. */
const GONE = { recursive: true, force: true, maxRetries: 50, retryDelay: 10 } as const;
const ROOT = ['redis', 'root'] as const;

export const podsDisks: readonly FaultClass[] = [
  {
    name: 'pods/data-dirs-full',
    placement: 'pods',
    needs: ROOT,
    inCi: 'always',
    async act(bench) {
      const dirs = [await bench.disk('ssd1', 64), await bench.disk('ssd2', 64)];
      const crawl = await podsCrawl(bench, { more: { state_dir: './state' } });
      const first = crawl.run();
      const code = await first.ended();
      bench.expect(code === 3, `exit 3 expected, not ${code}`);
      bench.expect(/full|room/i.test(first.stderr()), 'the end does not say that the disk is full');
      for (const dir of dirs) bench.remount(dir, 'size=64m');
      await crawl.whole(crawl.resume());
    },
  },
  {
    name: 'pods/one-data-dir-full',
    placement: 'pods',
    needs: ROOT,
    async act(bench) {
      await bench.disk('ssd2', 64);
      const crawl = await podsCrawl(bench, { more: { state_dir: './state' } });
      await crawl.whole(crawl.run());
    },
  },
  {
    name: 'pods/data-dir-read-only',
    placement: 'pods',
    needs: ROOT,
    async act(bench) {
      const dir = await bench.disk('ssd2', 8_192);
      const crawl = await podsCrawl(bench, { more: { state_dir: './state' } });
      const run = crawl.run();
      await crawl.web.untilServed(share(bench, 0.1, 0.5));
      // Busy while files are open for writing: then the remount is tried until it works.
      await bench.until(() => readOnly(bench, dir), 'the disk turns read-only', 20_000).catch(() => undefined);
      await run.ended();
      bench.remount(dir, 'rw');
      if (run.code !== 0) await crawl.whole(crawl.resume());
    },
  },
  {
    name: 'pods/data-dir-lost',
    placement: 'pods',
    needs: ['redis'],
    async act(bench) {
      bench.mayBeIncomplete = true;
      const crawl = await podsCrawl(bench, { more: { state_dir: './state' } });
      const run = crawl.run();
      await crawl.web.untilServed(share(bench, 0.2, 0.6));
      rmSync(crawl.dataDirs[1]!, GONE);
      await run.ended();
    },
  },
  {
    name: 'pods/state-dir-lost-between-runs',
    placement: 'pods',
    needs: ['redis'],
    async act(bench) {
      bench.mayBeIncomplete = true;
      const web = await bench.web({ hosts: 2, pages: 150 });
      const crawl = await podsCrawl(bench, { web, delaySecs: 0.02, more: { state_dir: './state', domain_head: 4 } });
      const first = crawl.run();
      await web.untilServed(40);
      await bench.pause(1_500);
      first.signal('SIGINT');
      await first.ended();
      rmSync(path.join(bench.folder, 'state'), GONE);
      const second = crawl.resume();
      await second.ended(60_000);
    },
  },
  {
    name: 'pods/handoff-lost',
    placement: 'pods',
    needs: ['redis'],
    async act(bench) {
      const crawl = await podsCrawl(bench, { more: { parsers_per_pod: 1, handoff_dir: './handoff' } });
      const run = crawl.run();
      for (let n = 0; n < 4; n++) {
        const pages = share(bench, 0.1 + n * 0.15, 0.2 + n * 0.15);
        await bench.until(async () => !run.isRunning || (await crawl.web.served()) >= pages, `${pages} pages`);
        rmSync(path.join(bench.folder, 'handoff', 'pod_0'), GONE);
      }
      await crawl.wholeInTheEnd(run);
    },
  },
  {
    name: 'pods/log-dir-lost',
    placement: 'pods',
    needs: ['redis'],
    async act(bench) {
      const crawl = await podsCrawl(bench);
      const run = crawl.run();
      await crawl.web.untilServed(share(bench, 0.1, 0.5));
      rmSync(path.join(bench.folder, 'logs'), GONE);
      await crawl.whole(run);
    },
  },
  {
    name: 'pods/clocks-jump',
    placement: 'pods',
    needs: ['redis', 'clock'],
    async act(bench) {
      const clock = shiftedClock(bench.folder);
      const crawl = await podsCrawl(bench, { more: { fetchers_per_pod: 2 }, env: clock.env });
      const run = crawl.run();
      await crawl.web.untilServed(share(bench, 0.1, 0.2));
      for (const shiftSecs of [3_600, -7_200, 86_400, -86_400, 0]) {
        clock.set(shiftSecs);
        await bench.pause(500);
      }
      await crawl.whole(run);
    },
  },
];

function readOnly(bench: Bench, dir: string): boolean {
  try {
    bench.remount(dir, 'ro');
    return true;
  } catch {
    return false;
  }
}
