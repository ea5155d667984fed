// Two processes on one queue and one storage folder: a process ends on its own when its crawl is over, and one that was
// killed and comes back after the other has finished finds the items as they were left.
import { fileURLToPath } from 'node:url';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Request } from '../../src/request/request.js';
import { Simweb } from '../../src/testing/index.js';
import { type Started, startNode } from '../integration/cli-process.js';
import { temporaryFolder } from '../support/crawl.js';
import { until } from '../support/pods-crawl.js';
import { redisMissing, type RedisServer, startRedis } from '../support/redis-server.js';

const WORKER = fileURLToPath(new URL('shared-queue-worker.mjs', import.meta.url));

const keyOf = (url: string): string => new Request({ url }).uniqueKey;

async function itemsIn(folder: string): Promise<string[]> {
  const dataset = path.join(folder, 'datasets', 'default');
  const texts = (await readdir(dataset)).map((file) => readFile(path.join(dataset, file), 'utf8'));
  const lines = (await Promise.all(texts)).join('').split('\n').filter(Boolean);
  return lines.map((line) => keyOf((JSON.parse(line) as { url: string }).url)).sort();
}

/** The processes that work on the queue, by the folder's record. */
async function pidsIn(folder: string): Promise<number[]> {
  const text = await readFile(path.join(folder, 'run.json'), 'utf8').catch(() => '{"runs":{}}');
  return Object.values((JSON.parse(text) as { runs: Record<string, { pids: number[] }> }).runs).flatMap(
    ({ pids }) => pids,
  );
}

describe.each([
  ['a named queue on disk', 'shop', false],
  ['the default queue on disk', undefined, false],
  ['a named queue in Redis', 'shop', true],
  ['the default queue in Redis', undefined, true],
] as const)('two processes on %s', (_what, name, inRedis) => {
  it.skipIf(inRedis && redisMissing)(
    'keep the items when one is killed, the other ends, and the first comes back',
    async () => {
      await using web = await Simweb.start({ hosts: 2, pagesPerHost: 40, pageBytes: 500, latencyMs: 200 });
      const folder = await temporaryFolder();
      let redis: RedisServer | undefined;
      if (inRedis) redis = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always']);
      onTestFinished(() => redis?.dispose());
      const started: Started[] = [];
      onTestFinished(async () => {
        for (const one of started) one.signal('SIGKILL');
        await Promise.all(started.map(({ ended }) => ended));
      });
      const start = (): Started => {
        const plan = { folder, seeds: web.seeds(), name, redisUrl: redis?.url };
        const one = startNode([WORKER, JSON.stringify(plan)], { cwd: folder });
        started.push(one);
        return one;
      };
      const killed = start();
      await until(async () => web.served() > 4);
      const other = start();
      await until(async () => (await pidsIn(folder)).includes(other.pid));
      killed.signal('SIGKILL');
      await killed.ended;
      const pages = [...web.allUrls()].map(keyOf).sort();
      const otherEnd = await other.ended;
      // By itself, too: a connection that is idle keeps no process.
      expect([otherEnd.code, otherEnd.stdout], otherEnd.stderr).toEqual([0, `items ${pages.length}\n`]);
      const served = web.served();
      const again = await start().ended;
      expect([again.code, again.stdout], again.stderr).toEqual([0, `items ${pages.length}\n`]);
      expect(await itemsIn(folder)).toEqual(pages);
      expect(web.served()).toBe(served);
    },
  );
});

describe('a queue that is opened twice in one process', () => {
  it('is refused the second time, at any moment of the work on it', async () => {
    // In a process of its own: what it guards against blocks the thread for ever.
    const program = fileURLToPath(new URL('programs/open-twice.ts', import.meta.url));
    const loader = new URL('../../scripts/typescript.mjs', import.meta.url).href;
    const folder = await temporaryFolder();
    const { ended } = startNode(['--import', loader, program, path.join(folder, 'queue')], { cwd: folder });
    expect(await ended).toMatchObject({ code: 0, stdout: '40\n' });
  });
});
