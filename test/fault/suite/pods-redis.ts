// Faults of a pod's Redis: killed, paused, emptied, full, read-only, cut short, and a network that is silent, late or
// delivers twice.
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import path from 'node:path';
import type { RedisServer } from '../../support/redis-server.js';
import type { Bench, FaultClass } from './bench.js';
import { podsCrawl, type PodsCrawl } from './crawls.js';
import type { Helper, Program } from './program.js';
import { shiftedClock } from './shifted-clock.js';

const share = (bench: Bench, from: number, to: number) =>
  Math.floor(bench.pages * (from + bench.random() * (to - from)));

const cli = ({ port }: RedisServer, ...args: string[]): string =>
  spawnSync('redis-cli', ['-p', String(port), ...args], { encoding: 'utf8', timeout: 10_000 }).stdout.trim();

type Trouble = (bench: Bench, server: RedisServer, run: Program, crawl: PodsCrawl) => Promise<void>;

/** A crawl on two pods, one of whose servers is troubled in mid-run. */
const troubled =
  (trouble: Trouble, pods = 2) =>
  async (bench: Bench) => {
    const crawl = await podsCrawl(bench, { redis: pods, more: { redis_socket_timeout: 5 } });
    const run = crawl.run();
    await crawl.web.untilServed(share(bench, 0.1, 0.5));
    await trouble(bench, bench.pick(crawl.servers)!, run, crawl);
    if (!bench.mayBeIncomplete) await crawl.wholeInTheEnd(run);
  };

/** A crawl whose second pod is reached through the proxy. */
const proxied = (trouble: (bench: Bench, proxy: Helper) => Promise<void>) => async (bench: Bench) => {
  const servers = [await bench.redis(), await bench.redis()];
  const proxy = await bench.proxy(servers[1]!.port);
  const crawl = await podsCrawl(bench, {
    urls: [servers[0]!.url, `redis://127.0.0.1:${proxy.port}`],
    more: { redis_socket_timeout: 3, redis_socket_connect_timeout: 2 },
  });
  const run = crawl.run();
  await crawl.web.untilServed(share(bench, 0.1, 0.5));
  await trouble(bench, proxy);
  await crawl.wholeInTheEnd(run);
};

function empty({ folder }: RedisServer): void {
  for (const file of readdirSync(folder)) rmSync(path.join(folder, file), { recursive: true, force: true });
}

const emptied: Trouble = async (bench, server, run) => {
  bench.mayBeIncomplete = true;
  bench.countKill();
  await server.stop('SIGKILL');
  empty(server);
  await server.start();
  const code = await run.ended();
  bench.expect(code === 4, `exit 4 expected, not ${code}`);
  bench.expect(/pod \d stopped: .*empt/.test(run.stderr()), 'the end does not say which store came back empty');
  bench.expect(cli(server, 'EXISTS', 'pod:info') === '0', 'the emptied store was filled again');
};

const redis = (name: string, act: FaultClass['act'], inCi?: FaultClass['inCi']): FaultClass => ({
  ...{ name: `pods/redis-${name}`, placement: 'pods', needs: ['redis'], act },
  ...(inCi && { inCi }),
});

/** Connections open at the time fall silent in one way or both; new ones work. */
const silent = (mode: string) =>
  redis(
    mode,
    proxied(async (_, proxy) => void (await proxy.call('play', { mode, newMode: 'pass' }))),
  );

export const podsRedis: readonly FaultClass[] = [
  redis(
    'killed',
    troubled(async (bench, server) => {
      bench.countKill();
      await server.stop('SIGKILL');
      await bench.pause(bench.random() * 3_000);
      await server.start();
    }),
    'sample',
  ),
  redis(
    'paused',
    troubled(async (bench, server) => {
      server.pause();
      await bench.pause(7_000);
      server.resume();
    }),
  ),
  redis(
    'paused-beyond-lease',
    troubled(async (bench, server) => {
      server.pause();
      await bench.pause(24_000);
      server.resume();
    }),
  ),
  redis('emptied', troubled(emptied, 1), 'always'),
  redis('one-of-two-emptied', troubled(emptied), 'sample'),
  redis(
    'emptied-between-runs',
    troubled(async (bench, server, run, crawl) => {
      bench.mayBeIncomplete = true;
      bench.countKill();
      await run.kill();
      await server.stop('SIGKILL');
      empty(server);
      await server.start();
      const code = await crawl.resume().ended();
      bench.expect(code !== 0, 'a resume over an emptied store must not end with 0');
    }),
  ),
  redis(
    'out-of-memory',
    troubled(async (bench, server, run, crawl) => {
      cli(server, 'CONFIG', 'SET', 'maxmemory', '1mb');
      const isPaused = () => crawl.logs().includes('Paused: ') || !run.isRunning;
      await bench
        .until(isPaused, 'intake is paused', 20_000)
        .catch((error: Error) => bench.expect(false, error.message));
      await bench.pause(2_000);
      cli(server, 'CONFIG', 'SET', 'maxmemory', '0');
    }),
    'always',
  ),
  redis(
    'read-only',
    troubled(async (bench, server) => {
      // The replica of a master that is not there keeps its data and takes no writes.
      cli(server, 'REPLICAOF', '127.0.0.1', '1');
      await bench.pause(4_000);
      cli(server, 'REPLICAOF', 'NO', 'ONE');
    }),
  ),
  silent('silent-down'),
  silent('silent-up'),
  silent('silent'),
  redis(
    'unreachable',
    proxied(async (bench, proxy) => {
      await proxy.call('play', { mode: 'silent' });
      await bench.pause(8_000);
      await proxy.call('play', { mode: 'pass' });
    }),
  ),
  redis(
    'late',
    proxied(async (bench, proxy) => {
      await proxy.call('play', { mode: 'late', ms: 400 });
      await bench.pause(6_000);
      await proxy.call('play', { mode: 'pass' });
    }),
  ),
  ...(['reply-lost', 'call-twice', 'reply-twice'] as const).map((mode) =>
    redis(
      mode,
      proxied(async (bench, proxy) => {
        const times = mode === 'call-twice' ? 60 : 12;
        await proxy.call('play', { mode, times });
        await bench.pause(3_000);
        bench.expect(((await proxy.call('left')) as number) < times, 'nothing was disturbed');
        await proxy.call('play', { mode: 'pass' });
      }),
      'sample',
    ),
  ),
  redis(
    'connections-reset',
    proxied(async (bench, proxy) => {
      for (let n = 0; n < 8; n++) {
        await proxy.call('cut');
        await bench.pause(bench.random() * 600);
      }
    }),
  ),
  {
    ...redis('disk-full', async (bench) => {
      const folder = await bench.disk('redis-disk', 2_048);
      // Without preallocation: an append-only file that cannot grow ends a server that syncs always.
      const settings = ['--appendonly', 'yes', '--appendfsync', 'always', '--dir', folder];
      const server = await bench.redis([...settings, '--auto-aof-rewrite-percentage', '0']);
      const crawl = await podsCrawl(bench, { urls: [server.url] });
      const run = crawl.run();
      await crawl.web.untilServed(share(bench, 0.1, 0.4));
      spawnSync('dd', ['if=/dev/zero', `of=${folder}/ballast`, 'bs=4k']);
      await bench.pause(3_000);
      rmSync(path.join(folder, 'ballast'));
      bench.remount(folder, 'size=64m');
      if (!answers(server)) {
        await server.stop('SIGKILL');
        await server.start();
      }
      await crawl.whole(run);
    }),
    needs: ['redis', 'root'],
  },
  redis('tail-lost', async (bench) => {
    // Below `appendfsync always` a server that loses power may come back without its last moments.
    bench.mayBeIncomplete = true;
    const server = await bench.redis(['--appendonly', 'yes', '--appendfsync', 'everysec']);
    const crawl = await podsCrawl(bench, { urls: [server.url] });
    const run = crawl.run();
    await crawl.web.untilServed(share(bench, 0.3, 0.6));
    const before = appendedBytes(server);
    await bench.pause(1_000);
    bench.countKill();
    await server.stop('SIGKILL');
    cutAppendFile(server, before);
    await server.start();
    await run.ended();
  }),
  {
    ...redis('clock-jumps', async (bench) => {
      const clock = shiftedClock(bench.folder);
      const server = await bench.redis(undefined, clock.env);
      const crawl = await podsCrawl(bench, { urls: [server.url] });
      const run = crawl.run();
      await crawl.web.untilServed(share(bench, 0.1, 0.3));
      const start = Number(cli(server, 'TIME').split('\n')[0]);
      for (const shiftSecs of [3_600, -7_200, 86_400, 0]) {
        clock.set(shiftSecs);
        await bench.pause(700);
      }
      clock.set(900);
      const moved = Number(cli(server, 'TIME').split('\n')[0]) - start;
      bench.expect(moved > 600, `the server's clock did not jump (${moved} s)`);
      await crawl.whole(run);
    }),
    needs: ['redis', 'clock'],
  },
];

const answers = (server: RedisServer): boolean => cli(server, 'PING') === 'PONG';

function appendFile({ folder }: RedisServer): string {
  const inside = path.join(folder, 'appendonlydir');
  return path.join(
    inside,
    readdirSync(inside).find((name) => name.endsWith('.incr.aof'))!,
  );
}

const appendedBytes = (server: RedisServer): number => statSync(appendFile(server)).size;

const cutAppendFile = (server: RedisServer, bytes: number): void => truncateSync(appendFile(server), bytes);
