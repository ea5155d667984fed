// The synthetic web over real sockets: what it promises to tests is checked here from the client's side.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { Simweb, SIMWEB_PATHS } from '../../src/testing/index.js';
import type { SimwebOptions } from '../../src/testing/index.js';
import { TYPESCRIPT } from '../support/processes.js';
import { ask } from './simweb-client.js';

/** Follows links and redirects from the seeds until nothing new appears; gives what answered 200. */
async function crawl(web: Simweb, retries = 3): Promise<Set<string>> {
  const seen = new Set(web.seeds());
  const queue = [...seen];
  const done = new Set<string>();
  const work = async (): Promise<void> => {
    for (let url = queue.pop(); url !== undefined; url = queue.pop()) {
      let reply = await ask(url);
      for (let left = retries; left > 0 && reply.status >= 500; left--) reply = await ask(url);
      if (reply.status === 200) done.add(url);
      const hrefs = [...reply.body.toString('latin1').matchAll(/<li><a href="([^"]+)"|<p>.*?<a href="([^"]+)"/g)];
      const targets = hrefs.map((match) => (match[1] ?? match[2] ?? '').replaceAll('&amp;', '&'));
      if (reply.headers.location) targets.push(reply.headers.location);
      for (const target of targets) {
        const next = new URL(target, url);
        next.hash = '';
        next.search = '';
        if (next.protocol !== 'http:' || seen.has(next.href)) continue;
        seen.add(next.href);
        queue.push(next.href);
      }
    }
  };
  await work();
  await Promise.all(Array.from({ length: 8 }, work));
  return done;
}

const webs: Simweb[] = [];
async function start(options?: SimwebOptions): Promise<Simweb> {
  const web = await Simweb.start(options);
  webs.push(web);
  return web;
}
afterEach(async () => {
  await Promise.all(webs.splice(0).map((web) => web.close()));
});

describe('the synthetic web as a site farm', () => {
  it('leads a crawler from the seeds to exactly the pages of its map', async () => {
    const web = await start({
      hosts: 6,
      pagesPerHost: 40,
      crossHostLinks: 0.15,
      pageBytes: 6000,
      redirects: { share: 0.3, maxHops: 3 },
      statusMix: { missing: 0.1, failing: 0.05, recovering: 0.2, recoverAfter: 2 },
      linkNoise: { utm: 0.2, fragments: 0.2 },
    });
    const found = await crawl(web);
    const pages = [...found].sort();
    expect(pages).toEqual([...web.allUrls()].sort());
    const recovering = [...web.map()].filter(({ kind }) => kind === 'recovering').length;
    expect(web.requests({ status: 503 })).toHaveLength(recovering * 2);
    expect(recovering).toBeGreaterThan(10);
  });

  it('serves the same bytes from two webs with the same seed and port', async () => {
    const first = await start({ seed: 5, hosts: 2 });
    const url = first.url(1, 17);
    const before = await ask(url);
    await first.close();
    const { port } = first;
    await start({ seed: 5, hosts: 2, port });
    expect((await ask(url)).body.equals(before.body)).toBe(true);
  });

  it.each(['addresses', 'ports', 'names'] as const)('tells hosts apart by %s', async (addressing) => {
    const web = await start({ addressing, hosts: 3 });
    const titles = new Set<string>();
    for (let host = 0; host < 3; host++) {
      const reply = await ask(web.url(host), addressing === 'names' ? { lookup: web.lookup } : {});
      titles.add(/<title>(.*?)<\/title>/.exec(reply.body.toString())?.[1] ?? '');
      expect(web.served(host)).toBe(1);
    }
    expect(titles.size).toBe(3);
  });

  it('destroys connections that do not come in over loopback', async () => {
    const outside = Object.values(networkInterfaces()).flat();
    const address = outside.find((each) => each?.family === 'IPv4' && !each.internal)?.address;
    const web = await start({ addressing: 'addresses' });
    if (address !== undefined)
      await expect(ask(`http://${address}:${web.port}/`)).rejects.toThrow(/ECONNRESET|hang up/);
    expect(web.served()).toBe(0);
    expect((await ask(web.url())).status).toBe(200);
  });

  it('knows no page at an address beyond its hosts', async () => {
    const web = await start({ addressing: 'addresses', hosts: 2 });
    expect((await ask(`http://127.0.9.9:${web.port}/`)).status).toBe(421);
    expect(web.requests()).toMatchObject([{ host: -1, status: 421 }]);
  });

  it('compresses for clients that accept it', async () => {
    const plain = (await ask((await start({ compression: 'none' })).url())).body.length;
    for (const [compression, unpack] of [
      ['gzip', gunzipSync],
      ['br', brotliDecompressSync],
      ['deflate', inflateSync],
    ] as const) {
      const web = await start({ compression });
      const reply = await ask(web.url(), { headers: { 'accept-encoding': compression } });
      expect(reply.headers['content-encoding']).toBe(compression);
      expect(Math.abs(unpack(reply.body).length - plain)).toBeLessThan(100);
      expect((await ask(web.url())).headers['content-encoding']).toBeUndefined();
    }
  });

  it('sends chunked bodies, closes connections and sets cookies when asked to', async () => {
    const web = await start({ chunked: true, keepAlive: false, cookies: true, pageBytes: 50_000 });
    const reply = await ask(web.url());
    expect(reply.headers).toMatchObject({ 'transfer-encoding': 'chunked', connection: 'close' });
    expect(reply.headers['set-cookie']?.[0]).toMatch(/^visitor=/);
    expect(reply.body).toHaveLength(50_000);
    expect((await ask(web.url(), { headers: { cookie: 'visitor=me' } })).headers['set-cookie']).toBeUndefined();
  });

  it('answers 304 to a client that has the page, until the page changes', async () => {
    const web = await start();
    const { headers } = await ask(web.url(0, 3));
    const etag = headers.etag as string;
    const modified = headers['last-modified'] as string;
    expect((await ask(web.url(0, 3), { headers: { 'if-none-match': etag } })).status).toBe(304);
    expect((await ask(web.url(0, 3), { headers: { 'if-modified-since': modified } })).status).toBe(304);
    web.touch(0, 3);
    expect((await ask(web.url(0, 3), { headers: { 'if-none-match': etag } })).status).toBe(200);
    expect((await ask(web.url(0, 3), { headers: { 'if-modified-since': modified } })).status).toBe(200);
  });

  it('limits the rate of a host with 429 and Retry-After, each host apart', async () => {
    const web = await start({ hosts: 2, rateLimit: { requests: 3, windowMs: 60_000, retryAfterSecs: 7 } });
    const statuses = [];
    for (let i = 0; i < 5; i++) statuses.push((await ask(web.url(0, i))).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    expect((await ask(web.url(0))).headers['retry-after']).toBe('7');
    expect((await ask(web.url(1))).status).toBe(200);
    web.reset();
    expect((await ask(web.url(0))).status).toBe(200);
  });

  it('serves robots.txt and sitemaps that list just what a polite crawler may fetch', async () => {
    const web = await start({
      pagesPerHost: 50,
      privatePages: 0.3,
      sitemaps: { perFile: 20, gzip: true },
      robots: { crawlDelaySecs: 2 },
      hosts: 3,
      overrides: { 1: { robots: false }, 2: { robots: { status: 503 } } },
    });
    const rules = (await ask(web.url(0, '/robots.txt'))).body.toString();
    expect(rules).toBe(
      `User-agent: *\nDisallow: /private/\nCrawl-delay: 2\n\nSitemap: ${web.url(0, '/sitemap.xml')}\n`,
    );
    expect((await ask(web.url(1, '/robots.txt'))).status).toBe(404);
    expect((await ask(web.url(2, '/robots.txt'))).status).toBe(503);
    const locations = (xml: string): string[] =>
      [...xml.matchAll(/<loc>(.*?)<\/loc>/g)].map((match) => match[1] as string);
    const index = locations((await ask(web.url(0, '/sitemap.xml'))).body.toString());
    expect(index).toHaveLength(3);
    const files = await Promise.all(index.map(async (url) => locations(gunzipSync((await ask(url)).body).toString())));
    expect(files.flat()).toEqual([...web.allUrls()].filter((url) => url.startsWith(web.origin(0))));
    expect(files.flat().length).toBeLessThan(50);
    expect((await ask(web.url(0, '/feed.xml'))).body.toString()).toContain('<rss');
  });

  it('has a trap that leads on for ever, on trap hosts only', async () => {
    const web = await start({ hosts: 2, overrides: { 0: { trap: true } } });
    const seen = new Set([web.url(0, '/trap/calendar/2026/1')]);
    for (const url of seen) {
      if (seen.size > 2000) break;
      const page = (await ask(url)).body.toString();
      for (const [, href] of page.matchAll(/<a href="([^"]+)"/g))
        seen.add(new URL((href as string).replaceAll('&amp;', '&'), url).href);
    }
    expect(seen.size).toBeGreaterThan(2000);
    expect((await ask(web.url(1, '/trap/calendar/2026/1'))).status).toBe(404);
    expect((await ask(web.url(0))).body.toString()).toContain('/trap/calendar');
  });

  it('asks for a cookie at the wall by a redirect to the same page', async () => {
    const web = await start({ cookieWall: true });
    const first = await ask(web.url(0, 2));
    expect([first.status, new URL(first.headers.location as string, web.url()).href]).toEqual([302, web.url(0, 2)]);
    const cookie = first.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    expect((await ask(web.url(0, 2), { headers: { cookie } })).status).toBe(200);
  });

  it('answers the test’s own paths first, on one host or on all', async () => {
    const web = await start({ hosts: 2 });
    web.serve('/mine', { status: 201, headers: { 'x-a': ['1', '2'] }, body: 'all' });
    web.serve('/mine', { body: Buffer.from('one') }, 1);
    const reply = await ask(web.url(0, '/mine?x=1'));
    expect([reply.status, reply.headers['x-a'], reply.body.toString()]).toEqual([201, '1, 2', 'all']);
    expect((await ask(web.url(1, '/mine'))).body.toString()).toBe('one');
  });

  it('serves HTTPS with a certificate made at start', async () => {
    const web = await start({ tls: true, hosts: 3 });
    expect(web.url(1)).toMatch(/^https:/);
    expect((await ask(web.url(1), { ca: web.certificate as string })).status).toBe(200);
    await expect(ask(web.url(1))).rejects.toThrow(/self-signed/);
  });
});

describe('what the synthetic web saw', () => {
  it('logs each request with its times, headers and connection', async () => {
    const web = await start({ hosts: 2, latencyMs: 30 });
    const headers = { 'user-agent': 'tester', cookie: 'a=b', 'if-none-match': '"x"', accept: 'text/html' };
    await ask(web.url(1, 4), { headers });
    await ask(web.url(1, '/nowhere?q=1'), { method: 'POST' });
    const [first, second] = web.requests({ host: 1 });
    expect(first).toMatchObject({ method: 'GET', page: 4, path: new URL(web.url(1, 4)).pathname, status: 200 });
    expect(first?.headers).toEqual({ 'user-agent': 'tester', cookie: 'a=b', 'if-none-match': '"x"' });
    expect(second).toMatchObject({ method: 'POST', path: '/nowhere?q=1', page: undefined, status: 404 });
    expect(second?.connection).not.toBe(first?.connection);
    // A timer may fire up to a millisecond early by the finer clock.
    expect((first?.endMs ?? 0) - (first?.startMs ?? 0)).toBeGreaterThanOrEqual(29);
    expect(web.gaps(1).endToStartMs).toBeGreaterThanOrEqual(0);
    expect([web.served(), web.served(0), web.maxInWindow(1000), web.peakOpen()]).toEqual([2, 0, 2, 1]);
  });

  it('counts requests that are open, and closes the row of a client that went away', async () => {
    const web = await start();
    const aborts = [1, 2, 3].map(() => new AbortController());
    const asked = aborts.map(({ signal }) => ask(web.url(0, '/_/hang'), { signal }));
    await expect.poll(() => web.openRequests).toBe(3);
    aborts.forEach((abort) => abort.abort());
    await Promise.allSettled(asked);
    await expect.poll(() => web.openRequests).toBe(0);
    expect(web.peakOpen(0)).toBe(3);
    expect(web.requests().every(({ status, endMs }) => status === 0 && endMs !== undefined)).toBe(true);
  });
});

describe('closing the synthetic web', () => {
  it('ends open requests, and closing again is harmless', async () => {
    const web = await start();
    const hanging = ask(web.url(0, '/_/hang'));
    const endless = ask(web.url(0, '/_/endless'));
    await expect.poll(() => web.openRequests).toBe(2);
    await Promise.all([web.close(), expect(hanging).rejects.toThrow(), endless]);
    expect((await endless).complete).toBe(false);
    await web.close();
    const refused = await new Promise<string>((resolve) =>
      connect(web.port, '127.0.0.1').on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? '')),
    );
    expect(refused).toBe('ECONNREFUSED');
  });

  it('leaves nothing that keeps a process alive', async () => {
    const entry = fileURLToPath(new URL('../../src/testing/index.ts', import.meta.url));
    // The process must end by itself: it calls no exit, and a page that waits a minute is still open at close.
    const script = `
      const { Simweb, startProxy } = await import(${JSON.stringify(entry)});
      const web = await Simweb.start({ hosts: 3, latencyMs: 600000 });
      const proxy = await startProxy();
      const hanging = fetch(web.url()).catch(() => 'cut');
      await fetch(web.url(1, '/_/json')).then((reply) => reply.text());
      await proxy.close();
      await web.close();
      console.log(await hanging);
    `;
    const args = ['--import', TYPESCRIPT, '--input-type=module', '-e', script];
    const cwd = fileURLToPath(new URL('../..', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, timeout: 60_000 });
    expect(stdout.trim()).toBe('cut');
  });
});

describe('the list of special paths', () => {
  it('names every path once, is served at /_/ and stands in the docs', async () => {
    const docs = await readFile(new URL('../../docs/simweb.md', import.meta.url), 'utf8');
    const web = await start();
    const listing = (await ask(web.url(0, '/_/'))).body.toString();
    for (const { usage, does } of SIMWEB_PATHS) {
      expect(usage).toMatch(/^\/_\/[\w-]+/);
      expect(docs).toContain(`| \`${usage.replaceAll('|', '\\|')}\` | ${does} |`);
    }
    expect(listing).toContain('/_/gzip-bomb');
    expect(new Set(SIMWEB_PATHS.map(({ usage }) => usage)).size).toBe(SIMWEB_PATHS.length);
    expect((await ask(web.url(0, '/_/nothing'))).status).toBe(404);
  });
});
