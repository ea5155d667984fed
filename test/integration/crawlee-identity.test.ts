// Looking like a browser: generated headers, fingerprints and the TLS of browsers, by the real packages. Off by default,
// refused where robots.txt is obeyed under another name, and never a way around the address guard or the limits.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  Browser,
  CheerioCrawler,
  Configuration,
  gotScraping,
  HttpCrawler,
  ImpitHttpClient,
  PlaywrightCrawler,
} from '../../src/crawlee/entry.js';
import { createClientEngine } from '../../src/crawlee/http/client-engine.js';
import type { FetchOrder } from '../../src/fetch/engine.js';
import { createHttpEngine } from '../../src/fetch/http/engine.js';
import { browserPath } from '../support/browser.js';

const config = () => new Configuration({ persistStorage: false });
const quiet = { maxRequestRetries: 0, retryDelayMs: 0 };
const CHROME = /Chrome\/\d+/;
const OURS = /compatible; orcrawl\//;

let web: Server;
let origin: string;
let port: number;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
const seen: IncomingMessage[] = [];
const servers: Server[] = [];
beforeEach(async () => {
  seen.length = 0;
  answer = (_request, response) => response.setHeader('content-type', 'text/html').end('<title>real</title>');
  web = createServer((request, response) => {
    seen.push(request);
    answer(request, response);
  });
  ({ origin, port } = await listen(web));
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((done) => server.close(done))));
});

async function listen(server: Server, host = '127.0.0.1'): Promise<{ origin: string; port: number }> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  servers.push(server);
  const { port: at } = server.address() as AddressInfo;
  return { origin: `http://${host}:${at}`, port: at };
}

async function errorsOf(run: (failed: (error: Error) => void) => Promise<unknown>): Promise<string[]> {
  const errors: string[] = [];
  await run((error) => errors.push((error as Error & { code?: string }).code ?? error.message));
  return errors;
}

describe('generated headers', () => {
  it('are off by default', async () => {
    await new HttpCrawler({ ...quiet, requestHandler: () => undefined }, config()).run([origin]);
    await gotScraping({ url: origin });
    expect(seen.map(({ headers }) => headers['user-agent'])).toEqual([
      expect.stringMatching(OURS),
      expect.stringMatching(OURS),
    ]);
  });

  it('are those of one browser per session, for pages and sendRequest, and leave codings to the engine', async () => {
    answer = (_request, response) =>
      response
        .setHeader('content-type', 'text/html')
        .setHeader('content-encoding', 'gzip')
        .end(gzipSync('<title>coded</title>'));
    const titles: string[] = [];
    const crawler = new CheerioCrawler(
      {
        ...quiet,
        maxConcurrency: 1,
        useHeaderGenerator: true,
        headerGeneratorOptions: { browsers: ['firefox'], operatingSystems: ['linux'] },
        sessionPoolOptions: { maxPoolSize: 1 },
        async requestHandler({ $, sendRequest }) {
          titles.push($('title').text(), String((await sendRequest({ url: `${origin}/sent` })).body));
        },
      },
      config(),
    );
    await crawler.run([{ url: `${origin}/a`, headers: { 'x-own': '1' } }, `${origin}/b`]);
    expect(titles).toEqual(Array<string[]>(2).fill(['coded', '<title>coded</title>']).flat());
    const agents = new Set(seen.map(({ headers }) => headers['user-agent']));
    expect([...agents]).toEqual([expect.stringMatching(/Linux.*Firefox\/\d+/)]);
    expect(seen[0]!.headers).toMatchObject({ 'x-own': '1', 'sec-fetch-mode': 'navigate' });
    expect(seen[0]!.headers['accept-encoding']).toMatch(/^gzip, deflate, br/);
  });

  it('can be asked for by a hook, a handler and gotScraping; what they choose themselves stays', async () => {
    const crawler = new HttpCrawler(
      {
        ...quiet,
        preNavigationHooks: [
          (_context, options) => {
            options.useHeaderGenerator = true;
            options.headerGeneratorOptions = { browsers: ['chrome'] };
            options.headers['accept-language'] = 'de-CH';
          },
        ],
        async requestHandler({ sendRequest }) {
          await sendRequest({ url: `${origin}/plain` });
          await sendRequest({ url: `${origin}/chosen`, headerGeneratorOptions: { browsers: ['firefox'] } });
        },
      },
      config(),
    );
    await crawler.run([`${origin}/page`]);
    await gotScraping({ url: `${origin}/got`, useHeaderGenerator: true });
    const agents = Object.fromEntries(seen.map(({ url, headers }) => [url, headers['user-agent']]));
    expect(agents).toEqual({
      '/page': expect.stringMatching(CHROME),
      '/plain': expect.stringMatching(OURS),
      '/chosen': expect.stringMatching(/Firefox/),
      '/got': expect.not.stringMatching(OURS),
    });
    expect(seen[0]!.headers['accept-language']).toBe('de-CH');
  });

  it('are an error that says which option was wrong', async () => {
    const options = { ...quiet, useHeaderGenerator: true, headerGeneratorOptions: { browsers: ['netscape'] } };
    const crawler = new HttpCrawler({ ...options, requestHandler: () => undefined }, config());
    await expect(crawler.run([origin])).rejects.toMatchObject({
      code: 'OPTION_INVALID',
      message: expect.stringMatching(/^headerGeneratorOptions: .*netscape/s),
    });
    expect(seen).toHaveLength(0);
  });
});

describe('a robots-obeying crawl', () => {
  const requestHandler = () => undefined;
  it('does not hide its name by accident', () => {
    const robots = { respectRobotsTxtFile: true, requestHandler };
    const message = /hides the name under which robots\.txt is obeyed.*impersonateWithRobots.*docs\/from-crawlee\.md/;
    expect(() => new HttpCrawler({ ...robots, useHeaderGenerator: true }, config())).toThrow(message);
    const httpClient = new ImpitHttpClient({ browser: Browser.Chrome });
    expect(() => new HttpCrawler({ ...robots, httpClient }, config())).toThrow(message);
    const browserPoolOptions = { useFingerprints: true };
    expect(() => new PlaywrightCrawler({ ...robots, browserPoolOptions }, config())).toThrow(message);
    // A client that shows itself as it is, and whoever means it.
    new HttpCrawler({ ...robots, httpClient: new ImpitHttpClient() }, config());
    new HttpCrawler({ ...robots, httpClient, impersonateWithRobots: true }, config());
  });

  it('refuses what a handler asks for at the time', async () => {
    const errors = await errorsOf((failed) =>
      new HttpCrawler(
        {
          ...quiet,
          respectRobotsTxtFile: true,
          async requestHandler({ sendRequest }) {
            await sendRequest({ useHeaderGenerator: true });
          },
          failedRequestHandler: (_context, error) => failed(error),
        },
        config(),
      ).run([origin]),
    );
    expect(errors).toEqual(['REQUEST_INVALID']);
    expect(seen.map(({ headers }) => headers['user-agent']).filter((name) => !OURS.test(name!))).toEqual([]);
  });
});

describe('ImpitHttpClient', () => {
  const httpClient = new ImpitHttpClient({ browser: Browser.Chrome });
  const order = (url: string, more: Partial<FetchOrder> = {}): FetchOrder => ({
    url,
    method: 'GET',
    headers: {},
    redirects: 'follow',
    maxRedirects: 5,
    timeoutMs: 30_000,
    maxBodyBytes: 1_000_000,
    ignoreTlsErrors: false,
    ...more,
  });
  /** Fetches by the client under a guard of its own; names are found at `addresses`. */
  async function fetchGuarded(wanted: FetchOrder, addresses: Record<string, string[]> = {}, seeds: string[] = []) {
    const resolve = async (name: string) => ({ addresses: addresses[name] ?? ['203.0.113.1'], ttlMs: 0 });
    const http = createHttpEngine({ allowPrivateAddresses: false, resolve });
    for (const seed of seeds) http.allowHost(seed);
    const { engine, close } = createClientEngine(httpClient, http);
    try {
      return await engine.visit(wanted, async ({ body, loadedUrl, statusCode }) => ({
        text: body.toString(),
        loadedUrl,
        statusCode,
      }));
    } finally {
      await close();
      await http.close();
    }
  }

  it('shows a browser in its own words, with cookies and headers of the visit', async () => {
    answer = (request, response) => {
      response.setHeader('content-type', 'text/html');
      if (request.url === '/a') response.writeHead(302, { location: '/b', 'set-cookie': ['k=v', 'l=w'] });
      response.end('<title>real</title>');
    };
    const found: unknown[] = [];
    const crawler = new CheerioCrawler(
      {
        ...quiet,
        httpClient,
        async requestHandler({ $, request, sendRequest }) {
          const sent = await sendRequest({ url: `${origin}/c`, method: 'POST', body: 'x' });
          found.push($('title').text(), request.loadedUrl, sent.body);
        },
      },
      config(),
    );
    await crawler.run([{ url: `${origin}/a`, headers: { 'x-own': '1' } }]);
    expect(found).toEqual(['real', `${origin}/b`, '<title>real</title>']);
    expect(seen.map(({ url }) => url)).toEqual(['/a', '/b', '/c']);
    for (const { headers } of seen) expect(headers['user-agent']).toMatch(CHROME);
    expect(seen[0]!.headers).toMatchObject({ 'x-own': '1', 'sec-fetch-mode': 'navigate' });
    expect(seen[1]!.headers.cookie).toBe('k=v; l=w');
    expect(seen[2]!.method).toBe('POST');
  });

  it.each(['127.0.0.1', '0x7f000001', '[::ffff:127.0.0.1]', 'localhost', '169.254.169.254'])(
    'refuses http://%s/',
    async (host) => {
      await expect(fetchGuarded(order(`http://${host}:${port}/`))).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
      expect(seen).toHaveLength(0);
    },
  );

  it('refuses names that lead to private addresses, and finds those it may reach where the engine finds them', async () => {
    const target = order(`http://inside.test:${port}/`);
    const names = { 'inside.test': ['127.0.0.1'] };
    await expect(fetchGuarded(target, names)).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
    expect(seen).toHaveLength(0);
    // No other resolver knows the name: the relay connected, at the address that was checked.
    await expect(fetchGuarded({ ...target, seeded: true }, names, [target.url])).resolves.toMatchObject({
      loadedUrl: target.url,
      statusCode: 200,
    });
    expect(seen[0]!.headers.host).toBe(`inside.test:${port}`);
  });

  it.skipIf(process.platform !== 'linux')('never reaches the private address of a name that is rebound', async () => {
    const reached: string[] = [];
    const rebound = createServer((request, response) => {
      reached.push(`${request.socket.localAddress} ${request.url}`);
      response.writeHead(200, { connection: 'close' }).end('mine');
    });
    await new Promise<void>((resolve) => rebound.listen(0, '0.0.0.0', resolve));
    const at = `http://rebind.test:${(rebound.address() as AddressInfo).port}`;
    // 127.0.0.2 stands for the public address: the only one that may be reached here.
    const answers: string[] = [];
    let nowMs = 0;
    const http = createHttpEngine({
      allowPrivateAddresses: ['127.0.0.2/32'],
      now: () => nowMs,
      resolve: async () => ({ addresses: [answers.length > 1 ? answers.shift()! : answers[0]!], ttlMs: 0 }),
    });
    const { engine, close } = createClientEngine(httpClient, http);
    const visit = (path: string) => engine.visit(order(at + path), async ({ statusCode }) => statusCode);
    answers.splice(0, Infinity, '127.0.0.2');
    await expect(visit('/first')).resolves.toBe(200);
    // Between two visits, and between the check and the connection; longer than any answer is kept.
    nowMs += 3_600_000;
    answers.splice(0, Infinity, '127.0.0.1');
    await expect(visit('/second')).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
    nowMs += 3_600_000;
    answers.splice(0, Infinity, '127.0.0.2', '127.0.0.1');
    await visit('/third').catch((error: unknown) => expect(error).toMatchObject({ code: 'ADDRESS_REFUSED' }));
    expect(reached.filter((line) => !line.startsWith('127.0.0.2'))).toEqual([]);
    expect(reached[0]).toBe('127.0.0.2 /first');
    await close();
    await http.close();
    rebound.closeAllConnections();
    await new Promise((resolve) => rebound.close(resolve));
  });

  it('refuses redirects into a private network, and takes no secret to another origin', async () => {
    const inner: IncomingMessage[] = [];
    const other = await listen(createServer((request, response) => (inner.push(request), response.end('inner'))));
    answer = (_request, response) => response.writeHead(302, { location: `${other.origin}/secret` }).end();
    const wanted = order(`${origin}/`, { headers: { authorization: 'Bearer s', cookie: 'a=b', 'x-own': '1' } });
    await expect(fetchGuarded(wanted, {}, [origin])).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
    expect(inner).toHaveLength(0);
    await expect(fetchGuarded(wanted, {}, [origin, other.origin])).resolves.toMatchObject({ text: 'inner' });
    expect(inner[0]!.headers.authorization).toBeUndefined();
    expect(inner[0]!.headers.cookie).toBeUndefined();
    expect(() => new ImpitHttpClient({ headers: { Authorization: 'Bearer s' } })).toThrow('credential');
  });

  it('keeps to the limits of bodies and of time', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    answer = (request, response) => {
      if (request.url === '/bomb') return response.setHeader('content-encoding', 'gzip').end(bomb);
      response.writeHead(200);
      return request.url === '/slow' ? response.write('x') : undefined;
    };
    await expect(fetchGuarded(order(`${origin}/bomb`), {}, [origin])).rejects.toMatchObject({ code: 'BODY_TOO_LARGE' });
    const slow = order(`${origin}/slow`, { timeoutMs: 500 });
    await expect(fetchGuarded(slow, {}, [origin])).rejects.toMatchObject({ code: 'FETCH_TIMEOUT' });
  });

  it('goes through the proxy of its session', async () => {
    const asked: string[] = [];
    const proxy = createServer((request, response) => {
      asked.push(`${request.headers['proxy-authorization'] ?? ''} ${request.url}`);
      response.end('by the proxy');
    });
    const { port: at } = await listen(proxy);
    const wanted = order('http://far.test/x', { proxyUrl: `http://u:p@127.0.0.1:${at}` });
    await expect(fetchGuarded(wanted)).resolves.toMatchObject({ text: 'by the proxy' });
    expect(asked).toEqual([`Basic ${Buffer.from('u:p').toString('base64')} http://far.test/x`]);
    const literal = { ...wanted, url: 'http://10.0.0.1/' };
    await expect(fetchGuarded(literal)).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
  });

  it('greets a TLS server as the browser does', async () => {
    const hello = async (client: ImpitHttpClient): Promise<Buffer> => {
      let first!: (bytes: Buffer) => void;
      const bytes = new Promise<Buffer>((resolve) => (first = resolve));
      const tcp = createTcpServer((socket) =>
        socket.on('error', () => undefined).once('data', (data: Buffer) => (first(data), socket.destroy())),
      );
      const { port: at } = await listen(tcp);
      await client.sendRequest({ url: `https://127.0.0.1:${at}/` }).catch(() => undefined);
      return bytes;
    };
    const chrome = await hello(httpClient);
    const plain = await hello(new ImpitHttpClient());
    // A handshake record, and the offer of HTTP/2.
    expect([chrome[0], plain[0]]).toEqual([22, 22]);
    expect(chrome.includes('h2')).toBe(true);
    expect(chrome.equals(plain)).toBe(false);
    expect(Math.abs(chrome.length - plain.length)).toBeGreaterThan(50);
  });
});

describe.skipIf(!browserPath)('fingerprints of browsers', () => {
  const crawl = async (browserPoolOptions: object, urls: string[]) => {
    const shown: Record<string, unknown>[] = [];
    const errors: string[] = [];
    const crawler = new PlaywrightCrawler(
      {
        ...quiet,
        maxConcurrency: 1,
        browserPoolOptions,
        launchContext: { launchOptions: { executablePath: browserPath, args: ['--no-sandbox'] } },
        async requestHandler({ page }) {
          shown.push(
            await page.evaluate<Record<string, unknown>>(
              '({ agent: navigator.userAgent, platform: navigator.platform, width: screen.width })',
            ),
          );
        },
        failedRequestHandler: (_context, error) => void errors.push((error as Error & { code?: string }).code ?? ''),
      },
      config(),
    );
    await crawler.run(urls);
    return { shown, errors };
  };

  it('are shown to scripts and servers alike, one per session', async () => {
    const fingerprintOptions = { fingerprintGeneratorOptions: { operatingSystems: ['windows'] } };
    const { shown } = await crawl({ useFingerprints: true, fingerprintOptions }, [`${origin}/a`, `${origin}/b`]);
    expect(shown[0]).toMatchObject({ agent: expect.stringMatching(/Windows.*Chrome/), platform: 'Win32' });
    expect(shown[1]).toEqual(shown[0]);
    const pages = seen.filter(({ url }) => url === '/a' || url === '/b');
    expect(pages.map(({ headers }) => headers['user-agent'])).toEqual([shown[0]!['agent'], shown[0]!['agent']]);
  });

  it('are off by default, and no way around the guard', async () => {
    const inner = await listen(createServer((_request, response) => response.end('secret')));
    answer = (request, response) =>
      request.url === '/out'
        ? response.writeHead(302, { location: inner.origin }).end()
        : response.setHeader('content-type', 'text/html').end('<title>x</title>');
    const plain = await crawl({}, [`${origin}/a`]);
    expect(plain.shown[0]!['platform']).toMatch(/Linux/);
    const { errors } = await crawl({ useFingerprints: true }, [`${origin}/out`]);
    expect(errors).toEqual(['ADDRESS_REFUSED']);
  });
});
