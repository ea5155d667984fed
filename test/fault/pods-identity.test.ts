// What `--resume` refuses: stores and folders that do not belong together. Each by name, and nothing is touched.
import { spawnSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Request } from '../../src/request/request.js';
import { Simweb } from '../../src/testing/index.js';
import { until } from '../support/pods-crawl.js';
import { lastLine, podsTrial, type Trial } from '../support/pods-trial.js';
import { type RedisServer, redisMissing } from '../support/redis-server.js';

// eslint-disable-next-line no-console -- a skip must say why
if (redisMissing) console.warn(`names of crawls in Redis are skipped: ${redisMissing}`);

const cli = ({ port }: RedisServer, ...args: string[]): string =>
  spawnSync('redis-cli', ['-p', String(port), ...args], { encoding: 'utf8' }).stdout.trim();

const keys = (web: Simweb): string[] => [...web.allUrls()].map((url) => new Request({ url }).uniqueKey).sort();

const startWeb = () => Simweb.start({ hosts: 12, pagesPerHost: 8, pageBytes: 500, latencyMs: 60, crossHostLinks: 0.3 });
const homes = (web: Simweb): string[] => Array.from({ length: 12 }, (_, host) => web.url(host, 0));
const SLOW = ['fetcher_workers: 2', 'state_dir: state'];

/** Begins a crawl and breaks it off in the middle. */
async function breakOff(web: Simweb, trial: Trial): Promise<void> {
  const before = web.served();
  const running = trial.run();
  await until(async () => web.served() > before + 40);
  running.signal('SIGINT');
  expect((await running.ended).code).toBe(130);
}

async function markOf(folder: string): Promise<string> {
  return (JSON.parse(await readFile(path.join(folder, 'crawl.json'), 'utf8')) as { crawl: string }).crawl;
}

describe.skipIf(redisMissing)('a resume of a crawl in Redis', () => {
  it(
    'refuses a store that came back empty, names all that belongs to another crawl, and goes on when it has its own',
    { timeout: 240_000 },
    async () => {
      await using web = await startWeb();
      const mine = await podsTrial({ redis: 2, seeds: homes(web), more: SLOW });
      const other = await podsTrial({ redis: 2, seeds: homes(web), more: SLOW });
      await breakOff(web, mine);
      await breakOff(web, other);
      const served = web.served();

      const lost = mine.servers[1]!;
      await lost.stop('SIGTERM');
      const backup = path.join(mine.folder, 'backup');
      await cp(lost.folder, backup, { recursive: true });
      for (const file of await readdir(lost.folder)) {
        await rm(path.join(lost.folder, file), { recursive: true, force: true });
      }
      await lost.start();
      const emptied = await mine.run('--resume').ended;
      expect([emptied.code, web.served()], emptied.stderr + emptied.stdout).toEqual([4, served]);
      expect(emptied.stderr).toMatch(
        new RegExp(
          `the store of pod 1 \\(redis://127\\.0\\.0\\.1:${lost.port}/0\\) is empty: restore it from a backup`,
        ),
      );
      expect(emptied.stderr).toContain('--fresh');
      expect(cli(lost, 'DBSIZE')).toBe('0');
      await lost.stop();
      await cp(backup, lost.folder, { recursive: true });
      await lost.start();

      const config = await readFile(path.join(mine.folder, 'crawl.yaml'), 'utf8');
      const mixed = config
        .replace(mine.servers[1]!.url, other.servers[1]!.url)
        .replace(mine.dataDirs[1]!, other.dataDirs[1]!)
        .replace('state_dir: state', `state_dir: ${path.join(other.folder, 'state')}`);
      await writeFile(path.join(mine.folder, 'crawl.yaml'), mixed);
      const before = cli(other.servers[1]!, 'HGETALL', 'pod:info');
      const refused = await mine.run('--resume').ended;
      expect([refused.code, web.served()], refused.stderr + refused.stdout).toEqual([1, served]);
      const theirs = await markOf(other.dataDirs[0]!);
      expect(theirs).not.toBe(await markOf(mine.dataDirs[0]!));
      expect(refused.stderr).toMatch(new RegExp(`the store of pod 1 \\(\\S+\\) belongs to crawl ${theirs}`));
      expect(refused.stderr).toContain(`data_dirs: ${other.dataDirs[1]} belongs to crawl ${theirs}`);
      expect(refused.stderr).toContain(`state_dir: ${path.join(other.folder, 'state')} belongs to crawl ${theirs}`);
      expect(cli(other.servers[1]!, 'HGETALL', 'pod:info')).toBe(before);

      await writeFile(path.join(mine.folder, 'crawl.yaml'), config);
      expect(lastLine((await mine.run('--resume').ended).stdout)).toBe('96 pages: nothing is left to crawl');
      expect(await mine.stored()).toEqual(keys(web));
    },
  );

  it('refuses the one store of a crawl that lost it', { timeout: 240_000 }, async () => {
    await using web = await startWeb();
    const trial = await podsTrial({ redis: 1, seeds: homes(web), more: SLOW });
    await breakOff(web, trial);
    cli(trial.servers[0]!, 'FLUSHALL');
    const served = web.served();
    const refused = await trial.run('--resume').ended;
    expect([refused.code, web.served()], refused.stderr + refused.stdout).toEqual([4, served]);
    expect(refused.stderr).toMatch(/the store of pod 0 \(\S+\) is empty/);
  });

  it(
    'takes over a crawl of 0.1, which has no name, and --fresh names everything anew',
    { timeout: 240_000 },
    async () => {
      await using web = await startWeb();
      const trial = await podsTrial({ redis: 2, seeds: homes(web), more: SLOW });
      await breakOff(web, trial);
      const folders = [...trial.dataDirs, path.join(trial.folder, 'state')];
      const names = async () => [
        ...(await Promise.all(folders.map(markOf))),
        ...trial.servers.map((server) => cli(server, 'HGET', 'pod:info', 'crawl')),
      ];
      const first = new Set(await names());
      expect(first.size).toBe(1);
      expect((await stat(path.join(trial.dataDirs[0]!, 'crawl.json'))).mode & 0o777).toBe(0o600);

      // As 0.1 left it, but for one of the stores: that is not a crawl of 0.1.
      for (const folder of folders) await rm(path.join(folder, 'crawl.json'));
      cli(trial.servers[0]!, 'HDEL', 'pod:info', 'crawl');
      const refused = await trial.run('--resume').ended;
      expect(refused.stderr).toMatch(/the store of pod 0 \(\S+\) holds an unnamed crawl/);
      expect(refused.code).toBe(1);

      for (const server of trial.servers) {
        cli(server, 'HDEL', 'pod:info', 'crawl');
        cli(server, 'DEL', 'global:pods');
      }
      const resumed = await trial.run('--resume').ended;
      expect(lastLine(resumed.stdout), resumed.stderr).toBe('96 pages: nothing is left to crawl');
      expect(await trial.stored()).toEqual(keys(web));
      const second = new Set(await names());
      expect(second.size).toBe(1);
      expect(second).not.toEqual(first);

      expect(lastLine((await trial.run('--fresh').ended).stdout)).toBe('96 pages: nothing is left to crawl');
      const third = new Set(await names());
      expect(third.size).toBe(1);
      expect(third).not.toEqual(second);
    },
  );
});

describe('a resume of embedded pods', () => {
  it('refuses a store that is gone, and a folder of another crawl', { timeout: 240_000 }, async () => {
    await using web = await startWeb();
    const trial = await podsTrial({ embedded: 2, seeds: homes(web), more: SLOW });
    await breakOff(web, trial);
    const store = path.join(trial.folder, 'store1');
    await cp(store, `${store}.aside`, { recursive: true });
    await rm(store, { recursive: true });
    const served = web.served();
    const emptied = await trial.run('--resume').ended;
    expect([emptied.code, web.served()], emptied.stderr + emptied.stdout).toEqual([4, served]);
    expect(emptied.stderr).toContain(`the store of pod 1 (${store}) is empty`);

    await mkdir(path.dirname(store), { recursive: true });
    await cp(`${store}.aside`, store, { recursive: true });
    const mark = path.join(trial.dataDirs[1]!, 'crawl.json');
    const right = await readFile(mark, 'utf8');
    await writeFile(mark, '{"crawl":"another"}\n');
    const foreign = await trial.run('--resume').ended;
    expect(foreign.stderr).toContain(`data_dirs: ${trial.dataDirs[1]} belongs to crawl another`);
    expect(foreign.code).toBe(1);
    await writeFile(mark, right);
    expect(lastLine((await trial.run('--resume').ended).stdout)).toBe('96 pages: nothing is left to crawl');
    expect(await trial.stored()).toEqual(keys(web));
  });
});
