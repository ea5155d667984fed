// The documentation site: it builds, no link is dead, and it reads and searches in a browser, straight from the disk.
// `npm run docs` in CI builds the whole; here the reference of the API, which takes a minute, is left out.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shellPath } from '../support/browser.js';
import { ROOT } from '../support/documented-code.js';

interface Scripts {
  buildSite(options: { out: string; quick: boolean }): Promise<{ pages: number; problems: string[] }>;
  deadLinks(out: string): string[];
  commandHelps(root: string): Promise<{ name: string; text: string }[]>;
  parseHelp(text: string): { usage: string; sections: { name: string; rows: { term: string; about: string }[] }[] };
  readmeWith(readme: string, root: string): string;
}

/** The scripts are JavaScript: they are loaded by name, as npm does. */
const load = async (name: string) =>
  (await import(pathToFileURL(path.join(ROOT, 'scripts/docs', name)).href)) as Scripts;

let out: string;
let built: { pages: number; problems: string[] };
beforeAll(async () => {
  out = path.join(await mkdtemp(path.join(tmpdir(), 'orcrawl-site-')), 'site');
  const { buildSite } = await load('build.mjs');
  built = await buildSite({ out, quick: true });
}, 300_000);
afterAll(() => rm(path.dirname(out), { recursive: true, force: true }));

const page = (name: string) => readFile(path.join(out, name), 'utf8');

describe('the documentation site', () => {
  it('builds without a dead link, a missing picture or anything of another host', () => {
    expect(built.problems).toEqual([]);
    expect(built.pages).toBeGreaterThan(80);
  });

  it('has every command with its flags, from what the command prints', async () => {
    expect(await page('commands/crawl.html')).toContain('-n, --max-pages &lt;N&gt;');
    expect(await page('commands/init.html')).toContain('--template &lt;NAME&gt;');
    expect(await page('commands/profile.html')).toContain('profile create');
  });

  it("has every key of the pods' file with its default", async () => {
    const html = await page('pods-keys.html');
    expect(html).toMatch(/politeness_delay_seconds<\/code><\/td>\s*<td[^>]*>[^<]+<\/td>\s*<td[^>]*><code>70</);
    expect(html).toContain('redis_url');
  });

  it('draws what was measured', async () => {
    expect((await page('figures.html')).match(/<svg width="100%"/g)!.length).toBeGreaterThanOrEqual(5);
  });

  it('names a link, an anchor and a picture that lead nowhere, and an id that is there twice', async () => {
    const folder = path.join(path.dirname(out), 'broken');
    await mkdir(folder);
    await writeFile(
      path.join(folder, 'a.html'),
      '<a href="b.html">b</a><a href="#x">x</a><img src="c.png"><script src="https://cdn.test/x.js"></script><p id="y"><p id="y">',
    );
    const { deadLinks } = await load('links.mjs');
    expect(deadLinks(folder)).toHaveLength(5);
  });
});

describe('README.md', () => {
  it('has the figures of bench/RESULTS.md; if not: npm run docs', async () => {
    const readme = await readFile(path.join(ROOT, 'README.md'), 'utf8');
    const { readmeWith } = await load('readme.mjs');
    expect(readme).toBe(readmeWith(readme, ROOT));
    expect(readme).toMatch(/\*\*[\d.]+ ms\*\*/);
  });
});

describe('help of a command', () => {
  it('is read with its groups, wrapped lines and text after them', async () => {
    const { parseHelp } = await load('commands.mjs');
    const { usage, sections } = parseHelp(
      'Usage: orcrawl x [options]\n\nDoes x.\n\nOptions:\n  -a, --all <N>  first\n                 line\n  --long-name-of-an-option\n                 second\n\nBrowser:\n  --browser      third\n\nExit codes: 0 done.\n',
    );
    expect(usage).toBe('orcrawl x [options]');
    expect(sections.map(({ name }) => name)).toEqual(['Options', 'Browser', '']);
    expect(sections[0]!.rows).toEqual([
      { term: '-a, --all <N>', about: 'first line' },
      { term: '--long-name-of-an-option', about: 'second' },
    ]);
  });
});

/** Lines of a terminal window of common size. */
const SCREEN_LINES = 40;

describe('help of every command', () => {
  it('fits a screen, or is in groups', { timeout: 300_000 }, async () => {
    const { commandHelps, parseHelp } = await load('commands.mjs');
    const helps = await commandHelps(ROOT);
    expect(helps.length).toBeGreaterThan(35);
    const unsorted = helps.filter(({ text }) => {
      const groups = parseHelp(text).sections.filter(({ rows }) => rows.length > 0);
      const longest = Math.max(...groups.map(({ rows }) => rows.length));
      return text.split('\n').length > SCREEN_LINES && (groups.length < 3 || longest > 25);
    });
    expect(unsorted.map(({ name }) => name)).toEqual([]);
  });
});

describe.runIf(shellPath !== undefined)('in a browser, from the disk', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: shellPath!, args: ['--no-sandbox'] });
  });
  afterAll(() => browser.close());

  for (const width of [390, 1440]) {
    it(`is not wider than a screen of ${width} pixels, and nothing fails`, async () => {
      const tab = await browser.newPage({ viewport: { width, height: 800 } });
      const failed: string[] = [];
      tab.on('pageerror', ({ message }) => failed.push(message));
      tab.on('requestfailed', (request) => failed.push(request.url()));
      for (const name of [
        'index.html',
        'batch.html',
        'figures.html',
        'pods-keys.html',
        'commands/crawl.html',
        'errors.html',
      ]) {
        await tab.goto(pathToFileURL(path.join(out, name)).href);
        const over = await tab.evaluate('document.documentElement.scrollWidth - innerWidth');
        expect([name, over, failed]).toEqual([name, 0, []]);
      }
      await tab.close();
    });
  }

  it('finds a page by words in it, and goes there', async () => {
    const tab = await browser.newPage();
    await tab.goto(pathToFileURL(path.join(out, 'guides/log-in.html')).href);
    await tab.keyboard.press('/');
    await tab.locator('dialog input').fill('QUEUE_IN_USE');
    const found = await tab.locator('dialog li a').first().getAttribute('href');
    const target = new URL(found!, tab.url()).href;
    await tab.keyboard.press('Escape');
    expect(await tab.locator('dialog').isVisible()).toBe(false);
    await tab.keyboard.press('/');
    await tab.keyboard.press('Enter');
    await tab.waitForURL(target);
    expect(await tab.locator('main').innerText()).toContain('QUEUE_IN_USE');
    await tab.close();
  });

  it("follows the reader's choice of light and dark", async () => {
    const tab = await browser.newPage({ colorScheme: 'light' });
    await tab.goto(pathToFileURL(path.join(out, 'index.html')).href);
    const ground = () => tab.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await ground();
    await tab.locator('button.theme').click();
    expect(await ground()).not.toBe(light);
    await tab.close();
  });
});
