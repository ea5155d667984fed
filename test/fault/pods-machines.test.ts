// Machines that share a crawl, started, stopped and resumed in any order, and machines that look alike.
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Request } from '../../src/request/request.js';
import { Simweb } from '../../src/testing/index.js';
import { MAIN } from '../integration/cli-process.js';
import { until, workersOf } from '../support/pods-crawl.js';
import { lastLine, podsTrial } from '../support/pods-trial.js';
import { redisMissing } from '../support/redis-server.js';

// eslint-disable-next-line no-console -- a skip must say why
if (redisMissing) console.warn(`crawls on several machines are skipped: ${redisMissing}`);

const keys = (web: Simweb): string[] => [...web.allUrls()].map((url) => new Request({ url }).uniqueKey).sort();

describe.skipIf(redisMissing)('a machine of several', () => {
  it(
    'that comes when the run is over finds the same end, begins the next run alone, and a new crawl with --fresh',
    { timeout: 300_000 },
    async () => {
      await using web = await Simweb.start({ hosts: 12, pagesPerHost: 5, pageBytes: 500, crossHostLinks: 0.3 });
      const { run, stored, servers } = await podsTrial({ redis: 2, seeds: web.seeds() });
      const names = () =>
        servers.map(({ port }) =>
          spawnSync('redis-cli', ['-p', String(port), 'HGET', 'pod:info', 'crawl'], { encoding: 'utf8' }).stdout.trim(),
        );
      const limit = ['--max-pages', '20'];
      for (const { ended } of [run('--pods', '0', ...limit), run('--pods', '1', ...limit)]) {
        expect((await ended).code).toBe(0);
      }
      const late = await run('--pods', '1', '--resume', ...limit).ended;
      expect([late.code, lastLine(late.stdout)], late.stderr).toEqual([0, '20 pages: max_pages reached']);

      // The machine of the coordinating pod comes second, and follows.
      const early = run('--pods', '1', '--resume');
      await until(async () => early.stdout().includes('This machine coordinates the crawl'));
      const second = await run('--pods', '0', '--resume').ended;
      expect(lastLine(second.stdout), second.stderr).toMatch(/pages on this machine: nothing is left to crawl$/);
      expect(lastLine((await early.ended).stdout)).toBe('60 pages: nothing is left to crawl');
      expect(await stored()).toEqual(keys(web));

      // One new crawl, whichever is started first.
      const [before, same] = names();
      expect(before).toMatch(/^[0-9a-f-]{36}$/);
      expect(same).toBe(before);
      const waiting = run('--pods', '1', '--fresh');
      await until(async () => waiting.stdout().includes('Pod 0 has not started the new crawl'));
      const first = await run('--pods', '0', '--fresh').ended;
      expect([first.code, lastLine(first.stdout)], first.stderr).toEqual([0, '60 pages: nothing is left to crawl']);
      expect((await waiting.ended).code).toBe(0);
      const [after, alike] = names();
      expect(after).not.toBe(before);
      expect(alike).toBe(after);
    },
  );

  it('stops alone by Ctrl-C, and another one coordinates', { timeout: 300_000 }, async () => {
    await using web = await Simweb.start({ hosts: 12, pagesPerHost: 14, pageBytes: 500, latencyMs: 100 });
    const { run, stored } = await podsTrial({ redis: 2, seeds: web.seeds(), more: ['fetcher_workers: 1'] });
    const first = run('--pods', '0');
    const other = run('--pods', '1');
    await until(async () => web.served() > 30 && (await workersOf(other, 'fetcher')).length === 1);
    first.signal('SIGINT');
    expect((await first.ended).code).toBe(130);
    await until(async () => other.stdout().includes('This machine coordinates the crawl'));
    const served = web.served();
    await until(async () => web.served() > served + 10);
    const back = await run('--pods', '0', '--resume').ended;
    expect(lastLine(back.stdout), back.stderr).toMatch(/pages on this machine: nothing is left to crawl$/);
    expect(lastLine((await other.ended).stdout)).toBe('168 pages: nothing is left to crawl');
    expect(await stored()).toEqual(keys(web));
  });
});

describe.skipIf(redisMissing)('two machines with one host name', () => {
  it('do not supervise one pod at the same time', { timeout: 300_000 }, async (context) => {
    await using web = await Simweb.start({ hosts: 4, pagesPerHost: 12, pageBytes: 500 });
    const delayMs = 300;
    const { folder, run, stored } = await podsTrial({
      redis: 1,
      seeds: web.seeds(),
      more: [`politeness_delay_seconds: ${delayMs / 1_000}`],
    });
    // Another boot, seen by one process and what it starts.
    const boot = path.join(folder, 'boot_id');
    await writeFile(boot, `${randomUUID()}\n`);
    const asOther = ['-m', 'sh', '-c', 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"', boot];
    const trial = spawnSync('unshare', [...asOther, 'true'], { encoding: 'utf8' });
    if (trial.status !== 0) return context.skip(`no mount namespace can be made here: ${trial.stderr}`);

    const first = run();
    await until(async () => web.served() > 8);
    const second = spawn('unshare', [...asOther, process.execPath, MAIN, 'run', '--config', 'crawl.yaml', '--resume'], {
      cwd: folder,
      env: { ...process.env, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void second.kill('SIGKILL'));
    let said = '';
    let stdout = '';
    second.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    second.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    const gone = once(second, 'exit');
    await until(async () => said.includes('is supervised by') || (await workersOf(second, 'fetcher')).length > 0);
    expect(said).toContain(`Pod 0 is supervised by process ${first.pid} on`);
    let isOver = false;
    void first.ended.then(() => (isOver = true));
    let others = 0;
    await until(async () => {
      if (!isOver) others += (await workersOf(second, 'fetcher')).length;
      return isOver;
    });
    const { code, stdout: whole } = await first.ended;
    expect([code, lastLine(whole), others]).toEqual([0, '48 pages: nothing is left to crawl', 0]);
    // Its turn comes, and there is nothing left.
    await gone;
    expect(lastLine(stdout)).toBe('48 pages: nothing is left to crawl');
    expect(await stored()).toEqual(keys(web));
    for (let host = 0; host < 4; host++) expect(web.gaps(host).endToStartMs).toBeGreaterThanOrEqual(delayMs - 1);
  });
});
