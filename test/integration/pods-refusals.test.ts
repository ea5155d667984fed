// What `orcrawl run` refuses before it crawls: each with a message that says what to do, the documented exit code, and
// nothing changed.
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { once } from 'node:events';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Simweb } from '../../src/testing/index.js';
import { lastLine, podsTrial } from '../support/pods-trial.js';
import { freePort, redisMissing } from '../support/redis-server.js';
import { MAIN, startNode, until } from './cli-process.js';

// eslint-disable-next-line no-console -- a skip must say why
if (redisMissing) console.warn(`refusals of Redis stores are skipped: ${redisMissing}`);

/** Speaks just enough of Redis to say that it is an old one. */
async function oldRedis(version: string): Promise<number> {
  const info = `redis_version:${version}\r\nredis_mode:standalone\r\n`;
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      for (const [, name] of data.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)\r\n/g)) {
        socket.write(name!.toUpperCase() === 'INFO' ? `$${info.length}\r\n${info}\r\n` : '+OK\r\n');
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as { port: number }).port;
}

describe('a handler module', () => {
  it.each([
    [
      'throws at start',
      'throw new Error("no such luck");',
      /cannot load the handler module .*broken\.ts: no such luck/,
    ],
    ['is no program', 'export const router = (;', /cannot load the handler module .*broken\.ts: /],
    ['exports nothing', 'export const other = 1;', /broken\.ts exports neither a router nor a default function/],
  ])('that %s ends the crawl with 1 before a page is asked for', async (what, text, message) => {
    await using web = await Simweb.start({ pagesPerHost: 1 });
    const { folder, run, refused } = await podsTrial({ seeds: web.seeds(), more: ['handler: ./broken.ts'] });
    await writeFile(path.join(folder, 'broken.ts'), `${text}\n`);
    const { code, stderr } = await (what === 'throws at start' ? run().ended : refused());
    expect(stderr).toMatch(message);
    expect(code).toBe(1);
    expect(web.served()).toBe(0);
  });
});

describe.skipIf(redisMissing)('a store', () => {
  const cli = (servers: readonly { port: number }[], args: string[]) =>
    spawnSync('redis-cli', ['-p', String(servers[0]!.port), ...args], { encoding: 'utf8' });

  it('that is away or too old, and a configuration that is wrong, are all told at once', async () => {
    const port = await oldRedis('6.2.14');
    const { folder, refused } = await podsTrial({
      seeds: ['example.com'],
      more: ['pods:', '  - redis_url: redis://127.0.0.1:1', `  - redis_url: redis://127.0.0.1:${port}`, 'max_page: 3'],
    });
    const { code, stderr } = await refused();
    expect(stderr).toContain('error: invalid configuration, 3 problems');
    expect(stderr).toMatch(/pods\[0\]: Redis at redis:\/\/127\.0\.0\.1:1\/0 does not answer/);
    expect(stderr).toMatch(/pods\[1\]: .*6\.2\.14.*7\.0/);
    expect(stderr).toContain('unknown key max_page, did you mean max_pages?');
    expect(code).toBe(1);
    expect(spawnSync('ls', ['-A', folder], { encoding: 'utf8' }).stdout.trim().split('\n').sort()).toEqual([
      'crawl.yaml',
      'seeds.txt',
    ]);
  });

  it('that evicts, belongs to another topology or was written by another release is refused and left as it is', async () => {
    await using web = await Simweb.start({ pagesPerHost: 3, pageBytes: 500 });
    const { finished, refused, servers } = await podsTrial({ redis: 2, seeds: web.seeds() });
    const redis = (...args: string[]) => cli(servers, args);
    expect(lastLine((await finished()).stdout)).toBe('3 pages: nothing is left to crawl');
    const contents = () => [redis('HGETALL', 'pod:info').stdout, redis('HGETALL', 'notes').stdout];
    const before = contents();

    const alone = await refused('--override-num-pods', '1', '--resume');
    expect(alone.stderr).toMatch(/pod 0 of 2/);
    expect(alone.code).toBe(1);

    redis('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    const evicting = await refused('--resume');
    expect(evicting.stderr).toMatch(/pods\[0\]: Redis at \S+ has maxmemory-policy allkeys-lru.*noeviction/);
    expect(evicting.code).toBe(1);
    redis('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');

    const version = redis('GET', 'schema_version').stdout.trim();
    redis('SET', 'schema_version', '999');
    const other = await refused('--resume');
    expect(other.stderr).toMatch(/999/);
    expect(other.code).toBe(1);
    redis('SET', 'schema_version', version);

    expect(contents()).toEqual(before);
    expect(lastLine((await finished('--resume')).stdout)).toBe('3 pages: nothing is left to crawl');
  });
});

describe('a seed file', () => {
  it('with thousands of broken lines is counted, ten of them are named, and the good ones are crawled', async () => {
    await using web = await Simweb.start({ hosts: 2, pagesPerHost: 1 });
    const broken = Array.from(
      { length: 20_000 },
      (_, n) => [`not a url ${n}`, `ftp://${n}/`, '\u0000\u001b[31m', 'x'][n % 4]!,
    );
    const { finished, stored } = await podsTrial({ seeds: [...broken, ...web.seeds(), 'x'.repeat(100_000)] });
    const { code, stdout, stderr } = await finished();
    expect([code, lastLine(stdout)]).toEqual([0, '2 pages: nothing is left to crawl']);
    const told = (stdout + stderr).split('\n').filter((line) => line.includes('not a URL or domain'));
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(/20,001 invalid lines in \S+seeds\.txt/);
    expect(told[0]!.match(/line \d+:/g)).toHaveLength(10);
    expect(told[0]).not.toContain('\u001b');
    expect(await stored()).toHaveLength(2);
  });

  it('without a usable line ends with a message and exit 1', async () => {
    const { refused } = await podsTrial({ seeds: ['nothing here', '# a comment'] });
    const { code, stderr } = await refused();
    expect(stderr).toMatch(/seeds\.txt/);
    expect(code).toBe(1);
  });
});

describe.skipIf(redisMissing)('orcrawl pods up', () => {
  it('starts the stores that do not run, keeps their data, and ends them with itself', async () => {
    await using web = await Simweb.start({ pagesPerHost: 3, pageBytes: 500 });
    const ports = [await freePort(), await freePort()];
    const { folder, finished, refused } = await podsTrial({
      seeds: web.seeds(),
      more: ['pods:', ...ports.map((port) => `  - redis_url: redis://:hush@127.0.0.1:${port}`)],
    });
    const up = () => startNode([MAIN, 'pods', 'up', '--config', 'crawl.yaml'], { cwd: folder });
    const first = up();
    await until(() => first.stdout().includes('Running until Ctrl-C'), 'the stores are up');
    expect(first.stdout()).not.toContain('hush');
    const second = await up().ended;
    expect(second.stdout.match(/pod \d: \S+ runs already/g)).toHaveLength(2);
    expect(lastLine((await finished('--max-pages', '1')).stdout)).toBe('1 page: max_pages reached');
    first.signal('SIGINT');
    expect((await first.ended).code).toBe(0);
    const away = await refused('--resume');
    expect(away.stderr).toMatch(/pods\[1\]: Redis at \S+ does not answer/);

    const third = up();
    await until(() => third.stdout().includes('Running until Ctrl-C'), 'the stores are up again');
    expect(lastLine((await finished('--resume')).stdout)).toBe('3 pages: nothing is left to crawl');
    third.signal('SIGTERM');
    expect((await third.ended).code).toBe(0);
  });
});
