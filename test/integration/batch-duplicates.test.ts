// Near copies in a batch: marked or left out, in the library and on the command line, in one process and in several.
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SemaphoreDispatcher, WebCrawler } from '../../src/index.js';
import { inTemporaryFolder, MAIN, startNode } from './cli-process.js';

const WORDS =
  'amber basin cedar delta ember fjord grove haven inlet jetty knoll lagoon meadow north orchard prairie'.split(' ');
let server: Server;
let origin: string;

beforeAll(async () => {
  // `/n` and `/n/print` say the same words within other furniture; `/empty/n` has nothing to say.
  server = createServer(({ url = '' }, response) => {
    const [, n = '', kind] = url.split('/');
    const text = Array.from(
      { length: 60 },
      (_, k) => `${WORDS[(Number(n) * 7 + k * k) % 16]}${(Number(n) * 31 + k * 17) % 97}`,
    );
    response.setHeader('content-type', 'text/html');
    if (n === 'empty') return response.end('<html><body><div id="app"></div></body></html>');
    const menu = kind === 'print' ? '' : '<nav><a href="/">Home</a> <a href="/about">About us</a></nav>';
    response.end(`<html><body>${menu}<main><p>${text.join(' ')}</p></main></body></html>`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const list = () => ['/1', '/2', '/1/print', '/empty/1', '/empty/2', '/2', '/3'].map((path) => origin + path);
/** One at a time: the first of several alike is the one that stands first. */
const inOrder = () => new SemaphoreDispatcher({ permits: 1 });

describe('a batch', () => {
  it('with duplicates: mark names the page that another repeats, and leaves nothing behind', async () => {
    await using crawler = await WebCrawler.open();
    const results = await crawler.runMany(list(), { duplicates: 'mark' }, inOrder());
    expect(results.map(({ url }) => url)).toEqual(list());
    const marked = results.flatMap(({ url, duplicateOf }) => (duplicateOf ? [[url, duplicateOf.url]] : []));
    expect(marked).toEqual([
      [`${origin}/1/print`, `${origin}/1`],
      [`${origin}/2`, `${origin}/2`],
    ]);
    expect(results[2]!.toJSON()).toMatchObject({ duplicateOf: { url: `${origin}/1`, distance: 0 } });
    expect((await readdir(tmpdir())).filter((name) => name.startsWith('orcrawl-copies-'))).toEqual([]);
  });

  it('with duplicates: skip has no results of them, as a list and as a stream', async () => {
    await using crawler = await WebCrawler.open();
    const kept = ['/1', '/2', '/empty/1', '/empty/2', '/3'].map((path) => origin + path);
    const results = await crawler.runMany(list(), { duplicates: 'skip' }, inOrder());
    expect(results.map(({ url }) => url)).toEqual(kept);
    const streamed: string[] = [];
    for await (const { url } of crawler.runMany(list(), { duplicates: 'skip' }, inOrder())) streamed.push(url);
    expect(streamed).toEqual(kept);
  });

  it('compares nothing by default, and takes the option for the whole batch only', async () => {
    await using crawler = await WebCrawler.open();
    const results = await crawler.runMany(list());
    expect(results.map(({ duplicateOf }) => duplicateOf)).toEqual(list().map(() => null));
    const [refused] = await crawler.runMany([{ url: list()[0]!, config: { duplicates: 'skip' } }]);
    expect(refused).toMatchObject({ success: false, errorCode: 'OPTION_INVALID' });
  });
});

describe('orcrawl batch --duplicates', () => {
  const batch = (cwd: string, ...flags: string[]) =>
    startNode([MAIN, 'batch', '-', '--monitor', 'none', '-c', '1', '--fields', 'url,duplicateOf', ...flags], {
      cwd,
      input: list().join('\n'),
    }).ended;

  it.each([
    ['in one process', []],
    ['in several', ['--processes', '2', '-c', '2', '--delay', '0.2']],
  ])('marks or leaves out near copies: %s', { timeout: 120_000 }, (_, flags) =>
    inTemporaryFolder(async (cwd) => {
      const marked = await batch(cwd, '--duplicates', 'mark', ...flags);
      const rows = marked.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { url: string; duplicateOf: string | null });
      expect(rows.map(({ url }) => url)).toEqual(list());
      expect(rows.filter(({ duplicateOf }) => duplicateOf !== null)).toHaveLength(2);
      const skipped = await batch(cwd, '--duplicates', 'skip', ...flags);
      expect(skipped.stdout.trim().split('\n')).toHaveLength(5);
      expect(skipped.stderr).toContain('2 pages left out that nearly repeat another');
    }),
  );

  it('refuses what it cannot keep', () =>
    inTemporaryFolder(async (cwd) => {
      const resumed = await batch(cwd, '--duplicates', 'skip', '--resume', 'pages.jsonl');
      expect([resumed.code, resumed.stderr]).toEqual([1, expect.stringContaining('remove one of them')]);
    }));
});
