// The address guard where it counts: a private server listens and must never see a connection, for any
// URL, redirect or name leads to it; what is allowed or seeded gets through.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemTime } from '../../src/crawl/time.js';
import type { Listening } from './http-fixtures.js';
import { createRobotsReader } from '../../src/crawl/polite/robots-reader.js';
import { fetchText, fixtures } from './http-fixtures.js';

const { serve, engine, closeAll } = fixtures();
let victim: Listening;
beforeEach(async () => {
  victim = await serve((_request, response) => response.end('secret'));
});
afterEach(closeAll);

const SPELLINGS = [
  '127.0.0.1',
  '2130706433',
  '0x7f000001',
  '017700000001',
  '0177.0.0.1',
  '0x7f.0.0.1',
  '127.1',
  '127.0.1',
  '127.0.0.1.',
  '127.255.255.254',
  '①②⑦.0.0.1',
  '127。0。0。1',
  '%31%32%37.0.0.1',
  '0.0.0.0',
  '0',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '2852039166',
  '0xA9FEA9FE',
  '100.64.0.1',
  '198.18.0.1',
  '192.0.0.192',
  '224.0.0.1',
  '255.255.255.255',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::1]',
  '[2002:7f00:1::]',
  '[2001:0:4136:e378:8000:63bf:3fff:fdd2]',
  '[fe80::1]',
  '[fec0::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[ff02::1]',
  '0x7f.1',
  '0177.1',
  '127.65534',
  '127.0.0x1',
  '１２７.0.0.1',
  '127.0.0.1%2e',
  '0x0a.0.0.1',
  '167772161',
  '3232235777',
  '0251.0376.0251.0376',
  '169.254.43518',
  '168.63.129.16',
  '240.0.0.1',
  '192.88.99.1',
  '[::ffff:a9fe:a9fe]',
  '[::ffff:0:10.1.1.1]',
  '[64:ff9b::a9fe:a9fe]',
  '[2002:c0a8:101::1]',
  '[2a00:1450::5efe:a00:1]',
  '[0000:0000:0000:0000:0000:ffff:7f00:0001]',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'a.localhost',
];

describe('private targets are refused', () => {
  it.each(SPELLINGS)('at http://%s/', async (host) => {
    const error = await fetchText(engine({ allowPrivateAddresses: false }), `http://${host}:${victim.port}/`).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({
      code: 'ADDRESS_REFUSED',
      message: expect.stringMatching(/allowPrivateAddresses.*from-crawlee\.md/),
    });
    expect(victim.accepted()).toBe(0);
  });

  it('where a robots.txt was moved to, in every spelling', async () => {
    const readRobots = createRobotsReader({
      time: systemTime,
      engine: engine({ allowPrivateAddresses: false }),
      userAgentFor: () => 'bot',
      timeoutMs: 5_000,
      ignoreTlsErrors: false,
      proxyUrl: async () => undefined,
    });
    for (const host of SPELLINGS) {
      const { answer } = await readRobots(`http://${host}:${victim.port}/robots.txt`, new AbortController().signal);
      expect(answer, host).toMatchObject({ kind: 'failure', code: 'ADDRESS_REFUSED' });
    }
    expect(victim.accepted()).toBe(0);
  });

  it.each(['127.0.0.1', '::1', '10.1.2.3', '::ffff:127.0.0.1', '64:ff9b::a00:1'])(
    'behind a name that resolves to %s',
    async (address) => {
      const http = engine({ allowPrivateAddresses: false, resolve: async () => ({ addresses: [address] }) });
      await expect(fetchText(http, `http://public.example:${victim.port}/`)).rejects.toMatchObject({
        code: 'ADDRESS_REFUSED',
        message: expect.stringContaining(address),
      });
      expect(victim.accepted()).toBe(0);
    },
  );

  it('behind a redirect, in every spelling', async () => {
    const locations = SPELLINGS.map((host) => `http://${host}:${victim.port}/`);
    const open = await serve((request, response) =>
      response
        .writeHead(302, { location: Buffer.from(locations[Number(request.url!.slice(1))]!).toString('latin1') })
        .end(),
    );
    const http = engine({ allowPrivateAddresses: false });
    http.allowHost(`127.0.0.1:${open.port}`);
    for (let index = 0; index < locations.length; index++) {
      await expect(fetchText(http, `${open.url}/${index}`)).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
    }
    expect(open.accepted()).toBeGreaterThan(0);
    expect(victim.accepted()).toBe(0);
  });

  it('when a name is rebound between check and connection: there is one resolution, and it is the one used', async () => {
    // 198.51.100.1 stands in for a public address in the allow-list; nothing answers there.
    const answers = ['198.51.100.1', '127.0.0.1'];
    let asked = 0;
    const http = engine({
      allowPrivateAddresses: ['198.51.100.0/24'],
      connectTimeoutMs: 200,
      resolve: async () => ({ addresses: [answers[Math.min(asked++, 1)]!] }),
    });
    const url = `http://rebind.example:${victim.port}/`;
    await expect(fetchText(http, url)).rejects.toMatchObject({ code: expect.stringMatching(/^CONNECT_/) });
    expect(asked).toBe(1);
    await expect(fetchText(http, url)).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
    expect(victim.accepted()).toBe(0);
  });

  it('with a proxy too, as far as the URL spells them', async () => {
    const proxy = await serve((_request, response) => response.end('proxied'));
    const http = engine({ allowPrivateAddresses: false });
    for (const host of SPELLINGS) {
      const visit = fetchText(http, `http://${host}/`, { proxyUrl: proxy.url });
      await expect(visit).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
    }
    expect(proxy.accepted()).toBe(0);
    expect((await fetchText(http, 'http://public.example/', { proxyUrl: proxy.url })).text).toBe('proxied');
  });
});

describe('allowed targets are reached', () => {
  it('by range', async () => {
    const http = engine({ allowPrivateAddresses: ['127.0.0.0/8'] });
    expect((await fetchText(http, victim.url)).text).toBe('secret');
    await expect(fetchText(http, 'http://10.0.0.1/')).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
  });

  it('by seed: that host and port, and nothing a redirect reaches from there', async () => {
    const other = await serve((_request, response) => response.end('other'));
    const seed = await serve((_request, response) => response.writeHead(302, { location: other.url }).end());
    const http = engine({ allowPrivateAddresses: false });
    http.allowHost(`${seed.url}/some/page`);
    await expect(fetchText(http, seed.url)).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
    expect(seed.accepted()).toBe(1);
    expect(other.accepted()).toBe(0);
  });

  it('by the public addresses of a name that also has private ones', async () => {
    const http = engine({
      allowPrivateAddresses: ['127.0.0.1/32'],
      resolve: async () => ({ addresses: ['10.0.0.1', '127.0.0.1', '::1'] }),
    });
    expect((await fetchText(http, `http://mixed.example:${victim.port}/`)).text).toBe('secret');
  });

  it('as localhost without asking any resolver', async () => {
    const http = engine({ resolve: () => Promise.reject(new Error('must not be asked')) });
    http.allowHost(`localhost:${victim.port}`);
    expect((await fetchText(http, `http://localhost:${victim.port}/`)).text).toBe('secret');
    expect((await fetchText(http, `http://a.localhost:${victim.port}/`)).text).toBe('secret');
  });
});
