// Bodies handed over as streams: decoded, capped, with back-pressure, and gone when the visit ends.
import { afterEach, describe, expect, it } from 'vitest';
import * as zlib from 'node:zlib';
import type { Readable } from 'node:stream';
import type { Capture } from '../../src/fetch/engine.js';
import { fixtures, order, until } from './http-fixtures.js';

const { serve, serveRaw, engine, closeAll } = fixtures();
afterEach(closeAll);

const noise = Buffer.from(Array.from({ length: 300_000 }, (_unused, index) => ((index * 2654435761) >>> 11) & 0xff));

async function collect(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
const drain = ({ stream }: Capture) => collect(stream!);
const streaming = (url: string, rest = {}) => order(url, { stream: true, ...rest });

describe('a streamed body', () => {
  it.each([
    ['identity', (body: Buffer) => body],
    ['gzip', zlib.gzipSync],
    ['deflate', zlib.deflateSync],
    ['deflate', zlib.deflateRawSync],
    ['br', zlib.brotliCompressSync],
    ['gzip, br', (body: Buffer) => zlib.brotliCompressSync(zlib.gzipSync(body))],
  ] as [string, (body: Buffer) => Buffer][])('arrives whole from %s', async (coding, encode) => {
    const { url } = await serve((_request, response) => {
      response.setHeader('content-encoding', coding);
      response.end(encode(noise));
    });
    const http = engine();
    const body = await http.visit(streaming(url), async (capture) => {
      expect(capture.body).toHaveLength(0);
      return drain(capture);
    });
    expect(body.equals(noise)).toBe(true);
    expect(http.connections).toEqual({ inUse: 0, idle: 1 });
  });

  it('is empty when there is none', async () => {
    const { url } = await serve((_request, response) => response.writeHead(204).end());
    expect(await engine().visit(streaming(url), drain)).toHaveLength(0);
  });

  it('holds the sender back while nobody reads', async () => {
    let sent = 0;
    const { url } = await serve((_request, response) => {
      const pour = () => {
        while (sent < 50_000_000) {
          sent += 65_536;
          if (!response.write(Buffer.alloc(65_536))) return void response.once('drain', pour);
        }
        response.end();
      };
      pour();
    });
    await engine().visit(streaming(url, { maxBodyBytes: Infinity }), async ({ stream }) => {
      // The sender comes to rest long before the end: its count stands still over many turns of the loop.
      let last = -1;
      await until(() => {
        const still = last === sent;
        last = sent;
        return still;
      }, 'the sender waits');
      expect(sent).toBeLessThan(30_000_000);
      expect((await collect(stream!)).length).toBeGreaterThanOrEqual(50_000_000);
    });
  });

  it('is destroyed with its connection when the visit ends early', async () => {
    const server = await serve((_request, response) => void response.write('first'));
    const http = engine();
    let left: Readable | undefined;
    await http.visit(streaming(server.url), async ({ stream }) => {
      left = stream;
    });
    expect(left!.destroyed).toBe(true);
    await until(() => server.open.size === 0, 'the connection closes');
    const thrown = new Error('mine');
    const visit = http.visit(streaming(server.url), () => Promise.reject(thrown));
    await expect(visit).rejects.toBe(thrown);
    await until(() => server.open.size === 0, 'the connection closes');
    expect(http.connections.inUse).toBe(0);
  });
});

describe('a streamed body that goes wrong fails the stream', () => {
  it('with BODY_TOO_LARGE at the cap, on the wire and decoded', async () => {
    const wire = await serve((_request, response) => {
      const pour = () => {
        if (!response.destroyed) response.write(Buffer.alloc(8192), () => setImmediate(pour));
      };
      pour();
    });
    await expect(engine().visit(streaming(wire.url, { maxBodyBytes: 100_000 }), drain)).rejects.toMatchObject({
      code: 'BODY_TOO_LARGE',
    });
    const bomb = await serve((_request, response) => {
      response.setHeader('content-encoding', 'gzip');
      response.end(zlib.gzipSync(Buffer.alloc(20_000_000)));
    });
    await expect(engine().visit(streaming(bomb.url, { maxBodyBytes: 100_000 }), drain)).rejects.toMatchObject({
      code: 'BODY_TOO_LARGE',
    });
    await until(() => wire.open.size === 0, 'the connection closes');
  });

  it.each([
    ['BODY_DECODE', 'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nplain'],
    ['BODY_DECODE', 'HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: 5\r\n\r\n\xff\xff\xff\xff\xff'],
    ['BODY_INCOMPLETE', 'HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nabc'],
  ])('with %s', async (code, answer) => {
    const server = await serveRaw((socket) => socket.end(Buffer.from(answer, 'latin1')));
    await expect(engine().visit(streaming(server.url), drain)).rejects.toMatchObject({ code });
    await until(() => server.open.size === 0, 'the connection closes');
  });

  it('with BODY_INCOMPLETE when gzip is cut', async () => {
    const { url } = await serve((_request, response) => {
      response.setHeader('content-encoding', 'gzip');
      const whole = zlib.gzipSync(noise);
      response.end(whole.subarray(0, whole.length >> 1));
    });
    await expect(engine().visit(streaming(url), drain)).rejects.toMatchObject({ code: 'BODY_INCOMPLETE' });
  });

  it('with FETCH_TIMEOUT at the end of the visit, and ABORTED by its signal', async () => {
    const server = await serve((_request, response) => void response.write('first'));
    await expect(engine().visit(streaming(server.url, { timeoutMs: 150 }), drain)).rejects.toMatchObject({
      code: 'FETCH_TIMEOUT',
    });
    const controller = new AbortController();
    const visit = engine().visit(streaming(server.url, { signal: controller.signal }), (capture) => {
      controller.abort();
      return drain(capture);
    });
    await expect(visit).rejects.toMatchObject({ code: 'ABORTED' });
    await until(() => server.open.size === 0, 'the connection closes');
  });

  it('without harm when nobody listens', async () => {
    const server = await serve((_request, response) => void response.write('first'));
    await engine().visit(streaming(server.url, { timeoutMs: 100 }), async ({ stream }) => {
      await until(() => stream!.destroyed, 'the stream fails');
    });
  });
});
