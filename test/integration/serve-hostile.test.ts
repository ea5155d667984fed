// Clients that mean harm: targets, origins, selectors, patterns, bodies and answers that would stop a server.
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../../src/serve/server.js';
import { Log, LogLevel } from '../../src/observe/log.js';
import { ask, dataFolder, endedAt, html, type Server, type Site, startSite } from '../support/serve.js';
import { startServeHere } from '../support/serve-here.js';

const SECRET = 'a-long-random-secret-of-team-a';
const DEEP = `${'<div>'.repeat(250)}<p>x</p>${'</div>'.repeat(250)}`;
const SLOW_SELECTOR = `${'div:has('.repeat(6)}b${')'.repeat(6)}`;

let site: Site;
let server: Server;
let removeData: () => Promise<void>;

beforeAll(async () => {
  site = await startSite((request, response) => {
    response.setHeader('content-type', 'text/html');
    const { pathname } = new URL(request.url ?? '/', 'http://x');
    if (pathname === '/deep') return void response.end(html('Deep', DEEP));
    if (pathname === '/') return void response.end(html('Home', `<a href="/${'a'.repeat(1_500)}!">x</a>`));
    response.end(html('Page', `<p>${'a'.repeat(60)}!</p>`));
  });
  const data = await dataFolder();
  removeData = data.remove;
  await mkdir(data.dir, { recursive: true });
  await writeFile(
    path.join(data.dir, 'tokens.yaml'),
    `tokens:\n  - { name: team-a, token: ${SECRET}, pagesPerDay: 20 }\n`,
  );
  server = await startServeHere(data.dir, { allowPrivate: ['127.0.0.0/8'], publicHosts: ['crawl.example'] });
});
afterAll(async () => {
  await server?.stop();
  await site?.close();
  await removeData?.();
});

/** Sends bytes and gives what came back until the server closed, or said enough. */
function send(url: string, text: string): Promise<string> {
  return new Promise((resolve) => {
    let got = '';
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(text));
    socket.setTimeout(20_000, () => socket.destroy());
    socket.on('data', (bytes) => {
      got += String(bytes);
      if (got.includes('\r\n\r\n')) socket.destroy();
    });
    socket.on('error', () => undefined).on('close', () => resolve(got));
  });
}

describe('what is asked for', () => {
  it('may be any bytes: a target that is no URL is a 400, and nothing is logged', async () => {
    const lines: string[] = [];
    const logger = { write: (entry: object) => void lines.push(JSON.stringify(entry)) };
    const log = new Log({ level: LogLevel.DEBUG, logger });
    const data = await dataFolder();
    const own = await startServer({ port: 0, dataDir: data.dir, version: 'test', log });
    const targets = ['http://[', '//[', 'http://a:b/', '/%', '/..%2f..%2fetc/passwd', '//evil/v2/crawl', '*'];
    for (const target of targets) {
      const [status] = (await send(own.url, `GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`)).split('\r\n');
      expect([target, status]).toEqual([target, expect.stringMatching(/ 40[01] /)]);
    }
    await own.stop();
    await data.remove();
    expect(lines).toEqual([]);
  });

  it('gets an answer with an error also when it never becomes a request', async () => {
    const error = (code: string) => new RegExp(`"success":false,"error":"[^"]+","code":"${code}"`);
    const half = send(server.url, 'GET /health HTTP/1.1\r\nHost: 127.');
    const huge = await send(server.url, `GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`);
    expect(huge).toMatch(/^HTTP\/1\.1 431 /);
    expect(huge).toMatch(error('HEADERS_TOO_LARGE'));
    const nonsense = await send(server.url, 'nonsense\r\n\r\n');
    expect(nonsense).toMatch(/^HTTP\/1\.1 400 /);
    expect(nonsense).toMatch(error('BAD_REQUEST'));
    // After ten seconds: a socket that stops half-way is not kept.
    expect(await half).toMatch(/^HTTP\/1\.1 408 /);
    expect(await half).toMatch(error('REQUEST_TIMEOUT'));
  }, 30_000);

  it('is not waited for when it was answered already: what comes of a body afterwards keeps no connection', async () => {
    const rest = 'Host: localhost\r\nContent-Length: 1000\r\n\r\nx';
    const targets = ['POST /v2/crawl', 'GET /health', 'GET /console/', 'OPTIONS /v2/crawl'];
    for (const target of targets) {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
      socket.on('error', () => undefined).write(`${target} HTTP/1.1\r\n${rest}`);
      const [first] = (await once(socket, 'data')) as [Buffer];
      expect([target, String(first)]).toEqual([target, expect.stringMatching(/^HTTP\/1\.1 (?:[23]0\d|40[134]) /)]);
      const closed = once(socket.resume(), 'close').then(() => true);
      expect([target, await Promise.race([closed, sleep(10_000, false)])]).toEqual([target, true]);
    }
  }, 60_000);

  it('comes from pages of the server itself, not from other ports of its host', async () => {
    const { host, port } = new URL(server.url);
    const status = async (headers: Record<string, string>): Promise<string> => {
      const lines = Object.entries({ authorization: `Bearer ${server.token}`, ...headers });
      const text = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
      return (await send(server.url, `GET /v2/crawl/active HTTP/1.1\r\n${text}\r\n`)).slice(9, 12);
    };
    expect(await status({ host, origin: `http://${host}` })).toBe('200');
    expect(await status({ host: `localhost:${port}`, origin: `http://localhost:${port}` })).toBe('200');
    // Behind a proxy that keeps Host, and one that does not.
    expect(await status({ host: 'crawl.example', origin: 'https://crawl.example' })).toBe('200');
    expect(await status({ host, origin: 'https://crawl.example' })).toBe('200');
    for (const origin of [
      'http://127.0.0.1:1',
      'http://localhost:5173',
      'http://127.0.0.1',
      'null',
      'https://a.example',
    ]) {
      expect([origin, await status({ host, origin })]).toEqual([origin, '403']);
    }
  });
});

describe('selectors and patterns that take for ever', () => {
  it('fail their page and let the server answer others', async () => {
    for (const options of [
      { includeTags: [SLOW_SELECTOR] },
      { formats: [{ type: 'attributes', selectors: [{ selector: SLOW_SELECTOR, attribute: 'id' }] }] },
    ]) {
      const { status, json } = await server.ask('POST', '/v2/scrape', { url: `${site.url}/deep`, ...options });
      expect([status, json.code]).toEqual([422, 'VISIT_BLOCKED_LOOP']);
    }
    expect((await server.ask('GET', '/health')).status).toBe(200);
  });

  it('fail their page in a crawl that compares its pages', async () => {
    const scrapeOptions = { includeTags: [SLOW_SELECTOR] };
    const body = { url: `${site.url}/deep`, limit: 1, sitemap: 'skip', duplicates: 'skip', scrapeOptions };
    const { id } = (await server.ask('POST', '/v2/crawl', body)).json;
    expect(await endedAt(server, `/v2/crawl/${id}`)).toMatchObject({ completed: 0 });
    const { errors } = (await server.ask('GET', `/v2/crawl/${id}/errors`)).json;
    expect(errors).toMatchObject([{ code: 'VISIT_BLOCKED_LOOP' }]);
  });

  it('fail a tool of MCP', async () => {
    const fields = { a: { pattern: '^(?:.|a+)*$(?!.)b' } };
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'extract_fields', arguments: { url: `${site.url}/page`, schema: { engine: 'regex', fields } } },
    };
    const accept = 'application/json, text/event-stream';
    const { text } = await server.ask('POST', '/mcp', call, { accept, 'mcp-protocol-version': '2025-06-18' });
    expect(text).toContain('VISIT_BLOCKED_LOOP');
  });

  it('do not hold up a crawl', async () => {
    const patterns = ['(a|aa)+$', `${'(a|aa)'.repeat(60)}b`, `${'a?'.repeat(60)}${'a'.repeat(60)}b`, '.*.*.*.*.*x'];
    const { json } = await server.ask('POST', '/v2/crawl', { url: `${site.url}/`, limit: 5, excludePaths: patterns });
    const { completed } = await endedAt(server, `/v2/crawl/${json.id}`);
    expect(completed).toBe(2);
  });
});

describe('bodies', () => {
  it('of one endless line are refused as they come', async () => {
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 100_000;
        if (sent > 200_000_000) controller.close();
        else controller.enqueue(Buffer.alloc(100_000, 'a'));
      },
    });
    const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/x-ndjson' };
    const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
    const status = await fetch(`${server.url}/v2/batch/scrape`, init).then(
      (answer) => answer.status,
      // The server closed while the client was still writing.
      () => 413,
    );
    expect(status).toBe(413);
    expect(sent).toBeLessThan(50_000_000);
  });
});

describe('a limit of pages per day', () => {
  const asTeam = (method: string, where: string, body?: unknown, headers: Record<string, string> = {}) =>
    ask(server.url + where, method, body, { authorization: `Bearer ${SECRET}`, ...headers });
  const left = async (): Promise<number> => (await asTeam('GET', '/v2/team/credit-usage')).json.data.remainingCredits;

  it('holds however many ask at once, and gives back what a crawl did not fetch', async () => {
    const crawl = await asTeam('POST', '/v2/crawl', { url: `${site.url}/`, limit: 12 });
    const batch = { urls: [`${site.url}/1`, `${site.url}/2`] };
    const ids = [];
    for (let count = 0; count < 3; count++) {
      ids.push((await asTeam('POST', '/v2/batch/scrape', batch, { 'x-idempotency-key': 'one' })).json.id);
    }
    expect(new Set(ids).size).toBe(1);
    await endedAt(server, `/v2/crawl/${crawl.json.id}`);
    await expect.poll(left).toBe(20 - 2 - 2);
    const scrapes = await Promise.all(
      Array.from({ length: 30 }, (_, index) => asTeam('POST', '/v2/scrape', { url: `${site.url}/${index}` })),
    );
    const statuses = scrapes.map(({ status }) => status);
    expect([200, 429].map((code) => statuses.filter((status) => status === code).length)).toEqual([16, 14]);
    expect((await asTeam('POST', '/v2/crawl', { url: `${site.url}/` })).status).toBe(429);
    expect(await left()).toBe(0);
  });
});
