// The order of a crawl on pods, embedded and on Redis: what the query and the handler module's `scoreLink` prefer comes first.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { redisMissing, startRedis } from '../support/redis-server.js';
import { html, type Site, startSite } from '../support/serve.js';
import { inFolder, run } from './pods-fixtures.js';

const folder = inFolder();
let site: Site;
let visits: string[] = [];
beforeAll(async () => {
  site = await startSite((request, response) => {
    if (request.url === '/robots.txt') return void response.writeHead(404).end();
    visits.push(request.url ?? '');
    const links = Array.from({ length: 6 }, (_, page) => `<a href="/p${page}">page ${page}</a>`).join(' ');
    const body =
      request.url === '/' ? `${links} <a href="/x">the espresso grinder</a> <a href="/last">good</a>` : 'end';
    response.setHeader('content-type', 'text/html').end(html('Page', `<p>${body}</p>`));
  });
});
afterAll(() => site.close());
beforeEach(() => (visits = []));

async function crawl(pod: string, ...more: string[]): Promise<void> {
  await writeFile(path.join(folder(), 'seeds.txt'), `${site.url}/\n`);
  const yaml = [
    `pods: [${pod}]`,
    'data_dirs: [data]',
    'seed_file: seeds.txt',
    'email: test@example.com',
    'fetchers_per_pod: 1',
    'politeness_delay_seconds: 0.05',
    'allow_private_addresses: true',
    'enable_prometheus: false',
    'enable_cpu_affinity: false',
    ...more,
  ];
  await writeFile(path.join(folder(), 'crawl.yaml'), yaml.join('\n'));
  const { code, stderr } = await run(folder(), ['run', '--config', 'crawl.yaml']);
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  expect(visits).toHaveLength(9);
}

it('visits what names the query first, in an embedded pod', async () => {
  await crawl('{ path: pod0 }', 'query: espresso grinders');
  expect(visits.slice(0, 3)).toEqual(['/', '/x', '/p0']);
});

it.skipIf(redisMissing)("asks the handler module's scoreLink, in a pod on Redis", async () => {
  const redis = await startRedis();
  const module =
    'export default async ({ enqueueLinks }) => void (await enqueueLinks());\n' +
    'export const scoreLink = ({ text }) => (text === "good" ? 1 : text === "page 0" ? -1 : 0);\n';
  await writeFile(path.join(folder(), 'handler.mjs'), module);
  await crawl(`{ redis_url: '${redis.url}' }`, 'handler: handler.mjs');
  expect(visits.slice(0, 3)).toEqual(['/', '/last', '/p1']);
  expect(visits.at(-1)).toBe('/p0');
  await redis.dispose();
});

it('refuses an order that contradicts itself before anything starts', async () => {
  await writeFile(path.join(folder(), 'seeds.txt'), `${site.url}/\n`);
  const yaml = ['pods: [{ path: pod0 }]', 'seed_file: seeds.txt', 'email: a@example.com', 'scorers: { keywords: 1 }'];
  await writeFile(path.join(folder(), 'crawl.yaml'), yaml.join('\n'));
  const { code, stderr } = await run(folder(), ['run', '--config', 'crawl.yaml']);
  expect(code).toBe(1);
  expect(stderr).toContain('needs a "query"');
});
