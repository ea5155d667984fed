// The page cache, seen from the server: what each mode reads and writes, HTTP's rules, several processes, kill -9.
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { CacheMode, type RunConfig, WebCrawler } from '../../src/index.js';
import { openPageCache } from '../../src/store/cache/cache-lmdb.js';
import type { StoredPage } from '../../src/store/cache/cache.js';
import { temporaryFolder } from '../support/crawl.js';
import { fixtures } from './http-fixtures.js';

const servers = fixtures();
afterAll(() => servers.closeAll());

/** A server that counts, and a crawler whose cache is the test's own. */
async function world(answer: (request: IncomingMessage, response: ServerResponse, count: number) => void) {
  const storageDir = await temporaryFolder();
  const seen: IncomingMessage[] = [];
  const { url } = await servers.serve((request, response) => {
    seen.push(request);
    answer(request, response, seen.length);
  });
  const crawler = await WebCrawler.open({ storageDir });
  const get = (config: RunConfig, at = '/') => crawler.run(url + at, { maxRetries: 0, ...config });
  return { storageDir, url, seen, crawler, get };
}

const numbered = (_request: IncomingMessage, response: ServerResponse, count: number) =>
  void response.setHeader('content-type', 'text/html').end(`<p>number ${count}</p>`);

describe('cache modes', () => {
  it('read and write as their names say', async () => {
    const { get, seen, crawler } = await world(numbered);
    const step = async (cacheMode: CacheMode, at?: string) => {
      const { cacheStatus, text } = await get({ cacheMode }, at);
      return [cacheStatus, text, seen.length];
    };
    expect(await step(CacheMode.READ_ONLY)).toEqual(['miss', 'number 1', 1]);
    expect(await step(CacheMode.READ_ONLY)).toEqual(['miss', 'number 2', 2]);
    expect(await step(CacheMode.ENABLED)).toEqual(['miss', 'number 3', 3]);
    expect(await step(CacheMode.ENABLED)).toEqual(['hit', 'number 3', 3]);
    expect(await step(CacheMode.READ_ONLY)).toEqual(['hit', 'number 3', 3]);
    expect(await step(CacheMode.STORED_ONLY)).toEqual(['hit', 'number 3', 3]);
    expect(await get({ cacheMode: CacheMode.STORED_ONLY }, '/other')).toMatchObject({ errorCode: 'CACHE_MISS' });
    expect(await step(CacheMode.BYPASS)).toEqual(['miss', 'number 4', 4]);
    expect(await step(CacheMode.DISABLED)).toEqual(['miss', 'number 5', 5]);
    expect(await step(CacheMode.ENABLED)).toEqual(['hit', 'number 3', 3 + 2]);
    expect(await step(CacheMode.WRITE_ONLY)).toEqual(['miss', 'number 6', 6]);
    expect(await step(CacheMode.ENABLED)).toEqual(['hit', 'number 6', 6]);
    // The same page with a fragment; another user agent is another page.
    expect(await step(CacheMode.ENABLED, '/#part')).toEqual(['hit', 'number 6', 6]);
    expect(await get({ cacheMode: CacheMode.ENABLED, userAgent: 'other/1' })).toMatchObject({ cacheStatus: 'miss' });
    await crawler.close();
  });

  it('never answer one URL with the page of another, however alike they are', async () => {
    const { get, crawler } = await world((request, response) =>
      response.setHeader('content-type', 'text/html').end(`<p>${request.url}</p>`),
    );
    const alike = [
      '/a',
      '/a/',
      '/q?b=2&a=1',
      '/q?a=1&b=2',
      '/q?a=1&b=2&utm_source=x',
      '/e?a',
      '/e?a=',
      '/p%2Fq',
      '/p/q',
    ];
    for (const cacheStatus of ['miss', 'hit']) {
      for (const at of alike) {
        const result = await get({ cacheMode: CacheMode.ENABLED }, at);
        expect(result).toMatchObject({ cacheStatus });
        expect(result.html).toBe(`<p>${at}</p>`);
      }
    }
    await crawler.close();
  });

  it('leave no cache behind when none was wanted', async () => {
    const { get, storageDir, crawler } = await world(numbered);
    await get({ cacheMode: CacheMode.DISABLED });
    await get({});
    await crawler.close();
    const { readdir } = await import('node:fs/promises');
    expect(await readdir(storageDir)).toEqual([]);
  });

  it('apply content options to hits, and keep final URL, status and headers', async () => {
    const { get, crawler, url } = await world((request, response) => {
      if (request.url === '/') return void response.writeHead(302, { location: '/to' }).end();
      response.setHeader('x-own', 'kept').setHeader('content-type', 'text/html');
      response.end('<main><p>main text</p></main><footer>foot</footer>');
    });
    await get({ cacheMode: CacheMode.ENABLED });
    const hit = await get({ cacheMode: CacheMode.ENABLED, cssSelector: 'main' });
    expect(hit).toMatchObject({ cacheStatus: 'hit', loadedUrl: `${url}/to`, redirected: true, statusCode: 200 });
    expect(hit.headers['x-own']).toBe('kept');
    expect(hit.text).toBe('main text');
    await crawler.close();
  });

  it('use a page for cacheTtlSecs and fetch it again after that', async () => {
    const { get, seen, crawler } = await world(numbered);
    await get({ cacheMode: CacheMode.ENABLED });
    expect(await get({ cacheMode: CacheMode.ENABLED, cacheTtlSecs: 100 })).toMatchObject({ cacheStatus: 'hit' });
    await new Promise((resume) => setTimeout(resume, 30));
    expect(await get({ cacheMode: CacheMode.ENABLED, cacheTtlSecs: 0.01 })).toMatchObject({ cacheStatus: 'miss' });
    expect(seen).toHaveLength(2);
    await crawler.close();
  });

  it('store no errors, no posts, and nothing for another log-in', async () => {
    const { get, seen, crawler } = await world((request, response, count) => {
      if (request.url === '/missing') response.statusCode = 404;
      numbered(request, response, count);
    });
    const cacheMode = CacheMode.ENABLED;
    for (const config of [{ body: 'a' }, { body: 'a' }])
      expect((await get({ cacheMode, ...config })).cacheStatus).toBe('miss');
    for (let i = 0; i < 2; i++) expect((await get({ cacheMode }, '/missing')).cacheStatus).toBe('miss');
    const as = (token: string) => get({ cacheMode, headers: { authorization: token } });
    expect([await as('a'), await as('a'), await as('b')].map((one) => one.cacheStatus)).toEqual([
      'miss',
      'hit',
      'miss',
    ]);
    expect(seen).toHaveLength(6);
    await crawler.close();
  });
});

// What HTTP requires case by case is in test/conformance/http-cache.test.ts.
describe('validate', () => {
  const validate = { cacheMode: CacheMode.ENABLED, validate: true } as const;

  it('asks with If-None-Match and If-Modified-Since, and a 304 is a validated hit', async () => {
    const { get, seen, crawler } = await world((request, response) => {
      response.setHeader('etag', '"v1"').setHeader('last-modified', 'Wed, 21 Oct 2015 07:28:00 GMT');
      response.setHeader('cache-control', 'no-cache').setHeader('content-type', 'text/html');
      if (request.headers['if-none-match'] === '"v1"') response.writeHead(304, { 'x-new': 'yes' }).end();
      else response.end('<p>page</p>');
    });
    expect((await get(validate)).cacheStatus).toBe('miss');
    const again = await get(validate);
    expect(again).toMatchObject({ cacheStatus: 'hit_validated', statusCode: 200, success: true, text: 'page' });
    expect(again.headers['x-new']).toBe('yes');
    expect(seen[1]!.headers).toMatchObject({
      'if-none-match': '"v1"',
      'if-modified-since': 'Wed, 21 Oct 2015 07:28:00 GMT',
    });
    await crawler.close();
  });

  it('takes the new page when the server has one', async () => {
    const { get, crawler } = await world((_request, response, count) => {
      response
        .setHeader('etag', `"v${count}"`)
        .setHeader('cache-control', 'max-age=0')
        .setHeader('content-type', 'text/html');
      response.end(`<p>number ${count}</p>`);
    });
    await get(validate);
    expect(await get(validate)).toMatchObject({ cacheStatus: 'miss', text: 'number 2' });
    expect(await get({ cacheMode: CacheMode.READ_ONLY })).toMatchObject({ cacheStatus: 'hit', text: 'number 2' });
    await crawler.close();
  });

  it('keeps the variants of a page apart and uses each for its own requests', async () => {
    const { get, seen, crawler } = await world((request, response) => {
      response.writeHead(200, { 'content-type': 'text/html', 'cache-control': 'max-age=100', vary: 'X-Lang' });
      response.end(`<p>${String(request.headers['x-lang'])}</p>`);
    });
    const as = async (lang: string) => {
      const { cacheStatus, text } = await get({ ...validate, headers: { 'x-lang': lang } });
      return `${cacheStatus} ${text}`;
    };
    expect([await as('en'), await as('de'), await as('en'), await as('de')]).toEqual([
      'miss en',
      'miss de',
      'hit en',
      'hit de',
    ]);
    expect(seen).toHaveLength(2);
    await crawler.close();
  });

  it('forgets a page that a POST has changed', async () => {
    const { get, seen, crawler } = await world((_request, response, count) => {
      response.writeHead(200, { 'content-type': 'text/html', 'cache-control': 'max-age=100' }).end(`<p>${count}</p>`);
    });
    await get(validate);
    await get({ ...validate, body: 'change' });
    expect((await get(validate)).cacheStatus).toBe('miss');
    expect(seen).toHaveLength(3);
    await crawler.close();
  });

  it('never answers a whole page with a part of one', async () => {
    const { get, crawler } = await world((_request, response) => {
      response.writeHead(206, {
        'content-type': 'text/html',
        'cache-control': 'max-age=100',
        'content-range': 'bytes 0-3/9',
      });
      response.end('<p>p');
    });
    await get(validate);
    await get({ cacheMode: CacheMode.ENABLED });
    expect((await get(validate)).cacheStatus).toBe('miss');
    await crawler.close();
  });
});

function page(url: string, bytes: number, storedAtMs: number): StoredPage {
  return {
    method: 'GET',
    url,
    engine: 'http',
    userAgent: 'x',
    varied: {},
    loadedUrl: url,
    redirectChain: [],
    statusCode: 200,
    headers: {},
    storedAtMs,
    bodyBytes: bytes,
    policy: {},
    body: Buffer.alloc(bytes, url.slice(-1)),
  };
}

describe('the cache on disk', () => {
  it('drops the oldest pages beyond maxBytes and those past maxAge', async () => {
    const folder = await temporaryFolder();
    let nowMs = 1000;
    const cache = openPageCache(folder, { maxBytes: 100_000, maxAgeMs: 5000, nowMs: () => nowMs });
    for (let n = 0; n < 30; n++) {
      cache.put(page(`http://a/${n}`, 10_000, 1000 + n));
      await cache.flush();
    }
    const kept = [...cache.list()].map(({ url }) => url);
    expect(kept.length).toBeLessThan(10);
    expect(kept.at(-1)).toBe('http://a/29');
    nowMs = 7000;
    cache.put(page('http://a/new', 10, nowMs));
    await cache.flush();
    expect([...cache.list()].map(({ url }) => url)).toEqual(['http://a/new']);
    await cache.close();
  });

  it('prunes by age, forgets by URL and is found again after it was closed', async () => {
    const folder = await temporaryFolder();
    const nowMs = Date.now();
    let cache = openPageCache(folder);
    for (let n = 0; n < 5; n++) cache.put(page(`http://a/${n}`, 100, nowMs - (5 - n) * 1000));
    expect(await cache.prune(nowMs - 2500)).toBe(3);
    expect(await cache.forget('http://a/4')).toBe(1);
    await cache.close();
    cache = openPageCache(folder);
    expect([...cache.list()].map(({ url }) => url)).toEqual(['http://a/3']);
    expect((await cache.find(page('http://a/3', 0, 0), {}))!.body.toString()).toBe('3'.repeat(100));
    expect(await cache.prune(Infinity)).toBe(1);
    await cache.close();
  });

  it('refuses a folder whose file is something else, by name', async () => {
    const folder = await temporaryFolder();
    await writeFile(path.join(folder, 'data.mdb'), 'x'.repeat(9000));
    expect(() => openPageCache(folder)).toThrow('is not a page cache');
  });

  it('serves two processes that write at once, and stays whole when they are killed', async () => {
    const folder = await temporaryFolder();
    const worker = fileURLToPath(new URL('./page-cache-worker.mjs', import.meta.url));
    const start = (name: string) => {
      const child = spawn(process.execPath, [worker, folder, name], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const written = new Promise<void>((resolve) => child.stdout.once('data', () => resolve()));
      const ended = new Promise((resolve) => child.once('close', resolve));
      return { child, written, ended };
    };
    const workers = [start('a'), start('b')];
    await Promise.all(workers.map(({ written }) => written));
    for (const { child } of workers) child.kill('SIGKILL');
    await Promise.all(workers.map(({ ended }) => ended));
    const cache = openPageCache(folder);
    const pages = [...cache.list()];
    expect(pages.some(({ url }) => url.includes('/a/'))).toBe(true);
    expect(pages.some(({ url }) => url.includes('/b/'))).toBe(true);
    for (const one of pages) {
      const found = await cache.find(one, {});
      expect(found!.body.length).toBe(one.bodyBytes);
      expect(found!.body.every((byte) => byte === found!.body[0])).toBe(true);
    }
    cache.put(page('http://after/1', 100, Date.now()));
    await cache.flush();
    expect(await cache.find(page('http://after/1', 0, 0), {})).toBeDefined();
    await cache.close();
  });
});
