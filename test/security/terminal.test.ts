// What a page says, on a real terminal (a pseudo-terminal by `script`): in every format of every command that shows
// pages, no byte of a page drives the terminal. A pipe gets pages as they are.
import { spawn } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ContentStore } from '../../src/store/content/content.js';
import { MAIN, startNode } from '../integration/cli-process.js';
import { folders } from '../integration/content-fixtures.js';
import { page } from '../integration/content-pages.js';
import { orcrawlHere } from '../support/cli-here.js';

const COMMAND_LINE = new URL('../../dist/cli/command-line.js', import.meta.url).href;

const ESC = '\u001b';
/** Writes to the clipboard, clears the screen, sets the title, answers back; then the same by C1 controls. */
const ATTACK = [
  `${ESC}]52;c;Y2FuYXJ5${ESC}\\`,
  `${ESC}[2J`,
  `${ESC}]0;title\u0007`,
  `${ESC}[6n`,
  '\u009b2J',
  '\u009d52;c;Y2FuYXJ5\u009c',
  '\u0008\u0008',
  'over\rwritten',
].join('');
/** What none of our own output has: the live progress erases lines and paints, no more. */
const DRIVES =
  /\u001b(?!\[K|\[\d{1,2}m|\[\d+A\u001b\[J|\[J)|[\u0000-\u0006\u0007\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f-\u009f]|over\rwritten/;

let server: Server;
let url: string;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'orcrawl-terminal-'));
  const body = `<html><head><title>t ${ATTACK}</title><meta name="description" content="d ${ATTACK}"></head>
    <body><h1>h ${ATTACK}</h1><pre>p ${ATTACK}</pre><p>text ${ATTACK}</p><code>c ${ATTACK}</code>
    <table><tr><td>cell ${ATTACK}</td></tr></table><img src="/i" alt="a ${ATTACK}">
    <a href="/x?${encodeURIComponent('a')}=\u009b2J">l ${ATTACK}</a><a href="/error">e</a></body></html>`;
  server = createServer((request, response) => {
    if (request.url === '/robots.txt') return void response.writeHead(404).end();
    if (request.url === '/error') {
      const location = Buffer.from('ftp://x/\u009b2J\u009d52;c;Y2FuYXJ5').toString('latin1');
      return void response.writeHead(302, { location }).end();
    }
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'x-odd': 'a\u009b2J' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

/** Runs the program on a terminal; all that it showed there. */
const onTerminal = (...args: string[]): Promise<string> => show([MAIN, ...args]);

/** The same for several command lines, one after the other in one process: what each showed. */
async function eachOnTerminal(commands: readonly string[][]): Promise<string[]> {
  const end = 'the end of a command';
  const program = join(folder, 'commands.mjs');
  writeFileSync(
    program,
    `import { runCommandLine } from ${JSON.stringify(COMMAND_LINE)};
    for (const args of JSON.parse(process.argv[2])) {
      await runCommandLine(args);
      await new Promise((resolve) => process.stdout.write('${end}', resolve));
    }`,
  );
  const shown = (await show([program, JSON.stringify(commands)])).split(end);
  expect(shown).toHaveLength(commands.length + 1);
  return shown.slice(0, -1);
}

async function show(args: readonly string[]): Promise<string> {
  const quoted = [process.execPath, ...args].map((arg) => `'${arg}'`).join(' ');
  const child = spawn('script', ['-qefc', quoted, '/dev/null'], {
    cwd: folder,
    env: { ...process.env, TERM: 'xterm' },
  });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (shown += text));
  child.stdin.on('error', () => undefined);
  await new Promise((resolve) => child.on('close', resolve));
  return shown;
}

function expectHarmless(shown: string): void {
  expect(shown.length).toBeGreaterThan(0);
  const at = DRIVES.exec(shown);
  expect(at && JSON.stringify(shown.slice(Math.max(0, at.index - 60), at.index + 20))).toBeNull();
}

describe('on a terminal', () => {
  it('scrape shows nothing that drives it, in any format', async () => {
    const formats = ['markdown', 'fit', 'text', 'html', 'links', 'json'];
    const shown = await eachOnTerminal(formats.map((format) => ['scrape', url, '--format', format]));
    shown.forEach(expectHarmless);
    expect(shown[0]).toContain('\\u001b[2J');
  });

  it('batch shows nothing that drives it, in any format', async () => {
    const formats = ['jsonl', 'json', 'csv', 'markdown', 'fit', 'text', 'html', 'links'];
    const args = ['batch', url, `${url}error`, '--monitor', 'detailed', '--format'];
    const shown = await eachOnTerminal(formats.map((format) => [...args, format]));
    shown.forEach(expectHarmless);
    // Escaped, it is the same JSON.
    const line = shown[0]!.split('\r\n').find((one) => one.includes('"success":true'))!;
    // The monitor clears its line first.
    expect((JSON.parse(line.slice(line.indexOf('{'))) as { title: string }).title).toContain('\u009b2J');
  });

  it('crawl, its progress, its log, its errors and its audit show nothing that drives it', async () => {
    const out = join(folder, 'out');
    expectHarmless(await onTerminal('crawl', url, '--out', out, '--delay', '0', '--retries', '0', '--max-pages', '4'));
    expectHarmless(await onTerminal('crawl', url, '--out', `${out}2`, '--delay', '0', '--retries', '0', '--verbose'));
    expectHarmless(await onTerminal('audit', out));
    expectHarmless(await onTerminal('audit', out, '--json'));
    expectHarmless(await onTerminal('scrape', `${url}error`, '--retries', '0'));
  });

  it('get and cache show nothing that drives it', async () => {
    const [dataDir] = await folders(1, 'suite');
    const content = await ContentStore.open({ dataDirs: [dataDir!], storeRawHtml: true });
    const stored = page(1, { text: `stored ${ATTACK}`, contentType: 'text/html\u009b2J' } as never);
    await content.append([await content.pack(stored)]);
    await content.close();
    const flags = [[], ['--raw'], ['--meta'], ['--json']];
    const got = await eachOnTerminal(flags.map((more) => ['get', stored.url, '-d', dataDir!, ...more]));
    got.forEach(expectHarmless);
    const cached = { cwd: folder, env: { ORCRAWL_STORAGE_DIR: join(folder, 'storage') } };
    await orcrawlHere(['scrape', url, '--cache', 'enabled'], cached);
    expectHarmless(await onTerminal('cache', 'list', '--storage', join(folder, 'storage')));
    expectHarmless(await onTerminal('cache', 'get', url, '--storage', join(folder, 'storage')));
  });

  it('a pipe gets the page as it is', async () => {
    const { stdout } = await startNode([MAIN, 'scrape', url, '--format', 'html'], { cwd: folder }).ended;
    expect(stdout).toContain(ATTACK);
  });

  it('every command writes through one module', () => {
    const cli = fileURLToPath(new URL('../../src/cli/', import.meta.url));
    const files = readdirSync(cli, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /(?<!\.test)\.ts$/.test(name),
    );
    const writers = files.filter((name) =>
      /process\.std(?:out|err)\.write|console\.(?:log|error|warn|info)\(/.test(readFileSync(join(cli, name), 'utf8')),
    );
    expect(writers).toEqual(['terminal.ts']);
  });
});
