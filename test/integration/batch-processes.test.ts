// `orcrawl batch --processes N` with real processes: the results, limits and pace of one process, kills included.
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { isAlive } from '../../src/base/alive.js';
import { Simweb } from '../../src/testing/index.js';
import { orcrawlHere } from '../support/cli-here.js';
import { hasConnectionFrom } from '../support/processes.js';
import { inTemporaryFolder, MAIN, readLines, startNode, until } from './cli-process.js';

const orcrawl = (cwd: string, args: string[], input?: string) => startNode([MAIN, ...args], { cwd, input });
/** The same, with the first process in this one: for batches that nobody kills. */
const here = (cwd: string, args: string[], input?: string) => orcrawlHere(args, { cwd, input });
const lines = (text: string) => text.trimEnd().split('\n').filter(Boolean);
const items = (text: string) => lines(text).map((line) => JSON.parse(line) as Record<string, unknown>);
const QUIET = ['--monitor', 'none'];

/** The processes that another started. */
function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** A server on all of 127.*: each address is a domain. */
async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<number> {
  server = createServer(answer);
  await new Promise<void>((resolve) => server!.listen(0, '0.0.0.0', resolve));
  return (server.address() as AddressInfo).port;
}

const page = (response: ServerResponse, title: string) =>
  response
    .setHeader('content-type', 'text/html')
    .end(`<title>${title}</title><p>Words of a page that is long enough to be read.`);

describe('orcrawl batch --processes', () => {
  it('writes what one process writes, in every format, with the same exit code', async () => {
    const web = await Simweb.start({ hosts: 3, pagesPerHost: 20, pageBytes: 2000 });
    try {
      await inTemporaryFolder(async (cwd) => {
        const urls = Array.from({ length: 40 }, (_, n) => web.url(n % 3, n % 20));
        const list = [...urls, 'nonsense here', web.url(0, '/_/status/404'), web.url(1, '/_/redirect/2')].join('\n');
        const formats = [
          ['--fields', 'url,loadedUrl,success,statusCode,errorCode,title,markdown,fit,links,bytes,redirected'],
          ['--format', 'csv', '--fields', 'url,statusCode,title,text'],
          ['--format', 'fit'],
          ['--format', 'json', '--fields', 'url,metadata,tables,media,extracted'],
        ];
        for (const [n, format] of formats.entries()) {
          const alone = await here(cwd, ['batch', '-', ...format, ...QUIET], list);
          const args = ['batch', '-', ...format, ...QUIET, '--processes', '2'];
          const spread = await (n === 0 ? orcrawl(cwd, args, list).ended : here(cwd, args, list));
          expect([spread.code, spread.stdout, spread.stderr]).toEqual([2, alone.stdout, alone.stderr]);
        }
      });
    } finally {
      await web.close();
    }
  });

  it('asks for no more at once than it may, and several processes ask', () =>
    inTemporaryFolder(async (cwd) => {
      let open = 0;
      let most = 0;
      const port = await serve((_request, response) => {
        most = Math.max(most, ++open);
        setTimeout(() => {
          open--;
          page(response, 'a page');
        }, 60);
      });
      const urls = Array.from({ length: 60 }, (_, n) => `http://127.0.0.${1 + (n % 5)}:${port}/${n}`);
      const fields = ['--fields', 'url,dispatch', '--stream'];
      const args = ['batch', '-', '-c', '7', '--processes', '3', ...fields, ...QUIET];
      const { code, stdout } = await here(cwd, args, urls.join('\n'));
      expect(code).toBe(0);
      expect(most).toBeLessThanOrEqual(7);
      expect(most).toBeGreaterThan(3);
      expect(
        items(stdout)
          .map(({ url }) => url)
          .sort(),
      ).toEqual(urls.sort());
      const visitors = new Set(items(stdout).map(({ dispatch }) => /^(.*)-\d+$/.exec((dispatch as Task).taskId)![1]));
      expect(visitors.size).toBe(3);
    }));

  it('keeps the delay of a domain and the one result of a URL while processes are killed', () =>
    inTemporaryFolder(async (cwd) => {
      const ends = new Map<string, number>();
      const gaps: number[] = [];
      let killedAtMs = Infinity;
      const port = await serve((request, response) => {
        const host = request.headers.host!;
        const last = ends.get(host);
        if (last !== undefined) gaps.push(performance.now() - last);
        ends.set(host, Infinity);
        // Noted before it happens: this process may hear of the end later than the one that asked.
        const answer = setTimeout(() => {
          ends.set(host, performance.now());
          page(response, host);
        }, 20);
        // A request that is cut off ends with the process that asked.
        response.once('close', () => {
          if (ends.get(host) === Infinity) ends.set(host, killedAtMs);
          clearTimeout(answer);
        });
      });
      const urls = Array.from({ length: 48 }, (_, n) => `http://127.0.0.${1 + (n % 8)}:${port}/${n}`);
      const args = ['batch', '-', '--delay', '0.5', '--processes', '3', '--fields', 'url,success', ...QUIET];
      const batch = orcrawl(cwd, args, urls.join('\n'));
      for (const kill of [1, 2, 3]) {
        await until(() => gaps.length >= 8 * kill && childrenOf(batch.pid).length > 0, `kill ${kill}`);
        killedAtMs = performance.now();
        process.kill(childrenOf(batch.pid).at(-1)!, 'SIGKILL');
      }
      const { code, stdout, stderr } = await batch.ended;
      expect([code, stderr]).toEqual([0, '']);
      expect(items(stdout)).toEqual(urls.map((url) => ({ url, success: true })));
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(499);
    }));

  it('fails a URL that ends its process every time, and only that', () =>
    inTemporaryFolder(async (cwd) => {
      let deaths = 0;
      const killed = new Set<number>();
      const port = await serve((request, response) => {
        if (!request.url!.startsWith('/deadly')) return void setTimeout(() => page(response, 'fine'), 10);
        deaths++;
        // Only the process that asks: others may be trying an innocent URL alone at this moment.
        const pid = childrenOf(batch.pid).find((child) => hasConnectionFrom(child, request.socket.remotePort!));
        if (pid !== undefined) {
          killed.add(pid);
          process.kill(pid, 'SIGKILL');
        }
        request.socket.destroy();
      });
      const urls = Array.from({ length: 24 }, (_, n) => `http://127.0.0.1:${port}/${n === 5 ? 'deadly' : n}`);
      const args = ['batch', '-', '--processes', '2', '-c', '6', '--fields', 'url,errorCode', ...QUIET];
      const batch = orcrawl(cwd, args, urls.join('\n'));
      const { code, stdout } = await batch.ended;
      expect(code).toBe(2);
      expect(items(stdout)).toEqual(
        urls.map((url) => ({ url, errorCode: url.endsWith('deadly') ? 'WORKER_LOST' : null })),
      );
      expect(deaths).toBeGreaterThanOrEqual(3);
      for (const pid of killed) expect(isAlive(pid)).toBe(false);
    }));

  it('takes cookies and attempts along when a URL goes on in another process', () =>
    inTemporaryFolder(async (cwd) => {
      const port = await serve((request, response) => {
        if (request.url!.startsWith('/in')) {
          const cookie = `seen=${request.url!.slice(3)}`;
          return void response.writeHead(302, { location: `/out${request.url!.slice(3)}`, 'set-cookie': cookie }).end();
        }
        const wanted = `seen=${request.url!.slice(4)}`;
        page(response, request.headers.cookie === wanted ? 'known' : `stranger ${request.headers.cookie}`);
      });
      // With a delay a redirect is a request of its own, which any process may get.
      const urls = Array.from({ length: 16 }, (_, n) => `http://127.0.0.${1 + (n % 4)}:${port}/in${n}`);
      const args = ['batch', '-', '--processes', '2', '--delay', '0.05', '--fields', 'url,title', ...QUIET];
      const { stdout } = await here(cwd, args, urls.join('\n'));
      expect(items(stdout)).toEqual(urls.map((url) => ({ url, title: 'known' })));
    }));

  it('reads a robots.txt once for all processes', () =>
    inTemporaryFolder(async (cwd) => {
      const asked: string[] = [];
      const port = await serve((request, response) => {
        asked.push(request.url!);
        if (request.url === '/robots.txt') response.end('User-agent: *\nDisallow: /no');
        else setTimeout(() => page(response, 'fine'), 20);
      });
      const urls = Array.from({ length: 20 }, (_, n) => `http://127.0.0.1:${port}/${n % 4 === 3 ? 'no' : 'yes'}${n}`);
      const args = ['batch', '-', '--processes', '2', '--respect-robots', '--fields', 'url,errorCode', ...QUIET];
      const { code, stdout } = await here(cwd, args, urls.join('\n'));
      expect(code).toBe(2);
      expect(items(stdout)).toEqual(
        urls.map((url) => ({ url, errorCode: url.includes('/no') ? 'ROBOTS_DENIED' : null })),
      );
      expect(asked.filter((url) => url === '/robots.txt')).toHaveLength(1);
      expect(asked.filter((url) => url.startsWith('/no'))).toEqual([]);
    }));

  it('keeps what was done on Ctrl-C, leaves no process, and finishes with --resume', () =>
    inTemporaryFolder(async (cwd) => {
      let isSlow = true;
      const port = await serve((request, response) => {
        const isHeld = isSlow && Number(request.url!.slice(1)) >= 12;
        setTimeout(() => page(response, 'fine'), isHeld ? 60_000 : 10);
      });
      const urls = Array.from({ length: 24 }, (_, n) => `http://127.0.0.1:${port}/${n}`);
      await writeFile(path.join(cwd, 'urls.txt'), urls.join('\n'));
      const args = ['batch', 'urls.txt', '--resume', 'done.jsonl', '--processes', '2', '-c', '4', ...QUIET];
      const first = orcrawl(cwd, args);
      let seen = 0;
      await until(() => {
        void readLines(cwd, 'done.jsonl').then(
          (all) => (seen = all.length),
          () => undefined,
        );
        return seen >= 12;
      }, 'half of it is written');
      const children = childrenOf(first.pid);
      expect(children).toHaveLength(2);
      first.signal('SIGINT');
      // As a terminal does.
      for (const pid of children) process.kill(pid, 'SIGINT');
      const interrupted = await first.ended;
      expect(interrupted.code).toBe(130);
      expect(interrupted.stderr).toContain('--resume done.jsonl');
      expect(children.filter((pid) => isAlive(pid))).toEqual([]);
      isSlow = false;
      expect(await here(cwd, args)).toMatchObject({ code: 0 });
      const all = await readLines(cwd, 'done.jsonl');
      expect(all.map(({ url }) => url).sort()).toEqual([...urls].sort());
    }));

  it('leaves no process behind when it is killed itself', () =>
    inTemporaryFolder(async (cwd) => {
      const port = await serve(() => undefined);
      const batch = orcrawl(cwd, ['batch', `http://127.0.0.1:${port}/`, '--processes', '2', '-c', '2', ...QUIET]);
      await until(() => childrenOf(batch.pid).length === 2, 'both run');
      const children = childrenOf(batch.pid);
      batch.signal('SIGKILL');
      await batch.ended;
      await until(() => !children.some((pid) => isAlive(pid)), 'they are gone');
    }));

  it('refuses what needs one browser', () =>
    inTemporaryFolder(async (cwd) => {
      for (const flag of [
        ['--session', 'a'],
        ['--user-data-dir', 'profile'],
      ]) {
        const { code, stderr } = await here(cwd, ['batch', 'example.com', '--processes', '2', ...flag]);
        expect([code, lines(stderr).length]).toEqual([1, 1]);
        expect(stderr).toContain('--processes');
      }
    }));
});

interface Task {
  readonly taskId: string;
}
