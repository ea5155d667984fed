// Secrets in a real browser: passwords that one visit gave and the next must not have, what a page of before can catch
// of an order, proxy passwords, and who may connect through the browser's relay.
import { spawnSync } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDeadline } from '../../src/fetch/browser/deadline.js';
import { openDocumentGate } from '../../src/fetch/browser/document-gate.js';
import { navigate } from '../../src/fetch/browser/navigate.js';
import { type BrowserPool, type BrowserPoolOptions, createBrowserPool } from '../../src/fetch/browser/pool.js';
import { createGuardRelay } from '../../src/fetch/browser/relay/guard-relay.js';
import { type CrawlError, WebCrawler } from '../../src/index.js';
import { browserPath, launchPlan, serveSite, shellPath, type Site } from '../support/browser.js';

const ALICE = `Basic ${Buffer.from('alice:canary-pw').toString('base64')}`;

/** Whoever asks for it with Alice's password sees her page. */
function asAlice({ headers }: IncomingMessage, response: ServerResponse): void {
  const isAlice = headers.authorization === ALICE;
  response
    .writeHead(isAlice ? 200 : 401, { 'content-type': 'text/html', 'www-authenticate': 'Basic realm="own"' })
    .end(`<title>${isAlice ? 'of Alice' : 'of nobody'}</title>`);
}

/** A method, a payload and headers in a title: what the server was told. */
function told(request: IncomingMessage, response: ServerResponse): void {
  let body = '';
  request.on('data', (chunk: Buffer) => (body += chunk.toString()));
  request.on('end', () => {
    heard.push(`${request.method} ${request.url} ${body} ${request.headers['x-secret'] ?? '-'}`);
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>told</title>');
  });
}
let heard: string[] = [];

describe.skipIf(browserPath === undefined)('secrets in a browser', () => {
  let pool: BrowserPool;
  let site: Site;
  let other: Site;
  const open = (rest: Partial<BrowserPoolOptions> = {}) =>
    (pool = createBrowserPool({
      launch: launchPlan({ executablePath: shellPath }),
      guard: { allowPrivateAddresses: ['127.0.0.0/8'] },
      ...rest,
    }));

  beforeEach(async () => {
    heard = [];
    other = await serveSite({}, told);
    const login = `x.open('GET', '/private', true, 'alice', 'canary-pw'); x.onload = () => { done('in') }; x.send()`;
    site = await serveSite({
      '/': '<title>home</title>',
      '/private': asAlice,
      '/xhr': `<script>const done = (t) => (document.title = t); const x = new XMLHttpRequest(); ${login}</script>`,
      '/worker': `<script>new Worker(URL.createObjectURL(new Blob([\`const done = postMessage.bind(self);
        const x = new XMLHttpRequest(); ${login.replace("'/private'", "location.origin + '/private'")}\`])))
        .onmessage = ({ data }) => (document.title = data)</script>`,
      '/take': told,
      '/moved': (_request, response) => response.writeHead(307, { location: `${other.url}/moved` }).end(),
    });
  });
  afterEach(async () => {
    await pool?.close();
    await Promise.all([site.close(), other.close()]);
  });

  const titleOf = (url: string, identity?: string, wanted?: string) =>
    pool.lend({ identity }, async ({ page }) => {
      await page.goto(url).catch(() => undefined);
      if (wanted) await page.waitForFunction(`document.title === '${wanted}'`);
      return page.title();
    });

  it.each([
    ['in a URL', (url: string) => titleOf(`${url.replace('://', '://alice:canary-pw@')}/private`), 'of Alice'],
    ['by a script', (url: string) => titleOf(`${url}/xhr`, undefined, 'in'), 'in'],
    ['by a worker', (url: string) => titleOf(`${url}/worker`, undefined, 'in'), 'in'],
    [
      'to its context',
      (url: string) =>
        pool.lend({}, async ({ page }) => {
          await page.context().setHTTPCredentials({ username: 'alice', password: 'canary-pw' });
          await page.goto(`${url}/private`);
          return page.title();
        }),
      'of Alice',
    ],
    [
      'as a header of its context',
      (url: string) =>
        pool.lend({}, async ({ page }) => {
          await page.context().setExtraHTTPHeaders({ authorization: ALICE });
          await page.goto(`${url}/private`);
          return page.title();
        }),
      'of Alice',
    ],
  ])('a password that a stranger gave %s is not the next one’s', async (way, login, title) => {
    // Once in Chromium itself.
    open(way === 'in a URL' ? { launch: launchPlan() } : {});
    expect(await titleOf(`${site.url}/`)).toBe('home');
    expect(await login(site.url)).toBe(title);
    expect(await titleOf(`${site.url}/private`)).not.toBe('of Alice');
  });

  it('keeps the password of an identity for its own visits, and pages of strangers without one', async () => {
    open();
    const own = `${site.url.replace('://', '://alice:canary-pw@')}/private`;
    expect(await titleOf(own, 'alice')).toBe('of Alice');
    expect(await titleOf(`${site.url}/private`, 'alice')).toBe('of Alice');
    expect(await titleOf(`${site.url}/private`, 'ben')).not.toBe('of Alice');
    const pages = new Set<unknown>();
    for (let turn = 0; turn < 3; turn++) await pool.lend({}, async ({ page }) => pages.add(page));
    expect(pages.size).toBe(1);
  });

  it('the payload, method and headers of an order go to its origin, whatever the page of before asks for', async () => {
    open();
    const post = {
      url: `${site.url}/take`,
      method: 'POST',
      payload: 'canary-body',
      headers: { 'x-secret': 'canary-header' },
      redirects: 'follow' as const,
      maxRedirects: 3,
    };
    const load = (order: Parameters<typeof navigate>[1]) =>
      pool.lend({ identity: 'ann' }, async (lent) => {
        const deadline = createDeadline(60_000, order.url, new AbortController().signal);
        try {
          return await navigate(lent, order, {}, deadline, pool.relay);
        } finally {
          deadline.end();
        }
      });
    // A document that still runs asks for another when the order's gate is open and its own request is yet to come.
    await pool.lend({ identity: 'ann' }, async (lent) => {
      await lent.page.goto(`${site.url}/`);
      const gate = await openDocumentGate(lent, post);
      const isCaught = lent.page.waitForURL(`${other.url}/caught`);
      await lent.page.evaluate(`location.href = '${other.url}/caught'`);
      await isCaught;
      await lent.page.goto(post.url);
      await gate?.close();
    });
    expect(heard).toEqual(['GET /caught  -', 'POST /take canary-body canary-header']);
    await expect(load({ ...post, url: `${site.url}/moved` })).rejects.toMatchObject({ code: 'REDIRECT_INVALID' });
    expect(heard.filter((line) => line.includes('/moved'))).toEqual([]);
  });

  it('a proxy’s password is not given to a site that asks for one', async () => {
    const asked: string[] = [];
    const proxy = createServer((request, response) => {
      asked.push(`${request.headers['proxy-authorization'] ?? '-'} ${request.headers.authorization ?? '-'}`);
      if (request.headers['proxy-authorization'] === undefined) {
        return void response.writeHead(407, { 'proxy-authenticate': 'Basic realm="proxy"' }).end();
      }
      response.writeHead(401, { 'www-authenticate': 'Basic realm="site"' }).end('no');
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    try {
      for (const guard of [false, { allowPrivateAddresses: ['127.0.0.0/8'] }] as const) {
        asked.length = 0;
        open({ guard });
        await pool.lend({ proxyUrl: `http://user:canary-proxy@127.0.0.1:${port}` }, async ({ page }) => {
          await page.goto('http://site.example/').catch(() => undefined);
        });
        await pool.close();
        const known = `Basic ${Buffer.from('user:canary-proxy').toString('base64')}`;
        expect(asked).toContain(`${known} -`);
        expect(asked.filter((line) => line.split(' ').slice(-1)[0] !== '-')).toEqual([]);
      }
    } finally {
      proxy.closeAllConnections();
      proxy.close();
    }
  });
});

const isRoot = process.getuid?.() === 0 && process.platform === 'linux';
// eslint-disable-next-line no-console -- a skipped test says why
if (!isRoot) console.warn('whether another user can use the relay is not tested: that needs Linux and root');

describe('the address of a running browser', () => {
  it('is in no error beyond its host: it may hold a token', async () => {
    // As services do that know no such token.
    const rented = await serveSite({}, (_request, response) => response.writeHead(401).end('who?'));
    const { host } = new URL(rented.url);
    const addresses = [
      `http://me:canary-pw@${host}/canary-path?token=canary-token`,
      `ws://${host}/canary-path?token=canary-token`,
      `http://127.0.0.1:1/canary-path?token=canary-token`,
    ];
    for (const cdpUrl of addresses) {
      const refused = await WebCrawler.open({ engine: 'browser', browser: { cdpUrl } }).catch(
        (error: unknown) => error,
      );
      expect(refused).toMatchObject({ code: 'BROWSER_FAILED' });
      const { message: said, stack } = refused as CrawlError;
      expect(said).toContain(`no browser answers at ${new URL(cdpUrl).protocol}//${new URL(cdpUrl).host}`);
      expect(`${said} ${stack}`).not.toContain('canary');
    }
    await rented.close();
  });
});

describe.skipIf(!isRoot)('the relay of a browser', () => {
  const NOBODY = 65_534;
  /** Without NODE_OPTIONS: they name a file of the checkout, which another user may not be able to read. */
  const apart = { cwd: '/', env: { PATH: process.env.PATH } };
  const client = `
    const { connect } = require('node:net');
    const [port, ...hex] = process.argv.slice(1);
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(Buffer.from(hex[0], 'hex')));
    let got = '';
    socket.on('data', (bytes) => { got += bytes.toString('latin1'); if (hex[1]) socket.write(Buffer.from(hex.pop(), 'hex')); });
    socket.on('error', () => undefined);
    socket.on('close', () => { process.stdout.write(got); process.exit(); });
    setTimeout(() => socket.end(), 2000);`;

  /** What a process of a user gets for some bytes. */
  const answerTo = async (uid: number, address: string, ...bytes: string[]) => {
    const { spawn } = await import('node:child_process');
    const hex = bytes.map((text) => Buffer.from(text, 'latin1').toString('hex'));
    const child = spawn(process.execPath, ['-e', client, new URL(address).port, ...hex], { ...apart, uid });
    let out = '';
    child.stdout.setEncoding('latin1').on('data', (text: string) => (out += text));
    await new Promise((resolve) => child.on('close', resolve));
    return out;
  };

  it('connects its own user and no other, directly and through a proxy with a password', async () => {
    expect(spawnSync(process.execPath, ['-e', '1'], { ...apart, uid: NOBODY }).status).toBe(0);
    const secrets: string[] = [];
    const proxy = createServer((request, response) => {
      secrets.push(request.headers['proxy-authorization'] ?? '-');
      response.end('through the proxy');
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    const relay = createGuardRelay();
    relay.allowHost(`http://127.0.0.1:${port}/`);
    const ports = String.fromCharCode(port >> 8, port & 255);
    const direct = await relay.serverFor(undefined);
    const proxied = await relay.serverFor(`http://user:canary@127.0.0.1:${port}`);
    const socks = ['\x05\x01\x00', `\x05\x01\x00\x01\x7f\x00\x00\x01${ports}`];
    const plain = 'GET http://site.example/ HTTP/1.1\r\nhost: site.example\r\nconnection: close\r\n\r\n';
    try {
      expect(await answerTo(0, direct, ...socks)).toContain('\x05\x00\x05\x00');
      expect(await answerTo(0, proxied, plain)).toContain('through the proxy');
      expect(secrets).toHaveLength(1);
      expect(await answerTo(NOBODY, direct, ...socks)).toBe('');
      expect(await answerTo(NOBODY, proxied, plain)).toBe('');
      expect(secrets).toHaveLength(1);
    } finally {
      await relay.close();
      proxy.closeAllConnections();
      proxy.close();
    }
  });
});
