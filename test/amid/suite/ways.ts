// The seven ways to fetch hostile pages among good ones, each run as a user would, with a heap of 512 MB.
// A way reports the end of every URL: `stored` with what was stored, or the code of its failure.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { storedKeys } from '../../support/pods-crawl.js';
import type { RedisServer } from '../../support/redis-server.js';
import { type Finished, runNode } from './processes.js';

export const WAYS = ['batch', 'crawl', 'scrape', 'script', 'pod', 'pod with parser', 'browser'] as const;
export type Way = (typeof WAYS)[number];

export interface Errand {
  readonly folder: string;
  readonly good: readonly string[];
  readonly hostile: readonly string[];
  readonly redis: RedisServer | undefined;
  readonly browserPath: string | undefined;
}

export interface Ends {
  /** URL → `stored` or a code. */
  readonly ends: ReadonlyMap<string, string>;
  /** Good pages whose stored text is not theirs. */
  readonly mixedUp: readonly string[];
  readonly finished: Finished;
}

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const MAIN = here('../../../dist/cli/main.js');
const TIMEOUT_SECS = 8;
/** A crawl of the command line has the library's limit of a minute for a page; suspects on pods need some deaths. */
const PATIENCE_MS = 240_000;

type Item = { url: string; title?: string; success?: boolean; errorCode?: string; code?: string; text?: string };

export function go(way: Way, errand: Errand): Promise<Ends> {
  switch (way) {
    case 'batch':
      return batch(errand);
    case 'crawl':
      return crawl(errand);
    case 'scrape':
      return scrape(errand);
    case 'script':
      return script(errand, false);
    case 'browser':
      return script(errand, true);
    case 'pod':
      return pods(errand, 0);
    case 'pod with parser':
      return pods(errand, 1);
    default:
      return way satisfies never;
  }
}

/** The hostile ones in the middle of the good ones. */
function inOrder({ good, hostile }: Errand): string[] {
  const middle = Math.floor(good.length / 2);
  return [...good.slice(0, middle), ...hostile, ...good.slice(middle)];
}

const items = (text: string): Item[] =>
  text.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Item] : []));

function endsOf(stored: readonly Item[], failed: readonly Item[], finished: Finished): Ends {
  const ends = new Map<string, string>();
  const mixedUp: string[] = [];
  for (const { url, title } of stored) {
    ends.set(url, 'stored');
    const number = /\/good\/(\d+)$/.exec(url)?.[1];
    if (number !== undefined && title !== `good page ${number}`) mixedUp.push(url);
  }
  for (const { url, code, errorCode } of failed) ends.set(url, code ?? errorCode ?? 'failed');
  return { ends, mixedUp, finished };
}

async function batch(errand: Errand): Promise<Ends> {
  await writeFile(path.join(errand.folder, 'urls.txt'), `${inOrder(errand).join('\n')}\n`);
  const fields = 'url,success,errorCode,errorMessage,title,metadata,markdown,fit,links,text,cleanedHtml,media,tables';
  const flags = [
    '--stream',
    '--retries',
    '0',
    '--timeout',
    String(TIMEOUT_SECS),
    '--monitor',
    'none',
    '--out',
    'out.jsonl',
  ];
  const finished = await runNode([MAIN, 'batch', 'urls.txt', ...flags, '--fields', fields], {
    cwd: errand.folder,
    timeoutMs: PATIENCE_MS,
  });
  const all = items(await readFile(path.join(errand.folder, 'out.jsonl'), 'utf8').catch(() => ''));
  const [stored, failed] = [all.filter(({ success }) => success), all.filter(({ success }) => !success)];
  return endsOf(stored, failed, finished);
}

async function crawl(errand: Errand): Promise<Ends> {
  const flags = [
    '--depth',
    '1',
    '--max-per-host',
    '20',
    '--delay',
    '0',
    '--retries',
    '0',
    '--allow-private',
    '--out',
    'out',
  ];
  const finished = await runNode([MAIN, 'crawl', '-', ...flags, '--explain-skips', '--links', '--quiet'], {
    cwd: errand.folder,
    input: inOrder(errand).join('\n'),
    timeoutMs: PATIENCE_MS,
  });
  const read = async (name: string) =>
    items(await readFile(path.join(errand.folder, 'out', name), 'utf8').catch(() => ''));
  const skipped = (await read('skipped.jsonl')).map((item) => ({ ...item, code: `skipped` }));
  return endsOf(await read('pages.jsonl'), [...skipped, ...(await read('failed.jsonl'))], finished);
}

/** Each page has a process of its own: a good one before and after, and what the hostile one says. */
async function scrape(errand: Errand): Promise<Ends> {
  const { folder, good, hostile } = errand;
  const stored: Item[] = [];
  const failed: Item[] = [];
  let whole: Finished | undefined;
  for (const url of [...good.slice(0, 1), ...hostile, ...good.slice(1)]) {
    for (const format of hostile.includes(url) ? ['fit', 'json'] : ['json']) {
      const flags = ['--format', format, '--retries', '0', '--timeout', String(TIMEOUT_SECS)];
      const finished = await runNode([MAIN, 'scrape', url, ...flags], { cwd: folder, timeoutMs: PATIENCE_MS });
      whole = added(whole, finished);
      if (finished.code === 0) {
        // What is not markup has no metadata.
        const { metadata } =
          format === 'json' ? (JSON.parse(finished.stdout) as { metadata: { title?: string } | null }) : {};
        stored.push({ url, title: metadata?.title ?? '' });
      } else {
        failed.push({
          url,
          code: /\(([A-Z_]+)\)$/m.exec(finished.stderr)?.[1] ?? `exit ${finished.code ?? finished.signal}`,
        });
      }
    }
  }
  return endsOf(stored, failed, whole!);
}

/** Pages have a process each here: the costliest one counts. */
function added(before: Finished | undefined, now: Finished): Finished {
  if (!before) return now;
  return {
    ...now,
    cpuMs: Math.max(before.cpuMs, now.cpuMs),
    wallMs: before.wallMs + now.wallMs,
    stderr: before.stderr + now.stderr,
    isKilled: before.isKilled || now.isKilled,
  };
}

async function script(errand: Errand, isBrowser: boolean): Promise<Ends> {
  const { folder, browserPath } = errand;
  const plan = { folder, urls: inOrder(errand), isBrowser, timeoutSecs: TIMEOUT_SECS };
  const finished = await runNode([here('../programs/script.mjs'), JSON.stringify(plan)], {
    cwd: folder,
    timeoutMs: PATIENCE_MS,
    env: { AMID_BROWSER: browserPath ?? '', TMPDIR: folder },
  });
  return endsOf(await datasetOf(path.join(folder, 'datasets', 'default')), items(finished.stdout), finished);
}

/** All lines of all files of a dataset. */
async function datasetOf(folder: string): Promise<Item[]> {
  const files = await readdir(folder, { recursive: true }).catch(() => []);
  const texts = files
    .filter((name) => /\.(?:jsonl|json)$/.test(name))
    .map((name) => readFile(path.join(folder, name), 'utf8'));
  return items((await Promise.all(texts)).join('\n')).filter(({ url }) => url !== undefined);
}

async function pods(errand: Errand, parsers: number): Promise<Ends> {
  const { folder, redis } = errand;
  const lines = [
    'pods:',
    redis ? `  - redis_url: ${redis.url}` : '  - path: store0',
    `data_dirs: [${folder}/data]`,
    `log_dir: ${folder}/logs`,
    'seed_file: seeds.txt',
    'email: test@example.com',
    'politeness_delay_seconds: 0',
    'fetcher_workers: 20',
    'fetchers_per_pod: 1',
    `parsers_per_pod: ${parsers}`,
    'allow_private_addresses: true',
    'enable_cpu_affinity: false',
    'enable_prometheus: false',
    'lease_seconds: 20',
    'http_max_retries: 0',
    `http_timeout_seconds: ${TIMEOUT_SECS}`,
    'fetcher_memory_limit: 512MB',
    'parser_memory_limit: 512MB',
    'max_urls_per_domain: 20',
    `handler: ${here('../programs/handler.mjs')}`,
  ];
  await writeFile(path.join(folder, 'crawl.yaml'), `${lines.join('\n')}\n`);
  await writeFile(path.join(folder, 'seeds.txt'), `${inOrder(errand).join('\n')}\n`);
  const finished = await runNode([MAIN, 'run', '--config', 'crawl.yaml'], { cwd: folder, timeoutMs: PATIENCE_MS });
  const content = path.join(folder, 'data', 'content');
  const stored = new Set(await storedKeys(content));
  const named = (await datasetOf(path.join(folder, 'data'))).filter(({ url }) => stored.has(url));
  const failed: Item[] = [];
  for (const name of (await readdir(content).catch(() => [])).filter((one) => one.includes('.fates.'))) {
    for (const line of (await readFile(path.join(content, name), 'utf8')).split('\n').filter((one) => one !== '')) {
      const { url, code, fate } = JSON.parse(line.slice(line.indexOf('{'))) as Item & { fate?: string };
      failed.push({ url, code: code ?? fate ?? 'failed' });
    }
  }
  return endsOf(named, failed, finished);
}
