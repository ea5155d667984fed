// A new user's first crawls on pods: seeds on the local machine, everything failing, and starting over.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { privateKindOf } from '../../src/pods/supervise/seeding.js';
import { inFolder, run } from './pods-fixtures.js';

const folder = inFolder();
const server = createServer((request, response) => {
  if (request.url === '/robots.txt') return void response.writeHead(404).end();
  if (request.url === '/loop') return void response.writeHead(302, { location: '/loop' }).end();
  response.writeHead(200, { 'content-type': 'text/html' }).end('<title>One</title><p>A page.');
});
let origin = '';
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const HANDLER = 'export default async ({ request, pushData }) => pushData({ url: request.url });';

async function crawl(seeds: readonly string[], ...flags: string[]) {
  await writeFile(join(folder(), 'seeds.txt'), `${seeds.join('\n')}\n`);
  await writeFile(join(folder(), 'handler.mjs'), HANDLER);
  await writeFile(
    join(folder(), 'crawl.yaml'),
    'pods: [{ path: ./pod0 }]\ndata_dirs: [./ssd1]\nlog_dir: ./logs\nseed_file: seeds.txt\nemail: you@example.com\n' +
      'enable_cpu_affinity: false\nenable_prometheus: false\npoliteness_delay_seconds: 0\nhandler: ./handler.mjs\n',
  );
  return run(folder(), ['run', '--config', 'crawl.yaml', ...flags]);
}

/** Every item in `name` under the data directory. */
async function itemsIn(name: string): Promise<string[]> {
  const files = await readdir(join(folder(), 'ssd1', name), { recursive: true, withFileTypes: true });
  const texts = await Promise.all(
    files
      .filter((file) => file.isFile() && file.name.endsWith('.jsonl'))
      .map((file) => readFile(join(file.parentPath, file.name), 'utf8')),
  );
  return texts.flatMap((text) => text.split('\n').filter((line) => line !== ''));
}

describe('orcrawl run', () => {
  it('refuses seeds at private addresses before anything is queued, and --fresh sets earlier items aside', async () => {
    const refused = await crawl([`${origin}/`, `${origin}/2`]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/no seed in .*--allow-private or allow_private_addresses.*\(ADDRESS_REFUSED\)/);

    const first = await crawl([`${origin}/`, `${origin}/2`], '--allow-private');
    expect([first.code, first.stdout]).toEqual([0, expect.stringContaining('2 pages: nothing is left to crawl')]);
    expect(await itemsIn('datasets')).toHaveLength(2);

    const again = await crawl([`${origin}/`, `${origin}/2`], '--allow-private', '--fresh');
    expect(again.code).toBe(0);
    expect(await itemsIn('datasets')).toHaveLength(2);
    const aside = (await readdir(join(folder(), 'ssd1'))).filter((name) => name.startsWith('datasets-before-'));
    expect(aside).toHaveLength(1);
    expect(await itemsIn(aside[0]!)).toHaveLength(2);
  });

  it('ends with 2 and the reasons when nothing could be stored', async () => {
    const { code, stdout, stderr } = await crawl([`${origin}/loop`], '--allow-private');
    expect(stdout).toContain('0 pages: nothing is left to crawl');
    expect(stderr).toMatch(/^1 failed: [A-Z_]+ × 1$/m);
    expect(code).toBe(2);
  });
});

describe('seeds at private addresses', () => {
  it.each(['http://localhost/', 'http://a.localhost:80/', 'http://10.1.2.3/', 'http://[::1]/', 'http://0x7f.1/'])(
    'are told by %s',
    (url) => {
      expect(privateKindOf(url)).toBeDefined();
    },
  );

  it.each(['http://example.com/', 'http://93.184.216.34/', 'http://[2606:2800:220:1::1]/'])('are not %s', (url) => {
    expect(privateKindOf(url)).toBeUndefined();
  });
});
