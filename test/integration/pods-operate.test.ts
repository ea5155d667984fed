// What an operator sees of a crawl on pods: metrics, the log and report on disk, status, a Redis that dies, Unix sockets.
// Real processes, a real Redis, a real web server.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Simweb } from '../../src/testing/index.js';
import { lastLine, podsTrial } from '../support/pods-trial.js';
import { freePort, redisMissing } from '../support/redis-server.js';
import { MAIN, startNode } from './cli-process.js';
import { run } from './pods-fixtures.js';

async function until<T>(look: () => Promise<T | undefined>, patienceMs = 90_000): Promise<T> {
  for (const endMs = performance.now() + patienceMs; performance.now() < endMs; await delay(200)) {
    const found = await look().catch(() => undefined);
    if (found !== undefined) return found;
  }
  throw new Error('it never happened');
}

const logLines = async (file: string) =>
  (await readFile(file, 'utf8'))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { msg: string; level: string });

const TEST_MODE = 'test_mode: { enabled: true, num_pods: 1, fetchers_per_pod: 1, parsers_per_pod: 0 }';

describe('a run', () => {
  it('tells its state, its metrics, its log and its end', async () => {
    await using web = await Simweb.start({ hosts: 4, pagesPerHost: 200, pageBytes: 500 });
    const port = await freePort();
    const failing = `${web.url(0)}_/status/500`;
    const trial = await podsTrial({
      embedded: 2,
      seeds: [...web.seeds(), failing],
      more: [
        ...['http_max_retries: 2', 'enable_prometheus: true', `prometheus_port: ${port}`, 'log_level: DEBUG'],
        // With so many pages it runs until it is asked.
        'max_duration: 600',
        'parser_workers: 3',
        'politeness_delay_seconds: 0.3',
      ],
    });
    const cli = (...args: string[]) => run(trial.folder, args);
    const started = trial.run();
    const metrics = await until(async () => {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      return /orcrawl_requests_failed_total\{pod="\d",type="http_500"\} 1/.test(text) ? text : undefined;
    });
    const value = (pattern: RegExp) => Number(pattern.exec(metrics)?.[1]);
    expect(value(/orcrawl_errors_total\{pod="\d",type="http_500"\} (\d+)/)).toBe(3);
    expect(value(/orcrawl_retries_total\{pod="\d",type="http_500"\} (\d+)/)).toBe(2);
    expect(value(/orcrawl_fetches_total\{pod="\d",fetch_type="page",result="500"\} (\d+)/)).toBe(3);
    expect(value(/orcrawl_fetch_duration_seconds_count\{pod="\d",fetch_type="robots"\} ([1-9]\d*)/)).toBeGreaterThan(0);
    expect(value(/orcrawl_process_resident_memory_bytes\{process="orchestrator"\} (\d+)/)).toBeGreaterThan(1e6);
    expect(value(/orcrawl_process_open_fds\{process="orchestrator"\} (\d+)/)).toBeGreaterThan(5);
    expect(value(/orcrawl_process_open_fds_by_kind\{pod="0",process="fetcher_0",kind="file"\} (\d+)/)).toBeGreaterThan(
      0,
    );

    const status = await until(async () => {
      const { code, stdout } = await cli('status', '--config', 'crawl.yaml');
      return code === 0 ? stdout : undefined;
    });
    expect(status).toMatch(/Running for [^]*crawl [\w-]+\n[\d,]+ pages?, [\d.]+\/s\nStops: max_duration in \d+ min/);
    expect(status).toMatch(/pod 0 .*waiting[^]*1 of 1 fetcher running[^]*pod 1[^]*all {4}[\d,]+ pages/);
    started.signal('SIGINT');
    const { code, stdout, stderr } = await started.ended;
    expect(code, stderr).toBe(130);
    expect(stdout).toMatch(/Ran for .*: \d+ pages? \([\d.]+\/s\), .*statuses .*200 × \d+/);
    expect(lastLine(stdout)).toMatch(/^\d+ pages?: interrupted/);
    // Parsers are not used: said once.
    expect(stdout + stderr).toContain('parser_workers has no effect: parsers_per_pod is 0');

    const crawlLog = (await logLines(path.join(trial.folder, 'logs/crawl.log'))).map(({ msg }) => msg).join('\n');
    for (const said of ['Starting 2 of 2 pods', 'Pod 0: ', ' %)', 'Stopping: signal', 'Ran for ', 'interrupted']) {
      expect(crawlLog).toContain(said);
    }
    expect(await readFile(path.join(trial.folder, 'logs/pod_0/orchestrator_0.log'), 'utf8')).toContain(
      'Starting 1 fetcher',
    );
    const worker = (await trial.log(0)) + (await trial.log(1));
    expect(worker).toMatch(/"level":"DEBUG".*200 in \d+ ms: http/);
    const report = JSON.parse(await readFile(path.join(trial.folder, 'logs/report.json'), 'utf8')) as Record<
      string,
      unknown
    >;
    expect(report).toMatchObject({ reason: 'signal', statuses: { '500': 3 }, lostWorkers: 0, failed: 1 });
    expect(report.durationSecs).toBeGreaterThan(0);
    const after = await cli('status', '--config', 'crawl.yaml');
    expect(after.stdout).toMatch(/Not running here. The last run ended .*: signal, \d+ pages in all/);
  });

  it.each([{ embedded: 1 }, ...(redisMissing ? [] : [{ redis: 1 }])])(
    'counts the links that the budget of a domain dropped, and says that it is a test (%j)',
    async (stores) => {
      await using web = await Simweb.start({ hosts: 1, pagesPerHost: 40, pageBytes: 500 });
      const port = await freePort();
      const metrics = ['enable_prometheus: true', `prometheus_port: ${port}`, 'global_metrics_update_interval: 1'];
      const trial = await podsTrial({
        ...stores,
        seeds: web.seeds(),
        // Slow enough to be looked at: five pages are all it may have.
        more: [...metrics, 'max_urls_per_domain: 5', 'politeness_delay_seconds: 1.5', TEST_MODE],
      });
      const started = trial.run();
      const dropped = await until(async () => {
        const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
        return Number(/^orcrawl_budget_dropped_links_total\{pod="0"\} (\d+)/m.exec(text)?.[1]) || undefined;
      });
      expect(dropped).toBeGreaterThan(0);
      const { stdout, stderr } = await started.ended;
      // Embedded pods count the links of pages, Redis pods seeds, too (docs/pods.md).
      expect(lastLine(stdout), stderr).toBe(`${'redis' in stores ? 5 : 6} pages: nothing is left to crawl`);
      expect(await readFile(path.join(trial.folder, 'logs/crawl.log'), 'utf8')).toContain('Test mode is on');
    },
  );

  it('with a PDF stores it where additional_mime_types allows it, and checks its handler before --fresh', async () => {
    await using web = await Simweb.start({ hosts: 1, pagesPerHost: 1 });
    const pdf = `${web.url(0)}_/pdf`;
    const trial = await podsTrial({
      seeds: [pdf],
      more: ['additional_mime_types: [application/pdf]', 'store_raw_html: true'],
    });
    const cli = (...args: string[]) => run(trial.folder, args);
    const { stdout } = await trial.finished();
    expect(lastLine(stdout)).toBe('1 page: nothing is left to crawl');
    const dirs = trial.dataDirs.join(',');
    expect((await cli('get', pdf, '-d', dirs, '--raw')).stdout).toContain('%PDF');
    expect((await cli('get', pdf, '-d', dirs, '--text')).stderr).toContain('stored without its text');

    const yaml = path.join(trial.folder, 'crawl.yaml');
    await writeFile(path.join(trial.folder, 'bad.mjs'), 'export default nothing;');
    await writeFile(yaml, `${await readFile(yaml, 'utf8')}handler: ./bad.mjs\n`);
    const checked = await cli('config', 'check', 'crawl.yaml');
    expect([checked.code, checked.stderr]).toEqual([1, expect.stringContaining('cannot load the handler module')]);
    const fresh = await trial.refused('--fresh');
    expect([fresh.code, fresh.stderr]).toEqual([1, expect.stringContaining('cannot load the handler module')]);
    const why = await cli('why', pdf, '--config', 'crawl.yaml');
    expect(why.stdout).toContain('stored (200), application/pdf');
    const left = await cli('status', '--config', 'crawl.yaml', '--json');
    expect(JSON.parse(left.stdout)).toMatchObject({ running: false, pods: [{ reading: { done: 1 } }] });
  });
});

describe.skipIf(redisMissing)('stores in Redis', () => {
  it('may be on Unix sockets, which `pods up` starts', async () => {
    await using web = await Simweb.start({ hosts: 3, pagesPerHost: 3 });
    const socket = `/tmp/orcrawl-${process.pid}-${Date.now()}.sock`;
    const trial = await podsTrial({
      seeds: web.seeds(),
      more: [`pods: ["unix://${socket}"]`, 'redis_password: secret', 'max_urls_per_domain: 100'],
    });
    const up = startNode([MAIN, 'pods', 'up', '--config', 'crawl.yaml'], { cwd: trial.folder });
    try {
      await until(async () => ((await readdir('/tmp')).includes(path.basename(socket)) ? true : undefined));
      await delay(500);
      const { code, stdout, stderr } = await trial.finished();
      expect([code, lastLine(stdout)], stderr).toEqual([0, '9 pages: nothing is left to crawl']);
      const status = await run(trial.folder, ['status', '--config', 'crawl.yaml']);
      expect([status.code, status.stdout], status.stderr).toEqual([
        0,
        expect.stringMatching(/pod 0 {2}unix:\/\/\/tmp\/[^ ]*\?db=0 {2}9 pages/),
      ]);
      expect(`${stdout}${stderr}${status.stdout}`).not.toContain('secret');
    } finally {
      up.signal('SIGTERM');
      await up.ended;
    }
  });

  it('that die are named, and do not hold up the end', async () => {
    await using web = await Simweb.start({ hosts: 8, pagesPerHost: 400, latencyMs: 20 });
    const trial = await podsTrial({
      redis: 2,
      seeds: web.seeds(),
      more: ['politeness_delay_seconds: 0.2', 'max_duration: 600'],
    });
    const started = trial.run();
    const file = path.join(trial.folder, 'logs/crawl.log');
    const crawlLog = async () => (await logLines(file)).map(({ msg }) => msg).join('\n');
    await until(async () => ((await trial.stored()).length > 10 ? true : undefined));
    await trial.servers[1]!.stop('SIGKILL');
    await until(async () => (/no answer from pod 1 \(redis:/.test(await crawlLog()) ? true : undefined));
    await until(async () => ((await trial.log(1)).includes('The store of pod 1') ? true : undefined));
    const status = await run(trial.folder, ['status', '--config', 'crawl.yaml']);
    expect([status.code, status.stdout]).toEqual([2, expect.stringMatching(/pod 1 .*STORE DOES NOT ANSWER/)]);
    const stoppedMs = performance.now();
    started.signal('SIGINT');
    const { code } = await started.ended;
    expect(code).toBe(130);
    // It took 70 seconds once; 35 leave room for a busy machine.
    expect(performance.now() - stoppedMs).toBeLessThan(35_000);
  });
});
