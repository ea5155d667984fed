// Proxies: plain requests in absolute form, TLS through CONNECT, over plain and TLS proxies; their failures are
// named as theirs and never show the password.
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { IncomingMessage, Server } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Certificates } from './http-certificates.js';
import { makeCertificates } from './http-certificates.js';
import { fetchText, fixtures, until } from './http-fixtures.js';

const { listen, serve, serveRaw, engine, closeAll } = fixtures();
let certificates: Certificates;
beforeAll(() => {
  certificates = makeCertificates();
});
afterEach(closeAll);

const PASSWORD = 'p@ss-word';
const LOGIN = `user:${encodeURIComponent(PASSWORD)}@`;
const CREDENTIALS = `Basic ${Buffer.from(`user:${PASSWORD}`).toString('base64')}`;

interface ProxyLog {
  readonly lines: string[];
  readonly credentials: (string | undefined)[];
}

function withTunnels(server: Server, log: ProxyLog, port: () => number): Server {
  server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    log.lines.push(`CONNECT ${request.url}`);
    log.credentials.push(request.headers['proxy-authorization']);
    const up = connect(port(), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      up.pipe(socket).pipe(up);
    });
    up.on('error', () => socket.destroy());
    socket.on('error', () => up.destroy()).on('close', () => up.destroy());
  });
  server.on('request', (request: IncomingMessage, response) => {
    log.lines.push(`${request.method} ${request.url} for ${request.headers.host}`);
    log.credentials.push(request.headers['proxy-authorization']);
    response.end('by proxy');
  });
  return server;
}

async function setUp(scheme: 'http' | 'https') {
  const log: ProxyLog = { lines: [], credentials: [] };
  const target = await listen(
    createTlsServer(certificates.good, (_request, response) => void response.end('behind')),
    'https',
  );
  const server = scheme === 'http' ? createServer() : createTlsServer(certificates.good);
  const proxy = await listen(
    withTunnels(server as Server, log, () => target.port),
    scheme,
  );
  const http = engine({ ca: certificates.ca, allowPrivateAddresses: false });
  return { log, target, http, proxy, proxyUrl: `${scheme}://${LOGIN}127.0.0.1:${proxy.port}` };
}

describe.each(['http', 'https'] as const)('an %s proxy', (scheme) => {
  it('gets plain requests in absolute form and keeps the connection', async () => {
    const { log, http, proxyUrl, proxy } = await setUp(scheme);
    expect((await fetchText(http, 'http://one.example/a?b#c', { proxyUrl })).text).toBe('by proxy');
    await fetchText(http, 'http://two.example:81/', { proxyUrl });
    expect(log.lines).toEqual([
      'GET http://one.example/a?b for one.example',
      'GET http://two.example:81/ for two.example:81',
    ]);
    expect(log.credentials).toEqual([CREDENTIALS, CREDENTIALS]);
    // One connection per origin.
    await fetchText(http, 'http://two.example:81/more', { proxyUrl });
    expect(proxy.accepted()).toBe(2);
  });

  it('tunnels TLS, which ends at the target', async () => {
    const { log, http, proxyUrl, target } = await setUp(scheme);
    const url = 'https://good.example:8443/x';
    expect((await fetchText(http, url, { proxyUrl })).text).toBe('behind');
    expect((await fetchText(http, url, { proxyUrl })).text).toBe('behind');
    expect(log).toEqual({ lines: ['CONNECT good.example:8443'], credentials: [CREDENTIALS] });
    expect(target.accepted()).toBe(1);
    await expect(fetchText(http, 'https://bad.example/', { proxyUrl })).rejects.toMatchObject({ code: 'TLS_INVALID' });
  });
});

describe('a proxy that fails', () => {
  async function failure(proxyUrl: string, url = 'https://good.example/', timeoutMs = 20_000) {
    const error = await fetchText(engine(), url, { proxyUrl, timeoutMs }).catch((thrown: unknown) => thrown);
    const shown = [(error as Error).message, String((error as Error).cause), (error as Error).stack].join('\n');
    expect(shown).not.toContain(PASSWORD);
    expect(shown).not.toContain(encodeURIComponent(PASSWORD));
    return error as Error & { code: string };
  }

  it('by refusing is named with its status', async () => {
    const proxy = await serveRaw((socket) => socket.end('HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n'));
    for (const url of ['https://good.example/', 'http://good.example/']) {
      const error = await failure(`http://${LOGIN}127.0.0.1:${proxy.port}`, url);
      expect(error).toMatchObject({ code: 'PROXY_FAILED', message: expect.stringContaining('407') });
      expect(error.message).toContain(`127.0.0.1:${proxy.port}`);
    }
    const broken = await serveRaw((socket) => socket.end('HTTP/1.1 503 Busy\r\n\r\n'));
    expect((await failure(`http://${LOGIN}127.0.0.1:${broken.port}`)).message).toContain('503');
    await until(() => proxy.open.size + broken.open.size === 0, 'the connections close');
  });

  it('by not being there is named', async () => {
    const gone = await serve((_request, response) => response.end());
    await closeAll();
    for (const url of ['https://good.example/', 'http://good.example/']) {
      expect(await failure(`http://${LOGIN}127.0.0.1:${gone.port}`, url)).toMatchObject({ code: 'PROXY_FAILED' });
    }
  });

  it('by hanging up, talking nonsense or talking without end is named', async () => {
    const answers: ((socket: Socket) => void)[] = [
      (socket) => socket.destroy(),
      (socket) => socket.end('SSH-2.0-x\r\n\r\n'),
      (socket) => socket.write(Buffer.alloc(64 * 1024, 'x')),
    ];
    for (const answer of answers) {
      const proxy = await serveRaw(answer);
      expect(await failure(`http://${LOGIN}127.0.0.1:${proxy.port}`)).toMatchObject({ code: 'PROXY_FAILED' });
      await until(() => proxy.open.size === 0, 'the connection closes');
    }
  });

  it('by staying silent runs into the deadline', async () => {
    const proxy = await serveRaw(() => undefined);
    const error = await failure(`http://${LOGIN}127.0.0.1:${proxy.port}`, 'https://good.example/', 150);
    expect(error).toMatchObject({ code: 'FETCH_TIMEOUT', message: expect.stringContaining('connect') });
    await until(() => proxy.open.size === 0, 'the connection closes');
  });

  it('by being of another kind is named', async () => {
    expect(await failure(`socks4://${LOGIN}127.0.0.1:1`)).toMatchObject({ code: 'PROXY_FAILED' });
    expect(await failure(PASSWORD)).toMatchObject({ code: 'PROXY_FAILED' });
  });
});
