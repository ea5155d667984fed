// One crawl on three machines, each a network namespace with a cable to the stores and the web: cables cut, machines
// stopped and killed, pods moved. Judged by the web server's log and what lies on the disks of all machines.
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { networkMissing } from '../support/machines.js';
import { coordinatorOf, type MachinesPlan, startMachines } from '../support/machines-crawl.js';
import { until } from '../support/pods-crawl.js';
import { lastLine } from '../support/pods-trial.js';
import { redisMissing } from '../support/redis-server.js';
import { FAULTS } from './suite/case.js';

const missing = redisMissing ?? networkMissing();
// eslint-disable-next-line no-console -- a skip must say why
if (missing) console.warn(`crawls on machines in network namespaces are skipped: ${missing}`);

const CLEAN = Object.fromEntries(FAULTS.map((name) => [name, 0]));
const PLAN: MachinesPlan = { pods: 3, hosts: 12, pages: 20, delaySecs: 0.5, leaseSecs: 11 };
const LEASE_MS = PLAN.leaseSecs * 1_000;

async function trial(plan: MachinesPlan = PLAN) {
  const crawl = await startMachines(plan);
  onTestFinished(() => crawl.dispose());
  return crawl;
}

describe.skipIf(missing)('three machines', () => {
  it(
    'lose and double nothing when one is cut off, the coordinator stands still, and a pod moves',
    { timeout: 300_000 },
    async () => {
      // Long enough that there is work left when the first machine comes back.
      const plan = { ...PLAN, pages: 70 };
      const crawl = await trial(plan);
      const running = [0, 1, 2].map((machine) => crawl.run(machine, '--pods', String(machine)));
      const [first, second, third] = running as [(typeof running)[0], (typeof running)[0], (typeof running)[0]];
      await crawl.untilServed(60);
      await until(() => coordinatorOf(running) === first);

      // For longer than a lease, then in one direction only.
      second.machine.cut();
      await delay(LEASE_MS + 2_000);
      second.machine.mend();
      third.machine.cutInward();

      // Coordination moves while its machine stands still.
      first.pause();
      const pausedMs = performance.now();
      third.machine.mend();
      await until(() => coordinatorOf(running) !== first);
      const movedMs = performance.now() - pausedMs;
      expect(movedMs).toBeLessThan(30_000);

      // Its pod moves, and it comes back.
      const moved = crawl.run(1, '--pods', '0', '--resume');
      await until(() => moved.program.stdout().includes('Starting '));
      const owner = () => crawl.network.redis(0, 'HGET', 'pod:owner', 'identity');
      while (!owner().includes('machine-b')) await delay(500);
      first.resume();
      expect(await first.program.ended()).toBe(1);
      expect(lastLine(first.program.stdout())).toMatch(/its pods run on another machine now$/);

      const codes = await Promise.all([second, third, moved].map(({ program }) => program.ended()));
      expect(codes).toEqual([0, 0, 0]);
      const verdict = await crawl.verdict();
      expect(verdict, verdict.examples.join('\n')).toMatchObject({ ...CLEAN, stored: plan.hosts * plan.pages });
    },
  );

  it('do exactly max_pages, and stop where they are told to', { timeout: 300_000 }, async () => {
    const maxPages = 180;
    const crawl = await trial({ ...PLAN, maxPages });
    const start = (...flags: string[]) =>
      [0, 1, 2].map((machine) => crawl.run(machine, '--pods', String(machine), ...flags));
    const nothing = crawl.stop(2);
    expect([await nothing.ended(), nothing.stdout()]).toEqual([0, expect.stringContaining('Nothing runs')]);

    // Ctrl-C stops one machine; another coordinates.
    const [first, second, third] = start() as [
      ReturnType<typeof crawl.run>,
      ReturnType<typeof crawl.run>,
      ReturnType<typeof crawl.run>,
    ];
    await crawl.untilServed(60);
    await until(() => coordinatorOf([first, second, third]) === first);
    first.program.signal('SIGINT');
    expect(await first.program.ended()).toBe(130);
    await until(() => [second, third].includes(coordinatorOf([first, second, third])!));
    const served = await crawl.served();
    await crawl.untilServed(served + 20);

    // Everywhere, from anywhere.
    const stop = crawl.stop(0);
    expect(await stop.ended(), stop.stderr()).toBe(0);
    expect(stop.stdout()).toMatch(/^Stopped 2 pods\. Continue with orcrawl run/);
    for (const { program } of [second, third]) {
      expect([await program.ended(), lastLine(program.stdout())]).toEqual([0, expect.stringMatching(/stop_signal$/)]);
    }

    // One is killed amid the last pages, with its cable cut, and started again.
    const again = start('--resume');
    await crawl.untilServed((await crawl.served()) + 40);
    await again[1]!.kill();
    const back = crawl.run(1, '--pods', '1', '--resume');
    const ends = await Promise.all([again[0]!, back, again[2]!].map(({ program }) => program.ended()));
    expect(ends).toEqual([0, 0, 0]);
    const { stored, ...verdict } = await crawl.verdict();
    expect(verdict, verdict.examples.join('\n')).toMatchObject({ doubled: 0, early: 0, hung: 0, damaged: 0 });
    expect(stored).toBe(maxPages);
  });
});
