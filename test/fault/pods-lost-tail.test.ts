// A Redis that comes back without its last second and a half, as a crash of its machine below `appendfsync always` makes
// it: as long as the processes live, nothing is lost, nothing stored twice, and max_pages stays exact.
import { spawnSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Request } from '../../src/request/request.js';
import { Simweb } from '../../src/testing/index.js';
import { until } from '../support/pods-crawl.js';
import { lastLine, podsTrial } from '../support/pods-trial.js';
import { redisMissing, type RedisServer } from '../support/redis-server.js';

// eslint-disable-next-line no-console -- a skip must say why
if (redisMissing) console.warn(`lost tails of Redis are skipped: ${redisMissing}`);

const LOST_MS = 1_500;
const HANDLER = `
  export default async ({ request, enqueueLinks, pushData }) => {
    await enqueueLinks({ strategy: 'all' });
    await pushData({ url: request.url });
  };
`;

/** What it keeps is what it had when it was told to save: it is killed a moment later. */
async function loseTail(server: RedisServer): Promise<void> {
  expect(spawnSync('redis-cli', ['-p', String(server.port), 'SAVE'], { encoding: 'utf8' }).stdout.trim()).toBe('OK');
  await delay(LOST_MS);
  await server.stop('SIGKILL');
  await server.start();
}

/** The unique keys of the items, as often as they are there. */
async function itemsIn(dataDirs: readonly string[]): Promise<string[]> {
  const keys: string[] = [];
  for (const dataDir of dataDirs) {
    for (const file of await readdir(path.join(dataDir, 'datasets'), { recursive: true })) {
      if (!file.endsWith('.jsonl')) continue;
      for (const line of (await readFile(path.join(dataDir, 'datasets', file), 'utf8')).split('\n')) {
        if (line !== '') keys.push(new Request(JSON.parse(line) as { url: string }).uniqueKey);
      }
    }
  }
  return keys.sort();
}

async function crawlWithLostTails(plan: {
  readonly pods: number;
  readonly more: readonly string[];
  /** Pages served before each loss. */
  readonly after: readonly number[];
}) {
  await using web = await Simweb.start({
    hosts: 12,
    pagesPerHost: 20,
    pageBytes: 800,
    linksPerPage: 10,
    crossHostLinks: 0.3,
    latencyMs: [20, 120],
  });
  const trial = await podsTrial({
    redis: plan.pods,
    redisSettings: [],
    timeoutMs: 240_000,
    seeds: web.seeds(),
    more: ['handler: ./handlers.mjs', 'fetcher_workers: 8', 'max_connections_per_address: 3', ...plan.more],
  });
  await writeFile(path.join(trial.folder, 'handlers.mjs'), HANDLER);
  const running = trial.run();
  const ended = { is: false };
  void running.ended.then(() => (ended.is = true));
  let tails = 0;
  for (const served of plan.after) {
    await until(async () => web.served() > served || ended.is);
    if (ended.is) break;
    await loseTail(trial.servers[tails % trial.servers.length]!);
    tails++;
  }
  const { code, stdout, stderr } = await running.ended;
  const urls = [...web.allUrls()];
  return {
    code,
    stdout,
    stderr,
    tails,
    stored: await trial.stored(),
    items: await itemsIn(trial.dataDirs),
    keys: urls.map((url) => new Request({ url }).uniqueKey).sort(),
    log: await trial.log(0),
  };
}

describe.skipIf(redisMissing)('after a Redis came back without its last moments', () => {
  for (const [name, pods, more] of [
    ['fetchers of one pod', 1, ['fetchers_per_pod: 2']],
    ['fetchers and parsers of two pods', 2, ['parsers_per_pod: 1', 'handoff_dir: handoff']],
  ] as const) {
    it(`everything is crawled and stored once by ${name}`, async () => {
      const result = await crawlWithLostTails({ pods, more, after: [30, 100] });
      expect(result.tails).toBe(2);
      expect(result.log).toContain('came back without');
      expect([result.code, lastLine(result.stdout)], result.stderr).toEqual([0, '240 pages: nothing is left to crawl']);
      expect(result.stored).toEqual(result.keys);
      expect(result.items).toEqual(result.keys);
    }, 300_000);
  }

  it('max_pages stays exact', async () => {
    const result = await crawlWithLostTails({ pods: 2, more: ['max_pages: 180'], after: [20, 60] });
    expect(result.tails).toBe(2);
    expect([result.code, lastLine(result.stdout)], result.stderr).toEqual([0, '180 pages: max_pages reached']);
    expect(result.stored.length).toBe(180);
    expect(new Set(result.stored).size).toBe(180);
  }, 300_000);
});
