// Faults of the processes of a crawl on pods: killed, stopped beyond their lease, ended by a page, started twice.
import type { Bench, FaultClass } from './bench.js';
import { pageUrl, podsCrawl, type PodsOptions, workersOf } from './crawls.js';

const REDIS = ['redis'] as const;
/** Shares of the crawl at which something happens. */
const at = (bench: Bench, pages: number, from: number, to: number) =>
  Math.floor(pages * (from + bench.random() * (to - from)));

const killWorkers =
  (role: 'fetcher' | 'parser', options: PodsOptions, times = 3) =>
  async (bench: Bench) => {
    const crawl = await podsCrawl(bench, options);
    const run = crawl.run();
    for (let n = 0; n < times; n++) {
      await crawl.web.untilServed(at(bench, bench.pages, (n + 0.2) / (times + 1), (n + 1) / (times + 1)));
      await bench.until(() => workersOf(run, role).length > 0 || !run.isRunning, `a ${role}`);
      bench.kill(bench.pick(workersOf(run, role)));
    }
    await crawl.whole(run);
  };

const killOrchestrator = (options: PodsOptions) => async (bench: Bench) => {
  const crawl = await podsCrawl(bench, options);
  let run = crawl.run();
  for (let n = 0; n < 2; n++) {
    await crawl.web.untilServed(at(bench, bench.pages, 0.1 + n * 0.4, 0.4 + n * 0.4));
    bench.countKill();
    await run.kill();
    run = crawl.resume();
  }
  await crawl.whole(run);
};

const PARSERS = { more: { parsers_per_pod: 1, handoff_dir: './handoff' } };

export const podsProcesses: readonly FaultClass[] = [
  {
    name: 'pods/worker-killed',
    placement: 'pods',
    needs: REDIS,
    inCi: 'sample',
    act: killWorkers('fetcher', { redis: 2 }),
  },
  { name: 'pods/parser-killed', placement: 'pods', needs: REDIS, act: killWorkers('parser', PARSERS) },
  {
    name: 'pods/embedded-worker-killed',
    placement: 'pods',
    inCi: 'sample',
    act: killWorkers('fetcher', { embedded: 2 }),
  },
  {
    name: 'pods/orchestrator-killed',
    placement: 'pods',
    needs: REDIS,
    inCi: 'sample',
    act: killOrchestrator({ redis: 2, ...PARSERS }),
  },
  { name: 'pods/embedded-orchestrator-killed', placement: 'pods', act: killOrchestrator({ embedded: 2 }) },
  {
    name: 'pods/everything-killed',
    placement: 'pods',
    needs: REDIS,
    async act(bench) {
      const crawl = await podsCrawl(bench, { redis: 2 });
      const run = crawl.run();
      await crawl.web.untilServed(at(bench, bench.pages, 0.2, 0.7));
      const workers = workersOf(run, 'fetcher');
      await Promise.all([run.kill(), ...crawl.servers.map((server) => server.stop('SIGKILL'))]);
      bench.countKill();
      for (const pid of workers) bench.kill(pid);
      for (const server of crawl.servers) await server.start();
      await crawl.whole(crawl.resume());
    },
  },
  {
    name: 'pods/worker-stopped-beyond-lease',
    placement: 'pods',
    needs: REDIS,
    async act(bench) {
      const crawl = await podsCrawl(bench, {
        more: { fetchers_per_pod: 2, lease_seconds: 11 },
        env: { CRAWLER_STUCK_SECONDS: '60' },
      });
      const run = crawl.run();
      await crawl.web.untilServed(at(bench, bench.pages, 0.1, 0.5));
      const pid = bench.pick(workersOf(run, 'fetcher'))!;
      process.kill(pid, 'SIGSTOP');
      await bench.pause(13_000 + bench.random() * 3_000);
      process.kill(pid, 'SIGCONT');
      await crawl.whole(run);
    },
  },
  {
    name: 'pods/worker-hangs',
    placement: 'pods',
    needs: REDIS,
    inCi: 'always',
    async act(bench) {
      const crawl = await podsCrawl(bench, { more: { fetchers_per_pod: 2 } });
      const run = crawl.run();
      await crawl.web.untilServed(at(bench, bench.pages, 0.1, 0.5));
      process.kill(bench.pick(workersOf(run, 'fetcher'))!, 'SIGSTOP');
      await crawl.whole(run);
      const isSaid = /fetcher \d of pod 0 was silent for \d+ s: killing it/.test(crawl.logs());
      bench.expect(isSaid, 'the log does not say that the hanging worker was killed');
    },
  },
  {
    name: 'pods/orchestrator-stopped',
    placement: 'pods',
    needs: REDIS,
    async act(bench) {
      const crawl = await podsCrawl(bench);
      const run = crawl.run();
      await crawl.web.untilServed(at(bench, bench.pages, 0.1, 0.5));
      run.signal('SIGSTOP');
      await bench.pause(8_000 + bench.random() * 4_000);
      run.signal('SIGCONT');
      await crawl.whole(run);
    },
  },
  {
    name: 'pods/two-supervisors',
    placement: 'pods',
    needs: REDIS,
    async act(bench) {
      const crawl = await podsCrawl(bench);
      const first = crawl.run();
      await crawl.web.untilServed(at(bench, bench.pages, 0.1, 0.3));
      const second = crawl.resume();
      await bench.until(() => /waiting|supervised/.test(second.stderr() + second.stdout()), 'the second one waits');
      await crawl.web.untilServed(at(bench, bench.pages, 0.4, 0.6));
      bench.countKill();
      await first.kill();
      await crawl.whole(second);
    },
  },
  {
    name: 'pods/second-signal',
    placement: 'pods',
    needs: REDIS,
    async act(bench) {
      const crawl = await podsCrawl(bench);
      const first = crawl.run();
      await crawl.web.untilServed(at(bench, bench.pages, 0.1, 0.6));
      first.signal('SIGINT');
      await bench.pause(bench.random() * 300);
      first.signal('SIGINT');
      const code = await first.ended();
      bench.expect(code === 130, `exit 130 expected, not ${code}`);
      bench.expect(/--resume continues/.test(first.stdout()), 'the interrupted run does not say how to go on');
      await crawl.whole(crawl.resume());
    },
  },
  ...(['exit', 'memory', 'loop'] as const).map((act): FaultClass => ({
    name: `pods/page-${act === 'exit' ? 'ends-worker' : act === 'memory' ? 'out-of-memory' : 'never-ends'}`,
    placement: 'pods',
    needs: REDIS,
    async act(bench) {
      const web = await bench.web();
      const bad = [[2, 21] as const, [5, 20] as const];
      bench.excused.push(...bad);
      const crawl = await podsCrawl(bench, {
        web,
        more: { fetcher_memory_limit: '"96M"' },
        env: {
          FAULT_ACT: act,
          FAULT_PAGES: bad.map(([host, page]) => pageUrl(web.port, host, page)).join(' '),
          CRAWLER_STUCK_SECONDS: '3',
        },
      });
      const run = crawl.run();
      const code = await run.ended(240_000);
      bench.expect(code === 0, `exit 0 expected, not ${code}`);
      bench.expect(/^2 failed/m.test(run.stderr()), 'the end does not say that two pages failed');
    },
  })),
];
