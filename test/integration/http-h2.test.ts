// HTTP/2 in the engine: spoken only where wanted and offered, with the guard and every limit of HTTP/1.1.
import { constants, createSecureServer, type Http2SecureServer, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Configuration } from '../../src/configuration.js';
import { HttpCrawler } from '../../src/crawl/crawlers.js';
import type { Certificates } from './http-certificates.js';
import { makeCertificates } from './http-certificates.js';
import { fetchText, fixtures, order, until } from './http-fixtures.js';

const { listen, engine, closeAll } = fixtures();
let certificates: Certificates;
beforeAll(() => {
  certificates = makeCertificates();
});
afterEach(closeAll);

/** Answers of a server that speaks both versions. */
type Answer = (stream: ServerHttp2Stream, path: string, headers: Record<string, unknown>) => void;
async function serve(answer: Answer) {
  const versions: string[] = [];
  const server: Http2SecureServer = createSecureServer({ ...certificates.good, allowHTTP1: true });
  server.on('stream', (stream, headers) => {
    versions.push('2');
    stream.on('error', () => undefined);
    answer(stream, headers[':path']!, headers);
  });
  server.on('request', (request, response) => {
    if (request.httpVersion !== '1.1') return;
    versions.push('1.1');
    response.end('in the old way');
  });
  server.on('sessionError', () => undefined);
  const { port, open, accepted } = await listen(server as never, 'https');
  return { url: `https://good.example:${port}`, versions, open, accepted };
}

/** The name of the certificate leads here. */
const resolve = async () => ({ addresses: ['127.0.0.1'] });
const speaker = (more: object = {}) => engine({ ca: certificates.ca, allowH2: true, resolve, ...more });
const page: Answer = (stream, path) => {
  stream.respond({ ':status': 200, 'content-type': 'text/html', 'set-cookie': ['a=1', 'b=2'] });
  stream.end(`page ${path}`);
};

/** A server of node that closes a stream ends its data first: this keeps the end to itself. */
function cutOff(stream: ServerHttp2Stream, cut: () => void): void {
  stream.end = () => stream;
  cut();
}

describe('HTTP/2', () => {
  it('is spoken with servers that offer it, over one connection, and only when asked for', async () => {
    const server = await serve(page);
    const h2 = speaker();
    const first = await fetchText(h2, `${server.url}/a`);
    expect([first.text, first.statusCode, first.headers['set-cookie']]).toEqual(['page /a', 200, ['a=1', 'b=2']]);
    expect((await fetchText(h2, `${server.url}/b`)).text).toBe('page /b');
    expect([server.versions, server.accepted()]).toEqual([['2', '2'], 1]);
    const plain = engine({ ca: certificates.ca, resolve });
    expect((await fetchText(plain, `${server.url}/c`)).text).toBe('in the old way');
    expect(server.versions).toEqual(['2', '2', '1.1']);
  });

  it('sends methods, payloads and headers, follows redirects, decodes bodies', async () => {
    const got: unknown[] = [];
    const server = await serve((stream, path, headers) => {
      if (path === '/go') {
        stream.respond({ ':status': 302, location: '/there' });
        return void stream.end();
      }
      const pieces: Buffer[] = [];
      stream.on('data', (piece: Buffer) => pieces.push(piece));
      stream.on('end', () => {
        got.push([headers[':method'], path, headers['x-own'], headers['cookie'], Buffer.concat(pieces).toString()]);
        stream.respond({ ':status': 200, 'content-encoding': 'gzip' });
        stream.end(gzipSync('packed'));
      });
    });
    const h2 = speaker();
    const sent = { method: 'POST', payload: 'body', headers: { 'x-own': 'x', cookie: 'c=3' } };
    expect((await fetchText(h2, `${server.url}/post`, sent)).text).toBe('packed');
    const followed = await fetchText(h2, `${server.url}/go`);
    expect([followed.text, new URL(followed.loadedUrl).pathname]).toEqual(['packed', '/there']);
    expect(got).toEqual([
      ['POST', '/post', 'x', 'c=3', 'body'],
      ['GET', '/there', undefined, undefined, ''],
    ]);
  });

  it('reaches no private address that was not allowed', async () => {
    const server = await serve(page);
    const guarded = speaker({ allowPrivateAddresses: false });
    await expect(fetchText(guarded, `${server.url}/a`)).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
    expect(server.accepted()).toBe(0);
  });

  it('keeps to the limits of bodies and headers, and closes the connection', async () => {
    const server = await serve((stream, path) => {
      if (path === '/headers') {
        const many = Object.fromEntries(Array.from({ length: 90 }, (_, at) => [`x-${at}`, 'y'.repeat(2_000)]));
        return void stream.respond({ ':status': 200, ...many });
      }
      stream.respond({ ':status': 200 });
      const more = () => {
        while (!stream.destroyed && stream.write(Buffer.alloc(16_384)));
      };
      stream.on('drain', more);
      more();
    });
    const h2 = speaker();
    await expect(fetchText(h2, `${server.url}/endless`, { maxBodyBytes: 100_000 })).rejects.toMatchObject({
      code: 'BODY_TOO_LARGE',
    });
    await expect(fetchText(h2, `${server.url}/headers`)).rejects.toMatchObject({ name: 'CrawlError' });
    await until(() => server.open.size === 0, 'all connections are closed');
    expect(h2.connections).toEqual({ inUse: 0, idle: 0 });
  });

  it('ends in time when a server says nothing, hangs in its body, or only sends frames without content', async () => {
    const server = await serve((stream, path) => {
      if (path === '/silent') return;
      stream.respond({ ':status': 200 });
      stream.write('begun');
      if (path !== '/frames') return;
      const { session } = stream;
      const flood = () => {
        for (let at = 0; at < 200 && !session?.destroyed; at++) session?.settings({ maxConcurrentStreams: 5 + at });
        if (!session?.destroyed) setImmediate(flood);
      };
      flood();
    });
    const h2 = speaker({ headersTimeoutMs: 300, bodyIdleTimeoutMs: 300 });
    await expect(fetchText(h2, `${server.url}/silent`)).rejects.toMatchObject({ code: 'FETCH_TIMEOUT' });
    await expect(fetchText(h2, `${server.url}/hang`)).rejects.toMatchObject({ code: 'FETCH_TIMEOUT' });
    await expect(fetchText(h2, `${server.url}/frames`, { timeoutMs: 3_000 })).rejects.toMatchObject({
      name: 'CrawlError',
    });
    await until(() => server.open.size === 0, 'all connections are closed');
  });

  it('a stream that is reset, a session that ends and a connection that dies are errors, or tried again', async () => {
    let calls = 0;
    const server = await serve((stream, path) => {
      calls++;
      if (path === '/reset') return stream.close(constants.NGHTTP2_INTERNAL_ERROR);
      if (path === '/goaway') {
        stream.respond({ ':status': 200 });
        stream.end('last');
        return void stream.session!.goaway();
      }
      if (path === '/cut') {
        stream.respond({ ':status': 200, 'content-length': '1000' });
        stream.write('part');
        return void setTimeout(() => {
          for (const socket of server.open) socket.destroy();
        }, 50);
      }
      page(stream, path, {});
    });
    const h2 = speaker();
    await expect(fetchText(h2, `${server.url}/reset`)).rejects.toMatchObject({ name: 'CrawlError' });
    await expect(fetchText(h2, `${server.url}/cut`)).rejects.toMatchObject({ name: 'CrawlError' });
    expect((await fetchText(h2, `${server.url}/fine`)).text).toBe('page /fine');
    await fetchText(h2, `${server.url}/goaway`).catch(() => undefined);
    expect((await fetchText(h2, `${server.url}/after`)).text).toBe('page /after');
    expect(calls).toBeGreaterThanOrEqual(5);
  });

  describe('a body without Content-Length that is cut is a failure, as over HTTP/1.1', () => {
    const cuts: Readonly<Record<string, (stream: ServerHttp2Stream, sockets: ReadonlySet<Socket>) => void>> = {
      'its stream is cancelled': (stream) => stream.close(constants.NGHTTP2_CANCEL),
      'its stream is reset without a fault': (stream) => stream.close(constants.NGHTTP2_NO_ERROR),
      'its stream is reset with a fault': (stream) => stream.close(constants.NGHTTP2_INTERNAL_ERROR),
      'its stream is refused': (stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM),
      'its session goes away': (stream) => stream.session!.goaway(constants.NGHTTP2_NO_ERROR, 0),
      'its session is destroyed': (stream) => stream.session!.destroy(),
      'its connection is lost': (_stream, sockets) => {
        for (const socket of sockets) socket.destroy();
      },
    };
    it.each(Object.keys(cuts))('%s', async (how) => {
      const server = await serve((stream, path) => {
        if (path !== '/cut') return page(stream, path, {});
        stream.respond({ ':status': 200, 'content-type': 'text/html' });
        // Without a word for its end: closing a stream of this side would finish it politely.
        stream.write('<p>the first half', () =>
          setTimeout(() => cutOff(stream, () => cuts[how]!(stream, server.open)), 50),
        );
      });
      const h2 = speaker();
      await expect(fetchText(h2, `${server.url}/cut`)).rejects.toMatchObject({ code: 'BODY_INCOMPLETE' });
      const streamed = h2.visit(order(`${server.url}/cut`, { stream: true }), async ({ stream }) => {
        for await (const piece of stream!) void piece;
      });
      await expect(streamed).rejects.toMatchObject({ code: 'BODY_INCOMPLETE' });
      expect((await fetchText(h2, `${server.url}/fine`)).text).toBe('page /fine');
    });

    it('and a crawl tries it again until it is whole', async () => {
      let visits = 0;
      const server = await serve((stream, path) => {
        if (path === '/robots.txt') {
          stream.respond({ ':status': 404 });
          return void stream.end();
        }
        stream.respond({ ':status': 200, 'content-type': 'text/html' });
        if (++visits > 1) return void stream.end('<title>T</title><p>the first half and the second');
        stream.write('<title>T</title><p>the first half', () =>
          setTimeout(() => cutOff(stream, () => stream.close(constants.NGHTTP2_CANCEL)), 50),
        );
      });
      const texts: string[] = [];
      const crawler = new HttpCrawler(
        {
          http2: true,
          ignoreSslErrors: true,
          allowPrivateAddresses: true,
          retryDelayMs: 10,
          maxRequestRetries: 2,
          requestHandler: ({ body }) => void texts.push(String(body)),
        },
        new Configuration({ persistStorage: false }),
      );
      const { requestsFailed } = await crawler.run([server.url.replace('good.example', '127.0.0.1')]);
      expect([texts, visits, requestsFailed, server.versions.includes('1.1')]).toEqual([
        ['<title>T</title><p>the first half and the second'],
        2,
        0,
        false,
      ]);
    });
  });

  it('streams bodies with back-pressure, and stops when the reader leaves', async () => {
    const server = await serve((stream) => {
      stream.respond({ ':status': 200 });
      stream.end(Buffer.alloc(600_000, 1));
    });
    const h2 = speaker();
    const bytes = await h2.visit(order(`${server.url}/file`, { stream: true }), async ({ stream }) => {
      let size = 0;
      for await (const piece of stream!) {
        size += (piece as Buffer).length;
        await new Promise((resume) => setImmediate(resume));
      }
      return size;
    });
    expect(bytes).toBe(600_000);
    await h2.visit(order(`${server.url}/file`, { stream: true }), async () => 'not read');
    expect((await fetchText(h2, `${server.url}/again`)).body.length).toBe(600_000);
  });
});
