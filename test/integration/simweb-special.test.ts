// Every special path and host fault of the synthetic web, seen from a plain client.
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOST_FAULTS, Simweb } from '../../src/testing/index.js';
import { ask } from './simweb-client.js';
import type { AskOptions } from './simweb-client.js';

const text = async (url: string, options?: AskOptions): Promise<string> => (await ask(url, options)).body.toString();

let web: Simweb;
const at = (path: string): string => web.url(0, `/_/${path}`);
beforeAll(async () => {
  const overrides = Object.fromEntries(HOST_FAULTS.map((fault, i) => [i + 1, { fault }]));
  web = await Simweb.start({ hosts: HOST_FAULTS.length + 1, overrides });
});
afterAll(() => web.close());

describe('special paths about HTTP', () => {
  it('answer with any status', async () => {
    for (const status of [200, 204, 301, 404, 418, 500, 599])
      expect((await ask(at(`status/${status}`))).status).toBe(status);
  });

  it('wait before the headers, or before the rest of the body', async () => {
    await ask(at('delay/40'));
    await ask(at('delay-body/40'));
    for (const { startMs, endMs = 0 } of web.requests().slice(-2)) expect(endMs - startMs).toBeGreaterThanOrEqual(39);
  });

  it('answer 429 with Retry-After until that time has passed, each key apart', async () => {
    const first = await ask(at('429/a?after=1'));
    expect([first.status, first.headers['retry-after']]).toEqual([429, '1']);
    expect((await ask(at('429/b?after=1'))).status).toBe(429);
    await expect.poll(async () => (await ask(at('429/a?after=1'))).status, { timeout: 5000 }).toBe(200);
    const sent = web.requests({ path: '/_/429/a?after=1' });
    expect((sent.at(-1)?.startMs ?? 0) - (sent[0]?.startMs ?? 0)).toBeGreaterThanOrEqual(999);
    const dated = await ask(at('503?after=5&date=1'));
    expect(dated.status).toBe(503);
    expect(Date.parse(dated.headers['retry-after'] as string)).not.toBeNaN();
  });

  it('fail a number of times for each key', async () => {
    const statuses = [];
    for (let i = 0; i < 4; i++) statuses.push((await ask(at('flaky/2/x'))).status);
    expect(statuses).toEqual([500, 500, 200, 200]);
    expect((await ask(at('flaky/2/y?status=503'))).status).toBe(503);
  });

  it('redirect n times, anywhere, to another host, in a loop and to themselves', async () => {
    const next = async (path: string): Promise<string> => (await ask(at(path))).headers.location ?? 'none';
    expect(await next('redirect/3')).toBe('/_/redirect/2');
    expect(await next('redirect/1?status=308')).toBe('/_/redirect/0?status=308');
    expect((await ask(at('redirect/1?status=308'))).status).toBe(308);
    expect((await ask(at('redirect/0'))).status).toBe(200);
    expect(await next('redirect-to?url=http://10.0.0.1/%0d%0ax-a:b')).toBe('http://10.0.0.1/%0D%0Ax-a:b');
    expect(await next('redirect-host/2')).toBe(web.url(2));
    expect(await next('redirect-loop')).toBe('/_/redirect-loop/b');
    expect(await next('redirect-loop/b')).toBe('/_/redirect-loop');
    expect(await next('redirect-self')).toBe('/_/redirect-self');
    expect((await ask(at('redirect-self'), { headers: { cookie: 'passed=yes' } })).status).toBe(200);
  });

  it('echo the request', async () => {
    const echoed = JSON.parse(
      await text(at('echo?q=1'), { method: 'POST', body: 'héllo', headers: { 'x-mine': '1' } }),
    );
    expect(echoed).toMatchObject({ method: 'POST', url: '/_/echo?q=1', body: 'héllo', headers: { 'x-mine': '1' } });
  });

  it('set, delete and show cookies, and let members in', async () => {
    const set = await ask(at('cookies/set?a=1&b=x%20y'));
    expect(set.headers['set-cookie']).toEqual(['a=1; Path=/', 'b=x%20y; Path=/']);
    expect((await ask(at('cookies/delete?a='))).headers['set-cookie']?.[0]).toContain('Max-Age=0');
    expect(JSON.parse(await text(at('cookies'), { headers: { cookie: 'a=1; b=2' } }))).toEqual({ a: '1', b: '2' });
    const login = await ask(at('login'), { method: 'POST', body: 'user=Ann' });
    expect([login.status, login.headers.location]).toEqual([303, '/_/members']);
    const cookie = login.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    expect(await text(at('members'), { headers: { cookie } })).toContain('Hello Ann');
    expect((await ask(at('members'))).status).toBe(401);
    expect((await ask(at('auth/ann/secret'))).status).toBe(401);
    expect((await ask(at('auth/ann/secret'), { auth: 'ann:secret' })).status).toBe(200);
  });

  it('support conditional requests and chosen headers', async () => {
    expect((await ask(at('etag/v2'))).headers.etag).toBe('"v2"');
    expect((await ask(at('etag/v2'), { headers: { 'if-none-match': '"v2"' } })).status).toBe(304);
    const { headers } = await ask(at('last-modified'));
    expect(
      (await ask(at('last-modified'), { headers: { 'if-modified-since': headers['last-modified'] } })).status,
    ).toBe(304);
    expect((await ask(at('headers?x-robots-tag=noindex'))).headers['x-robots-tag']).toBe('noindex');
    expect((await ask(at('header-bytes/50000'))).headers['x-large']).toHaveLength(50_000);
  });
});

describe('special paths about content', () => {
  it('serve pages as the test writes them', async () => {
    expect(await text(at('page?title=A%26B&href=/x%3Fa=1%26b=2&href=y'))).toMatch(
      /<title>A&amp;B<\/title>[^]*<a href="\/x\?a=1&amp;b=2">[^]*<a href="y">/,
    );
    expect(await text(at('html?body=%3Cb%3E'))).toBe('<b>');
    expect(await text(at('meta-robots/noindex,nofollow'))).toContain('<meta name="robots" content="noindex,nofollow">');
    expect(await text(at('base?href=/deep/'))).toContain('<base href="/deep/">');
  });

  it.each([
    ['json', 'application/json'],
    ['xml', 'application/xml'],
    ['text', 'text/plain; charset=utf-8'],
    ['pdf', 'application/pdf'],
    ['image', 'image/png'],
    ['download/a.bin', 'application/octet-stream'],
    ['empty', 'text/html; charset=utf-8'],
    ['no-type', undefined],
  ])('/_/%s has the type %s', async (path, type) => {
    const reply = await ask(at(path));
    expect([reply.status, reply.headers['content-type']]).toEqual([200, type]);
    expect(reply.body.length > 0).toBe(path !== 'empty');
  });

  it('serve pages in legacy encodings, declared truly, falsely or not at all', async () => {
    const reply = await ask(at('charset/windows-1251'));
    expect(reply.headers['content-type']).toBe('text/html; charset=windows-1251');
    expect(new TextDecoder('windows-1251').decode(reply.body)).toContain('Привет, мир');
    const meta = await ask(at('charset/shift_jis?declare=meta'));
    expect(meta.headers['content-type']).toBe('text/html');
    expect(new TextDecoder('shift_jis').decode(meta.body)).toContain('<meta charset="shift_jis"><title>日本語');
    expect((await ask(at('charset/koi8-r?declare=wrong'))).headers['content-type']).toBe('text/html; charset=utf-8');
    expect(gunzipSync((await ask(at('encoded/gzip'))).body).toString()).toContain('In gzip');
  });
});

describe('special paths that misbehave', () => {
  it('send as many bytes as asked for, or without end', async () => {
    const reply = await ask(at('bytes/3000000'));
    expect([reply.body.length, reply.complete]).toEqual([3_000_000, true]);
    const endless = await ask(at('endless'), { maxBytes: 2_000_000 });
    expect(endless.body.length).toBeGreaterThan(2_000_000);
    const huge = await ask(at('bytes/100000000'), { maxBytes: 100_000 });
    expect(huge.headers['content-length']).toBe('100000000');
    await expect.poll(() => web.openRequests).toBe(0);
  });

  it('unpack to far more than they send', async () => {
    const bomb = await ask(at('gzip-bomb?mb=20'));
    expect(bomb.body.length).toBeLessThan(40_000);
    expect(gunzipSync(bomb.body)).toHaveLength(20 * 1024 * 1024);
  });

  it('break off, lie about their length, and send bad gzip', async () => {
    const cut = await ask(at('close-mid-body'));
    expect([cut.status, cut.complete, cut.body.length]).toEqual([200, false, 5000]);
    const lie = await ask(at('lying-length'));
    expect([lie.headers['content-length'], lie.body.length, lie.complete]).toEqual(['10000', 5000, false]);
    await expect(ask(at('lying-length?claim=10&send=50'))).rejects.toThrow(/Parse Error/);
    for (const how of ['garbage', 'truncated', 'checksum']) {
      const bad = await ask(at(`bad-gzip?how=${how}`));
      expect(bad.headers['content-encoding']).toBe('gzip');
      expect(() => gunzipSync(bad.body)).toThrow();
    }
    const slow = await ask(at('drip/300/2000'));
    expect(slow.body).toHaveLength(300);
  });

  it('reset, close, or speak something else than HTTP', async () => {
    await expect(ask(at('reset'))).rejects.toMatchObject({ code: 'ECONNRESET' });
    await expect(ask(at('close'))).rejects.toThrow();
    await expect(ask(at('garbage'))).rejects.toThrow(/Parse Error/);
    await expect(ask(at('hang'), { signal: AbortSignal.timeout(50) })).rejects.toThrow();
  });

  it('survive malformed arguments', async () => {
    for (const path of [
      'meta-robots/%E0%A4%A',
      'status/abc',
      'redirect/-1',
      'bytes/x',
      'delay/',
      'charset/%00',
      '429?after=x',
    ]) {
      expect((await ask(at(path))).status).toBeGreaterThan(0);
    }
    expect((await ask(at('members'), { headers: { cookie: 'session=%E0%A4%A' } })).status).toBe(400);
    expect((await ask(at('json'))).status).toBe(200);
  });
});

describe('hosts with a fault', () => {
  const host = (fault: (typeof HOST_FAULTS)[number]): string => web.url(HOST_FAULTS.indexOf(fault) + 1);

  it.each([
    ['refuse', 'ECONNREFUSED'],
    ['reset', 'ECONNRESET'],
    ['garbage', 'HPE_INVALID_CONSTANT'],
  ] as const)('%s fails with %s', async (fault, code) => {
    await expect(ask(host(fault))).rejects.toMatchObject({ code });
  });

  it('count the connections that they reset', async () => {
    const before = web.served(2);
    await expect(ask(host('reset'))).rejects.toThrow();
    expect(web.served(2)).toBe(before + 1);
    expect(web.requests({ host: 2 }).at(-1)).toMatchObject({ method: '(connect)', status: 0 });
  });

  it('break their pages in each way, but serve robots.txt when only pages are broken', async () => {
    expect((await ask(host('close-mid-body'))).complete).toBe(false);
    expect((await ask(host('lying-length'))).complete).toBe(false);
    expect((await ask(host('endless'), { maxBytes: 500_000 })).body.length).toBeGreaterThan(500_000);
    expect((await ask(host('bad-gzip'))).headers['content-encoding']).toBe('gzip');
    expect((await ask(host('wrong-charset'))).body.toString()).toContain('\ufffd');
    expect((await ask(host('huge'), { maxBytes: 1 })).headers['content-length']).toBe('100000000');
    await expect(ask(host('hang'), { signal: AbortSignal.timeout(50) })).rejects.toThrow();
    expect((await ask(`${host('endless')}robots.txt`)).body.toString()).toContain('User-agent');
  });

  it('are in no seed and not in the map', () => {
    expect(web.seeds()).toEqual([web.url(0)]);
    expect(new Set([...web.map()].map((entry) => entry.host))).toEqual(new Set([0]));
  });
});
