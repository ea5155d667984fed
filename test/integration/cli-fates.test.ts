// What became of the URLs of `orcrawl crawl`, from its folder: `why`, `why --all` and `retry-failed`.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { orcrawlHere } from '../support/cli-here.js';
import { temporaryFolder } from '../support/crawl.js';
import { type Site, startSite } from '../support/serve.js';
import { MAIN, startNode } from './cli-process.js';

let site: Site;
let folder: string;
/** Paths that answer 500. */
const ill = new Set(['/broken', '/worse']);

beforeAll(async () => {
  site = await startSite((request, response) => {
    const { url = '/' } = request;
    if (url === '/robots.txt') return void response.end('User-agent: *\nDisallow: /private\n');
    response.writeHead(ill.has(url) ? 500 : 200, { 'content-type': 'text/html' });
    response.end('<p>A page.</p><a href="/broken">b</a><a href="/worse">w</a><a href="/private">p</a>');
  });
});
afterAll(async () => {
  await site?.close();
});

/** The crawls, and what is asked of their folder, each once in a process of its own. */
const alone = (...args: string[]) => startNode([MAIN, ...args], { cwd: folder, timeoutMs: 300_000 }).ended;
const run = (...args: string[]) => orcrawlHere(args, { cwd: folder });

const failedLines = async () =>
  (await readFile(path.join(folder, 'out', 'failed.jsonl'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { url: string });

it('tells the fate of each URL, lists those that failed or were skipped, and fetches failed ones again', async () => {
  folder = await temporaryFolder();
  await alone('crawl', `${site.url}/`, '--delay', '0', '--retries', '1', '--out', 'out', '-q');
  const broken = await run('why', `${site.url}/broken`, '--storage', 'out');
  expect([broken.code, broken.stdout]).toEqual([0, expect.stringMatching(/failed, HTTP_STATUS \(attempts: 2\)/)]);
  const page = await run('why', `${site.url}/`, '--storage', 'out', '--json');
  expect(JSON.parse(page.stdout)).toMatchObject({ url: `${site.url}/`, fate: 'done', attempts: 1 });
  const unknown = await run('why', `${site.url}/never`, '--storage', 'out');
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('was never queued')]);

  const all = await alone('why', '--all', '--storage', 'out');
  const lines = all.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.find(({ url }) => url === `${site.url}/broken`)).toMatchObject({
    fate: 'failed',
    code: 'HTTP_STATUS',
    statusCode: 500,
    attempts: 2,
  });
  expect(lines.every(({ fate }) => fate === 'failed' || fate === 'skipped')).toBe(true);
  expect((await run('why', '--all')).code).toBe(1);
  expect((await run('why')).code).toBe(1);

  ill.delete('/broken');
  const again = await alone('retry-failed', '--storage', 'out');
  expect(again.stdout).toContain('Queued 2 URLs again: HTTP_STATUS × 2');
  expect((await run('retry-failed', '--storage', 'out')).stdout).toContain('Nothing to retry');
  const resumed = await run('crawl', '--resume', '--out', 'out', '--retries', '0', '-q');
  expect((await run('why', `${site.url}/broken`, '--storage', 'out')).stdout).toContain('done');
  // What was fetched since has not failed, and what failed again has failed once.
  expect(resumed.stderr).toContain('1 failed: 1 × HTTP_STATUS');
  expect((await failedLines()).map(({ url }) => url)).toEqual([`${site.url}/worse`]);

  ill.clear();
  await run('retry-failed', '--storage', 'out');
  expect((await run('crawl', '--resume', '--out', 'out', '-q')).code).toBe(0);
  expect(existsSync(path.join(folder, 'out', 'failed.jsonl'))).toBe(false);
}, 400_000);
