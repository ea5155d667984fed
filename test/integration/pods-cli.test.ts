// The commands around a crawl on pods, as a user calls them.
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { METRICS } from '../../src/observe/metrics-catalogue.js';
import { promtoolMissing } from '../support/promtool.js';
import { redisMissing, type RedisServer, startRedis } from '../support/redis-server.js';
import type { Ended } from './cli-process.js';
import { inFolder, run } from './pods-fixtures.js';

const folder = inFolder();
/** Today's client, and the one that Debian has. */
const COMPOSE_CLIENTS = [['docker', 'compose'], ['docker-compose']];

describe('orcrawl status', () => {
  it('reads the folder of logs that the run was given, and says of pods that never ran that they did not', async () => {
    await writeFile(join(folder(), 'crawl.yaml'), 'pods: [./pod0]\ndata_dirs: [./data]\nemail: you@example.com\n');
    await mkdir(join(folder(), 'logs'));
    const report = { pages: 7, reason: 'exhausted', ended: '2026-11-18T06:00:00.000Z' };
    await writeFile(join(folder(), 'logs', 'report.json'), JSON.stringify(report));
    const flags = ['status', '--config', 'crawl.yaml'];
    const [told, untold] = [await run(folder(), [...flags, '--log-dir', 'logs']), await run(folder(), flags)];
    expect(told.stdout).toContain('The last run ended 2026-11-18T06:00:00.000Z: exhausted, 7 pages in all.');
    expect(untold.stdout).toMatch(
      /^Not running on this machine\. To start it: orcrawl run[^]*pod 0 .* has not started yet$/m,
    );
    expect(await readdir(folder())).not.toContain('pod0');
  });
});

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
      /^Processes: +4: 1 orchestrator and per pod 2 fetchers × 200 fetches and 1 parser × 50 pages$/m,
    );
    expect(stdout).toMatch(/^Memory: +up to 10\.0 GB in processes/m);
    expect(stdout).toMatch(/^Data: +\S+\/ssd1\n +\S+\/ssd2$/m);
    expect(stdout).toMatch(/^Stops: +after 5,000 pages, when nothing is left to crawl$/m);
    expect(stdout).toMatch(/^ {2}pod 0 {2}redis:\/\/127\.0\.0\.1:1\/0/m);
    const { stdout: json } = await run(folder(), [
      'config',
      'check',
      '--config',
      'crawl.yaml',
      '--no-connect',
      '--json',
    ]);
    expect(JSON.parse(json)).toMatchObject({ fetchersPerPod: 2, pods: [{ where: 'redis://127.0.0.1:1/0' }] });
    expect(json).not.toContain('hush');
  });

  it('lists everything that is wrong, stores included, and ends with 1', async () => {
    await writeFile(join(folder(), 'crawl.yaml'), `${yaml(1).replace(/^email.*\n/, '')}max_page: 3\n`);
    const { code, stderr, stdout } = await run(folder(), ['config', 'check', 'crawl.yaml', '--log-level', 'loud']);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    const lines = stderr.trimEnd().split('\n');
    expect(lines[0]).toBe('error: invalid configuration, 4 problems (OPTION_INVALID)');
    expect(lines).toContain('  unknown key max_page, did you mean max_pages?');
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

describe('orcrawl compose', () => {
  const COMPOSE = ['compose', '--pods', '4', '--base-port', '7000', '--total-memory-gb', '10'];
  // Made once: starting the program is most of the cost.
  let made = '';
  let said: Ended;
  const read = async (name: string, where = made): Promise<string> => readFile(join(where, name), 'utf8');
  beforeAll(async () => {
    made = await mkdtemp(join(tmpdir(), 'orcrawl-compose-'));
    said = await run(made, [...COMPOSE, '--machine-memory-gb', '1000', '--config-out', 'crawl.yaml']);
  });
  afterAll(() => rm(made, { recursive: true, force: true }));

  interface Service {
    image: string;
    command: string[];
    ports: string[];
    volumes: string[];
    healthcheck: { test: string[] };
  }
  interface ComposeFile {
    services: Record<string, Service>;
    volumes: Record<string, object>;
  }

  it('writes a store per pod with its own port, volume and log folder, durable and without eviction', async () => {
    const { code, stdout, stderr } = said;
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('4 × redis:7-alpine, ports 7000-7003 at 127.0.0.1');
    expect(stdout).toContain('10 GB in all, 2,560 MB per store');
    const { services, volumes } = parse(await read('docker-compose.yml')) as ComposeFile;
    expect(Object.keys(services)).toEqual(['redis-0', 'redis-1', 'redis-2', 'redis-3', 'prometheus', 'grafana']);
    const { command, ports, volumes: mounts, healthcheck } = services['redis-3']!;
    const text = command.join(' ');
    expect(text).toContain('--maxmemory 2560mb --maxmemory-policy noeviction');
    expect(text).toContain('--appendonly yes --appendfsync always');
    expect(ports).toEqual(['127.0.0.1:7003:6379']);
    expect(mounts).toEqual(['redis_data_3:/data', './logs/redis-3:/data/log']);
    expect(healthcheck.test).toEqual(['CMD', 'redis-cli', 'ping']);
    expect(Object.keys(volumes)).toContain('redis_data_3');
  });

  it('writes settings that a real server takes', async (context) => {
    if (redisMissing !== undefined) return context.skip(redisMissing);
    const { services } = parse(await read('docker-compose.yml')) as ComposeFile;
    const settings = services['redis-0']!.command.slice(1).map((part) => part.replace('/data/log/', ''));
    const server = await startRedis(settings);
    await server.dispose();
  });

  it.skipIf(promtoolMissing)('writes a Prometheus configuration that promtool accepts', async () => {
    const checked = spawnSync('promtool', ['check', 'config', 'monitoring/prometheus.yml'], {
      cwd: made,
      encoding: 'utf8',
    });
    expect(checked.stdout).toContain('is valid prometheus config file syntax');
    expect(checked.status).toBe(0);
  });

  it('writes a file that docker compose accepts', async (context) => {
    const client = COMPOSE_CLIENTS.find(([name, ...args]) => spawnSync(name!, [...args, 'version']).status === 0);
    if (!client) return context.skip('neither `docker compose` nor `docker-compose` is installed');
    const [name, ...args] = client;
    const checked = spawnSync(name!, [...args, '-f', 'docker-compose.yml', 'config', '--quiet'], {
      cwd: made,
      encoding: 'utf8',
    });
    expect(checked.stderr).toBe('');
    expect(checked.status).toBe(0);
  });

  it('provisions a dashboard with pods, hot shards and cross-pod latency, of metrics that exist', async () => {
    const { panels } = JSON.parse(await read('monitoring/grafana/dashboards/orcrawl.json')) as {
      panels: { title: string; targets?: { expr: string }[] }[];
    };
    const titles = panels.map(({ title }) => title);
    for (const title of ['Pod by pod', 'Hot shards: load over the mean', 'Cross-pod write latency, 99 %']) {
      expect(titles).toContain(title);
    }
    for (const { expr } of panels.flatMap(({ targets = [] }) => targets)) {
      for (const [name] of expr.matchAll(/orcrawl_\w+/g)) expect(METRICS).toHaveProperty(name.replace(/_bucket$/, ''));
    }
    const folders = join('monitoring', 'grafana', 'provisioning');
    expect((parse(await read(join(folders, 'datasources/prometheus.yml'))) as { apiVersion: number }).apiVersion).toBe(
      1,
    );
    expect((parse(await read(join(folders, 'dashboards/orcrawl.yml'))) as { apiVersion: number }).apiVersion).toBe(1);
  });

  it('writes a configuration that lacks only what a person must say', async () => {
    const asked = await run(made, ['config', 'check', 'crawl.yaml', '--no-connect']);
    expect(asked.stderr.trimEnd().split('\n')).toEqual([
      'error: invalid configuration, 2 problems (OPTION_INVALID)',
      expect.stringContaining('email is missing'),
      expect.stringContaining('seeds are missing'),
    ]);
  });

  it('leaves a docker-compose.yml alone that is not its own, and writes nothing beside it', async () => {
    await writeFile(join(folder(), 'docker-compose.yml'), 'services: {}\n');
    const { code, stderr } = await run(folder(), [...COMPOSE, '--config-out', 'crawl.yaml']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('would be overwritten: nothing was written')]);
    expect(await readdir(folder())).toEqual(['docker-compose.yml']);
    expect(await read('docker-compose.yml', folder())).toBe('services: {}\n');
  });

  it('takes Valkey, warns of too little memory and of open stores, and keeps old files', async () => {
    await writeFile(join(folder(), 'docker-compose.yml'), 'old');
    await writeFile(join(folder(), 'docker-compose.yml.bak'), 'older');
    const { stderr } = await run(folder(), [
      ...COMPOSE,
      ...['--image', 'valkey/valkey:8', '--bind', '0.0.0.0', '--machine-memory-gb', '50', '--backup'],
    ]);
    expect(stderr).toContain(
      'Redis × 1.3 (13 GB: rewrites copy pages) and the limits of all workers (50 GB) add up to 63 GB; the machine has 50 GB',
    );
    expect(stderr).toContain('listen on 0.0.0.0 without a password');
    const { services } = parse(await read('docker-compose.yml', folder())) as ComposeFile;
    expect(services['redis-0']!.command[0]).toBe('valkey-server');
    expect(await read('docker-compose.yml.bak', folder())).toBe('older');
    expect(await read('docker-compose.yml.bak1', folder())).toBe('old');
  });

  it('writes nothing when the ports do not fit', async () => {
    const { code, stderr } = await run(folder(), ['compose', '--pods', '10', '--base-port', '65530']);
    expect([code, stderr.trim()]).toEqual([1, 'error: 10 ports from 65530 exceed 65535: use a lower --base-port']);
    expect(await readdir(folder())).toEqual([]);
  });
});

describe('orcrawl plan', () => {
  const figures = { pageCpuMs: 2, cpuMsPerKb: 0.004, gzipMsPerTextKb: 0.02, fetcherRssMb: 300, diskMbPerSecond: 500 };

  it('says what a crawl needs by the figures of a machine, and which limit is hit first', async () => {
    await writeFile(
      join(folder(), 'machine.json'),
      JSON.stringify({ ...figures, measuredAt: '2026-01-02T03:04:05Z', node: 'v20' }),
    );
    const args = ['plan', '--pages', '1e9', '--hours', '30', '--machine', 'machine.json', '--gbit', '0.001'];
    const { code, stdout, stderr } = await run(folder(), args);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('1,000,000,000 pages in 30 hours: 9,259 pages per second');
    expect(stdout).toMatch(/Cores: +42: 39 for fetchers \(3\.34 CPU-ms per page\), 3 for stores/);
    expect(stdout).toMatch(/does not fit this machine; first limit: network/);
    expect(stdout).toContain('Constants measured 2026-01-02');
  });

  it('says so when the machine was not measured, and refuses what are no figures', async () => {
    const reference = await run(folder(), [
      'plan',
      '--pages',
      '1000',
      '--hours',
      '1',
      '--machine',
      'gone.json',
      '--json',
    ]);
    expect(reference.code).toBe(0);
    expect(JSON.parse(reference.stdout)).toMatchObject({
      plan: { pods: 1 },
      request: { pageKb: 250, delaySeconds: 70 },
    });
    await writeFile(join(folder(), 'machine.json'), '{"pageCpuMs": "fast"}');
    const refused = await run(folder(), ['plan', '--pages', '1000', '--hours', '1', '--machine', 'machine.json']);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('is not a valid machine file')]);
  });
});
