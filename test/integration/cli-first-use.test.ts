// What a new user meets on the command line: typos, pages without text, crawls that find nothing.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserPath } from '../support/browser.js';
import { orcrawlHere } from '../support/cli-here.js';
import { type Ended, inTemporaryFolder, MAIN, readLines, startNode } from './cli-process.js';

const server = createServer((request, response) => {
  if (request.url === '/file.pdf') {
    return void response.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF-1.4 nothing');
  }
  if (request.url === '/moved') return void response.writeHead(302, { location: '/' }).end();
  if (request.url === '/gone.txt') return void response.writeHead(404, { 'content-type': 'text/plain' }).end('No.');
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
  orcrawlHere(args, { cwd, input });

describe('orcrawl scrape', () => {
  it('writes the cleaned HTML of what a selector matches', () =>
    inTemporaryFolder(async (cwd) => {
      const { code, stdout } = await orcrawl(cwd, ['scrape', `${origin}/`, '--selector', 'main', '--format', 'html']);
      expect([code, stdout]).toEqual([0, '<main><p>Main <b>text</b>.</p></main>\n']);
    }));

  it.each([
    [['/', '--selector', 'article'], 2, /nothing in http\S+ matches --selector article/],
    [['/', '--selector', '[['], 1, /--selector "\[\[" is not a valid CSS selector.*OPTION_INVALID/],
    [['/file.pdf'], 2, /DOCUMENT_INVALID/],
    [['/gone.txt'], 2, /gone\.txt answered 404.*HTTP_STATUS/],
  ])('explains why %j gives nothing', ([path, ...flags], status, line) =>
    inTemporaryFolder(async (cwd) => {
      const { code, stdout, stderr } = await orcrawl(cwd, ['scrape', `${origin}${path}`, ...flags]);
      expect([code, stdout]).toEqual([status, '']);
      expect(stderr).toMatch(line);
    }),
  );
});

describe('orcrawl crawl', () => {
  it('stores a page that redirects under the URL that was given', () =>
    inTemporaryFolder(async (cwd) => {
      await orcrawl(cwd, ['crawl', `${origin}/moved`, '--depth', '0', '--out', 'moved', '-q']);
      const items = await readLines<{ url: string; loadedUrl: string }>(cwd, 'moved', 'pages.jsonl');
      expect(items).toMatchObject([{ url: `${origin}/moved`, loadedUrl: `${origin}/` }]);
    }));

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

describe.skipIf(browserPath === undefined)('orcrawl profile create', () => {
  it('leaves no profile behind when there is no display', () =>
    inTemporaryFolder(async (cwd) => {
      const env = { XDG_DATA_HOME: cwd, DISPLAY: '', WAYLAND_DISPLAY: '' };
      const profile = (...args: string[]) => startNode([MAIN, 'profile', ...args], { cwd, env }).ended;
      const made = await profile('create', 'p1');
      expect([made.code, made.stderr]).not.toEqual([0, '']);
      expect(made.stderr).toContain('needs a display');
      const list = await profile('list');
      expect(list.stdout + list.stderr).toContain('There are no profiles');
    }));
});
