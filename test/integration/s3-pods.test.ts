// A crawl on pods whose pages and items go to an object store, through failures and kills: everything there once.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KILL_POINTS } from '../../src/base/kill-points.js';
import { orcrawlHere } from '../support/cli-here.js';
import { startS3, type Trouble } from '../support/s3-server.js';
import { type Ended, MAIN, startNode } from './cli-process.js';
import { inFolder } from './pods-fixtures.js';

const PAGES = 60;
const HANDLER = `export default async ({ request, pushData, enqueueLinks }) => {
  await pushData({ url: request.url, words: 'of page '.repeat(20) });
  await enqueueLinks({ strategy: 'all' });
};`;
const bodyOf = (n: number) =>
  `<title>Page ${n}</title><p>${'Text of it. '.repeat(n + 1)}` +
  [2 * n + 1, 2 * n + 2].map((next) => (next < PAGES ? `<a href="/${next}">on</a>` : '')).join(' ');

const folder = inFolder();
const server = createServer((request, response) => {
  const n = Number(request.url!.slice(1));
  if (!(n < PAGES)) return void response.writeHead(404).end();
  setTimeout(() => response.writeHead(200, { 'content-type': 'text/html' }).end(bodyOf(n)), 20);
});
let origin = '';
let s3: Awaited<ReturnType<typeof startS3>>;
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  s3 = await startS3();
});
afterAll(async () => {
  server.close();
  await s3.close();
});

const account = () => ({
  AWS_ACCESS_KEY_ID: 'S3RVER',
  AWS_SECRET_ACCESS_KEY: 'S3RVER',
  AWS_REGION: 'eu-north-1',
  AWS_ENDPOINT_URL_S3: s3.endpoint,
});

function orcrawl(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return startNode([MAIN, ...args], { cwd: folder(), env: { ...account(), ...env } }).ended;
}

/** Commands that have had a process of their own. */
const apart = new Set<string>();

/** A command that reads what is stored: after the first of its kind, in this process. */
function read(args: readonly [command: string, ...rest: string[]]): Promise<Ended> {
  if (apart.has(args[0])) return orcrawlHere(args, { cwd: folder(), env: account() });
  apart.add(args[0]);
  return orcrawl(args);
}

async function crawl(
  address: string,
  flags: readonly string[],
  { more = '', env }: { readonly more?: string; readonly env?: Readonly<Record<string, string>> } = {},
) {
  await writeFile(join(folder(), 'seeds.txt'), `${origin}/0\n`);
  await writeFile(join(folder(), 'handler.mjs'), HANDLER);
  await writeFile(
    join(folder(), 'crawl.yaml'),
    'pods: [{ path: ./pod0 }, { path: ./pod1 }]\ndata_dirs: [./ssd1, ./ssd2]\nlog_dir: ./logs\nseed_file: seeds.txt\n' +
      'email: you@example.com\nenable_cpu_affinity: false\nenable_prometheus: false\npoliteness_delay_seconds: 0\n' +
      'handler: ./handler.mjs\nallow_private_addresses: true\nextract_text: true\nstore_raw_html: true\n' +
      `datasets: ${address}\n${more}`,
  );
  return orcrawl(['run', '--config', 'crawl.yaml', ...flags], env);
}

/** What is stored in the data directories. */
async function filesHere(where: RegExp): Promise<string[]> {
  const found: string[] = [];
  for (const dir of ['ssd1', 'ssd2']) {
    const files = await readdir(join(folder(), dir), { recursive: true, withFileTypes: true }).catch(() => []);
    for (const file of files) {
      const isStored = where.test(file.parentPath) && /\.(?:jsonl|gz|cdxj)$/.test(file.name);
      if (file.isFile() && isStored && !file.name.includes('.fates.')) found.push(file.name);
    }
  }
  return found;
}

async function expectAllThere(address: string): Promise<void> {
  const all = await read(['export', address, 'ssd1', 'ssd2', '--format', 'jsonl', '--fields', 'url']);
  expect([all.code, all.stderr]).toEqual([0, '']);
  const told = all.stdout.trimEnd().split('\n');
  expect(told.map((line) => (JSON.parse(line) as { url: string }).url).sort()).toEqual(
    Array.from({ length: PAGES }, (_, n) => `${origin}/${n}`).sort(),
  );
  for (const name of s3.bucket('crawl').keys()) {
    if (address.endsWith(name.split('/')[0]!)) expect([name, s3.writes.get(name)]).toEqual([name, 1]);
  }
  expect(s3.unfinished).toBe(0);
}

describe('a crawl on pods with content and datasets in an object store', () => {
  it('has every page and item there once, byte for byte, and nothing here', { timeout: 300_000 }, async () => {
    s3.bucket('crawl');
    const troubles: Trouble[] = [{ status: 503, code: 'SlowDown' }, 'cut-before', 'cut-amid'];
    let count = 0;
    s3.fail(({ method }) => (++count % 4 === 0 && method === 'PUT' ? troubles[(count / 4) % 3] : undefined));
    const address = 's3://crawl/whole';
    const more = `content: ${address}\n`;
    const { code, stderr } = await crawl(address, [], { more });
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    s3.fail(() => undefined);
    expect(count).toBeGreaterThan(8);
    // Whoever looks for finished items asks the worker that has the store open.
    expect(await readFile(join(folder(), 'logs', 'crawl.log'), 'utf8')).not.toContain('is in use');
    expect(await filesHere(/content|datasets/)).toEqual([]);
    await expectAllThere(address);
    for (let n = 0; n < PAGES; n += 10) {
      const got = await read(['get', `${origin}/${n}`, '-d', address, '-d', 'ssd1', '--raw']);
      expect([got.code, got.stdout]).toEqual([0, bodyOf(n)]);
    }
    // A later run finds its segments where they are, and reports no loss.
    const again = await crawl(address, ['--resume'], { more });
    expect(again.stderr).not.toContain('missing');
    await expectAllThere(address);
  });

  it('loses and doubles nothing when the orchestrator is killed at each step', { timeout: 600_000 }, async () => {
    s3.bucket('crawl');
    const address = 's3://crawl/killed';
    const points = KILL_POINTS.filter((point) => point.startsWith('ship-items.'));
    expect(points).toHaveLength(4);
    for (const [at, point] of points.entries()) {
      const killed = await crawl(address, at === 0 ? [] : ['--resume'], { env: { ORCRAWL_KILL_AT: `${point}:1` } });
      expect([point, killed.signal]).toEqual([point, 'SIGKILL']);
    }
    const last = await crawl(address, ['--resume']);
    expect([last.code, await readFile(join(folder(), 'logs', 'crawl.log'), 'utf8')]).toEqual([
      0,
      expect.not.stringContaining('bytes are missing'),
    ]);
    expect(await filesHere(/datasets/)).toEqual([]);
    await expectAllThere(address);
  });
});
