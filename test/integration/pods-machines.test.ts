// One crawl on two machines: two orchestrators that share only the configuration, the seeds and the stores.
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { Request } from '../../src/request/request.js';
import { Simweb } from '../../src/testing/index.js';
import { podOf, until, workersOf } from '../support/pods-crawl.js';
import { lastLine, podsTrial } from '../support/pods-trial.js';
import { redisMissing } from '../support/redis-server.js';

// eslint-disable-next-line no-console -- a skip must say why
if (redisMissing) console.warn(`crawls on several machines are skipped: ${redisMissing}`);

const key = (url: string): string => new Request({ url }).uniqueKey;

describe.skipIf(redisMissing)('two machines with pods of their own', () => {
  it('find each other’s links, and both end when nothing is left anywhere', { timeout: 240_000 }, async () => {
    await using web = await Simweb.start({ hosts: 12, pagesPerHost: 5, pageBytes: 1_000, crossHostLinks: 0.3 });
    // All seeds belong to the first machine: what the other one has came by links.
    const seeds = web.seeds().filter((url) => podOf(url, 4) < 2);
    const { run, stored, log } = await podsTrial({ redis: 4, seeds });
    const machines = [run('--pods', '0-1'), run('--pods', '2-3')];
    const [first, second] = await Promise.all(machines.map(({ ended }) => ended));
    expect([first!.code, second!.code], `${first!.stderr}${second!.stderr}`).toEqual([0, 0]);
    expect(lastLine(first!.stdout)).toBe('60 pages: nothing is left to crawl');
    expect(lastLine(second!.stdout)).toMatch(/^[1-9]\d* pages on this machine: nothing is left to crawl$/);
    expect(await stored()).toEqual([...web.allUrls()].map(key).sort());
    for (const pod of [0, 1, 2, 3]) {
      const errors = (await log(pod)).split('\n').filter((line) => line.includes('"level":"ERROR"'));
      // A machine without a free core holds up an event loop for seconds, and that is told as an error.
      expect(errors.filter((line) => !line.includes('VISIT_BLOCKED_LOOP'))).toEqual([]);
    }
  });

  it('do exactly max_pages together, and go on from there', { timeout: 240_000 }, async () => {
    await using web = await Simweb.start({ hosts: 12, pagesPerHost: 5, pageBytes: 1_000, crossHostLinks: 0.3 });
    const { run, stored } = await podsTrial({ redis: 2, seeds: web.seeds() });
    const both = async (...flags: string[]) =>
      Promise.all([run('--pods', '0', ...flags).ended, run('--pods', '1', ...flags).ended]);
    const [first, second] = await both('--max-pages', '31');
    expect([first.code, second.code], `${first.stderr}${second.stderr}`).toEqual([0, 0]);
    expect(lastLine(first.stdout)).toBe('31 pages: max_pages reached');
    expect(lastLine(second.stdout)).toMatch(/max_pages reached$/);
    expect(await stored()).toHaveLength(31);
    const [again] = await both('--resume');
    expect(lastLine(again.stdout)).toBe('60 pages: nothing is left to crawl');
    expect(await stored()).toEqual([...web.allUrls()].map(key).sort());
  });
});

describe.skipIf(redisMissing)('a pod', () => {
  it(
    'stops everywhere by global:stop_signal, has one supervisor, and stops after max_duration',
    { timeout: 240_000 },
    async () => {
      await using web = await Simweb.start({ hosts: 4, pagesPerHost: 25, pageBytes: 500, latencyMs: 50 });
      const { run, servers, stored } = await podsTrial({
        redis: 2,
        seeds: web.seeds(),
        more: ['politeness_delay_seconds: 0.1'],
      });
      const machines = [run('--pods', '0'), run('--pods', '1')];
      await until(async () => web.served() > 8);
      spawnSync('redis-cli', ['-p', String(servers[0]!.port), 'SET', 'global:stop_signal', '1']);
      for (const { ended } of machines) {
        const { code, stdout } = await ended;
        expect([code, lastLine(stdout)]).toEqual([0, expect.stringMatching(/pages.*: stopped by global:stop_signal$/)]);
      }

      const first = run('--resume');
      await until(async () => first.stdout().includes('Starting '));
      await until(async () => (await workersOf(first, 'fetcher')).length === 2);
      const second = run('--resume', '--max-duration', '0.5');
      await until(async () => second.stderr().includes(`is supervised by process ${first.pid} on`));
      first.signal('SIGINT');
      expect((await first.ended).code).toBe(130);
      const { code, stdout } = await second.ended;
      expect([code, lastLine(stdout)]).toEqual([0, expect.stringMatching(/pages: max_duration reached$/)]);
      expect(lastLine((await run('--resume').ended).stdout)).toBe('100 pages: nothing is left to crawl');
      expect(await stored()).toEqual([...web.allUrls()].map(key).sort());
    },
  );
});
