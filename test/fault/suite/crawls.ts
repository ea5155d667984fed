// The crawls that the fault classes disturb: on pods, by a script, as a batch, in a browser. Each with its stores named
// to the checker, and run as a person runs it.
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RedisServer } from '../../support/redis-server.js';
import type { Bench, Web } from './bench.js';
import { MAIN, type Program } from './program.js';

export interface PodsOptions {
  /** Stores as they stand in the file; by default so many Redis servers of the bench. */
  readonly redis?: number;
  readonly urls?: readonly string[];
  readonly embedded?: number;
  readonly web?: Web;
  readonly delaySecs?: number;
  /** More keys of the YAML file, or other values for them. */
  readonly more?: Readonly<Record<string, string | number | boolean>>;
  readonly env?: Readonly<Record<string, string>>;
}

export interface PodsCrawl {
  readonly web: Web;
  readonly servers: readonly RedisServer[];
  readonly folder: string;
  readonly dataDirs: readonly string[];
  run(flags?: readonly string[], env?: Readonly<Record<string, string>>): Program;
  /** `run` again after an end that was not the last. */
  resume(env?: Readonly<Record<string, string>>): Program;
  /** Waits for the end, and expects that nothing is left. */
  whole(program: Program): Promise<void>;
  /** A pod may stop if the end says so; then `--resume` finishes the crawl. */
  wholeInTheEnd(program: Program): Promise<void>;
  /** All that its processes logged. */
  logs(): string;
}

const PROGRAMS = fileURLToPath(new URL('../programs/', import.meta.url));

export async function podsCrawl(bench: Bench, options: PodsOptions = {}): Promise<PodsCrawl> {
  const { folder } = bench;
  const web = options.web ?? (await bench.web());
  const delaySecs = options.delaySecs ?? 0.1;
  bench.delayMs = delaySecs * 1_000;
  const servers: RedisServer[] = [];
  const isEmbedded = options.embedded !== undefined;
  if (!isEmbedded && !options.urls) for (let n = 0; n < (options.redis ?? 1); n++) servers.push(await bench.redis());
  const urls = options.urls ?? servers.map(({ url }) => url);
  const stores = isEmbedded
    ? Array.from({ length: options.embedded! }, (_, pod) => `  - path: store${pod}`)
    : urls.map((url) => `  - redis_url: ${url}`);
  const dataDirs = ['ssd1', 'ssd2'].map((name) => path.join(folder, name));
  const keys = {
    data_dirs: `[${dataDirs.join(', ')}]`,
    log_dir: path.join(folder, 'logs'),
    seed_file: 'seeds.txt',
    email: 'test@example.com',
    handler: './handler.mjs',
    politeness_delay_seconds: delaySecs,
    fetchers_per_pod: 1,
    fetcher_workers: 40,
    allow_private_addresses: true,
    enable_cpu_affinity: false,
    enable_prometheus: false,
    lease_seconds: 20,
    ...options.more,
  };
  const lines = Object.entries(keys).map(([key, value]) => `${key}: ${value}`);
  writeFileSync(path.join(folder, 'crawl.yaml'), ['pods:', ...stores, ...lines, ''].join('\n'));
  writeFileSync(path.join(folder, 'seeds.txt'), `${seedsOf(web).join('\n')}\n`);
  copyFileSync(path.join(PROGRAMS, 'pods-handler.mjs'), path.join(folder, 'handler.mjs'));
  bench.stores.push(
    { kind: 'items', paths: dataDirs.map((dir) => path.join(dir, 'datasets', 'default')) },
    { kind: 'content', paths: dataDirs },
  );
  let runs = 0;
  const run: PodsCrawl['run'] = (flags = [], env = {}) =>
    bench.start([MAIN, 'run', '--config', 'crawl.yaml', ...flags], {
      name: `run ${++runs} ${flags.join(' ')}`,
      cwd: folder,
      env: { CRAWLER_STUCK_SECONDS: '5', ...options.env, ...env },
    });
  const lastLine = (program: Program) => program.stdout().trimEnd().split('\n').at(-1) ?? '';
  const resume: PodsCrawl['resume'] = (env) => run(['--resume'], env);
  const whole: PodsCrawl['whole'] = async (program) => {
    const code = await program.ended();
    bench.expect(code === 0, `exit 0 expected, not ${code}`);
    const said = lastLine(program);
    bench.expect(/nothing is left to crawl/.test(said), `"nothing is left to crawl" expected, not "${said}"`);
  };
  return {
    web,
    servers,
    folder,
    dataDirs,
    run,
    resume,
    whole,
    async wholeInTheEnd(program) {
      const code = await program.ended();
      if (code === 0 || program.facts().end === 'hung') return whole(program);
      const said = lastLine(program);
      bench.expect(/pod \d stopped: /.test(program.stderr()), 'the end does not say which pod stopped');
      bench.expect(!/nothing is left/.test(said), `a pod stopped, and the last line says "${said}"`);
      await whole(resume());
    },
    logs() {
      const where = path.join(folder, 'logs');
      const files = existsSync(where) ? readdirSync(where, { recursive: true, encoding: 'utf8' }) : [];
      return files
        .flatMap((name) => (name.endsWith('.log') ? [readFileSync(path.join(where, name), 'utf8')] : []))
        .join('');
    },
  };
}

export function seedsOf({ plan, port }: Web): string[] {
  const hosts = plan.shape === 'tree' ? plan.hosts : 1;
  return Array.from({ length: hosts }, (_, host) => pageUrl(port, host, 0));
}

/** The addresses of the web's hosts are fixed by web/graph.mjs. */
export function pageUrl(port: number, host: number, page: number): string {
  return `http://127.77.${host >> 7}.${(host & 127) + 1}:${port}${page === 0 ? '/' : `/p/${page}`}`;
}

export function allUrls({ plan, port }: Web): string[] {
  if (plan.shape !== 'tree') throw new Error('a list of all pages is for trees');
  return Array.from({ length: plan.hosts * plan.pages }, (_, n) =>
    pageUrl(port, n % plan.hosts, Math.floor(n / plan.hosts)),
  );
}

/** The fetchers or parsers of a run. */
export const workersOf = (program: Program, role: 'fetcher' | 'parser'): number[] =>
  program.children(`orcrawl ${role}`);

export interface ScriptOptions {
  readonly web?: Web;
  readonly isBrowser?: boolean;
  readonly isShared?: boolean;
  readonly redisUrl?: string;
  readonly queue?: string;
  readonly delaySecs?: number;
  readonly storage?: string;
  readonly navigationTimeoutSecs?: number;
  /** What it found is remembered for the next crawl. */
  readonly remembers?: boolean;
}

export interface ScriptCrawl {
  readonly web: Web;
  readonly storage: string;
  run(env?: Readonly<Record<string, string>>): Program;
  whole(program: Program): Promise<void>;
}

/** A script with the library; a killed one is continued by running it again. */
export async function scriptCrawl(bench: Bench, options: ScriptOptions = {}): Promise<ScriptCrawl> {
  const web = options.web ?? (await bench.web(options.isBrowser ? { hosts: 4, pages: 9 } : {}));
  const delaySecs = options.delaySecs ?? (options.isBrowser ? 0.05 : 0.1);
  bench.delayMs = delaySecs * 1_000;
  const storage = options.storage ?? path.join(bench.folder, 'storage');
  bench.stores.push({ kind: 'items', paths: [path.join(storage, 'datasets', 'default')] });
  const { isBrowser, isShared, redisUrl, queue, navigationTimeoutSecs, remembers } = options;
  const argument = JSON.stringify({
    ...{ folder: storage, seeds: seedsOf(web), delaySecs, isBrowser, isShared, redisUrl, queue },
    ...{ navigationTimeoutSecs, remembers },
  });
  let runs = 0;
  return {
    web,
    storage,
    run: (env = {}) =>
      bench.start([path.join(PROGRAMS, 'library.mjs'), argument], { name: `script ${++runs}`, cwd: bench.folder, env }),
    async whole(program) {
      const code = await program.ended();
      bench.expect(code === 0, `exit 0 expected, not ${code}`);
      bench.expect(/^end \{"requestsFailed":0\}/m.test(program.stdout()), 'the end of the crawl was not said');
    },
  };
}

export interface BatchCrawl {
  readonly web: Web;
  readonly file: string;
  run(flags?: readonly string[], before?: readonly string[]): Program;
  whole(program: Program): Promise<void>;
}

/** `orcrawl batch --resume FILE`: run again, it finishes the rest. */
export async function batchCrawl(bench: Bench, given?: Web, flags: readonly string[] = []): Promise<BatchCrawl> {
  const web = given ?? (await bench.web());
  bench.delayMs = 100;
  const file = path.join(bench.folder, 'pages.jsonl');
  writeFileSync(path.join(bench.folder, 'urls.txt'), `${allUrls(web).join('\n')}\n`);
  bench.stores.push({ kind: 'batch', paths: [file] });
  let runs = 0;
  return {
    web,
    file,
    run: (more = [], before) =>
      bench.start(
        [
          ...[MAIN, 'batch', 'urls.txt', '--stream', '--resume', file, '--fields', 'url,success,title,errorCode'],
          ...['--delay', '0.1', '--monitor', 'none', '--concurrency', '30', ...flags, ...more],
        ],
        { name: `batch ${++runs}`, cwd: bench.folder, ...(before && { before }) },
      ),
    async whole(program) {
      const code = await program.ended();
      bench.expect(code === 0, `exit 0 expected, not ${code}`);
    },
  };
}

export interface ArmedPoint {
  readonly env: { readonly ORCRAWL_KILL_AT: string };
  struck(): boolean;
  /** Of the process that was struck. */
  pid(): number;
}

/** Arms a kill point for the first process that passes it so often; tells whether one was killed, or stopped, there. */
export function killAt(bench: Bench, point: string, count: number): ArmedPoint {
  const ticket = path.join(bench.folder, `struck-${point}`);
  const read = (): string => (existsSync(ticket) ? readFileSync(ticket, 'utf8') : '');
  return {
    env: { ORCRAWL_KILL_AT: `${point}:${count}:${ticket}` },
    struck: () => read() !== '',
    pid: () => Number.parseInt(read(), 10),
  };
}
