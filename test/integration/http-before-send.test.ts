// The last check before a request leaves the machine: made when its connection is ready, after any delay, and
// for every request of a visit. A no leaves the server without a byte of the request.
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:https';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CrawlError } from '../../src/errors.js';
import { type Certificates, makeCertificates } from './http-certificates.js';
import { fixtures, order, until } from './http-fixtures.js';

const { listen, serve, engine, closeAll } = fixtures();
let certificates: Certificates;
beforeAll(() => {
  certificates = makeCertificates();
});
afterEach(closeAll);

/** A lease that can run out. */
function lease() {
  const state = { isGood: true, asked: 0 };
  const beforeSend = () => {
    state.asked++;
    if (!state.isGood) throw new CrawlError('LEASE_LOST', 'the lease ran out before the request was sent');
  };
  return Object.assign(state, { beforeSend });
}

const LOST = { code: 'LEASE_LOST' };
const text = async ({ body }: { body: Buffer }) => body.toString();

describe('a request whose lease runs out while its connection is made', () => {
  it('is not written when a name took long', async () => {
    const requests: string[] = [];
    const web = await serve((request, response) => {
      requests.push(request.url!);
      response.end('here');
    });
    const held = lease();
    const http = engine({
      resolve: async () => {
        held.isGood = false;
        return { addresses: ['127.0.0.1'] };
      },
    });
    const visit = http.visit({ ...order(`http://slow.example:${web.port}/`), beforeSend: held.beforeSend }, text);
    await expect(visit).rejects.toMatchObject(LOST);
    await until(() => web.accepted() === 1, 'the connection');
    expect([requests, held.asked]).toEqual([[], 1]);
    expect(http.connections).toEqual({ inUse: 0, idle: 0 });
  });

  it('is not written when TLS took long', async () => {
    const requests: string[] = [];
    const target = await listen(
      createTlsServer(certificates.good, (request, response) => {
        requests.push(request.url!);
        response.end('secret');
      }),
      'https',
    );
    const held = lease();
    const slow = await listen(createServer((client) => relay(client, target.port, () => (held.isGood = false))));
    const http = engine({ ca: certificates.ca });
    const visit = http.visit({ ...order(`https://127.0.0.1:${slow.port}/`), beforeSend: held.beforeSend }, text);
    await expect(visit).rejects.toMatchObject(LOST);
    expect([target.accepted(), requests]).toEqual([1, []]);
  });

  it('is not written through a proxy, plain or by a tunnel', async () => {
    const requests: string[] = [];
    const target = await listen(
      createTlsServer(certificates.good, (request, response) => {
        requests.push(request.url!);
        response.end('behind');
      }),
      'https',
    );
    const held = lease();
    const proxyServer = createHttpServer((request, response) => {
      requests.push(request.url!);
      response.end('by proxy');
    });
    proxyServer.on('connect', (_request, client: Socket) => {
      held.isGood = false;
      const up = connect(target.port, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        up.pipe(client).pipe(up);
      });
      up.on('error', () => client.destroy());
      client.on('error', () => up.destroy()).on('close', () => up.destroy());
    });
    const proxy = await listen(proxyServer);
    const http = engine({ ca: certificates.ca });
    const through = { proxyUrl: proxy.url, beforeSend: held.beforeSend };
    await expect(http.visit(order(target.url, through), text)).rejects.toMatchObject(LOST);
    expect(target.accepted()).toBe(1);
    held.isGood = false;
    await expect(http.visit(order('http://example.com/', through), text)).rejects.toMatchObject(LOST);
    await until(() => proxy.accepted() === 2, 'the connection to the proxy');
    expect(requests).toEqual([]);
  });
});

describe('a request whose lease has run out', () => {
  it('is not written to a kept connection, and the engine stays usable', async () => {
    const requests: string[] = [];
    const web = await serve((request, response) => {
      requests.push(request.url!);
      response.end('here');
    });
    const http = engine();
    const held = lease();
    const ask = (path: string) => http.visit({ ...order(web.url + path), beforeSend: held.beforeSend }, text);
    expect(await ask('/1')).toBe('here');
    held.isGood = false;
    await expect(ask('/2')).rejects.toMatchObject(LOST);
    expect(requests).toEqual(['/1']);
    held.isGood = true;
    expect(await ask('/3')).toBe('here');
    expect(requests).toEqual(['/1', '/3']);
  });

  it('is not written when it is the next hop, or the repeat over a new connection', async () => {
    const requests: string[] = [];
    const held = lease();
    const web = await serve((request, response) => {
      requests.push(request.url!);
      if (request.url === '/from') {
        held.isGood = false;
        response.writeHead(302, { location: '/to' }).end();
      } else if (request.url === '/drop') {
        held.isGood = false;
        request.socket.destroy();
      } else response.end('here');
    });
    const http = engine();
    const ask = (path: string) =>
      http.visit({ ...order(web.url + path), redirects: 'follow', maxRedirects: 3, beforeSend: held.beforeSend }, text);
    await expect(ask('/from')).rejects.toMatchObject(LOST);
    held.isGood = true;
    expect(await ask('/here')).toBe('here');
    // The kept connection is closed instead of an answer: it would be asked again over a new one.
    await expect(ask('/drop')).rejects.toMatchObject(LOST);
    expect(requests).toEqual(['/from', '/here', '/drop']);
  });
});

/** Passes bytes on, the first ones of the server only after `meanwhile` happened. */
function relay(client: Socket, port: number, meanwhile: () => void): void {
  const up = connect(port, '127.0.0.1');
  up.once('data', meanwhile);
  client.pipe(up).pipe(client);
  for (const [one, other] of [
    [client, up],
    [up, client],
  ] as const) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
}
