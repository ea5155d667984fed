// A pod whose store is gone for good: the others work to the end, and the end says what is incomplete.
import { spawnSync } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Request } from '../../src/request/request.js';
import { Simweb } from '../../src/testing/index.js';
import { podOf, until } from '../support/pods-crawl.js';
import { lastLine, podsTrial } from '../support/pods-trial.js';
import { falsify } from '../support/redis-numbers.js';
import { type RedisServer, redisMissing } from '../support/redis-server.js';

// eslint-disable-next-line no-console -- a skip must say why
if (redisMissing) console.warn(`lost stores are skipped: ${redisMissing}`);

const PODS = 3;
const HOSTS = 12;
const PAGES_PER_HOST = 15;

/** The server dies and comes back on the same port without anything. */
async function loseData(server: RedisServer): Promise<void> {
  await server.stop('SIGKILL');
  for (const file of await readdir(server.folder)) {
    await rm(path.join(server.folder, file), { recursive: true, force: true });
  }
  await server.start();
}

const startWeb = () =>
  Simweb.start({ hosts: HOSTS, pagesPerHost: PAGES_PER_HOST, pageBytes: 500, latencyMs: 100, crossHostLinks: 0.3 });

const homes = (web: Simweb): string[] => Array.from({ length: HOSTS }, (_, host) => web.url(host, 0));

/** Unique keys of all pages that pods other than `lost` own. */
const healthyKeys = (web: Simweb, lost: number): string[] =>
  [...web.allUrls()]
    .filter((url) => podOf(url, PODS) !== lost)
    .map((url) => new Request({ url }).uniqueKey)
    .sort();

const slow = ['fetcher_workers: 2'];

describe.skipIf(redisMissing)('one Redis of three that comes back empty in mid-run', () => {
  it.each([1, 0])(
    'stops its pod (%i); the others work to the end, and the run ends with 4 and says what is left',
    { timeout: 180_000 },
    async (lost) => {
      await using web = await startWeb();
      const trial = await podsTrial({ redis: PODS, seeds: homes(web), more: slow });
      const running = trial.run();
      await until(async () => web.served() > 50);
      await loseData(trial.servers[lost]!);
      const { code, stdout, stderr } = await running.ended;
      expect(code, stdout + stderr).toBe(4);
      expect(stderr).toMatch(new RegExp(`pod ${lost} stopped: .*empt`));
      expect(lastLine(stdout)).toMatch(
        new RegExp(
          `^\\d+ pages: the other pods have nothing left to crawl; incomplete: pod ${lost} \\(QUEUE_EMPTIED\\), ` +
            `[1-9]\\d* URLs left when last heard of, [1-9]\\d* links for it wait in other pods$`,
        ),
      );
      const healthy = new Set(healthyKeys(web, lost));
      expect((await trial.stored()).filter((key) => healthy.has(key))).toEqual([...healthy]);
      const report = JSON.parse(await readFile(path.join(trial.folder, 'logs', 'report.json'), 'utf8')) as {
        incomplete: { pod: number; code: string; left: number; undelivered: number }[];
      };
      expect(report.incomplete).toMatchObject([{ pod: lost, code: 'QUEUE_EMPTIED' }]);
      expect(report.incomplete[0]!.left).toBeGreaterThan(0);
      expect(report.incomplete[0]!.undelivered).toBeGreaterThan(0);
      // Nothing was put into the store that came back empty.
      const { port } = trial.servers[lost]!;
      expect(spawnSync('redis-cli', ['-p', String(port), 'EXISTS', 'pod:info'], { encoding: 'utf8' }).stdout).toBe(
        '0\n',
      );
    },
  );

  it('gives its part of max_pages to the others, which go on to the limit', { timeout: 180_000 }, async () => {
    await using web = await startWeb();
    const trial = await podsTrial({ redis: PODS, seeds: homes(web), more: [...slow, 'max_pages: 114'] });
    const running = trial.run();
    await until(async () => web.served() > 30);
    await loseData(trial.servers[1]!);
    const { code, stdout, stderr } = await running.ended;
    expect([code, lastLine(stdout)], stderr).toEqual([
      4,
      expect.stringMatching(/^114 pages: max_pages reached; incomplete: pod 1 \(QUEUE_EMPTIED\), \d+ URLs left/),
    ]);
    // What the lost pod did between its last reading and its end is not counted.
    expect(new Set(await trial.stored()).size).toBeGreaterThanOrEqual(114);
  });
});

describe.skipIf(redisMissing)('a crawl on two machines', () => {
  it('ends everywhere when a pod of the one that follows is lost', { timeout: 180_000 }, async () => {
    await using web = await startWeb();
    const trial = await podsTrial({ redis: PODS, seeds: homes(web), more: slow });
    const first = trial.run('--pods', '0');
    const second = trial.run('--pods', '1-2');
    await until(async () => web.served() > 50);
    await loseData(trial.servers[2]!);
    const [coordinating, following] = await Promise.all([first.ended, second.ended]);
    expect([coordinating.code, lastLine(coordinating.stdout)], coordinating.stderr).toEqual([
      4,
      expect.stringMatching(/^\d+ pages: the other pods have .*; incomplete: pod 2 \(QUEUE_EMPTIED\), /),
    ]);
    expect([following.code, lastLine(following.stdout)], following.stderr).toEqual([
      4,
      expect.stringMatching(/ on this machine: the other pods have .*; incomplete: pod 2 \(QUEUE_EMPTIED\), /),
    ]);
    const healthy = new Set(healthyKeys(web, 2));
    expect((await trial.stored()).filter((key) => healthy.has(key))).toEqual([...healthy]);
  });

  it('breaks off everywhere when the store that coordinates is lost', { timeout: 180_000 }, async () => {
    await using web = await startWeb();
    const trial = await podsTrial({ redis: 2, seeds: homes(web), more: slow });
    const machines = [trial.run('--pods', '0'), trial.run('--pods', '1')];
    await until(async () => web.served() > 50);
    await loseData(trial.servers[0]!);
    for (const { ended } of machines) {
      const { code, stdout, stderr } = await ended;
      expect([code, lastLine(stdout)], stderr).toEqual([
        4,
        expect.stringMatching(/stopped by a failure; incomplete: pod 0 \(QUEUE_EMPTIED\), /),
      ]);
    }
  });
});

describe.skipIf(redisMissing)('a full outbox', () => {
  it('does not hold up the others when its links are for a lost pod', { timeout: 180_000 }, async () => {
    await using web = await startWeb();
    const trial = await podsTrial({ redis: PODS, seeds: homes(web), more: slow });
    const running = trial.run();
    await until(async () => web.served() > 40);
    await loseData(trial.servers[1]!);
    await until(async () => running.stderr().includes('Pod 1 stopped'));
    for (const pod of [0, 2]) falsify(trial.servers[pod]!, 'outbox', 199_999);
    const { code, stdout, stderr } = await running.ended;
    expect([code, lastLine(stdout)], stderr).toEqual([
      4,
      expect.stringMatching(/incomplete: pod 1 .*; [1-9][\d,]* links? dropped: the outboxes are full$/),
    ]);
    const healthy = new Set(healthyKeys(web, 1));
    expect((await trial.stored()).filter((key) => healthy.has(key))).toEqual([...healthy]);
  });
});

describe('one embedded pod of three that stops', () => {
  it('leaves the others working to the end, and the last line says what is left', { timeout: 180_000 }, async () => {
    await using web = await startWeb();
    const trial = await podsTrial({
      embedded: PODS,
      seeds: homes(web),
      more: [...slow, 'handler: ./handlers.mjs', 'max_pages: 114'],
    });
    // The worker of pod 1 ends as soon as it starts.
    await writeFile(
      path.join(trial.folder, 'handlers.mjs'),
      "if (process.title.endsWith('pod 1')) setTimeout(() => process.exit(7), 20);\n" +
        "export default ({ enqueueLinks }) => enqueueLinks({ strategy: 'all' });\n",
    );
    const { code, stdout, stderr } = await trial.run().ended;
    expect([code, lastLine(stdout)], stderr).toEqual([
      5,
      expect.stringMatching(/^114 pages: max_pages reached; incomplete: pod 1 \(WORKER_LOST\), [1-9]\d* URLs left$/),
    ]);
  });
});
