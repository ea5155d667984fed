// Faults of a crawl on two machines (two orchestrators with a pod each): the follower or the coordinator lost, late, stopped.
import type { Bench, FaultClass } from './bench.js';
import { podsCrawl, type PodsCrawl } from './crawls.js';

const share = (bench: Bench, from: number, to: number) =>
  Math.floor(bench.pages * (from + bench.random() * (to - from)));

const machines = (name: string, act: (bench: Bench, crawl: PodsCrawl) => Promise<void>): FaultClass => ({
  name: `pods/${name}`,
  placement: 'pods',
  needs: ['redis'],
  async act(bench) {
    await act(bench, await podsCrawl(bench, { redis: 2 }));
  },
});

async function bothEnd(bench: Bench, ...runs: readonly { ended(): Promise<number | null> }[]): Promise<void> {
  const codes = await Promise.all(runs.map((run) => run.ended()));
  bench.expect(
    codes.every((code) => code === 0),
    `exit 0 expected of both, not ${codes.join(' and ')}`,
  );
}

export const podsMachines: readonly FaultClass[] = [
  machines('two-orchestrators', async (bench, crawl) => {
    const coordinator = crawl.run(['--pods', '0']);
    const follower = crawl.run(['--pods', '1']);
    await bothEnd(bench, coordinator, follower);
  }),
  machines('follower-killed', async (bench, crawl) => {
    const coordinator = crawl.run(['--pods', '0']);
    const follower = crawl.run(['--pods', '1']);
    await crawl.web.untilServed(share(bench, 0.2, 0.6));
    bench.countKill();
    await follower.kill();
    await bench.pause(bench.random() * 4_000);
    await bothEnd(bench, coordinator, crawl.run(['--pods', '1', '--resume']));
  }),
  machines('coordinator-killed', async (bench, crawl) => {
    const coordinator = crawl.run(['--pods', '0']);
    const follower = crawl.run(['--pods', '1']);
    await crawl.web.untilServed(share(bench, 0.2, 0.6));
    bench.countKill();
    await coordinator.kill();
    await bench.pause(bench.random() * 4_000);
    await bothEnd(bench, crawl.run(['--pods', '0', '--resume']), follower);
  }),
  machines('follower-late', async (bench, crawl) => {
    // Both stopped in mid-run; the follower comes back when the coordinator may have ended the crawl already.
    const first = [crawl.run(['--pods', '0']), crawl.run(['--pods', '1'])];
    await crawl.web.untilServed(share(bench, 0.5, 0.9));
    for (const run of first) {
      bench.countKill();
      await run.kill();
    }
    const coordinator = crawl.run(['--pods', '0', '--resume']);
    await bench.pause(5_000);
    await bothEnd(bench, coordinator, crawl.run(['--pods', '1', '--resume']));
  }),
  machines('follower-stopped', async (bench, crawl) => {
    const coordinator = crawl.run(['--pods', '0']);
    const follower = crawl.run(['--pods', '1']);
    await crawl.web.untilServed(share(bench, 0.2, 0.6));
    follower.signal('SIGSTOP');
    await bench.pause(8_000);
    follower.signal('SIGCONT');
    await bothEnd(bench, coordinator, follower);
  }),
];
