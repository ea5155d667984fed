// Secrets of one origin and the requests to another: what a handler sends beside its visit, what a redirect asks for,
// and what a proxy's connection carries. Real servers; each is an origin of its own.
import { afterEach, describe, expect, it } from 'vitest';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { HttpCrawler, Request } from '../../src/index.js';
import type { SendRequestOptions } from '../../src/handle/context.js';
import { memoryConfig } from '../support/crawl.js';
import { fetchText, fixtures, until } from '../integration/http-fixtures.js';

const { serve, serveRaw, engine, closeAll } = fixtures();
afterEach(closeAll);

interface Heard {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A server that remembers what it was told. */
async function listener(redirect?: (path: string) => { status: number; location: string } | undefined) {
  const heard: Heard[] = [];
  const server = await serve(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    heard.push({ method: request.method!, headers: request.headers, body });
    const to = redirect?.(request.url!);
    if (to) return void response.writeHead(to.status, { location: to.location }).end();
    response.setHeader('content-type', 'text/html').end('<p>page');
  });
  return { ...server, heard };
}

const SECRETS = { authorization: 'Bearer canary-1', 'x-api-key': 'canary-2', cookie: 'sid=canary-3' };

describe('sendRequest', () => {
  /** What the handler's own request looked like to the server it went to. */
  async function sentBy(options: (own: string, other: string) => SendRequestOptions) {
    const own = await listener();
    const other = await listener();
    const crawler = new HttpCrawler(
      {
        allowPrivateAddresses: true,
        maxRequestRetries: 0,
        async requestHandler({ sendRequest }) {
          await sendRequest(options(own.url, other.url));
        },
      },
      memoryConfig(),
    );
    const request = new Request({ url: own.url, method: 'POST', headers: { ...SECRETS }, payload: 'pin=canary-4' });
    const { requestsFailed } = await crawler.run([request]);
    expect(requestsFailed).toBe(0);
    return { own: own.heard.slice(1), other: other.heard };
  }

  it.each([
    ['its URL alone', {}],
    ['a method and no headers', { method: 'GET', headers: {} }],
    ['headers of its own', { headers: { accept: '*/*' } }],
  ])('takes nothing of the request to another origin when given %s', async (_what, given) => {
    const { other } = await sentBy((_own, url) => ({ url, ...given }));
    expect(other).toHaveLength(1);
    expect(JSON.stringify(other)).not.toContain('canary');
    expect(other[0]!.method).toBe('GET');
  });

  it('sends another origin what it is told to', async () => {
    const { other } = await sentBy((_own, url) => ({ url, method: 'PUT', body: 'told', headers: { 'x-told': 'yes' } }));
    expect(other[0]).toMatchObject({ method: 'PUT', body: 'told', headers: { 'x-told': 'yes' } });
  });

  it('repeats the request at its own origin', async () => {
    const { own } = await sentBy((url) => ({ url: `${url}/again` }));
    expect(own[0]).toMatchObject({ method: 'POST', body: 'pin=canary-4', headers: SECRETS });
  });

  it('sends no payload with a method that the request did not have', async () => {
    const { own } = await sentBy(() => ({ method: 'GET' }));
    expect(own[0]).toMatchObject({ method: 'GET', body: '', headers: SECRETS });
  });
});

describe('a redirect that asks for the payload again', () => {
  it.each([307, 308])('is not followed to another origin (%i)', async (status) => {
    const other = await listener();
    const own = await listener(() => ({ status, location: `${other.url}/steal` }));
    const asked = fetchText(engine(), own.url, { method: 'POST', payload: 'pin=canary-4' });
    await expect(asked).rejects.toMatchObject({
      code: 'REDIRECT_INVALID',
      message: expect.stringContaining('payload'),
    });
    expect(other.heard).toEqual([]);
  });

  it('is followed within the origin, and without a payload anywhere', async () => {
    const other = await listener();
    const own = await listener((path) => (path === '/' ? { status: 307, location: '/next' } : undefined));
    await fetchText(engine(), own.url, { method: 'POST', payload: 'pin=canary-4' });
    expect(own.heard[1]).toMatchObject({ method: 'POST', body: 'pin=canary-4' });
    const plain = await listener(() => ({ status: 307, location: other.url }));
    await fetchText(engine(), plain.url);
    expect(other.heard[0]).toMatchObject({ method: 'GET', body: '' });
  });
});

describe('a connection to a proxy for plain HTTP', () => {
  it('serves one origin: what one server sends too much is not the answer of another', async () => {
    const poison = 'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\npoison';
    const good = 'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 4\r\n\r\ngood';
    const asked: string[] = [];
    // Hands on bytes as they come, as many proxies do: the first origin answers once more when it is asked no longer.
    const proxy = await serveRaw((socket: Socket, request) => {
      asked.push(request.split(' ', 2)[1]!);
      const isEvil = request.includes('http://evil.example/');
      if (isEvil) socket.write(good);
      else if (poisoned.has(socket)) socket.write(poison);
      else socket.write(good);
      if (isEvil) poisoned.add(socket);
    });
    const poisoned = new Set<Socket>();
    const http = engine({ allowPrivateAddresses: false });
    const proxyUrl = proxy.url;
    await fetchText(http, 'http://evil.example/', { proxyUrl });
    const { text } = await fetchText(http, 'http://bank.example/', { proxyUrl });
    expect(asked).toEqual(['http://evil.example/', 'http://bank.example/']);
    expect(text).toBe('good');
    // An origin's own connection is kept.
    await fetchText(http, 'http://bank.example/more', { proxyUrl });
    await until(() => proxy.accepted() === 2, 'two connections');
  });
});
