// Crawls on pods as a user runs them: `orcrawl run` on real Redis servers, or on none.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { crawlOnPods, podOf, storedKeys, until } from '../support/pods-crawl.js';
import { freePort, redisMissing } from '../support/redis-server.js';
import { MAIN, startNode } from './cli-process.js';
import { Simweb } from '../../src/testing/index.js';
import { temporaryFolder } from '../support/crawl.js';

// eslint-disable-next-line no-console -- a skip must say why
if (redisMissing) console.warn(`crawls on Redis pods are skipped: ${redisMissing}`);

describe.skipIf(redisMissing)('two pods on two Redis servers', () => {
  it('crawl everything once, politely, each URL on its pod, and end by themselves', { timeout: 120_000 }, async () => {
    const metricsPort = await freePort();
    let metrics = '';
    const report = await crawlOnPods({
      pods: 2,
      parsers: 1,
      hosts: 16,
      pagesPerHost: 6,
      delaySecs: 0.2,
      metricsPort,
      async during() {
        await until(async () => {
          metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
          return ['0', '1'].every((pod) => new RegExp(`pages_crawled_total\\{pod="${pod}"\\} [1-9]`).test(metrics));
        });
      },
    });
    expect(report.output).toContain('96 pages: nothing is left to crawl');
    expect(report).toMatchObject({ exitCode: 0, stored: 96, missing: 0, duplicates: 0, misplaced: 0 });
    expect(report).toMatchObject({ wrongDirectory: 0, violations: 0, errors: [] });
    expect(Math.min(...report.byDirectory, ...report.domainsByPod)).toBeGreaterThan(0);
    expect(report.smallestGapMs).toBeGreaterThanOrEqual(200);
    expect(report.logs.filter((name) => name !== 'crawl.log')).toEqual(
      ['pod_0', 'pod_1'].flatMap((pod) =>
        ['fetcher_0', 'orchestrator_0', 'parser_0'].map((name) => `${pod}/${name}.log`),
      ),
    );
    expect(metrics).toMatch(/orcrawl_store_up\{pod="1"\} 1/);
    expect(metrics).toMatch(/orcrawl_links_found_total\{pod="0"\} [1-9]/);
    expect(metrics).toMatch(/orcrawl_links_sent_total\{pod="\d",to="own"\} [1-9]/);
    expect(metrics).toMatch(/orcrawl_process_resident_memory_bytes\{pod="0",process="parser_0"\} \d/);
  });

  it(
    'stop at exactly max_pages, and leave links for a store that is away in the outbox',
    { timeout: 120_000 },
    async () => {
      const report = await crawlOnPods({
        pods: 2,
        hosts: 30,
        pagesPerHost: 10,
        maxPages: 157,
        async during({ servers, web }) {
          const first = podOf(web.url(0), 2);
          const other = servers[1 - first]!;
          await other.stop('SIGKILL');
          const before = await web.served();
          await until(async () => (await web.served()) > before + 5);
          await other.start();
        },
      });
      expect(report.output).toContain('157 pages: max_pages reached');
      expect(report).toMatchObject({ exitCode: 0, stored: 157, duplicates: 0, misplaced: 0 });
    },
  );
});

describe('embedded pods', () => {
  it('crawl without Redis, each taking in the links that the other found', { timeout: 120_000 }, async () => {
    const report = await crawlOnPods({ pods: 2, embedded: true, hosts: 12, pagesPerHost: 6 });
    expect(report.output).toContain('72 pages: nothing is left to crawl');
    expect(report).toMatchObject({ exitCode: 0, stored: 72, missing: 0, duplicates: 0, wrongDirectory: 0, errors: [] });
  });

  it('end on a signal, are not continued or wiped by accident, and lose nothing', { timeout: 120_000 }, async () => {
    const cwd = await temporaryFolder();
    await using web = await Simweb.start({ hosts: 6, pagesPerHost: 10, pageBytes: 2_000, latencyMs: 40 });
    await writeFile(path.join(cwd, 'seeds.txt'), [...web.seeds()].join('\n'));
    await writeFile(
      path.join(cwd, 'crawl.yaml'),
      [
        'data_dirs: [data]',
        'seed_file: seeds.txt',
        'email: test@example.com',
        'politeness_delay_seconds: 0',
        'fetcher_workers: 4',
        'allow_private_addresses: true',
        'enable_cpu_affinity: false',
        'enable_prometheus: false',
      ].join('\n'),
    );
    const run = (...flags: string[]) => startNode([MAIN, 'run', '--config', 'crawl.yaml', ...flags], { cwd });
    const first = run();
    await until(async () => web.served() > 8);
    first.signal('SIGINT');
    const stopped = await first.ended;
    expect(stopped.code).toBe(130);
    // It tells the pages that were stored while it drained, too.
    const told = Number(/^(\d+) pages?: interrupted/m.exec(stopped.stdout)?.[1]);
    expect(told).toBe((await storedKeys(path.join(cwd, 'data', 'content'))).length);
    const second = await run().ended;
    expect(second.code).toBe(1);
    expect(second.stderr).toMatch(
      /holds \d+ URLs of an earlier crawl: continue it with --resume, or discard it with --fresh/,
    );
    const third = await run('--resume').ended;
    expect(third.stdout).toContain('60 pages: nothing is left to crawl');
    expect(third.code).toBe(0);
    const fourth = await run('--fresh', '--max-pages', '7').ended;
    expect(fourth.stdout).toContain('7 pages: max_pages reached');
  });
});
