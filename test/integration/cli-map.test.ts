// `orcrawl map` as a user runs it: the URLs of a site on standard output, the best matches first.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { orcrawlHere } from '../support/cli-here.js';
import { html, type Site, startSite } from '../support/serve.js';
import { MAIN, startNode } from './cli-process.js';

let site: Site;
const hosts = new Set<string>();
const asked = new Set<string>();
beforeAll(async () => {
  site = await startSite((request, response) => {
    asked.add(request.url ?? '/');
    hosts.add(request.headers.host!.split(':', 1)[0]!);
    const say = (text: string, type = 'text/html') => response.setHeader('content-type', type).end(text);
    switch (request.url ?? '/') {
      case '/':
        return say(html('Home', '<a href="/prices?from=home">What it costs</a><a href="/about">About us</a>'));
      case '/inside': {
        const port = new URL(site.url).port;
        return say(html('Inside', `<a href="http://admin.localhost:${port}/">Admin</a><a href="/about">About</a>`));
      }
      case '/robots.txt':
        return say(`Sitemap: ${site.url}/sitemap.xml`, 'text/plain');
      case '/sitemap.xml':
        return say(`<urlset><url><loc>${site.url}/listed</loc></url></urlset>`, 'text/xml');
      case '/llms.txt':
        return say(
          '# Orcas\n- [Tours in winter](/tours.md): where to see them\n- [Elsewhere in winter](https://other.example/)\n',
          'text/plain',
        );
      case '/llms-full.txt':
        return say(`# Orcas\nsource: ${site.url}/whole\nAll about them.\n`, 'text/plain');
      default:
        return say(html('Page', '<p>words</p>'));
    }
  });
});
afterAll(() => site.close());

const command = (...args: string[]) => ['map', `${site.url}/`, ...args];
const map = (...args: string[]) => orcrawlHere(command(...args), { cwd: process.cwd() });
const lines = (text: string) => text.trim().split('\n');

it('lists the pages of sitemaps and of the first page, without queries', async () => {
  const { code, stdout } = await startNode([MAIN, ...command()], { cwd: process.cwd() }).ended;
  expect(code).toBe(0);
  expect(lines(stdout).sort()).toEqual(
    ['/', '/about', '/listed', '/prices', '/tours.md', '/whole'].map((at) => site.url + at).sort(),
  );
  expect(lines((await map('--query')).stdout)).toContain(`${site.url}/prices?from=home`);
  expect(lines((await map('--sitemap', 'only')).stdout)).toEqual(
    ['/tours.md', '/whole', '/listed'].map((at) => site.url + at),
  );
  expect(lines((await map('--limit', '2')).stdout)).toHaveLength(2);
});

it('finds by the text of links, as JSON lines, and says when nothing matches', async () => {
  const found = await map('--search', 'costs', '--json');
  expect(lines(found.stdout).map((line) => (JSON.parse(line) as { url: string }).url)).toEqual([`${site.url}/prices`]);
  // What llms.txt says of a page is searched, too.
  const listed = await map('--search', 'winter', '--json', '--sitemap', 'only');
  expect(lines(listed.stdout).map((line) => JSON.parse(line) as object)).toEqual([
    { url: `${site.url}/tours.md`, title: 'Tours in winter', description: 'where to see them' },
  ]);
  const nothing = await map('--search', 'zebra');
  expect([nothing.code, nothing.stdout]).toEqual([2, '']);
  expect(nothing.stderr).toContain('No URL matches');
});

it('visits no private address that the site names, though its own may be one', async () => {
  const { port } = new URL(site.url);
  hosts.clear();
  const { code, stdout } = await orcrawlHere(['map', `http://localhost:${port}/inside`], { cwd: process.cwd() });
  expect([code, [...hosts]]).toEqual([0, ['localhost']]);
  expect(lines(stdout)).toContain(`http://admin.localhost:${port}/`);
});

it('the pages of llms.txt and llms-full.txt are seeds of a crawl with --sitemap', async () => {
  const cwd = await mkdtemp(path.join(tmpdir(), 'orcrawl-llms-'));
  const pagesOf = async (...args: string[]): Promise<string[]> => {
    asked.clear();
    const crawl = ['crawl', `${site.url}/about`, '--delay', '0', '--out', 'out', '--fresh', ...args];
    expect((await orcrawlHere(crawl, { cwd })).code).toBe(0);
    return [...asked].filter((at) => !/\.(txt|xml)$/.test(at)).sort();
  };
  try {
    expect(await pagesOf()).toEqual(['/about']);
    expect(await pagesOf('--sitemap')).toEqual(['/about', '/listed', '/tours.md', '/whole']);
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
});
