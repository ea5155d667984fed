// SOCKS 5 proxies: plain HTTP and TLS through a real server of the protocol, with and without a login; who resolves
// names, and that the address guard holds.
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { connect, createServer as createTcpServer } from 'node:net';
import { Configuration, PlaywrightCrawler, ProxyConfiguration, WebCrawler } from '../../src/index.js';
import type { Certificates } from './http-certificates.js';
import { makeCertificates } from './http-certificates.js';
import { fetchText, fixtures } from './http-fixtures.js';

const { listen, engine, closeAll } = fixtures();
let certificates: Certificates;
beforeAll(() => {
  certificates = makeCertificates();
});
afterEach(closeAll);

const PASSWORD = 'p@ss-word';
const LOGIN = `user:${encodeURIComponent(PASSWORD)}@`;

/** Bytes of a socket, as many as asked for at a time. */
function reader(socket: Socket): (length: number) => Promise<Buffer> {
  let kept = Buffer.alloc(0);
  let wake: () => void = () => undefined;
  socket.on('data', (bytes) => {
    kept = Buffer.concat([kept, bytes as Buffer]);
    wake();
  });
  return async (length) => {
    while (kept.length < length) await new Promise<void>((resolve) => (wake = resolve));
    const taken = kept.subarray(0, length);
    kept = kept.subarray(length);
    return taken;
  };
}

/** A SOCKS 5 server that leads every connection to one port; `asked` has what clients wanted. */
async function socksServer(target: () => number, login?: string) {
  const asked: string[] = [];
  const server = createTcpServer((socket) => void serve(socket).catch(() => socket.destroy()));
  async function serve(socket: Socket): Promise<void> {
    socket.on('error', () => undefined);
    const read = reader(socket);
    const [, count] = await read(2);
    const methods = [...(await read(count!))];
    if (login !== undefined) {
      if (!methods.includes(2)) return void socket.end(Buffer.from([5, 255]));
      socket.write(Buffer.from([5, 2]));
      const [, userLength] = await read(2);
      const user = (await read(userLength!)).toString();
      const secret = (await read((await read(1))[0]!)).toString();
      const isRight = `${user}:${secret}` === login;
      socket.write(Buffer.from([1, isRight ? 0 : 1]));
      if (!isRight) return void socket.end();
    } else socket.write(Buffer.from([5, 0]));
    const kind = (await read(4))[3]!;
    const host =
      kind === 3
        ? (await read((await read(1))[0]!)).toString()
        : kind === 1
          ? [...(await read(4))].join('.')
          : (await read(16)).toString('hex');
    asked.push(`${host}:${(await read(2)).readUInt16BE()}`);
    const up = connect(target(), '127.0.0.1', () => {
      // The name form of the answer, which few servers send and all clients must read.
      socket.write(Buffer.from([5, 0, 0, 3, 1, 120, 0, 80]));
      socket.removeAllListeners('data');
      up.pipe(socket).pipe(up);
    });
    up.on('error', () => socket.destroy());
    socket.on('close', () => up.destroy());
  }
  const { port } = await listen(server as never, 'http');
  return { asked, port };
}

/** A server that answers every connection at once. */
const serveBytes = (answer: (socket: Socket) => void) =>
  listen(createTcpServer((socket) => answer(socket.on('error', () => undefined))) as never, 'http');

const plainTarget = () =>
  listen(
    createServer((request, response) => void response.end(`${request.method} ${request.url} ${request.headers.host}`)),
    'http',
  );

describe('a SOCKS 5 proxy', () => {
  it('carries plain HTTP; with socks5h it resolves the names', async () => {
    const target = await plainTarget();
    const proxy = await socksServer(() => target.port);
    const proxyUrl = `socks5h://127.0.0.1:${proxy.port}`;
    const http = engine({ allowPrivateAddresses: false });
    expect((await fetchText(http, 'http://one.example/a?b', { proxyUrl })).text).toBe('GET /a?b one.example');
    await fetchText(http, 'http://one.example/again', { proxyUrl });
    await fetchText(http, 'http://[2606:4700::1111]:81/', { proxyUrl });
    expect(proxy.asked).toEqual(['one.example:80', `${'26064700'.padEnd(28, '0')}1111:81`]);
  });

  it('carries TLS, which ends at the target, after a login', async () => {
    const target = await listen(
      createTlsServer(certificates.good, (_request, response) => void response.end('behind')),
      'https',
    );
    const proxy = await socksServer(() => target.port, `user:${PASSWORD}`);
    const proxyUrl = `socks5h://${LOGIN}127.0.0.1:${proxy.port}`;
    const http = engine({ ca: certificates.ca, allowPrivateAddresses: false });
    expect((await fetchText(http, 'https://good.example/x', { proxyUrl })).text).toBe('behind');
    await expect(fetchText(http, 'https://bad.example/', { proxyUrl })).rejects.toMatchObject({ code: 'TLS_INVALID' });
    expect(proxy.asked).toEqual(['good.example:443', 'bad.example:443']);
  });

  it('with socks5 is given the address that was found here', async () => {
    const target = await plainTarget();
    const proxy = await socksServer(() => target.port);
    const proxyUrl = `socks5://127.0.0.1:${proxy.port}`;
    const url = `http://localhost:${target.port}/`;
    await fetchText(engine({ allowPrivateAddresses: true }), url, { proxyUrl });
    expect(proxy.asked).toEqual([`127.0.0.1:${target.port}`]);
  });

  it('is an option of a batch, whose results never have its password', async () => {
    const target = await plainTarget();
    const proxy = await socksServer(() => target.port, `user:${PASSWORD}`);
    await using crawler = await WebCrawler.open();
    const through = async (scheme: string) => {
      const config = { proxy: `${scheme}://${LOGIN}127.0.0.1:${proxy.port}` };
      for await (const result of crawler.runMany([{ url: 'http://one.example/a', config }])) return result;
      throw new Error('no result');
    };
    const { success } = await through('socks5h');
    expect(success).toBe(true);
    const refused = await through('socks4');
    expect(refused.errorMessage).toMatch(/"proxy" must be an http, https, socks5 or socks5h URL$/);
    expect(proxy.asked).toEqual(['one.example:80']);
  });

  it('serves browsers too, after a login, and is not asked for private addresses', async () => {
    const target = await listen(
      createServer((request, response) => {
        const link = '<img src="http://10.0.0.1/x.png">';
        response.setHeader('content-type', 'text/html').end(`<title>${request.headers.host}</title>${link}`);
      }),
      'http',
    );
    const proxy = await socksServer(() => target.port, `user:${PASSWORD}`);
    const titles: string[] = [];
    const crawler = new PlaywrightCrawler(
      {
        proxyConfiguration: new ProxyConfiguration({ proxyUrls: [`socks5h://${LOGIN}127.0.0.1:${proxy.port}`] }),
        maxRequestRetries: 0,
        requestHandler: async ({ page }) => void titles.push(await page.title()),
      },
      new Configuration({ persistStorage: false }),
    );
    await crawler.run(['http://one.example/']);
    expect(titles).toEqual(['one.example']);
    expect(new Set(proxy.asked)).toEqual(new Set(['one.example:80']));
  });

  it.each(['socks5', 'socks5h'])('is not asked for a private address (%s)', async (scheme) => {
    const proxy = await socksServer(() => 1);
    const http = engine({ allowPrivateAddresses: false });
    const proxyUrl = `${scheme}://127.0.0.1:${proxy.port}`;
    for (const url of ['http://10.0.0.1/', 'https://localhost/', 'http://[::1]/']) {
      await expect(fetchText(http, url, { proxyUrl })).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
    }
    expect(proxy.asked).toEqual([]);
  });

  it('that fails is named, without its password', async () => {
    const closed = await serveBytes((socket) => socket.end());
    const web = await serveBytes((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const refusing = await serveBytes((socket) => {
      socket.once('data', () => {
        socket.write(Buffer.from([5, 0]));
        socket.once('data', () => socket.end(Buffer.from([5, 5, 0, 1, 0, 0, 0, 0, 0, 0])));
      });
    });
    let opened = 0;
    const talkative = await serveBytes((socket) => {
      opened++;
      socket.write(Buffer.from([5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    });
    const guarded = await socksServer(() => 1, 'someone:else');
    const cases = [
      [talkative.port, /sent more than its answer/],
      [closed.port, /closed the connection/],
      [web.port, /did not answer in SOCKS 5/],
      [refusing.port, /was refused by the host/],
      [guarded.port, /refused the login/],
    ] as const;
    for (const [port, message] of cases) {
      const proxyUrl = `socks5h://${LOGIN}127.0.0.1:${port}`;
      const error = (await fetchText(engine(), 'http://one.example/', { proxyUrl }).catch(
        (thrown: unknown) => thrown,
      )) as Error;
      expect(error).toMatchObject({ code: 'PROXY_FAILED', message: expect.stringMatching(message) });
      expect(`${error.message} ${error.stack} ${String(error.cause)}`).not.toContain(PASSWORD);
    }
    expect(opened).toBe(1);
    const proxyUrl = `socks5h://127.0.0.1:${guarded.port}`;
    await expect(fetchText(engine(), 'http://one.example/', { proxyUrl })).rejects.toThrow(/requires a login/);
  });
});
