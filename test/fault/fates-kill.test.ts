// A fate for every URL also after kill -9: of a crawl on pods (all its processes at once) and of `orcrawl crawl`.
// The server decides how each URL must end; what the program says afterwards is compared with that, URL by URL.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAIN, type Started, startNode } from '../integration/cli-process.js';
import { temporaryFolder } from '../support/crawl.js';
import { until } from '../support/pods-crawl.js';
import { podsTrial } from '../support/pods-trial.js';
import { childProcesses } from '../support/processes.js';
import { redisMissing } from '../support/redis-server.js';
import { type Site, startSite } from '../support/serve.js';

const LATENCY_MS = 30;
const PATIENCE_MS = 150_000;
const EACH = 25;

let site: Site;
let asked = 0;

const urls = (name: string): string[] => Array.from({ length: EACH }, (_, n) => `${site.url}/${name}/${n}`);

beforeAll(async () => {
  site = await startSite((request, response) => {
    const { url = '/' } = request;
    if (url === '/robots.txt') return void response.end('User-agent: *\nDisallow: /private\n');
    asked++;
    setTimeout(() => {
      response.writeHead(url.startsWith('/broken/') ? 500 : 200, { 'content-type': 'text/html' });
      response.end(`<p>The page ${url}`);
    }, LATENCY_MS);
  });
});
afterAll(async () => {
  await site?.close();
});

/** What the server decided, a line per URL. */
const expected = (skipped: string): string[] =>
  [
    ...urls('broken').map((url) => `${url} failed HTTP_STATUS`),
    ...urls('page').map((url) => `${url} done`),
    ...urls('private').map((url) => `${url} skipped ${skipped}`),
  ].sort();

/** Broken ones first and last, so that some have ended and some have not when the kill comes. */
const seeds = (): string[] => urls('broken').flatMap((url, n) => [url, urls('private')[n]!, urls('page')[n]!]);

/** Waits until the server was asked so often; fails if the program ends before. */
async function seen(requests: number, running: Started): Promise<void> {
  let early: string | undefined;
  void running.ended.then(({ stderr }) => (early = stderr));
  await until(() => asked >= requests || early !== undefined, PATIENCE_MS);
  expect(asked, early).toBeGreaterThanOrEqual(requests);
}

interface Fate {
  readonly url: string;
  readonly fate: string;
  readonly code: string;
}

/** The fates in the indexes of a crawl on pods, as often as they are there. */
async function fatesIn(dataDirs: readonly string[]): Promise<string[]> {
  const lines: string[] = [];
  for (const folder of dataDirs.map((dir) => path.join(dir, 'content'))) {
    for (const file of (await readdir(folder)).filter((name) => name.includes('.fates.cdxj'))) {
      for (const line of (await readFile(path.join(folder, file), 'utf8')).split('\n').filter(Boolean)) {
        const { url, fate, code } = JSON.parse(line.slice(line.indexOf('{'))) as Fate;
        lines.push(`${url} ${fate} ${code}`);
      }
    }
  }
  return lines;
}

describe.each([
  ['an embedded pod', {}],
  ['a Redis pod with a parser', { redis: 1, more: ['parsers_per_pod: 1'] }],
] as const)('kill -9 of every process of %s', (_name, plan) => {
  it.skipIf('redis' in plan && redisMissing)(
    'leaves one fate for each URL once it was resumed',
    { timeout: PATIENCE_MS },
    async () => {
      const more = ['http_max_retries: 0', 'lease_seconds: 11', 'fetcher_workers: 2'];
      const trial = await podsTrial({
        ...plan,
        seeds: seeds(),
        more: [...more, ...('more' in plan ? plan.more : [])],
        timeoutMs: PATIENCE_MS,
      });
      for (const share of [EACH / 3, EACH]) {
        asked = 0;
        const running = trial.run(...(share === EACH ? ['--resume'] : []));
        await seen(share, running);
        for (const pid of [running.pid, ...childProcesses(running.pid)]) process.kill(pid, 'SIGKILL');
        const { signal, stderr } = await running.ended;
        expect(signal, stderr).toBe('SIGKILL');
      }
      const last = await trial.run('--resume').ended;
      expect(last.code, last.stderr).toBe(0);
      const pages = (await trial.stored()).map((url) => `${url} done`);
      expect([...(await fatesIn(trial.dataDirs)), ...pages].sort()).toEqual(expected('robotsTxt'));
    },
  );
});

describe('kill -9 of orcrawl crawl', () => {
  it('leaves a fate for each URL once it was resumed', { timeout: PATIENCE_MS }, async () => {
    const cwd = await temporaryFolder();
    const start = (...args: string[]) =>
      startNode([MAIN, ...args], { cwd, input: `${seeds().join('\n')}\n`, timeoutMs: PATIENCE_MS });
    asked = 0;
    const flags = ['--delay', '0', '--retries', '0', '--depth', '0', '--concurrency', '2', '--out', 'out', '-q'];
    const first = start('crawl', '-', ...flags);
    await seen(EACH, first);
    first.signal('SIGKILL');
    expect((await first.ended).signal).toBe('SIGKILL');
    await start('crawl', '-', ...flags, '--resume').ended;

    const { stdout } = await start('why', '--all', '--storage', 'out').ended;
    const ends = stdout.trim().split('\n');
    const found = ends.map((line) => JSON.parse(line) as Fate).map(({ url, fate, code }) => `${url} ${fate} ${code}`);
    const items = (await readFile(path.join(cwd, 'out', 'pages.jsonl'), 'utf8')).trim().split('\n');
    const pages = items.map((line) => `${(JSON.parse(line) as { url: string }).url} done`);
    expect([...found, ...pages].sort()).toEqual(expected('robotsTxt'));
  });
});
