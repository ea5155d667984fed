// TLS: certificates are verified by default, names are sent, sessions are resumed.
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createServer } from 'node:https';
import type { SecureVersion, TLSSocket } from 'node:tls';
import type { Certificates, KeyPair } from './http-certificates.js';
import { makeCertificates } from './http-certificates.js';
import { fetchText, fixtures, until } from './http-fixtures.js';

const { listen, serve, engine, closeAll } = fixtures();
let certificates: Certificates;
beforeAll(() => {
  certificates = makeCertificates();
});
afterEach(closeAll);

async function serveTls(pair: KeyPair, maxVersion?: SecureVersion) {
  const seen: { servername: unknown; reused: boolean; protocol: unknown }[] = [];
  const server = createServer({ ...pair, maxVersion, ALPNProtocols: ['h2', 'http/1.1'] }, (request, response) => {
    const socket = request.socket as TLSSocket & { servername?: string };
    seen.push({ servername: socket.servername, reused: socket.isSessionReused(), protocol: socket.alpnProtocol });
    response.end('sealed');
  });
  return { ...(await listen(server, 'https')), seen };
}

const toLoopback = { resolve: async () => ({ addresses: ['127.0.0.1'] }) };

describe('certificates', () => {
  it('from a trusted authority for the right name or address are accepted', async () => {
    const server = await serveTls(certificates.good);
    const http = engine({ ca: certificates.ca, ...toLoopback });
    expect((await fetchText(http, `https://good.example:${server.port}/`)).text).toBe('sealed');
    expect((await fetchText(http, server.url)).text).toBe('sealed');
    expect(server.seen.map(({ servername, protocol }) => [servername, protocol])).toEqual([
      ['good.example', 'http/1.1'],
      [false, 'http/1.1'],
    ]);
  });

  it.each([
    ['expired', 'https://good.example', /expired/],
    ['selfSigned', 'https://good.example', /self.signed/],
    ['good', 'https://bad.example', /altnames|does not match/],
  ] as const)('%s at %s are not', async (kind, origin, message) => {
    const server = await serveTls(certificates[kind]);
    const http = engine({ ca: certificates.ca, ...toLoopback });
    const url = `${origin}:${server.port}/`;
    const error = await fetchText(http, url).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'TLS_INVALID', message: expect.stringMatching(message) });
    expect((error as Error).message).toContain(new URL(url).host);
    expect((error as Error).message).toMatch(/ignoreSslErrors.*docs\/from-crawlee\.md/);
    await until(() => server.open.size === 0, 'the connection closes');
    // Told otherwise, it is accepted, and that opens no door for a visit that verifies.
    expect((await fetchText(http, url, { ignoreTlsErrors: true })).text).toBe('sealed');
    await expect(fetchText(http, url)).rejects.toMatchObject({ code: 'TLS_INVALID' });
  });

  it('of an unknown authority are not accepted by default', async () => {
    const server = await serveTls(certificates.good);
    await expect(fetchText(engine(), server.url)).rejects.toMatchObject({ code: 'TLS_INVALID' });
  });
});

it.each(['TLSv1.3', 'TLSv1.2'] as const)('resumes a session of %s on a new connection', async (version) => {
  const server = await serveTls(certificates.good, version);
  const http = engine({ ca: certificates.ca, ...toLoopback });
  const url = `https://good.example:${server.port}/`;
  await fetchText(http, url);
  for (const socket of server.open) socket.destroy();
  await until(() => http.connections.idle === 0, 'the kept connection is dropped');
  await fetchText(http, url);
  expect(server.seen.map(({ reused }) => reused)).toEqual([false, true]);
});

it('names a server that does not speak TLS', async () => {
  const plain = await serve((_request, response) => response.end());
  const visit = fetchText(engine(), plain.url.replace('http', 'https'));
  await expect(visit).rejects.toMatchObject({ code: 'CONNECT_FAILED', message: expect.stringContaining('TLS') });
});
