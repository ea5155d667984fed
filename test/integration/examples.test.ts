// Every example runs in a process of its own against the synthetic web. Two run as their headers say, which loads jiti
// into each process; of the others jiti compiles the text here, and they run as rolldown compiles them.
// An example without a case here fails the first test.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Script } from 'node:vm';
import { createJiti } from 'jiti';
import { transformSync } from 'rolldown/utils';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Simweb, startProxy } from '../../src/testing/index.js';
import { browserPath } from '../support/browser.js';
import { EXAMPLES, inTemporaryFolder, readLines, startNode, type Ended } from './cli-process.js';

const TYPESCRIPT = import.meta.resolve('jiti/register');
/** The second has `await using`, which rolldown leaves to a package of its own. */
const AS_THE_HEADER_SAYS = new Set(['ten-lines', 'testing-with-simweb']);
const FOLDER = path.resolve('.tests');
let web: Simweb;
/** The examples as JavaScript, within the package that they import by its name. */
let compiled: string;
beforeAll(async () => {
  await mkdir(FOLDER, { recursive: true });
  compiled = await mkdtemp(path.join(FOLDER, 'examples-'));
  for (const name of Object.keys(CASES)) {
    const file = path.join(EXAMPLES, `${name}.ts`);
    const { code, errors } = transformSync(file, await readFile(file, 'utf8'), { target: 'es2022' });
    if (errors.length > 0) throw errors[0]!;
    await writeFile(path.join(compiled, `${name}.mjs`), code);
  }
  web = await Simweb.start({ seed: 2, pagesPerHost: 60 });
});
afterAll(async () => {
  await web.close();
  await rm(compiled, { recursive: true });
});

async function itemsIn(cwd: string): Promise<Record<string, unknown>[]> {
  const folder = path.join(cwd, 'storage', 'datasets', 'default');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl')).sort();
  return (await Promise.all(names.map((name) => readLines(folder, name)))).flat();
}

function example(cwd: string, name: string, args: string[] = [], env: Record<string, string> = {}): Promise<Ended> {
  const program = AS_THE_HEADER_SAYS.has(name)
    ? ['--import', TYPESCRIPT, path.join(EXAMPLES, `${name}.ts`)]
    : [path.join(compiled, `${name}.mjs`)];
  return startNode([...program, ...args], { cwd, env }).ended;
}

/** Each example, how it is run and what it must have done. */
const CASES: Record<string, (cwd: string) => Promise<void>> = {
  async 'browser-click-through'(cwd) {
    if (browserPath === undefined) return;
    const { code, stdout } = await example(cwd, 'browser-click-through', [web.url(0, '/_/list')]);
    expect(code).toBe(0);
    const expected = [1, 2, 3].flatMap((page) => [1, 2, 3].map((n) => `item ${page}.${n}`));
    expect(JSON.parse(stdout)).toEqual(expected);
  },

  async 'browser-infinite-list'(cwd) {
    if (browserPath === undefined) return;
    const { code, stdout } = await example(cwd, 'browser-infinite-list', [web.url(0, '/_/scroll')]);
    expect([code, stdout]).toEqual([0, expect.stringContaining('40 items')]);
    expect(await itemsIn(cwd)).toHaveLength(40);
  },

  async 'browser-login'(cwd) {
    if (browserPath === undefined) return;
    const first = await example(cwd, 'browser-login', [web.url(0).replace(/\/$/, '')]);
    const second = await example(cwd, 'browser-login', [web.url(0).replace(/\/$/, '')]);
    expect([first.stdout, second.stdout]).toEqual(['logged in\nHello ann\n', 'still logged in\nHello ann\n']);
  },

  async 'price-watch'(cwd) {
    const lamp = (price: string) => ({ body: `<h1>Lamp</h1><p>A lamp.</p><p class="price">${price}</p>` });
    web.serve('/lamp', lamp('12.50'));
    expect((await example(cwd, 'price-watch', [web.url(0, '/lamp')])).stdout).toContain('/lamp: 12.50');
    web.serve('/lamp', lamp('9.90'));
    expect((await example(cwd, 'price-watch', [web.url(0, '/lamp')])).stdout).toContain('/lamp: 12.50 -> 9.90');
  },

  async 'knowledge-base'(cwd) {
    const page = (text: string, links = '') => ({ body: `<article><h1>Orcas</h1><p>${text}</p></article>${links}` });
    web.serve('/kb', page('Orcas hunt in pods, and each pod has its own calls.', '<a href="/kb/2">more</a>'));
    web.serve('/kb/2', page('Herring swim in schools of many thousands, close to the coast.'));
    const kinds = async () => {
      const { stdout } = await example(cwd, 'knowledge-base', [web.url(0, '/kb')]);
      return stdout.split('\n').filter((line) => /^(?:new|changed|removed) /.test(line));
    };
    expect(await kinds()).toEqual([`new ${web.url(0, '/kb')}`, `new ${web.url(0, '/kb/2')}`]);
    web.serve('/kb/2', { status: 404, body: 'gone' });
    expect(await kinds()).toEqual([`removed ${web.url(0, '/kb/2')}`]);
  },

  async 'docs-mirror'(cwd) {
    const page = (text: string, links = '') => ({ body: `<article><h1>Orcas</h1><p>${text}</p></article>${links}` });
    const mirrored = async () => {
      const { stdout } = await example(cwd, 'docs-mirror', [web.url(0, '/docs/'), 'mirror']);
      return stdout.split('\n').filter((line) => /^(?:new|changed|removed) /.test(line));
    };
    const folder = path.join(cwd, 'mirror', new URL(web.url(0)).hostname, 'docs');
    web.serve('/docs/', page('Orcas hunt in pods, and each pod has its own calls.', '<a href="/docs/b">more</a>'));
    web.serve('/docs/b', page('Herring swim in schools of many thousands, close to the coast.'));
    expect(await mirrored()).toEqual([`new ${web.url(0, '/docs/')}`, `new ${web.url(0, '/docs/b')}`]);
    expect(await readFile(path.join(folder, 'b.md'), 'utf8')).toContain('Herring swim');
    web.serve('/docs/', page('Orcas hunt in pods, and share what they catch.', '<a href="/docs/b">more</a>'));
    web.serve('/docs/b', { status: 404, body: 'gone' });
    expect((await mirrored()).sort()).toEqual([`changed ${web.url(0, '/docs/')}`, `removed ${web.url(0, '/docs/b')}`]);
    expect(await readFile(path.join(folder, 'index.md'), 'utf8')).toContain('share what they catch');
    expect(await readdir(folder)).toEqual(['index.md']);
  },

  async 'ten-lines'(cwd) {
    const { code, stdout } = await example(cwd, 'ten-lines', [web.url(0)]);
    expect(code).toBe(0);
    expect(stdout).toContain('stored 50 items');
    const items = await itemsIn(cwd);
    expect(new Set(items.map((item) => item.url)).size).toBe(50);
    expect(items.every((item) => String(item.title).length > 3)).toBe(true);
  },

  async router(cwd) {
    expect((await example(cwd, 'router', [web.url(0)])).code).toBe(0);
    const items = await itemsIn(cwd);
    expect(items).toHaveLength(10);
    for (const item of items) expect(item).toMatchObject({ foundOn: web.url(0), heading: expect.stringMatching(/\S/) });
  },

  async 'http-content'(cwd) {
    expect((await example(cwd, 'http-content', [], { START_URL: web.url(0) })).code).toBe(0);
    const rows = (await readFile(path.join(cwd, 'pages.csv'), 'utf8')).trim().split('\n');
    expect(rows[0]).toBe('url,title,description,language,links,words');
    expect(rows).toHaveLength(31);
  },

  async 'sessions-and-proxies'(cwd) {
    await using proxy = await startProxy();
    const { code, stdout } = await example(cwd, 'sessions-and-proxies', [web.url(0)], { PROXY_URLS: proxy.url });
    expect(code).toBe(0);
    expect(stdout).toMatch(/20 pages, \d+ sessions/);
    expect(proxy.requests.length).toBeGreaterThanOrEqual(20);
    expect((await itemsIn(cwd)).every((item) => item.proxy === '127.0.0.1')).toBe(true);
  },

  async 'file-download'(cwd) {
    const urls = [web.url(0, '/_/pdf'), web.url(0, '/_/download/big.bin?bytes=100000')];
    expect((await example(cwd, 'file-download', urls)).code).toBe(0);
    const items = await itemsIn(cwd);
    expect(items).toContainEqual(expect.objectContaining({ name: 'big.bin', bytes: 100_000 }));
    expect(await readdir(path.join(cwd, 'storage', 'key_value_stores', 'files'))).toHaveLength(2);
  },

  async 'post-requests'(cwd) {
    expect((await example(cwd, 'post-requests', [web.url(0, '/_/echo')])).code).toBe(0);
    const items = await itemsIn(cwd);
    expect(items.map((item) => item.query).sort()).toEqual(['dolphin', 'orca', 'whale']);
    for (const { answer, query } of items) {
      expect(answer).toContain('POST');
      expect(answer).toContain(query);
    }
  },

  async 'hooks-and-errors'(cwd) {
    const paths = ['/_/status/404', '/_/status/500', '/_/flaky/1/hooks'];
    const urls = [web.url(0), ...paths.map((one) => web.url(0, one))];
    const { code, stdout } = await example(cwd, 'hooks-and-errors', urls);
    expect(code).toBe(0);
    expect(stdout).toContain('2 finished, 2 failed');
    const tries = Object.fromEntries((await itemsIn(cwd)).map((item) => [item.url, item.tries]));
    expect(tries).toEqual({ [urls[0]!]: 1, [urls[1]!]: 1, [urls[2]!]: 3, [urls[3]!]: 2 });
  },

  async resume(cwd) {
    const died = await example(cwd, 'resume', [web.url(0)], { DIE_AFTER: '10' });
    expect(died.signal).toBe('SIGKILL');
    const { code, stdout } = await example(cwd, 'resume', [web.url(0)]);
    expect(code).toBe(0);
    expect(stdout).toContain('Continuing an interrupted crawl');
    expect(stdout).toMatch(/ 60 items, 60 distinct/);
  },

  async batch(cwd) {
    const urls = [web.url(0), web.url(0, '/_/status/404'), web.url(0, 3)];
    const first = await example(cwd, 'batch', urls);
    expect(first.code).toBe(0);
    expect(first.stdout.trim().split('\n')).toEqual([
      expect.stringContaining(`200 miss ${urls[0]}`),
      `HTTP_STATUS ${urls[1]}`,
      expect.stringContaining(`200 miss ${urls[2]}`),
    ]);
    expect((await example(cwd, 'batch', urls)).stdout).toContain(`200 hit ${urls[0]}`);
  },

  async stream(cwd) {
    const { code, stdout, stderr } = await example(cwd, 'stream', [web.url(0), '8']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\d{3,} words/);
    expect(stderr).toContain('8 done · 0 failed');
  },

  async 'testing-with-simweb'(cwd) {
    const { code, stdout } = await example(cwd, 'testing-with-simweb');
    expect(code).toBe(0);
    expect(stdout).toContain('visited all 40 pages');
  },
};

describe('the examples', () => {
  it('are all run by this file', async () => {
    const files = (await readdir(EXAMPLES)).filter((name) => name.endsWith('.ts'));
    expect(files.map((name) => path.basename(name, '.ts')).sort()).toEqual(Object.keys(CASES).sort());
  });

  for (const [name, run] of Object.entries(CASES)) {
    it(`${name}.ts does what its header says`, () => inTemporaryFolder(run));
  }

  it('are understood by jiti, which the reader starts them with', async () => {
    const jiti = createJiti(import.meta.url);
    for (const name of Object.keys(CASES)) {
      const filename = path.join(EXAMPLES, `${name}.ts`);
      const code = jiti.transform({ source: await readFile(filename, 'utf8'), filename, ts: true, async: true });
      expect(code).not.toContain('__JITI_ERROR__');
      expect(() => new Script(`async (exports, jitiImport) => {${code}\n}`, { filename })).not.toThrow();
    }
  });
});
