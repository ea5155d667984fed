// The command line and pages that render after they have loaded, in a real browser: they are waited for, in every
// command, and an empty page is never a success.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserPath, serveSite, shellPath, type Site } from '../support/browser.js';
import { orcrawlHere } from '../support/cli-here.js';
import { inTemporaryFolder, MAIN, readLines, startNode } from './cli-process.js';

const LATE = `<!doctype html><title>Loading</title><div id="root"></div><script>
  setTimeout(() => {
    document.title = 'Late';
    root.innerHTML = '<main><h1>Late news</h1><p>' + 'This was rendered by a script, long after loading. '.repeat(5) + '</p><a href="/next">next</a></main>';
  }, 400);
</script>`;
const NEVER = '<!doctype html><title>Loading</title><div id="root"></div><script>window.x = 1</script>';
const STEPS = `<!doctype html><title>steps</title><p id="log">began</p><script>
  setTimeout(() => { log.insertAdjacentHTML('afterend', '<button id="more" onclick="log.textContent += \\' clicked\\'">more</button>'); }, 300);
</script>`;

describe.skipIf(browserPath === undefined)('orcrawl and pages that render late', () => {
  let site: Site;
  beforeAll(async () => {
    site = await serveSite({
      '/late': LATE,
      '/never': NEVER,
      '/steps': STEPS,
      '/next': `<title>next</title><h1>Next</h1><p>${'A page that needs no scripts at all. '.repeat(20)}</p>`,
      '/who': (request, response) =>
        response
          .writeHead(200, { 'content-type': 'text/html' })
          .end(
            `<title>who</title><p>cookie=${request.headers.cookie ?? ''} key=${String(request.headers['x-key'])}</p>`,
          ),
    });
  });
  afterAll(() => site.close());

  const env = { ORCRAWL_DEFAULT_BROWSER_PATH: shellPath! };
  /** In a process of its own, which must end by itself when its browser has; the other commands run in this one. */
  const alone = (cwd: string, args: string[]) => startNode([MAIN, ...args], { cwd, env, timeoutMs: 300_000 }).ended;
  const orcrawl = (cwd: string, args: string[]) => orcrawlHere(args, { cwd, env });

  it.each(['--browser', '--auto'])('scrape waits for the text with %s', (flag) =>
    inTemporaryFolder(async (cwd) => {
      const { code, stdout } = await alone(cwd, ['scrape', `${site.url}/late`, flag, '--format', 'fit']);
      expect([code, stdout]).toEqual([0, expect.stringMatching(/^# Late news\n[^]*rendered by a script/)]);
    }),
  );

  it('an empty page is not a success, and says how to go on', () =>
    inTemporaryFolder(async (cwd) => {
      const { code, stdout, stderr } = await orcrawl(cwd, [
        'scrape',
        `${site.url}/never`,
        '--auto',
        '--format',
        'text',
      ]);
      expect([code, stdout.trim()]).toEqual([2, '']);
      expect(stderr).toMatch(/shows no text in the browser.*--wait-for/);
    }));

  it('an invalid selector is named as one', () =>
    inTemporaryFolder(async (cwd) => {
      const { code, stderr } = await orcrawl(cwd, ['scrape', `${site.url}/steps`, '--wait-for', 'css:[[']);
      expect([code, stderr]).toEqual([1, 'error: waitFor: "[[" is not a valid CSS selector (OPTION_INVALID)\n']);
    }));

  it('scripts and waits run in the order in which they were typed', () =>
    inTemporaryFolder(async (cwd) => {
      const steps = [
        '--wait-for',
        'css:#more',
        '--js',
        'more.click()',
        '--wait-for',
        'js:log.textContent.includes("clicked")',
      ];
      const { code, stdout } = await orcrawl(cwd, ['scrape', `${site.url}/steps`, '--format', 'text', ...steps]);
      expect([code, stdout]).toEqual([0, expect.stringContaining('began clicked')]);
    }));

  it.each(['--browser', '--auto'])('crawl renders with %s, follows what scripts made, and takes pictures', (flag) =>
    inTemporaryFolder(async (cwd) => {
      const args = [
        'crawl',
        `${site.url}/late`,
        flag,
        '--delay',
        '0',
        '--ignore-robots',
        '--out',
        'c',
        '--screenshot',
        'shots',
      ];
      const { code, stdout } = await (flag === '--browser' ? alone : orcrawl)(cwd, args);
      expect([code, stdout]).toEqual([0, expect.stringContaining('2 stored')]);
      const items = await readLines<{ url: string; title: string; text: string }>(cwd, 'c', 'pages.jsonl');
      expect(items.map(({ title }) => title).sort()).toEqual(['Late', 'next']);
      const [host] = await readdir(path.join(cwd, 'shots'));
      expect((await readdir(path.join(cwd, 'shots', host!))).sort()).toEqual(['late.png', 'next.png']);
      expect((await readFile(path.join(cwd, 'shots', host!, 'late.png'))).subarray(1, 4).toString()).toBe('PNG');
    }),
  );

  it('batch and crawl send cookies and headers in a browser, too', () =>
    inTemporaryFolder(async (cwd) => {
      await writeFile(path.join(cwd, 'c.json'), JSON.stringify([{ name: 'who', value: 'ann', domain: '127.0.0.1' }]));
      const flags = ['--browser', '--cookies', 'c.json', '-H', 'X-Key: k'];
      const batched = await alone(cwd, ['batch', `${site.url}/who`, '--format', 'text', '--monitor', 'none', ...flags]);
      expect(batched.stdout).toContain('cookie=who=ann key=k');
      await orcrawl(cwd, ['crawl', `${site.url}/who`, '--ignore-robots', '-q', '--out', 'w', ...flags]);
      expect(await readLines(cwd, 'w', 'pages.jsonl')).toMatchObject([
        { text: expect.stringContaining('cookie=who=ann key=k') },
      ]);
    }));
});
