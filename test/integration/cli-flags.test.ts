// The flags that crawl, batch and scrape share do the same in all three, against real servers; and what a first try
// without the manual meets: dead hosts, files in place of URLs, pages that need scripts. In processes: headers, and a full
// output. The rest is the same command line in this process.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { orcrawlHere } from '../support/cli-here.js';
import { type Ended, inTemporaryFolder, MAIN, readLines, startNode } from './cli-process.js';
import { makeCertificates } from './http-certificates.js';

const TEXT = 'This page has enough words to be a page of its own, whatever else is on it. '.repeat(3);
const PAGES: Record<string, string> = {
  '/': `<title>Home</title><main><h1>Home</h1><p>${TEXT}<a href="/docs/a">a</a> <a href="/gone">gone</a></main>`,
  '/docs/a': `<title>A</title><nav>Menu</nav><main><h1>A</h1><p class="price">12</p><p>${TEXT}</main>`,
  '/listed': `<title>Listed</title><h1>Listed</h1><p>${TEXT}`,
  '/shell': '<title>App</title><div id="root"></div><script>setTimeout(() => 0, 400)</script>',
};

function answer(request: IncomingMessage, response: ServerResponse): void {
  const { pathname } = new URL(request.url!, 'http://x');
  const html = (text: string, status = 200) =>
    void response.writeHead(status, { 'content-type': 'text/html' }).end(text);
  if (pathname === '/echo') {
    const { 'x-key': key = '', cookie = '', 'user-agent': agent = '' } = request.headers;
    return html(`<title>echo</title><p>${TEXT}<p>key=${String(key)} cookie=${cookie} agent=${agent}`);
  }
  if (pathname === '/file.pdf') {
    return void response.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF-1.4 nothing');
  }
  if (pathname === '/sitemap.xml') {
    const urls = ['/listed', '/docs/a'].map((one) => `<url><loc>http://${request.headers.host}${one}</loc></url>`);
    return void response
      .writeHead(200, { 'content-type': 'application/xml' })
      .end(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.join('')}</urlset>`);
  }
  html(PAGES[pathname] ?? '<p>No such page', PAGES[pathname] === undefined ? 404 : 200);
}

const started: Server[] = [];
async function listening(server: Server): Promise<number> {
  started.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

let origin = '';
let secureOrigin = '';
let proxyPort = 0;
/** What the proxy was asked for; it answers itself. */
const proxied: string[] = [];

beforeAll(async () => {
  origin = `http://127.0.0.1:${await listening(createServer(answer))}`;
  secureOrigin = `https://127.0.0.1:${await listening(createSecureServer(makeCertificates().selfSigned, answer))}`;
  proxyPort = await listening(
    createServer((request, response) => {
      proxied.push(request.url!);
      const { pathname } = new URL(request.url!);
      if (pathname === '/robots.txt') return void response.writeHead(404).end();
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<title>via</title><p>through the proxy. ${TEXT}`);
    }),
  );
});
afterAll(() => {
  for (const server of started) server.close().closeAllConnections();
});

const orcrawl = (cwd: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ended> =>
  startNode([MAIN, ...args], { cwd, env, timeoutMs: 300_000 }).ended;

const here: typeof orcrawl = (cwd, args, env) => orcrawlHere(args, { cwd, env });

/** The text of one page by each of the commands, with the same flags. */
async function byAll(
  cwd: string,
  url: string,
  flags: readonly string[],
  env: Record<string, string> = {},
  orcrawl: typeof here = here,
) {
  const scraped = await orcrawl(cwd, ['scrape', url, '--format', 'text', ...flags], env);
  const batched = await orcrawl(
    cwd,
    ['batch', url, '--fields', 'url,success,errorCode,text', '--monitor', 'none', ...flags],
    env,
  );
  const crawled = await orcrawl(
    cwd,
    ['crawl', url, '--depth', '0', '--delay', '0', '-q', '--out', 'crawled', '--fresh', ...flags],
    env,
  );
  const [item] = await readLines<{ text: string }>(cwd, 'crawled', 'pages.jsonl').catch(() => []);
  const [line] = batched.stdout.split('\n').filter(Boolean);
  return {
    codes: [scraped.code, batched.code, crawled.code],
    texts: [scraped.stdout, line === undefined ? '' : (JSON.parse(line) as { text: string }).text, item?.text ?? ''],
    said: [scraped.stderr, batched.stderr, crawled.stderr],
  };
}

describe('crawl, batch and scrape', () => {
  it('send the same headers, user agent and cookies', () =>
    inTemporaryFolder(async (cwd) => {
      const cookies = `127.0.0.1\tFALSE\t/\tFALSE\t0\tlogin\tann\nother.test\tFALSE\t/\tFALSE\t0\tlogin\tben\n`;
      await writeFile(path.join(cwd, 'cookies.txt'), cookies);
      const flags = ['-H', 'X-Key: secret', '--user-agent', 'Tester/1', '--cookies', 'cookies.txt'];
      const { codes, texts } = await byAll(cwd, `${origin}/echo`, flags, {}, orcrawl);
      expect(codes).toEqual([0, 0, 0]);
      for (const text of texts) expect(text).toContain('key=secret cookie=login=ann agent=Tester/1');
    }));

  it('take the part that a selector names, and the fields of a schema', () =>
    inTemporaryFolder(async (cwd) => {
      const { codes, texts } = await byAll(cwd, `${origin}/docs/a`, ['--selector', '.price']);
      expect([codes, texts.map((text) => text.trim())]).toEqual([
        [0, 0, 0],
        ['12', '12', '12'],
      ]);
      const schema = { fields: { price: { selector: '.price', type: 'number' } } };
      await writeFile(path.join(cwd, 'schema.json'), JSON.stringify(schema));
      const flags = ['--schema', 'schema.json'];
      const scraped = await here(cwd, ['scrape', `${origin}/docs/a`, ...flags]);
      expect(JSON.parse(scraped.stdout)).toEqual({ price: 12 });
      const batched = await here(cwd, ['batch', `${origin}/docs/a`, '--monitor', 'none', ...flags]);
      expect(JSON.parse(batched.stdout)).toMatchObject({ success: true, extracted: { price: 12 } });
      await here(cwd, ['crawl', `${origin}/docs/a`, '-n', '1', '-q', '--out', 'c', ...flags]);
      expect(await readLines(cwd, 'c', 'pages.jsonl')).toMatchObject([{ title: 'A', extracted: { price: 12 } }]);
    }));

  it('write a column per field of a schema into tables', () =>
    inTemporaryFolder(async (cwd) => {
      const schema = JSON.stringify({ fields: { head: { selector: 'h1' }, none: { selector: 'h6' } } });
      const flags = ['--schema', schema, '--format', 'csv'];
      const url = `${origin}/docs/a`;
      const table = await here(cwd, ['batch', url, ...flags, '--fields', 'url,head,extracted.none']);
      expect(table.stdout).toBe(`url,extracted.head,extracted.none\n${url},A,\n`);
      expect((await here(cwd, ['batch', url, ...flags])).stdout).toMatch(/^url,.*,extracted\.head,extracted\.none\n/);
      await here(cwd, ['crawl', url, '-n', '1', '-q', '--out', 'c', ...flags]);
      expect(await readFile(path.join(cwd, 'c', 'pages.csv'), 'utf8')).toMatch(
        /^url,.*,extracted\.head,extracted\.none\n/,
      );
      const wrong = await here(cwd, ['batch', url, ...flags, '--fields', 'url,price']);
      expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringMatching(/unknown field "price".*extracted\.head/)]);
    }));

  it('go through --proxy and the proxies of the environment, robots.txt included, and not for loopback', () =>
    inTemporaryFolder(async (cwd) => {
      const proxy = `http://127.0.0.1:${proxyPort}`;
      const named = await byAll(cwd, 'http://site.test/page', ['--proxy', proxy]);
      expect(named.codes).toEqual([0, 0, 0]);
      for (const text of named.texts) expect(text).toContain('through the proxy');
      expect(proxied).toContain('http://site.test/robots.txt');
      const env = { HTTP_PROXY: proxy, NO_PROXY: 'internal.test' };
      const found = await byAll(cwd, 'http://other.test/', [], env);
      for (const text of found.texts) expect(text).toContain('through the proxy');
      const direct = await byAll(cwd, `${origin}/docs/a`, [], env);
      for (const text of direct.texts) expect(text).not.toContain('through the proxy');
      expect(proxied.some((url) => url.startsWith(origin))).toBe(false);
    }));

  it('say at once that a certificate is not accepted, and take it with --insecure', () =>
    inTemporaryFolder(async (cwd) => {
      const refused = await byAll(cwd, `${secureOrigin}/docs/a`, []);
      expect(refused.codes).toEqual([2, 2, 2]);
      for (const said of refused.said.slice(0, 2)) expect(said).toMatch(/TLS_INVALID.*--insecure/s);
      expect(await readLines(cwd, 'crawled', 'failed.jsonl')).toMatchObject([{ code: 'TLS_INVALID', retries: 0 }]);
      const taken = await byAll(cwd, `${secureOrigin}/docs/a`, ['--insecure']);
      expect(taken.codes).toEqual([0, 0, 0]);
      for (const text of taken.texts) expect(text).toContain('enough words');
    }));

  it('say of a page that is empty without scripts that it needs a browser', () =>
    inTemporaryFolder(async (cwd) => {
      const { codes, said } = await byAll(cwd, `${origin}/shell`, []);
      expect(codes).toEqual([2, 2, 2]);
      for (const line of said.slice(0, 2)) expect(line).toMatch(/\/shell is empty without scripts.*--auto/);
      const { stdout } = await here(cwd, ['crawl', `${origin}/shell`, '-n', '1', '--out', 'x']);
      expect(stdout).toMatch(/Scripts +1 page with little or nothing without scripts, such as \S+\/shell/);
    }));
});

describe('a dead seed', () => {
  it.each([
    ['http://127.0.0.1:1/', 'CONNECT_REFUSED', /is the port right/],
    ['http://no-such-host.invalid/', 'DNS_NOT_FOUND', /spelled right/],
  ])('%s ends with its own code and a line of advice', (url, errorCode, advice) =>
    inTemporaryFolder(async (cwd) => {
      const { code, stdout } = await here(cwd, ['crawl', url, '--out', 'dead', '--retries', '0']);
      expect(code).toBe(2);
      expect(stdout).toContain(`1 × ${errorCode}`);
      expect(stdout).toMatch(advice);
      expect(await readLines(cwd, 'dead', 'failed.jsonl')).toMatchObject([{ code: errorCode }]);
    }),
  );
});

describe('orcrawl crawl', () => {
  it('starts from sitemaps and writes a file per page, named by its path, with an index', () =>
    inTemporaryFolder(async (cwd) => {
      const flags = ['--sitemap', '--delay', '0', '--format', 'markdown', '--out', 'site/'];
      const { code, stdout } = await here(cwd, ['crawl', `${origin}/`, ...flags]);
      expect([code, stdout]).toEqual([0, expect.stringContaining('site/pages/index.md')]);
      const host = new URL(origin).host.replace(':', '_');
      const pages = path.join(cwd, 'site', 'pages');
      expect(await readFile(path.join(pages, host, 'docs', 'a.md'), 'utf8')).toMatch(/^# A\n[^]*enough words/);
      expect(await readFile(path.join(pages, host, 'listed.md'), 'utf8')).toContain('# Listed');
      const lines = await readLines<{ url: string; file: string | null; why?: string }>(pages, 'index.jsonl');
      expect(Object.fromEntries(lines.map(({ url, file, why }) => [url.slice(origin.length), file ?? why]))).toEqual({
        '/': `${host}/index.md`,
        '/docs/a': `${host}/docs/a.md`,
        '/listed': `${host}/listed.md`,
        '/gone': 'status 404',
      });
      expect(await readFile(path.join(pages, 'index.md'), 'utf8')).toContain(
        `[A](${host}/docs/a.md) <${origin}/docs/a>`,
      );
    }));

  it('reads a file of URLs, and refuses one that is not there', () =>
    inTemporaryFolder(async (cwd) => {
      await writeFile(path.join(cwd, 'urls.txt'), `# two\n${origin}/docs/a\n${origin}/listed\nnot a url\n`);
      const { code, stdout, stderr } = await here(cwd, ['crawl', 'urls.txt', '--depth', '0', '--delay', '0']);
      expect(code).toBe(2);
      expect(stderr).toContain('line 4 of');
      expect(stdout).toContain('2 stored');
      expect((await readLines(cwd, 'orcrawl-out', 'urls', 'pages.jsonl')).length).toBe(2);
      const missing = await here(cwd, ['crawl', 'none.txt']);
      expect([missing.code, missing.stderr.trim()]).toEqual([1, 'error: file not found: "none.txt"']);
    }));

  it('writes main content by the name that batch and scrape have for it', () =>
    inTemporaryFolder(async (cwd) => {
      const flags = ['--depth', '0', '--delay', '0', '--format', 'fit', '--out', 'fit/'];
      expect((await here(cwd, ['crawl', `${origin}/docs/a`, ...flags])).code).toBe(0);
      const file = path.join(cwd, 'fit', 'pages', new URL(origin).host.replace(':', '_'), 'docs', 'a.md');
      expect(await readFile(file, 'utf8')).toMatch(/^# A\n[^]*enough words/);
    }));

  it('names what failed in one line when it is quiet', () =>
    inTemporaryFolder(async (cwd) => {
      const { code, stdout, stderr } = await here(cwd, ['crawl', 'http://127.0.0.1:1/', '-q', '--out', 'q']);
      expect([code, stdout, stderr]).toEqual([2, '', 'error: 1 failed: 1 × CONNECT_REFUSED. See q/failed.jsonl\n']);
    }));

  it('leaves no temporary file behind when it is resumed', () =>
    inTemporaryFolder(async (cwd) => {
      const flags = ['--delay', '0', '--out', 'z', '-q'];
      await here(cwd, ['crawl', `${origin}/`, '-n', '1', ...flags]);
      await here(cwd, ['crawl', '--resume', ...flags]);
      await here(cwd, ['crawl', '--resume', ...flags]);
      expect((await readdir(path.join(cwd, 'z'))).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    }));
});

describe('orcrawl batch', () => {
  it('makes a folder of a name without an extension, and its index tells what every URL came to', () =>
    inTemporaryFolder(async (cwd) => {
      const urls = ['/docs/a', '/file.pdf', '/gone'].map((one) => origin + one);
      const { code, stderr } = await here(cwd, ['batch', ...urls, '--format', 'fit', '--out', 'pages', '-q']);
      expect([code, stderr]).toEqual([2, '']);
      const host = new URL(origin).host.replace(':', '_');
      expect(await readdir(path.join(cwd, 'pages', host), { recursive: true })).toEqual(['docs', 'docs/a.md']);
      expect(await readLines(cwd, 'pages', 'index.jsonl')).toMatchObject([
        { url: urls[0], title: 'A', file: `${host}/docs/a.md` },
        { url: urls[1], file: null, why: expect.stringContaining('DOCUMENT_INVALID') },
        { url: urls[2], file: null, why: expect.stringContaining('404') },
      ]);
    }));

  it('does not resume from a file that does not tell what succeeded', () =>
    inTemporaryFolder(async (cwd) => {
      await writeFile(path.join(cwd, 'old.jsonl'), `{"url":"${origin}/docs/a","title":"A"}\n`);
      const { code, stderr } = await here(cwd, ['batch', `${origin}/docs/a`, '--resume', 'old.jsonl']);
      expect([code, stderr]).toEqual([1, expect.stringContaining('has no field "success"')]);
      expect((await readLines(cwd, 'old.jsonl')).length).toBe(1);
    }));
});

describe('orcrawl', () => {
  it('alone shows its help and writes nothing', () =>
    inTemporaryFolder(async (cwd) => {
      const { code, stdout } = await here(cwd, []);
      expect([code, await readdir(cwd)]).toEqual([0, []]);
      expect(stdout).toMatch(/Usage: orcrawl[^]*Pages:[^]*scrape[^]*Pods:[^]*orcrawl demo/);
    }));

  it.each([
    ['https://example.com/x', /orcrawl scrape https:\/\/example.com\/x[^]*orcrawl crawl/],
    ['example.com', /orcrawl scrape example.com/],
    ['urls.txt', /orcrawl batch urls.txt/],
    ['crwal', /unknown command 'crwal'.*crawl/],
  ])('suggests what was meant by %s', (argument, line) =>
    inTemporaryFolder(async (cwd) => {
      await writeFile(path.join(cwd, 'urls.txt'), origin);
      const { code, stderr } = await here(cwd, [argument]);
      expect([code, stderr.trim().split('\n').length]).toEqual([1, 1]);
      expect(stderr).toMatch(line);
    }),
  );

  it.each(['--schema', '--cookies'])('names a file for %s that is not there', (flag) =>
    inTemporaryFolder(async (cwd) => {
      const { code, stderr } = await here(cwd, ['scrape', origin, flag, 'shop.json']);
      expect([code, stderr]).toEqual([1, `error: ${flag}: file not found: "shop.json"\n`]);
    }),
  );

  it.each(['batch', 'crawl'])('%s does not take an empty list for a success', (command) =>
    inTemporaryFolder(async (cwd) => {
      await writeFile(path.join(cwd, 'urls.txt'), '# none yet\n\n');
      const { code, stderr } = await here(cwd, [command, 'urls.txt']);
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining('error: no URLs in the list: give some, one per line'),
      ]);
    }),
  );

  it('points to the help of the command that was typed', () =>
    inTemporaryFolder(async (cwd) => {
      const { stderr } = await here(cwd, ['config', 'init', '--out', 'x.yaml']);
      expect(stderr).toBe("error: unknown option '--out'. See orcrawl config init --help\n");
    }));

  it('names a file that is given where one URL is meant', () =>
    inTemporaryFolder(async (cwd) => {
      await writeFile(path.join(cwd, 'urls.txt'), origin);
      const { code, stderr } = await here(cwd, ['scrape', 'urls.txt']);
      expect([code, stderr]).toEqual([1, expect.stringContaining('orcrawl batch urls.txt')]);
    }));

  it.skipIf(process.platform !== 'linux')('ends with a line when its output takes nothing more', () =>
    inTemporaryFolder(async (cwd) => {
      const run = `"$0" "$@" > /dev/full`;
      const { spawnSync } = await import('node:child_process');
      // Large enough not to fit any buffer; served by a process of its own.
      await writeFile(path.join(cwd, 'serve.mjs'), SERVE_LARGE);
      const server = startNode([path.join(cwd, 'serve.mjs')], { cwd, keepInputOpen: true });
      while (!server.stdout().includes('http')) await new Promise((resume) => setTimeout(resume, 20));
      const args = ['-c', run, process.execPath, MAIN, 'scrape', server.stdout().trim()];
      const { status, stderr } = spawnSync('bash', args, { cwd, encoding: 'utf8' });
      server.signal('SIGKILL');
      await server.ended;
      expect([status, stderr.trim()]).toEqual([3, 'error: cannot write to standard output (ENOSPC)']);
    }),
  );
});

const SERVE_LARGE = `import { createServer } from 'node:http';
const page = '<title>large</title><p>' + 'many words in a row '.repeat(20000);
const server = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(page));
server.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port + '/'));
`;
