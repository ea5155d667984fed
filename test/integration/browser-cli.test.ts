// The command line in a browser: scrape with waits and files, a batch in one session, and a profile made by hand.
import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserPath, type Site } from '../support/browser.js';
import { serveExamples } from '../support/example-pages.js';
import { inTemporaryFolder, MAIN, startNode, until } from './cli-process.js';

describe.skipIf(browserPath === undefined)('orcrawl in a browser', () => {
  let site: Site;
  beforeAll(async () => {
    site = await serveExamples();
  });
  afterAll(() => site.close());

  const start = (cwd: string, args: string[], env: Record<string, string> = {}) =>
    startNode([MAIN, ...args], {
      cwd,
      env: { ORCRAWL_DEFAULT_BROWSER_PATH: browserPath!, XDG_DATA_HOME: path.join(cwd, 'data'), ...env },
    });

  it('waits, runs scripts, and writes pictures and documents', () =>
    inTemporaryFolder(async (cwd) => {
      const flags = [
        '--js',
        'next.click()',
        '--wait-for',
        'css:[data-page="2"] li',
        '--screenshot',
        'a.png',
        '--pdf',
        'a.pdf',
      ];
      const { code, stdout } = await start(cwd, ['scrape', `${site.url}/list`, '--format', 'text', ...flags]).ended;
      expect([code, stdout]).toEqual([0, expect.stringContaining('commit 2.1')]);
      expect((await readFile(path.join(cwd, 'a.png'))).subarray(1, 4).toString()).toBe('PNG');
      expect((await readFile(path.join(cwd, 'a.pdf'))).subarray(0, 4).toString()).toBe('%PDF');
    }));

  it('uses a profile that was made before, in batches too', () =>
    inTemporaryFolder(async (cwd) => {
      const creating = start(cwd, [
        'profile',
        'create',
        'ann',
        `${site.url}/login`,
        '--headless',
        '--executable-path',
        browserPath!,
      ]);
      await until(() => site.asked.includes('/login'), 'the page is open');
      await until(() => creating.stderr().includes('ready'), 'the browser is ready');
      creating.signal('SIGINT');
      const created = await creating.ended;
      expect([created.code, created.stdout.trim()]).toEqual([0, expect.stringContaining('--user-data-dir ann')]);
      expect((await start(cwd, ['profile', 'list']).ended).stdout).toContain('ann\t');
      const args = ['--user-data-dir', 'ann', '--session', 's', '--monitor', 'none', '--fields', 'url,engine,title'];
      const { code, stdout } = await start(cwd, ['batch', `${site.url}/account`, `${site.url}/list`, ...args]).ended;
      expect(code).toBe(0);
      expect(
        stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as { title: string; engine: string }),
      ).toMatchObject([
        { title: 'account', engine: 'browser' },
        { title: 'commits', engine: 'browser' },
      ]);
    }));

  it('leaves no browser and no temporary file behind on Ctrl-C', () =>
    inTemporaryFolder(async (cwd) => {
      const hangs = ['--js', 'await new Promise(() => {})'];
      const scraping = start(cwd, ['scrape', `${site.url}/list?interrupted`, ...hangs], { TMPDIR: cwd });
      await until(() => site.asked.includes('/list?interrupted'), 'the page is asked for');
      scraping.signal('SIGINT');
      expect((await scraping.ended).signal).toBe('SIGINT');
      expect(await readdir(cwd)).toEqual([]);
      await until(() => processesNaming(cwd).length === 0, 'the browser has ended');
    }));

  it('says what to install when there is no browser', () =>
    inTemporaryFolder(async (cwd) => {
      const env = { PATH: cwd, HOME: cwd, ORCRAWL_DEFAULT_BROWSER_PATH: '' };
      const { code, stderr } = await start(cwd, ['scrape', site.url, '--browser'], env).ended;
      expect([code, stderr.trim().split('\n').length]).toEqual([1, 1]);
      expect(stderr).toContain('playwright-core install chromium');
    }));
});

/** Processes with this text in their arguments, as a browser names its folder. Linux only, elsewhere none. */
function processesNaming(text: string): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(text);
    } catch {
      return false;
    }
  });
}
