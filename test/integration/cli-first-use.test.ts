// What somebody new meets on the command line: slips, pages without text, crawls that find nothing.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ended, inTemporaryFolder, MAIN, startNode } from './cli-process.js';

const server = createServer((request, response) => {
  if (request.url === '/file.pdf') {
    return void response.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF-1.4 nothing');
  }
  if (request.url !== '/') return void response.writeHead(404, { 'content-type': 'text/html' }).end('<p>No.');
  const page = '<title>One</title><nav>Menu</nav><main class="x"><p>Main <b>text</b>.</p></main>';
  response.writeHead(200, { 'content-type': 'text/html' }).end(page);
});
let origin = '';
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const orcrawl = (cwd: string, args: readonly string[], input?: string): Promise<Ended> =>
  startNode([MAIN, ...args], { cwd, input }).ended;

describe('orcrawl scrape', () => {
  it('writes the cleaned HTML of what a selector matches', () =>
    inTemporaryFolder(async (cwd) => {
      const { code, stdout } = await orcrawl(cwd, ['scrape', `${origin}/`, '--selector', 'main', '--format', 'html']);
      expect([code, stdout]).toEqual([0, '<main><p>Main <b>text</b>.</p></main>\n']);
    }));

  it.each([
    [['/', '--selector', 'article'], 2, /nothing in http\S+ matches --selector article/],
    [['/', '--selector', '[['], 1, /--selector "\[\[" is not a valid CSS selector.*OPTION_INVALID/],
    [['/file.pdf'], 2, /application\/pdf has no text/],
  ])('explains why %j gives nothing', ([path, ...flags], status, line) =>
    inTemporaryFolder(async (cwd) => {
      const { code, stdout, stderr } = await orcrawl(cwd, ['scrape', `${origin}${path}`, ...flags]);
      expect([code, stdout]).toEqual([status, '']);
      expect(stderr).toMatch(line);
    }),
  );
});

describe('orcrawl crawl', () => {
  it('ends with 2 when all it stored are pages that do not exist', () =>
    inTemporaryFolder(async (cwd) => {
      const { code, stdout } = await orcrawl(cwd, ['crawl', `${origin}/gone`, '--ignore-robots', '--out', 'out']);
      expect(stdout).toContain('1 stored (1 × 404), 0 failed');
      expect(code).toBe(2);
      expect(JSON.parse(await readFile(`${cwd}/out/report.json`, 'utf8'))).toMatchObject({ errorPages: { 404: 1 } });
    }));

  it.each([
    [['crawl', '-'], '# nothing\n', 1, /no URLs on standard input/],
    [['crawl', 'example.com', '--out', '/dev/null'], undefined, 1, /\/dev\/null.*is not a folder.*--out/],
    [['cache', 'get', 'example.com', '--storage', '.'], undefined, 2, /no page cache/],
    [['help', 'nope'], undefined, 1, /^error: unknown command 'nope'/],
  ])('%j is refused with one line and leaves nothing behind', (args, input, status, line) =>
    inTemporaryFolder(async (cwd) => {
      const { code, stdout, stderr } = await orcrawl(cwd, args, input);
      expect([code, stdout]).toEqual([status, '']);
      expect(stderr).toMatch(line);
      expect(stderr.trimEnd().split('\n')).toHaveLength(1);
      expect(await readdir(cwd)).toEqual([]);
    }),
  );
});
