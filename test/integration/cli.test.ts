// The command line as users meet it, against the synthetic web: the built program in its own process, and for what one
// more flag does, the same command line in this one.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Simweb } from '../../src/testing/index.js';
import { orcrawlHere } from '../support/cli-here.js';
import { inTemporaryFolder, MAIN, readLines, startNode, until, type Ended } from './cli-process.js';

interface Item {
  url: string;
  loadedUrl: string;
  status: number;
  title: string | null;
  text: string;
  depth: number;
  contentType: string;
  links?: string[];
}

const PAGES = 40;
let web: Simweb;
beforeAll(async () => {
  web = await Simweb.start({ seed: 3, hosts: 2, pagesPerHost: PAGES, crossHostLinks: 0.1 });
});
afterAll(() => web.close());

/** In a process of its own, as users run it. */
const orcrawl = (cwd: string, args: readonly string[], input?: string): Promise<Ended> =>
  startNode([MAIN, ...args], { cwd, input }).ended;
/** What it does, without the start of a process. */
const here = (cwd: string, args: readonly string[], input?: string): Promise<Ended> =>
  orcrawlHere(args, { cwd, input });
/** In haste: manners have tests of their own, and loopback is in no need of rest. */
const CRAWL = ['crawl', '--delay', '0', '--ignore-robots'];
const withoutFragment = (url: string): string => url.replace(/[?#].*$/, '');
const pagesOf = (...file: string[]): Promise<Item[]> => readLines<Item>(...file, 'pages.jsonl');

/** All pages of one host, as its server has them. */
const mapOf = (site: Simweb, host: number): string[] =>
  [...site.allUrls()].filter((url) => url.startsWith(`${site.origin(host)}/`)).sort();

describe('orcrawl', () => {
  it('explains itself and every command with examples', () =>
    inTemporaryFolder(async (cwd) => {
      for (const args of [
        ['--help'],
        ['crawl', '--help'],
        ['audit', '--help'],
        ['get', '--help'],
        ['simweb', '--help'],
        ['demo', '--help'],
      ]) {
        const { code, stdout, stderr } = await (args.length === 1 ? orcrawl : here)(cwd, args);
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
        expect(stdout).toMatch(/Examples?:\n {2}\$ orcrawl /);
      }
      const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
      expect((await orcrawl(cwd, ['--version'])).stdout).toBe(`${version}\n`);
    }));

  it.each([
    [['crwl', 'example.com'], /unknown command 'crwl'.*crawl.*--help/],
    [['crawl', 'example.com', '--max-page', '3'], /unknown option '--max-page'.*--max-pages.*crawl --help/],
    [['crawl', 'example.com', '--max-pages', 'ten'], /--max-pages.*'ten'.*whole number from 1/],
    [['crawl', 'example.com', '--rate', '0'], /--rate.*number above 0/],
    [['crawl', 'example.com', '--format', 'xml'], /--format.*jsonl, json, csv, parquet, markdown, fit, text/],
    [['crawl', 'example.com', '--strategy', 'near'], /--strategy.*same-domain/],
    [['crawl', 'example.com', '--include', '/[/'], /--include.*is not a valid regular expression/],
    [['crawl', 'example.com', '--header', 'secret'], /--header.*Name: value/],
    [['crawl', 'example.com', '--max-body', 'big'], /--max-body.*10M/],
    [['crawl', 'example.com', '--user-agent', 'two\nlines'], /userAgent.*OPTION_INVALID/],
    [['crawl'], /give a URL/],
    [['crawl', 'ftp://example.com/'], /only http and https.*URL_SCHEME/],
    [['crawl', 'http://'], /not an absolute URL.*URL_INVALID/],
    [['crawl', 'example.com', '--resume', '--fresh'], /use either --resume or --fresh/],
    [['crawl', '--resume', '--out', 'nothing-here'], /no crawl to resume in nothing-here: give a URL/],
    [['crawl', 'example.com', '--delay', 'long'], /--delay.*seconds such as/],
    [['audit', 'nowhere'], /folder not found: nowhere/],
    [['audit', '.'], /no visit log.*polite/],
    [['simweb', '--latency', 'slow'], /--latency.*5-40/],
  ])('refuses %j with one line that says what to do, and exit status 1', (args, line) =>
    inTemporaryFolder(async (cwd) => {
      // A misspelled command in a process; the lines of the others are made alike.
      const isWhole = args[0] === 'crwl';
      const { code, stdout, stderr } = await (isWhole ? orcrawl : here)(cwd, args);
      expect(code).toBe(1);
      expect(stdout).toBe('');
      expect(stderr).toMatch(line);
      expect(stderr).toMatch(/^error: [^\n]+\n$/);
      expect(await readdir(cwd)).toEqual([]);
    }),
  );
});

describe('orcrawl crawl', () => {
  it('stores every page of a site once, with a report and a summary', () =>
    inTemporaryFolder(async (cwd) => {
      const { code, stdout, stderr } = await orcrawl(cwd, [...CRAWL, web.url(0).replace('http://', ''), '--links']);
      expect(stderr).not.toContain('error');
      expect(code).toBe(0);
      const folder = path.join(cwd, 'orcrawl-out', `127.0.0.1_${web.port}`);
      const items = await pagesOf(folder);
      expect(items.map((item) => withoutFragment(item.loadedUrl)).sort()).toEqual(mapOf(web, 0));
      const home = items.find((item) => item.depth === 0)!;
      expect(Object.keys(home)).toEqual([
        'url',
        'loadedUrl',
        'status',
        'title',
        'description',
        'language',
        'contentType',
        'bytes',
        'depth',
        'fetchedAt',
        'text',
        'links',
      ]);
      expect(home).toMatchObject({ status: 200, contentType: 'text/html', title: expect.stringMatching(/\S/) });
      expect(home.text.length).toBeGreaterThan(500);
      expect(home.links).toContain(withoutFragment(web.linksOf(0, 0)[0]!));

      const report = JSON.parse(await readFile(path.join(folder, 'report.json'), 'utf8'));
      expect(report).toMatchObject({
        outcome: 'finished',
        pages: PAGES,
        failed: 0,
        pending: 0,
        answers: { 200: PAGES },
      });
      expect(stdout).toMatch(/^Finished: 40 pages in .* per second\.\n/);
      expect(stdout).toContain(`orcrawl-out/127.0.0.1_${web.port}/pages.jsonl`);
      expect(stdout).toMatch(/Left out +\d+ × outside --strategy.* such as http:\/\/127\.0\.0\.2/);
    }));

  it('writes the result as JSON, CSV or text, one file of the chosen kind', () =>
    inTemporaryFolder(async (cwd) => {
      for (const [format, file] of [
        ['json', 'pages.json'],
        ['csv', 'pages.csv'],
        ['text', 'pages.txt'],
      ] as const) {
        const args = [...CRAWL, web.url(0), '-n', '5', '--out', 'out', '--fresh', '--format', format, '--quiet'];
        const { code, stdout, stderr } = await here(cwd, args);
        expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '' });
        const names = (await readdir(path.join(cwd, 'out'))).filter((name) => name.startsWith('pages'));
        expect(names).toEqual([file]);
      }
      await here(cwd, [...CRAWL, '--resume', '--out', 'out', '-n', '6', '-f', 'json']);
      const items = JSON.parse(await readFile(path.join(cwd, 'out', 'pages.json'), 'utf8')) as Item[];
      expect(items).toHaveLength(6);
      await here(cwd, [...CRAWL, '--resume', '--out', 'out', '-n', '7', '-f', 'csv']);
      const csv = await readFile(path.join(cwd, 'out', 'pages.csv'), 'utf8');
      expect(csv).toMatch(/^url,loadedUrl,status,title,/);
      for (const item of items) expect(csv).toContain(`\n${item.url},${item.loadedUrl},200,`);
      await here(cwd, [...CRAWL, '--resume', '--out', 'out', '-n', '8', '-f', 'text']);
      const text = await readFile(path.join(cwd, 'out', 'pages.txt'), 'utf8');
      for (const item of items) expect(text).toContain(`# ${item.title}\n${item.url}\n\n${item.text.trim()}\n`);
    }));

  it('stops at --max-pages, and --resume with a higher one goes on from there', () =>
    inTemporaryFolder(async (cwd) => {
      const first = await here(cwd, [...CRAWL, web.url(0), '--max-pages', '10', '--out', 'out']);
      expect(first.code).toBe(0);
      expect(first.stdout).toMatch(/^Reached --max-pages: 10 pages/);
      expect(first.stdout).toContain('crawl --resume --out out --max-pages 20');
      expect(await pagesOf(cwd, 'out')).toHaveLength(10);
      const second = await here(cwd, [...CRAWL, '--resume', '--out', 'out', '--max-pages', '25']);
      expect(second.code).toBe(0);
      expect(second.stdout).toMatch(/^Reached --max-pages: 15 pages/);
      const urls = (await pagesOf(cwd, 'out')).map((item) => item.url);
      expect(new Set(urls).size).toBe(25);
      expect(urls).toHaveLength(25);
    }));

  it('follows only what --depth, --include, --exclude and --strategy allow', () =>
    inTemporaryFolder(async (cwd) => {
      await here(cwd, [...CRAWL, web.url(0), '--depth', '1', '--out', 'depth']);
      const direct = new Set([web.url(0), ...web.linksOf(0, 0)].map(withoutFragment));
      const onHost = [...direct].filter((url) => url.startsWith(web.origin(0))).sort();
      expect((await pagesOf(cwd, 'depth')).map((item) => withoutFragment(item.url)).sort()).toEqual(onHost);

      const glob = `${web.origin(0)}/*/*`;
      await here(cwd, [
        ...CRAWL,
        web.url(0),
        '--include',
        glob,
        '--exclude',
        '/-[0-9]*[02468]([?#]|$)/',
        '--out',
        'odd',
      ]);
      const odd = (await pagesOf(cwd, 'odd')).filter((item) => item.depth > 0);
      expect(odd.length).toBeGreaterThan(5);
      expect(odd.filter((item) => !/-\d*[13579]$/.test(withoutFragment(item.url)))).toEqual([]);

      const all = [...CRAWL, web.url(0), '--strategy', 'all', '--allow-private', '--out', 'all'];
      expect((await here(cwd, all)).code).toBe(0);
      const hosts = new Set((await pagesOf(cwd, 'all')).map((item) => new URL(item.url).host));
      expect(hosts).toEqual(new Set([new URL(web.url(0)).host, new URL(web.url(1)).host]));
    }));

  it('reaches a private host that was named, and no other one without --allow-private', () =>
    inTemporaryFolder(async (cwd) => {
      const before = web.served(1);
      const { code, stdout } = await here(cwd, [...CRAWL, web.url(0), '--strategy', 'all', '--out', 'out']);
      expect(code).toBe(2);
      expect(stdout).toMatch(/Failed +\d+ × ADDRESS_REFUSED, such as http:\/\/127\.0\.0\.2/);
      expect(web.served(1)).toBe(before);
      expect((await pagesOf(cwd, 'out')).length).toBe(PAGES);
    }));

  it('reads URLs from standard input and names the lines that are none', () =>
    inTemporaryFolder(async (cwd) => {
      const input = `# a list\n${web.url(0, 1)}\n\nftp://example.com/\n${web.url(1, 2)}\r\nnot a url\n${web.url(0, 1)}`;
      const { code, stdout, stderr } = await here(cwd, [...CRAWL, '-', '--depth', '0'], input);
      expect(code).toBe(2);
      expect(stderr).toMatch(/line 4 is left out: only http and https/);
      expect(stderr).toMatch(/line 6 is left out: not a URL: "not a url"/);
      expect(stdout).toContain('2 lines left out');
      const urls = (await pagesOf(cwd, 'orcrawl-out', 'stdin')).map((item) => item.url);
      expect(urls.sort()).toEqual([web.url(0, 1), web.url(1, 2)].sort());
    }));

  it('ends at --max-pages though its input goes on without end', () =>
    inTemporaryFolder(async (cwd) => {
      const crawl = startNode([MAIN, ...CRAWL, '-', '--max-pages', '3', '--depth', '0', '--out', 'out'], {
        cwd,
        // More than a batch, so that the crawl begins while the input is still open.
        input: Array.from({ length: 1500 }, (_, n) => `${web.url(0, 1)}?n=${n}\n`).join(''),
        keepInputOpen: true,
      });
      const { code, signal, stdout } = await crawl.ended;
      expect({ code, signal }).toEqual({ code: 0, signal: null });
      expect(stdout).toMatch(/^Reached --max-pages: 3 pages/);
    }));

  it('ends with status 2 when pages failed, and keeps each with its reason', () =>
    inTemporaryFolder(async (cwd) => {
      const urls = [web.url(0, '/_/status/500'), web.url(0, '/_/redirect-loop'), web.url(0, '/_/status/404')];
      const args = [...CRAWL, ...urls, web.url(0, '/_/pdf'), '--depth', '0', '--retries', '0', '--out', 'out'];
      const { code, stdout } = await here(cwd, args);
      expect(code).toBe(2);
      const failed = await readLines<{ url: string; code: string }>(cwd, 'out', 'failed.jsonl');
      expect(failed.map((item) => [item.url, item.code]).sort()).toEqual(
        [
          [urls[0], 'HTTP_STATUS'],
          [urls[1], 'REDIRECT_LIMIT'],
        ].sort(),
      );
      expect(stdout).toMatch(/Failed +1 × HTTP_STATUS.*status\/500 answered 500/);
      expect(stdout).toMatch(/1 × REDIRECT_LIMIT/);
      const items = await pagesOf(cwd, 'out');
      expect(items.map((item) => [item.status, item.contentType]).sort()).toEqual([
        [200, 'application/pdf'],
        [404, 'text/html'],
      ]);
    }));

  it('keeps to --rate, as the server sees it', () =>
    inTemporaryFolder(async (cwd) => {
      await using paced = await Simweb.start({ seed: 5, pagesPerHost: 30 });
      await here(cwd, [...CRAWL, paced.url(0), '--rate', '10', '--max-pages', '25', '--out', 'out']);
      expect(paced.served()).toBe(25);
      expect(paced.maxInWindow(1000)).toBeLessThanOrEqual(11);
    }));

  it('sends --header to the hosts that were named and to no other', () =>
    inTemporaryFolder(async (cwd) => {
      await using named = await Simweb.start({ seed: 6, hosts: 2, pagesPerHost: 5, crossHostLinks: 0.3 });
      const args = ['--strategy', 'all', '--allow-private', '-H', 'Authorization: Bearer s3cret', '--out', 'out'];
      await here(cwd, [...CRAWL, named.url(0), ...args]);
      const sent = (host: number) => new Set(named.requests({ host }).map((seen) => seen.headers.authorization));
      expect(sent(0)).toEqual(new Set(['Bearer s3cret']));
      expect(sent(1)).toEqual(new Set([undefined]));
      expect(await readFile(path.join(cwd, 'out', 'crawl.json'), 'utf8')).not.toContain('s3cret');
    }));

  it('sends --header to the hosts of a list, and not where a seed redirects to', () =>
    inTemporaryFolder(async (cwd) => {
      await using named = await Simweb.start({ seed: 6, hosts: 2, pagesPerHost: 3 });
      named.serve('/away', { status: 302, headers: { location: named.url(1) } });
      const args = ['crawl', '-', '--delay', '0.01', '--allow-private', '-H', 'Authorization: s3cret', '--out', 'out'];
      await here(cwd, args, `${named.url(0, '/away')}\n${named.url(0)}\n`);
      const sent = (host: number) =>
        new Set(
          named
            .requests({ host })
            .flatMap(({ path, headers }) => (path === '/robots.txt' ? [] : headers.authorization)),
        );
      expect(sent(0)).toEqual(new Set(['s3cret']));
      expect(sent(1)).toEqual(new Set([undefined]));
    }));

  it('uses the folder it was given, whatever the environment says of other crawls', () =>
    inTemporaryFolder(async (cwd) => {
      const env = { CRAWLEE_STORAGE_DIR: path.join(cwd, 'elsewhere'), ORCRAWL_PERSIST_STORAGE: 'false' };
      const args = [...CRAWL, web.url(0), '-n', '3', '--out', 'out'];
      expect((await orcrawlHere(args, { cwd, env })).code).toBe(0);
      expect(await readdir(cwd)).toEqual(['out']);
    }));

  it('names a folder that cannot be written', () =>
    inTemporaryFolder(async (cwd) => {
      await writeFile(path.join(cwd, 'file'), 'not a folder');
      const { code, stderr } = await here(cwd, [...CRAWL, web.url(0), '--out', 'file/out']);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^error: cannot write to file\/out .*STORAGE_UNWRITABLE\)\n$/);
    }));

  it('shows no control characters that came from a page or its server', () =>
    inTemporaryFolder(async (cwd) => {
      await using hostile = await Simweb.start({ seed: 8, pagesPerHost: 1 });
      hostile.serve('/start', { body: '<title>\u001b[2J\u0007</title><a href="/next\u001b[31m">\u001b]0;x\u0007</a>' });
      hostile.serve('/next%1B[31m', { status: 500, body: '\u001b[2J' });
      const args = [...CRAWL, hostile.url(0, '/start'), '--retries', '0', '--verbose', '--out', 'out'];
      const { code, stdout, stderr } = await here(cwd, args);
      expect(code).toBe(2);

      expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
      expect((await pagesOf(cwd, 'out')).length).toBe(1);
    }));
});

describe('a crawl that was interrupted', () => {
  const SLOW_PAGES = 80;
  let slow: Simweb;
  beforeAll(async () => {
    slow = await Simweb.start({ seed: 4, pagesPerHost: SLOW_PAGES, latencyMs: 30 });
  });
  afterAll(() => slow.close());

  /** Starts a crawl and ends it by a signal when the server has seen some of it. */
  async function interrupted(cwd: string, signal: NodeJS.Signals): Promise<Ended> {
    slow.reset();
    const crawl = startNode([MAIN, ...CRAWL, slow.url(0), '--concurrency', '4', '--out', 'out'], { cwd });
    await until(() => slow.served() >= 20, 'the server has seen 20 requests');
    crawl.signal(signal);
    return crawl.ended;
  }

  async function expectWholeAndOnce(cwd: string): Promise<void> {
    const urls = (await pagesOf(cwd, 'out')).map((item) => withoutFragment(item.loadedUrl));
    expect(urls.sort()).toEqual(mapOf(slow, 0));
  }

  it('drains on Ctrl-C, says how to resume, ends with 130, and goes on where it stopped', () =>
    inTemporaryFolder(async (cwd) => {
      const first = await interrupted(cwd, 'SIGINT');
      expect(first.code).toBe(130);
      expect(first.stderr).toContain('Stopping');
      expect(first.stdout).toMatch(/^Interrupted: \d+ pages/);
      expect(first.stdout).toContain('crawl --resume --out out');
      const stored = (await pagesOf(cwd, 'out')).length;
      expect(stored).toBe(slow.served());

      const refused = await here(cwd, [...CRAWL, slow.url(0), '--out', 'out']);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toMatch(/^error: out holds an unfinished crawl: .*--resume.*--fresh.*\n$/);

      const second = await here(cwd, [...CRAWL, '--resume', '--out', 'out']);
      expect(second.code).toBe(0);
      expect(slow.served()).toBe(SLOW_PAGES);
      await expectWholeAndOnce(cwd);
    }));

  it('goes on after kill -9, and each page is stored once', () =>
    inTemporaryFolder(async (cwd) => {
      expect((await interrupted(cwd, 'SIGKILL')).signal).toBe('SIGKILL');
      const refused = await here(cwd, [...CRAWL, slow.url(0), '--out', 'out']);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toMatch(/--resume.*--fresh/);
      expect((await here(cwd, [...CRAWL, '--resume', '--out', 'out'])).code).toBe(0);
      await expectWholeAndOnce(cwd);
    }));

  it.skipIf(process.platform === 'win32')('pauses with status 3 when the disk is full, and can be resumed', () =>
    inTemporaryFolder(async (cwd) => {
      slow.reset();
      const crawl = [MAIN, ...CRAWL, slow.url(0), '--out', 'out'];
      const full = await startNode(crawl, { cwd, maxFileKb: 400 }).ended;
      expect(full.code).toBe(3);
      expect(full.stderr).toMatch(/error: the disk is full.*\(STORAGE_FULL\)\nPaused: .*crawl --resume --out out\n$/);
      expect((await here(cwd, [...CRAWL, '--resume', '--out', 'out'])).code).toBe(0);
      await expectWholeAndOnce(cwd);
    }),
  );

  it('starts over with --fresh', () =>
    inTemporaryFolder(async (cwd) => {
      await interrupted(cwd, 'SIGINT');
      slow.reset();
      const { code } = await here(cwd, [...CRAWL, slow.url(0), '--fresh', '--out', 'out']);
      expect(code).toBe(0);
      expect(slow.served()).toBe(SLOW_PAGES);
      await expectWholeAndOnce(cwd);
    }));

  it('refuses a folder in which another crawl is at work', () =>
    inTemporaryFolder(async (cwd) => {
      slow.reset();
      const crawl = startNode([MAIN, ...CRAWL, slow.url(0), '--concurrency', '1', '--out', 'out'], { cwd });
      await until(() => slow.served() >= 5, 'the crawl is at work');
      const plain = await here(cwd, [...CRAWL, slow.url(0), '--out', 'out']);
      const resumed = await here(cwd, [...CRAWL, '--resume', '--out', 'out']);
      const fresh = await here(cwd, [...CRAWL, slow.url(0), '--fresh', '--out', 'out']);
      crawl.signal('SIGINT');
      expect([plain.code, resumed.code, fresh.code]).toEqual([1, 1, 1]);
      expect(plain.stderr).toContain('a crawl is running in out');
      expect(resumed.stderr).toContain('QUEUE_IN_USE');
      expect(fresh.stderr).toContain('QUEUE_IN_USE');
      expect((await crawl.ended).code).toBe(130);
    }));
});

describe('a crawl that finished', () => {
  it('is neither repeated nor deleted without --fresh, and --resume finds nothing to do', () =>
    inTemporaryFolder(async (cwd) => {
      const args = [...CRAWL, web.url(0), '--depth', '1', '--out', 'out'];
      expect((await here(cwd, args)).code).toBe(0);
      const items = await pagesOf(cwd, 'out');
      const again = await here(cwd, args);
      expect(again.code).toBe(1);
      expect(again.stderr).toMatch(/^error: out holds a finished crawl: .*--fresh.*\n$/);

      const served = web.served();
      const resumed = await here(cwd, [...CRAWL, '--resume', '--out', 'out']);
      expect(resumed.code).toBe(0);
      expect(resumed.stdout).toContain('Nothing to do');
      expect(web.served()).toBe(served);
      expect(await pagesOf(cwd, 'out')).toEqual(items);

      expect((await here(cwd, [...args, '--fresh'])).code).toBe(0);
      expect(web.served()).toBe(served + items.length);
      expect((await pagesOf(cwd, 'out')).length).toBe(items.length);
    }));
});

describe('orcrawl simweb', () => {
  it('serves until Ctrl-C and says what there is', () =>
    inTemporaryFolder(async (cwd) => {
      const server = startNode([MAIN, 'simweb', '--hosts', '2', '--pages', '7', '--seed', '9'], { cwd });
      await until(() => server.stdout().includes('Crawl it'), 'the addresses are told');
      const seed = /http:\/\/\S+/.exec(server.stdout())![0];
      expect(await (await fetch(seed)).text()).toContain('<title>');
      server.signal('SIGINT');
      const { code, stdout } = await server.ended;
      expect(code).toBe(0);
      expect(stdout).toMatch(/^Serving 2 hosts of 7 pages until Ctrl-C/m);
      expect(stdout).toMatch(/Served 1 request\.\n$/);
    }));
});

describe('the demo, also as npm start', () => {
  it('crawls the built-in web into files of markdown, needs nothing, and can be repeated', () =>
    inTemporaryFolder(async (cwd) => {
      const npmStart = { npm_lifecycle_event: 'start', npm_package_name: 'orcrawl' };
      for (const [args, env] of [[[], npmStart] as const, [['demo'], {}] as const]) {
        const isNpmStart = args.length === 0;
        const ended = isNpmStart ? startNode([MAIN], { cwd, env }).ended : orcrawlHere(args, { cwd, env });
        const { code, stdout, stderr } = await ended;
        expect({ code, errors: /error/.exec(stderr) }).toEqual({ code: 0, errors: null });
        expect(stdout).toMatch(/Finished: \d+ pages/);
        expect(stdout).toContain('all were stored');
        expect(stdout).toMatch(/main content of \S+ as markdown:\n\n {2}# /);
        expect(stdout).toContain('All of it is in orcrawl-out/demo/');
        expect(await readdir(cwd)).toEqual(['orcrawl-out']);
        const pages = path.join('orcrawl-out', 'demo', 'pages');
        const items = await readLines<{ url: string; file: string | null }>(cwd, pages, 'index.jsonl');
        expect(items.filter(({ file }) => file !== null).length).toBeGreaterThan(100);
        expect(new Set(items.map((item) => item.url)).size).toBe(items.length);
      }
    }));
});

describe('orcrawl crawl and the manners of a crawler', () => {
  it('observes robots.txt, rests half a second at a host, and proves it', () =>
    inTemporaryFolder(async (cwd) => {
      const site = await Simweb.start({
        pagesPerHost: 40,
        privatePages: 0.6,
        pageBytes: 800,
        linkNoise: { nofollow: 0.2 },
      });
      try {
        const { code, stdout } = await here(cwd, ['crawl', site.url(0), '-n', '4', '--explain-skips', '--out', 'out']);
        expect(code).toBe(0);
        expect(site.requests({})[0]!.path).toBe('/robots.txt');
        expect(site.requests({}).some((one) => one.path.startsWith('/private/'))).toBe(false);
        expect(site.gaps(0).endToStartMs).toBeGreaterThanOrEqual(500);
        expect(stdout).toMatch(/skipped\.jsonl/);
        const skipped = await readLines<{ url: string; reason: string }>(cwd, 'out', 'skipped.jsonl');
        expect(skipped.filter(({ reason }) => reason === 'robotsTxt').length).toBeGreaterThan(0);
        const audit = await orcrawl(cwd, ['audit', 'out']);
        expect({ code: audit.code, stderr: audit.stderr }).toEqual({ code: 0, stderr: '' });
        expect(audit.stdout).toMatch(/^Polite: 5 requests to 1 domain/);
        const report = JSON.parse((await here(cwd, ['audit', 'out', '--json'])).stdout) as Record<string, unknown>;
        expect(report).toMatchObject({ requests: 5, violationCount: 0 });
      } finally {
        await site.close();
      }
    }));

  it('asks for forbidden pages with --ignore-robots only', () =>
    inTemporaryFolder(async (cwd) => {
      const site = await Simweb.start({ pagesPerHost: 20, privatePages: 0.6, pageBytes: 800 });
      try {
        await here(cwd, [...CRAWL, site.url(0), '--out', 'out']);
        const asked = site.requests({}).map((one) => one.path);
        expect(asked).not.toContain('/robots.txt');
        expect(asked.some((one) => one.startsWith('/private/'))).toBe(true);
      } finally {
        await site.close();
      }
    }));
});
