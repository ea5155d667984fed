// Faults of crawls by a script with the library, of batches, and of crawls in a browser.
import { spawnSync } from 'node:child_process';
import { appendFileSync, truncateSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Bench, FaultClass } from './bench.js';
import { batchCrawl, scriptCrawl } from './crawls.js';
import { childrenOf, commandLine, type Program } from './program.js';

const BROWSER_PAGES = 36;
const share = (bench: Bench, pages: number, from: number, to: number) =>
  Math.floor(pages * (from + bench.random() * (to - from)));

/** Kills the script at random instants and runs it again until it ends by itself. */
async function killScript(bench: Bench, kills: number, isBrowser = false): Promise<void> {
  const crawl = await scriptCrawl(bench, { isBrowser });
  const pages = isBrowser ? BROWSER_PAGES : bench.pages;
  for (let n = 0; n < kills; n++) {
    const run = crawl.run();
    await crawl.web.untilServed(share(bench, pages, (n + 0.2) / (kills + 1), (n + 1) / (kills + 1)));
    const below = childrenOf(run.pid);
    bench.countKill();
    await run.kill();
    await gone(bench, below);
  }
  await crawl.whole(crawl.run());
}

/** A killed script leaves no browser behind. */
async function gone(bench: Bench, pids: readonly number[]): Promise<void> {
  await bench
    .until(() => pids.every((pid) => !/chrom/.test(commandLine(pid))), 'the browser ends with its script', 20_000)
    .catch((error: Error) => bench.expect(false, error.message));
}

const library: readonly FaultClass[] = [
  { name: 'library/killed', placement: 'library', inCi: 'sample', act: (bench) => killScript(bench, 4) },
  {
    name: 'library/interrupted',
    placement: 'library',
    inCi: 'sample',
    async act(bench) {
      const crawl = await scriptCrawl(bench);
      const first = crawl.run();
      await crawl.web.untilServed(share(bench, bench.pages, 0.2, 0.7));
      first.signal('SIGINT');
      await first.ended();
      await crawl.whole(crawl.run());
    },
  },
  {
    name: 'library/sharer-killed',
    placement: 'library',
    async act(bench) {
      const crawl = await scriptCrawl(bench, { isShared: true });
      const runs = [crawl.run(), crawl.run(), crawl.run()];
      for (const [n, run] of runs.slice(1).entries()) {
        await crawl.web.untilServed(share(bench, bench.pages, 0.2 + n * 0.3, 0.4 + n * 0.3));
        bench.countKill();
        await run.kill();
      }
      await crawl.whole(runs[0]!);
    },
  },
  {
    name: 'library/sharer-stopped-beyond-lease',
    placement: 'library',
    async act(bench) {
      const crawl = await scriptCrawl(bench, { isShared: true });
      const runs = [crawl.run(), crawl.run()];
      await crawl.web.untilServed(share(bench, bench.pages, 0.2, 0.4));
      runs[1]!.signal('SIGSTOP');
      await bench.pause(6_000);
      runs[1]!.signal('SIGCONT');
      for (const run of runs) await crawl.whole(run);
    },
  },
  {
    name: 'library/sharer-restarted-after-the-end',
    placement: 'library',
    async act(bench) {
      // Review D10: one of two is killed, the other finishes; the restart of the killed one must not purge the items.
      const crawl = await scriptCrawl(bench, { isShared: true, queue: 'named' });
      const runs = [crawl.run(), crawl.run()];
      await crawl.web.untilServed(share(bench, bench.pages, 0.3, 0.6));
      bench.countKill();
      await runs[1]!.kill();
      await crawl.whole(runs[0]!);
      await crawl.run().ended();
    },
  },
  ...(['killed', 'paused'] as const).map((what): FaultClass => ({
    name: `library/redis-${what}`,
    placement: 'library',
    needs: ['redis'],
    async act(bench) {
      const server = await bench.redis();
      const crawl = await scriptCrawl(bench, { redisUrl: server.url });
      const run = crawl.run();
      await crawl.web.untilServed(share(bench, bench.pages, 0.2, 0.6));
      if (what === 'killed') {
        bench.countKill();
        await server.stop('SIGKILL');
        await bench.pause(1_000);
        await server.start();
      } else {
        server.pause();
        await bench.pause(6_000);
        server.resume();
      }
      await crawl.whole(run);
    },
  })),
  {
    name: 'library/redis-script-killed',
    placement: 'library',
    needs: ['redis'],
    async act(bench) {
      const server = await bench.redis();
      const crawl = await scriptCrawl(bench, { redisUrl: server.url });
      for (let n = 0; n < 2; n++) {
        const run = crawl.run();
        await crawl.web.untilServed(share(bench, bench.pages, 0.1 + n * 0.4, 0.4 + n * 0.4));
        bench.countKill();
        await run.kill();
      }
      await crawl.whole(crawl.run());
    },
  },
  {
    name: 'library/disk-full',
    placement: 'library',
    needs: ['root'],
    async act(bench) {
      const storage = await bench.disk('small', 4_096);
      const crawl = await scriptCrawl(bench, { storage });
      const first = crawl.run();
      await crawl.web.untilServed(share(bench, bench.pages, 0.2, 0.5));
      spawnSync('dd', ['if=/dev/zero', `of=${storage}/ballast`, 'bs=4k']);
      const code = await first.ended();
      bench.expect(code !== 0, 'a crawl on a full disk must not end with 0');
      bench.expect(/STORAGE_FULL|space/i.test(first.stderr()), 'the end does not say that the disk is full');
      spawnSync('rm', [path.join(storage, 'ballast')]);
      bench.remount(storage, 'size=64m');
      await crawl.whole(crawl.run());
    },
  },
];

async function killBatch(
  bench: Bench,
  end: (run: Program) => Promise<void>,
  between?: (file: string) => void,
): Promise<void> {
  const crawl = await batchCrawl(bench);
  for (let n = 0; n < 3; n++) {
    const run = crawl.run();
    await crawl.web.untilServed(share(bench, bench.pages, (n + 0.2) / 4, (n + 1) / 4));
    await end(run);
    between?.(crawl.file);
  }
  await crawl.whole(crawl.run());
}

const batch: readonly FaultClass[] = [
  {
    name: 'batch/killed',
    placement: 'batch',
    inCi: 'sample',
    act: (bench) =>
      killBatch(bench, (run) => {
        bench.countKill();
        return run.kill();
      }),
  },
  {
    name: 'batch/interrupted',
    placement: 'batch',
    act: (bench) =>
      killBatch(bench, async (run) => {
        run.signal('SIGINT');
        const code = await run.ended();
        bench.expect(code === 130, `exit 130 expected, not ${code}`);
      }),
  },
  {
    name: 'batch/torn-line',
    placement: 'batch',
    act: (bench) =>
      killBatch(
        bench,
        (run) => {
          bench.countKill();
          return run.kill();
        },
        (file) => {
          // What a power cut leaves: half of the last line, or half of one more.
          if (bench.random() < 0.5) appendFileSync(file, '{"url":"http://127.77.0.1:1/p/');
          else truncateSync(file, Math.max(0, statSync(file).size - 7));
        },
      ),
  },
  {
    name: 'batch/disk-full',
    placement: 'batch',
    inCi: 'sample',
    async act(bench) {
      const crawl = await batchCrawl(bench);
      const first = crawl.run([], ['bash', '-c', 'ulimit -f 12; exec "$0" "$@"']);
      const code = await first.ended();
      bench.expect(code === 3, `exit 3 expected, not ${code}`);
      await crawl.whole(crawl.run());
    },
  },
];

const browserRun = (name: string, act: (bench: Bench) => Promise<void>): FaultClass => ({
  ...{ name: `browser/${name}`, placement: 'browser', needs: ['browser'], act },
});

/** Chromium processes below a script: the browser itself has no `--type`. */
function chromium(run: Program, type: 'browser' | 'renderer' | 'gpu-process'): number[] {
  return childrenOf(run.pid).filter((pid) => {
    const line = commandLine(pid);
    if (!/chrom/.test(line) || line.includes('crashpad_handler')) return false;
    return type === 'browser' ? !line.includes('--type=') : line.includes(`--type=${type}`);
  });
}

const killChromium = (type: 'browser' | 'renderer' | 'gpu-process', times: number) => async (bench: Bench) => {
  const crawl = await scriptCrawl(bench, { isBrowser: true });
  const run = crawl.run();
  for (let n = 0; n < times; n++) {
    await crawl.web.untilServed(share(bench, BROWSER_PAGES, 0.1 + n * 0.25, 0.3 + n * 0.25));
    await bench.until(() => !run.isRunning || chromium(run, type).length > 0, `a ${type}`);
    const victim = bench.pick(chromium(run, type));
    bench.expect(victim !== undefined, `there was no ${type} to kill`);
    bench.kill(victim);
  }
  await crawl.whole(run);
};

const browser: readonly FaultClass[] = [
  browserRun('browser-killed', killChromium('browser', 2)),
  browserRun('renderer-killed', killChromium('renderer', 3)),
  browserRun('gpu-process-killed', killChromium('gpu-process', 1)),
  browserRun('script-killed', (bench) => killScript(bench, 2, true)),
  browserRun('page-hangs', async (bench) => {
    const crawl = await scriptCrawl(bench, { isBrowser: true, navigationTimeoutSecs: 4 });
    await crawl.web.behave({ every: 8, rest: 3, times: 1, act: 'script' });
    await crawl.whole(crawl.run());
  }),
  browserRun('server-hangs', async (bench) => {
    const crawl = await scriptCrawl(bench, { isBrowser: true, navigationTimeoutSecs: 3 });
    await crawl.web.behave({ every: 8, rest: 3, times: 1, act: 'hang' });
    await crawl.whole(crawl.run());
  }),
];

export const scriptsAndBatches: readonly FaultClass[] = [...library, ...batch, ...browser];
