// A small crawl on pods in its own folder, run as a user would, once or several times over the same stores.
// Ends what it started when the test does. For whole crawls with a report see pods-crawl.ts.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { type Ended, MAIN, type Started, startNode } from '../integration/cli-process.js';
import { orcrawlHere } from './cli-here.js';
import { temporaryFolder } from './crawl.js';
import { storedKeys } from './pods-crawl.js';
import { type RedisServer, startRedis } from './redis-server.js';

export interface TrialPlan {
  /** So many Redis servers that sync always; without any, embedded pods. */
  readonly redis?: number;
  readonly redisSettings?: readonly string[];
  readonly embedded?: number;
  readonly seeds: readonly string[];
  /** More lines for the YAML file. */
  readonly more?: readonly string[];
  /** How long one run may take. */
  readonly timeoutMs?: number;
}

export interface Trial {
  readonly folder: string;
  readonly servers: readonly RedisServer[];
  readonly dataDirs: readonly string[];
  run(...flags: string[]): Started;
  /** A run that ends by itself: in a process of its own when a file first uses it, then in the process of the test. */
  finished(...flags: string[]): Promise<Ended>;
  /** The same in the process of the test, for what ends before it starts any other. */
  refused(...flags: string[]): Promise<Ended>;
  /** The unique keys of all stored pages, as often as they are stored, sorted. */
  stored(): Promise<string[]>;
  /** All log lines of the processes of a pod. */
  log(pod: number): Promise<string>;
}

/** What `CRAWLER_STUCK_SECONDS` says to each run. */
const ENV = { CRAWLER_STUCK_SECONDS: '5' };

/** Whether a run of this file has shown that it ends by itself. */
let hasEnded = false;

export async function podsTrial(plan: TrialPlan): Promise<Trial> {
  const folder = await temporaryFolder();
  const settings = plan.redisSettings ?? ['--appendonly', 'yes', '--appendfsync', 'always'];
  const servers = await Promise.all(Array.from({ length: plan.redis ?? 0 }, () => startRedis(settings)));
  const running = new Set<Started>();
  onTestFinished(async () => {
    for (const one of running) {
      one.signal('SIGKILL');
      await one.ended;
    }
    for (const server of servers) await server.dispose();
  });
  const embedded = Array.from({ length: plan.embedded ?? 1 }, (_, pod) => `  - path: store${pod}`);
  const dataDirs = ['ssd1', 'ssd2'].map((name) => path.join(folder, name));
  const stores = servers.length > 0 ? servers.map(({ url }) => `  - redis_url: ${url}`) : embedded;
  const yaml = [
    `data_dirs: [${dataDirs.join(', ')}]`,
    `log_dir: ${folder}/logs`,
    'seed_file: seeds.txt',
    'email: test@example.com',
    'politeness_delay_seconds: 0',
    'fetcher_workers: 20',
    'fetchers_per_pod: 1',
    'allow_private_addresses: true',
    'enable_cpu_affinity: false',
    'enable_prometheus: false',
    'lease_seconds: 20',
  ];
  // What the test says wins over what is said here.
  const said = new Set((plan.more ?? []).map((line) => line.split(':')[0]));
  const lines = [
    ...(said.has('pods') ? [] : ['pods:', ...stores]),
    ...yaml.filter((line) => !said.has(line.split(':')[0])),
    ...(plan.more ?? []),
  ];
  await writeFile(path.join(folder, 'crawl.yaml'), `${lines.join('\n')}\n`);
  await writeFile(path.join(folder, 'seeds.txt'), `${plan.seeds.join('\n')}\n`);
  const run: Trial['run'] = (...flags) => {
    const started = startNode([MAIN, 'run', '--config', 'crawl.yaml', ...flags], {
      cwd: folder,
      env: ENV,
      timeoutMs: plan.timeoutMs,
    });
    running.add(started);
    void started.ended.finally(() => running.delete(started));
    return started;
  };
  const here = (...flags: string[]) =>
    orcrawlHere(['run', '--config', 'crawl.yaml', ...flags], { cwd: folder, env: ENV });
  return {
    folder,
    servers,
    dataDirs,
    run,
    finished(...flags) {
      if (hasEnded) return here(...flags);
      hasEnded = true;
      return run(...flags).ended;
    },
    refused: here,
    async stored() {
      const keys = await Promise.all(dataDirs.map((dir) => storedKeys(path.join(dir, 'content'))));
      return keys.flat().sort();
    },
    async log(pod) {
      const where = path.join(folder, 'logs', `pod_${pod}`);
      const texts = (await readdir(where)).map((name) => readFile(path.join(where, name), 'utf8'));
      return (await Promise.all(texts)).join('');
    },
  };
}

/** What the program said last. */
export function lastLine(stdout: string): string {
  return stdout.trimEnd().split('\n').at(-1)!;
}
