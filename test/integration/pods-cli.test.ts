// The commands around a crawl on pods, as a person calls them.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { redisMissing, type RedisServer, startRedis } from '../support/redis-server.js';
import { inFolder, run } from './pods-fixtures.js';

const folder = inFolder();

describe('orcrawl config check', () => {
  const yaml = (port: number): string =>
    `email: you@example.com\nseed_file: seeds.txt\nredis_password: hush\n` +
    `pods:\n  - redis_url: redis://127.0.0.1:${port}\n` +
    `data_dirs: [./ssd1, ./ssd2]\ncores_per_pod: 1\nfetchers_per_pod: 2\nparsers_per_pod: 1\nmax_pages: 5000\n`;

  beforeEach(() => writeFile(join(folder(), 'seeds.txt'), 'example.com\n'));

  it('prints processes, cores, folders and memory, without asking the stores when told so', async () => {
    await writeFile(join(folder(), 'crawl.yaml'), yaml(1));
    const { code, stdout } = await run(folder(), ['config', 'check', 'crawl.yaml', '--no-connect']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Pods: +1 in Redis$/m);
    expect(stdout).toMatch(
      /^Processes: +4: 1 orchestrator and, a pod, 2 fetchers × 200 fetches and 1 parser × 50 pages$/m,
    );
    expect(stdout).toMatch(/^Memory: +up to 10\.0 GB in processes/m);
    expect(stdout).toMatch(/^Data: +\S+\/ssd1\n +\S+\/ssd2$/m);
    expect(stdout).toMatch(/^Stops: +after 5,000 pages, when nothing is left to crawl$/m);
    expect(stdout).toMatch(/^ {2}pod 0 {2}redis:\/\/127\.0\.0\.1:1\/0/m);
    const { stdout: json } = await run(folder(), ['config', 'check', 'crawl.yaml', '--no-connect', '--json']);
    expect(JSON.parse(json)).toMatchObject({ fetchersPerPod: 2, pods: [{ where: 'redis://127.0.0.1:1/0' }] });
    expect(json).not.toContain('hush');
  });

  it('lists everything that is wrong, stores included, and ends with 1', async () => {
    await writeFile(join(folder(), 'crawl.yaml'), `${yaml(1).replace(/^email.*\n/, '')}max_page: 3\n`);
    const { code, stderr, stdout } = await run(folder(), ['config', 'check', 'crawl.yaml', '--log-level', 'loud']);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    const lines = stderr.trimEnd().split('\n');
    expect(lines[0]).toBe('error: 4 things are wrong in the configuration (OPTION_INVALID)');
    expect(lines).toContain('  there is no key max_page, did you mean max_pages?');
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}--log-level must be one of/));
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}email is missing/));
    expect(lines).toContainEqual(
      expect.stringMatching(/^ {2}pods\[0\]: Redis at redis:\/\/127\.0\.0\.1:1\/0 does not answer: .*ECONNREFUSED/),
    );
  });

  describe.skipIf(redisMissing)('with a Redis', () => {
    let server: RedisServer;
    afterEach(() => server.dispose());

    it('warns of a store that may lose data and refuses one that evicts', async () => {
      server = await startRedis(['--requirepass', 'hush']);
      await writeFile(join(folder(), 'crawl.yaml'), yaml(server.port));
      const usable = await run(folder(), ['config', 'check', 'crawl.yaml']);
      expect(usable.stderr).toMatch(
        /^warning: pods\[0\]: Redis at \S+: it .*restart loses|^warning: pods\[0\].*crash loses/m,
      );
      expect(usable.code).toBe(0);
      await server.dispose();
      server = await startRedis(['--requirepass', 'hush', '--maxmemory-policy', 'allkeys-lru']);
      await writeFile(join(folder(), 'crawl.yaml'), yaml(server.port));
      const evicting = await run(folder(), ['config', 'check', 'crawl.yaml']);
      expect(evicting.code).toBe(1);
      expect(evicting.stderr).toMatch(/pods\[0\]: Redis at \S+ has maxmemory-policy allkeys-lru/);
    });
  });
});
