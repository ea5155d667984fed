// Secrets at rest: what a crawl keeps on disk is its owner's alone, passwords of URLs are in nothing that the command
// line writes or shows, and other users can neither read nor plant captures on their way to a parser.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { CheerioCrawler, Request } from '../../src/index.js';
import { roomyHandoffDir } from '../../src/pods/config/checks.js';
import type { PodsConfig } from '../../src/pods/config/types.js';
import { openHandoff } from '../../src/pods/worker/handoff.js';
import { MAIN, startNode } from '../integration/cli-process.js';
import { orcrawlHere } from '../support/cli-here.js';
import { silent, temporaryFolder, testConfig } from '../support/crawl.js';

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<string> {
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Found {
  readonly path: string;
  readonly mode: string;
  readonly isFolder: boolean;
  /** The canaries in it. */
  readonly canaries: readonly string[];
}

/** Everything under a folder, the folder included. */
function everything(folder: string): Found[] {
  const names = ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })];
  return names.map((name) => {
    const path = join(folder, name);
    const info = statSync(path);
    const text = info.isFile() ? readFileSync(path, 'latin1') : '';
    const canaries = [...new Set(text.match(/canary-\w+/g) ?? [])];
    return { path: name, mode: (info.mode & 0o777).toString(8), isFolder: info.isDirectory(), canaries };
  });
}

describe('what a crawl keeps on disk', () => {
  it('is its owner’s alone: folders 0700, and 0600 whatever has cookies, headers or payloads in it', async () => {
    const url = await serve((_request, response) =>
      response
        .writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'sid=canary-cookie; Max-Age=9999' })
        .end('<p>x'),
    );
    const folder = join(await temporaryFolder(), 'storage');
    const crawler = new CheerioCrawler(
      {
        allowPrivateAddresses: true,
        log: silent,
        maxRequestsPerCrawl: 1,
        maxConcurrency: 1,
        useSessionPool: true,
        persistCookiesPerSession: true,
        async requestHandler({ addRequests, pushData, useState }) {
          (await useState({ token: '' })).token = 'canary-state';
          await pushData({ title: 'x' });
          const headers = { authorization: 'canary-header' };
          await addRequests([
            {
              url: `${url}/later`,
              method: 'POST',
              headers,
              payload: 'canary-payload',
              userData: { key: 'canary-data' },
            },
          ]);
        },
      },
      await testConfig(folder),
    );
    await crawler.run([new Request({ url: `${url}/` })]);
    await crawler.teardown();
    const found = everything(folder);
    expect(found.filter(({ isFolder, mode }) => isFolder && mode !== '700')).toEqual([]);
    const secret = found.filter(({ canaries }) => canaries.length > 0);
    expect(new Set(secret.flatMap(({ canaries }) => canaries))).toEqual(
      new Set(['canary-cookie', 'canary-header', 'canary-payload', 'canary-data', 'canary-state']),
    );
    expect(secret.filter(({ mode }) => mode !== '600')).toEqual([]);
  });
});

describe('a password in a URL', () => {
  /** In a process, as users do, for the first format; what the others write is the same command's. */
  const orcrawl = (cwd: string, args: string[], inProcess = false) =>
    inProcess ? startNode([MAIN, ...args], { cwd }).ended : orcrawlHere(args, { cwd });

  /** A site that only Alice may read; its pages link each other, and one does not exist. */
  const site = async () => {
    const asked: string[] = [];
    const url = await serve(({ url: path = '', headers }, response) => {
      if (path === '/robots.txt') return response.writeHead(404).end();
      const isAlice = headers.authorization === `Basic ${Buffer.from('alice:canary-pw').toString('base64')}`;
      asked.push(`${path} ${isAlice}`);
      if (!isAlice) return response.writeHead(401, { 'content-type': 'text/html' }).end('<p>who?');
      if (path === '/broken') return response.writeHead(500, { 'content-type': 'text/html' }).end('<p>no');
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<title>own</title><p>text <a href="/next">next</a> <a href="broken">broken</a></p>');
    });
    return { asked, url, login: url.replace('://', '://alice:canary-pw@') };
  };

  it.each(['jsonl', 'json', 'csv', 'text', 'markdown'])(
    'opens the whole site to a crawl and is in nothing that it writes or shows (%s)',
    async (format) => {
      const { login, asked } = await site();
      const cwd = await temporaryFolder();
      const rest = ['--format', format, '--delay', '0', '--retries', '0', '--links', '--explain-skips', '--verbose'];
      const args = ['crawl', `${login}/`, '--out', 'out', ...rest];
      const { stdout, stderr } = await orcrawl(cwd, args, format === 'jsonl');
      expect(asked.sort()).toEqual(['/ true', '/broken true', '/next true']);
      expect(everything(cwd).filter(({ canaries }) => canaries.length > 0)).toEqual([]);
      expect(stdout + stderr).not.toContain('canary');
      expect(stdout).toContain('1 failed');
      // What was not saved is given again.
      const again = await orcrawl(cwd, ['crawl', '--resume', '--out', 'out'], format === 'jsonl');
      expect(again.stdout + again.stderr).not.toContain('canary');
    },
  );

  it.each(['jsonl', 'json', 'csv', 'markdown', 'fit', 'text', 'html', 'links'])(
    'opens a page to batch and is not in its result (%s)',
    async (format) => {
      const { login, asked } = await site();
      const cwd = await temporaryFolder();
      writeFileSync(join(cwd, 'urls.txt'), `${login}/\n${login}/broken\n`);
      const args = ['batch', 'urls.txt', '--format', format, '--retries', '0', '--monitor', 'detailed'];
      const { stdout, stderr } = await orcrawl(cwd, args, format === 'jsonl');
      expect(asked).toContain('/ true');
      expect(stdout).toMatch(/127\.0\.0\.1|next/);
      expect(stdout + stderr).not.toContain('canary');
    },
  );

  it('is known again when a batch is resumed, and is in no name of a file', async () => {
    const { login, asked } = await site();
    const cwd = await temporaryFolder();
    writeFileSync(join(cwd, 'urls.txt'), `${login}/\n`);
    for (let turn = 0; turn < 2; turn++) {
      await orcrawl(cwd, ['batch', 'urls.txt', '--resume', 'results.jsonl']);
    }
    expect(asked).toEqual(['/ true']);
    await orcrawl(cwd, ['batch', 'urls.txt', '--format', 'markdown', '--out', 'pages/']);
    const written = everything(cwd).filter(({ path }) => path !== 'urls.txt');
    expect(written.filter(({ path, canaries }) => path.includes('canary') || canaries.length > 0)).toEqual([]);
  });

  it('is not shown by scrape, in any format, nor when the page fails', async () => {
    const { login } = await site();
    const cwd = await temporaryFolder();
    for (const args of [
      ['--format', 'json'],
      ['--format', 'links'],
      ['--format', 'markdown'],
    ]) {
      const { stdout, stderr } = await orcrawl(cwd, ['scrape', `${login}/`, ...args], args.includes('json'));
      expect(stdout).toContain('next');
      expect(stdout + stderr).not.toContain('canary');
    }
    for (const url of [`${login}/broken`, 'http://alice:canary-pw@127.0.0.1:1/']) {
      const { stdout, stderr } = await orcrawl(cwd, ['scrape', url, '--retries', '0']);
      expect(stderr).toContain('error');
      expect(stdout + stderr).not.toContain('canary');
    }
  });

  it('is not in the list of processes', async () => {
    let hold!: () => void;
    const held = new Promise<void>((resolve) => (hold = resolve));
    let begun!: () => void;
    const asked = new Promise<void>((resolve) => (begun = resolve));
    const url = await serve(async (_request, response) => {
      begun();
      await held;
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>x');
    });
    const login = url.replace('://', '://alice:canary-pw@');
    const cwd = await temporaryFolder();
    const header = ['-H', 'authorization: canary-header'];
    const started = startNode([MAIN, 'crawl', `${login}/`, '--out', 'out', '--ignore-robots', ...header], { cwd });
    await asked;
    const { stdout } = spawnSync('ps', ['-o', 'args=', '-p', String(started.pid)], { encoding: 'utf8' });
    hold();
    await started.ended;
    expect(stdout).toContain('orcrawl');
    expect(stdout).not.toContain('canary');
  });
});

const capture = {
  url: 'http://x.test/',
  loadedUrl: 'http://x.test/',
  redirectChain: [],
  statusCode: 200,
  headers: { 'set-cookie': ['sid=canary-cookie'] },
  body: Buffer.alloc(0),
  received: Buffer.from('canary-body'),
  wireBytes: 0,
  timings: { startedAtMs: 0, headersMs: 0, totalMs: 0 },
};
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0 && process.platform === 'linux';

describe('captures on their way to a parser', () => {
  const made: string[] = [];
  afterEach(() => {
    for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true });
  });

  it('are their owner’s alone, in a folder that is', async () => {
    const folder = join(await temporaryFolder(), 'handoff', 'pod_0');
    const handoff = await openHandoff(folder);
    const { name } = await handoff.write(capture);
    const found = everything(join(folder, '..'));
    expect(found.map(({ mode }) => mode)).toEqual(['700', '700', '600']);
    expect(await handoff.take(name)).toMatchObject({ received: capture.received });
  });

  it('go into no folder that somebody else can write to: an open one of our own is closed, a link is refused', async () => {
    const parent = join(await temporaryFolder(), 'handoff');
    mkdirSync(join(parent, 'pod_0'), { recursive: true });
    for (const path of [parent, join(parent, 'pod_0')]) chmodSync(path, 0o777);
    await openHandoff(join(parent, 'pod_0'));
    expect(everything(parent).map(({ mode }) => mode)).toEqual(['755', '700']);
    const elsewhere = await temporaryFolder();
    symlinkSync(elsewhere, join(parent, 'pod_1'));
    await expect(openHandoff(join(parent, 'pod_1'))).rejects.toMatchObject({ code: 'STORAGE_UNWRITABLE' });
  });

  it.skipIf(!isRoot)('go into no folder that another user made first (needs root)', async () => {
    const parent = join(await temporaryFolder(), 'handoff');
    mkdirSync(join(parent, 'pod_0'), { recursive: true, mode: 0o777 });
    chownSync(parent, NOBODY, NOBODY);
    await expect(openHandoff(join(parent, 'pod_0'))).rejects.toMatchObject({ code: 'STORAGE_UNWRITABLE' });
    // In shared memory, where names are for the taking, the crawl goes elsewhere.
    const stateDir = await temporaryFolder();
    const config = {
      parsersPerPod: 1,
      parseQueueMaxBytes: 1,
      ownPods: [0],
      stateDir,
      handoffDir: join(stateDir, 'handoff'),
    };
    const free = await roomyHandoffDir(config as unknown as PodsConfig);
    expect(free).toMatch(/^\/dev\/shm\/orcrawl-/);
    made.push(free);
    mkdirSync(free, { mode: 0o777 });
    chownSync(free, NOBODY, NOBODY);
    expect(await roomyHandoffDir(config as unknown as PodsConfig)).toBe(config.handoffDir);
  });
});
