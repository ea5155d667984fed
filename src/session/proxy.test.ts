// Unit tests of the choice of proxies.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProxyConfiguration } from './proxy.js';
import type { ProxyConfigurationOptions, ProxyRequest } from './proxy.js';
import { createProxyTiers } from './proxy-tiers.js';
import { createRecentMap } from '../base/recent-map.js';

const PROXIES = ['http://p1.example:8001', 'http://p2.example:8002', 'http://p3.example:8003'];

describe('ProxyConfiguration', () => {
  it('uses the list in turn', async () => {
    const proxies = new ProxyConfiguration({ proxyUrls: PROXIES });
    const used = [];
    for (let turn = 0; turn < 4; turn++) used.push(await proxies.newUrl());
    expect(used).toEqual([...PROXIES, PROXIES[0]]);
  });

  it('keeps the proxy of a session', async () => {
    const proxies = new ProxyConfiguration({ proxyUrls: PROXIES });
    const [a, b] = [await proxies.newUrl('a'), await proxies.newUrl('b')];
    expect(a).not.toBe(b);
    for (let turn = 0; turn < 5; turn++) {
      await proxies.newUrl();
      expect([await proxies.newUrl('a'), await proxies.newUrl('b')]).toEqual([a, b]);
    }
    expect(await proxies.newUrl(7)).toBe(await proxies.newUrl('7'));
  });

  it('asks the newUrl of a derived class for crawls too', async () => {
    const asked: unknown[] = [];
    class Own extends ProxyConfiguration {
      override async newUrl(...given: Parameters<ProxyConfiguration['newUrl']>): Promise<string | undefined> {
        asked.push(given);
        return given[0] === 'direct' ? undefined : 'http://mine.example:3128';
      }
    }
    const proxies = new Own({ proxyUrls: PROXIES });
    const request = { url: 'https://a.example/' };
    expect((await proxies.newProxyInfo('s1', { request }))?.hostname).toBe('mine.example');
    expect(await proxies.newProxyInfo('direct')).toBeUndefined();
    expect(asked).toEqual([
      ['s1', { request }],
      ['direct', undefined],
    ]);
    class Wrong extends ProxyConfiguration {
      override newUrl = async () => 'secret@nowhere';
    }
    await expect(new Wrong({ proxyUrls: PROXIES }).newProxyInfo()).rejects.toThrow(
      'the result of newUrl() is not a URL',
    );
  });

  it('gives the parts of the URL', async () => {
    const proxies = new ProxyConfiguration({
      proxyUrls: ['http://us%40er:p%3Aw@proxy.example:3128', 'https://tls.example'],
    });
    expect(await proxies.newProxyInfo('s1')).toEqual({
      sessionId: 's1',
      url: 'http://us%40er:p%3Aw@proxy.example:3128',
      hostname: 'proxy.example',
      port: '3128',
      username: 'us@er',
      password: 'p:w',
    });
    expect(await proxies.newProxyInfo()).toEqual({
      url: 'https://tls.example',
      hostname: 'tls.example',
      port: '443',
      username: '',
      password: '',
    });
  });

  it('takes null as a direct connection', async () => {
    const proxies = new ProxyConfiguration({ proxyUrls: [null, PROXIES[0]!] });
    expect(await proxies.newUrl('direct')).toBeUndefined();
    expect(await proxies.newProxyInfo('direct')).toBeUndefined();
    expect(await proxies.newUrl('other')).toBe(PROXIES[0]);
  });

  it('asks newUrlFunction with session and request', async () => {
    const asked: unknown[] = [];
    const proxies = new ProxyConfiguration({
      newUrlFunction: async (sessionId, options) => {
        asked.push([sessionId, options?.request?.url]);
        return sessionId === 'none' ? null : PROXIES[1]!;
      },
    });
    expect(await proxies.newUrl('s', { request: { url: 'https://a.example/' } })).toBe(PROXIES[1]);
    expect(await proxies.newProxyInfo('none')).toBeUndefined();
    expect(asked).toEqual([
      ['s', 'https://a.example/'],
      ['none', undefined],
    ]);
  });

  it('names newUrlFunction when it fails or gives no URL, without repeating what it gave', async () => {
    const failing = new ProxyConfiguration({ newUrlFunction: () => Promise.reject(new Error('api down')) });
    await expect(failing.newUrl('s')).rejects.toMatchObject({
      code: 'OPTION_INVALID',
      cause: new Error('api down'),
      message: expect.stringContaining('newUrlFunction'),
    });
    const wrong = new ProxyConfiguration({ newUrlFunction: () => 'user:secret@host' });
    const error = await wrong.newUrl('s').catch((reason: Error) => reason);
    expect(String(error)).toContain('newUrlFunction');
    expect(String(error)).not.toContain('secret');
  });

  it.each([
    [{}, /give proxyUrls, newUrlFunction or tieredProxyUrls \(see docs\/from-crawlee\.md\)/],
    [{ proxyUrls: [] }, /proxyUrls must be a non-empty list/],
    [{ proxyUrls: 'http://u:secret@p.example' }, /proxyUrls must be a non-empty list/],
    [{ proxyUrls: ['http://p.example', 'secret'] }, /proxyUrls\[1\] is not a URL/],
    [
      { proxyUrls: ['socks4://u:secret@p.example'] },
      /proxyUrls\[0\] must be an http, https, socks5 or socks5h URL, got socks4:/,
    ],
    [{ proxyUrls: PROXIES, newUrlFunction: () => null }, /proxyUrls and newUrlFunction cannot be combined/],
    [{ tieredProxyUrls: [['http://p.example'], []] }, /tieredProxyUrls\[1\] must be a non-empty list/],
    [{ tieredProxyUrls: [[7]] }, /tieredProxyUrls\[0\]\[0\] is not a URL/],
    [{ newUrlFunction: 'x' }, /"newUrlFunction" must be a function/],
    [{ urls: PROXIES }, /no option "urls"/],
  ])('refuses %j by name and never shows a password', (options, message) => {
    const make = () => new ProxyConfiguration(options as ProxyConfigurationOptions);
    expect(make).toThrow(expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringMatching(message) }));
    expect(make).not.toThrow(/secret/);
  });
});

describe('tiers of proxies', () => {
  const tieredProxyUrls = PROXIES.map((url) => [url]);
  const visit = async (proxies: ProxyConfiguration, request: ProxyRequest) =>
    (await proxies.newProxyInfo('s', { request }))!.proxyTier;

  it('moves a domain up when a request comes again, and leaves other domains where they are', async () => {
    const proxies = new ProxyConfiguration({ tieredProxyUrls });
    const tiers = [];
    for (let retryCount = 0; retryCount < 4; retryCount++) {
      tiers.push(await visit(proxies, { url: 'https://hard.example/1', uniqueKey: 'k1', retryCount }));
    }
    expect(tiers).toEqual([0, 1, 2, 2]);
    expect(await visit(proxies, { url: 'https://hard.example/2', uniqueKey: 'k2' })).toBe(2);
    expect(await visit(proxies, { url: 'https://easy.example/', uniqueKey: 'k3' })).toBe(0);
  });

  it('takes the same request object asking again as a failure too', async () => {
    const proxies = new ProxyConfiguration({ tieredProxyUrls });
    const request = { url: 'https://hard.example/1' };
    expect([await visit(proxies, request), await visit(proxies, request)]).toEqual([0, 1]);
  });

  it('counts a changed session as another attempt', async () => {
    const proxies = new ProxyConfiguration({ tieredProxyUrls });
    const request = { url: 'https://hard.example/1', uniqueKey: 'k', retryCount: 0 };
    await visit(proxies, { ...request, sessionRotationCount: 0 });
    expect(await visit(proxies, { ...request, sessionRotationCount: 1 })).toBe(1);
  });

  it('does not take the first attempt of a later crawl for a failure', async () => {
    const proxies = new ProxyConfiguration({ tieredProxyUrls });
    for (let crawl = 0; crawl < 5; crawl++) {
      expect(await visit(proxies, { url: 'https://a.example/', uniqueKey: 'k', retryCount: 0 })).toBe(0);
    }
  });

  it('gives one of the tier that is asked for, whatever the domain had', async () => {
    const proxies = new ProxyConfiguration({ tieredProxyUrls: [[null], ['http://a.example:1', 'http://b.example:2']] });
    expect(await proxies.newProxyInfo('s', { proxyTier: 1 })).toMatchObject({
      url: 'http://a.example:1',
      proxyTier: 1,
    });
    expect(await proxies.newUrl('s', { proxyTier: 1 })).toBe('http://a.example:1');
    await expect(proxies.newUrl('s', { proxyTier: 2 })).rejects.toThrow('there is no tier 2 of 2');
  });

  it('tries the cheaper tier again with one request, and returns to it when that went well', () => {
    const tiers = createProxyTiers(2);
    expect(tiers.next('a')).toBe(0);
    tiers.failed('a', 0);
    const after = Array.from({ length: 30 }, () => tiers.next('a'));
    expect(after.indexOf(0)).toBe(9);
    expect(after.slice(0, 20)).toEqual([...Array(9).fill(1), 0, ...Array(9).fill(1), 0]);
    expect(after.slice(20)).toEqual(Array(10).fill(0));
  });

  it('waits twice as long after each trial that failed', () => {
    const tiers = createProxyTiers(2);
    tiers.next('a');
    tiers.failed('a', 0);
    const waits: number[] = [];
    for (let wait = 1; waits.length < 8; wait++) {
      if (tiers.next('a') === 1) continue;
      tiers.failed('a', 0);
      waits.push(wait);
      wait = 0;
    }
    expect(waits).toEqual([10, 20, 40, 80, 160, 320, 640, 640]);
  });

  it('counts failures that come together once', () => {
    const tiers = createProxyTiers(3);
    for (let request = 0; request < 50; request++) tiers.next('a');
    for (let request = 0; request < 50; request++) tiers.failed('a', 0);
    expect(tiers.next('a')).toBe(1);
  });

  it('are taken in turn when no request tells the domain', async () => {
    const [one, two, three] = PROXIES as [string, string, string];
    const proxies = new ProxyConfiguration({ tieredProxyUrls: [[one, two], [three]] });
    const taken = [];
    for (let turn = 0; turn < 4; turn++) taken.push(await proxies.newUrl('s'));
    expect(taken).toEqual([one, two, three, one]);
    expect(await proxies.newProxyInfo()).not.toHaveProperty('proxyTier');
  });

  it('keeps a session on one proxy within a tier', async () => {
    const proxies = new ProxyConfiguration({ tieredProxyUrls: [PROXIES, [PROXIES[0]!]] });
    const request = (id: number) => ({ request: { url: 'https://a.example/', uniqueKey: String(id) } });
    const first = await proxies.newUrl('s', request(1));
    await proxies.newUrl('t', request(2));
    expect(await proxies.newUrl('s', request(3))).toBe(first);
  });
});

describe('the map of recent entries', () => {
  it('agrees with a plain list of the least recently used, whatever happens', () => {
    const operation = fc.tuple(fc.constantFrom('get', 'set', 'delete'), fc.integer({ min: 0, max: 6 }));
    fc.assert(
      fc.property(fc.array(operation), (operations) => {
        const map = createRecentMap<number, string>(3);
        let model: number[] = [];
        for (const [what, key] of operations) {
          if (what === 'get') {
            expect(map.get(key) !== undefined).toBe(model.includes(key));
            if (model.includes(key)) model = [...model.filter((other) => other !== key), key];
          } else {
            model = model.filter((other) => other !== key);
            if (what === 'set') {
              map.set(key, `value of ${key}`);
              model = [...model, key].slice(-3);
            } else map.delete(key);
          }
          expect(map.size).toBe(model.length);
        }
      }),
    );
  });
});
