// The HTTP engine against servers that behave and servers that do not: every answer is a capture or a named
// error, and after an error the server sees the connection gone.
import { afterEach, describe, expect, it } from 'vitest';
import * as zlib from 'node:zlib';
import { fetchText, fixtures, order, until } from './http-fixtures.js';

const { serve, serveRaw, engine, closeAll } = fixtures();
afterEach(closeAll);

const page = 'orcas hunt in pods. '.repeat(1000);

describe('a plain fetch', () => {
  it('captures status, headers, body, sizes and times', async () => {
    const { url } = await serve((_request, response) => {
      response.writeHead(
        404,
        [
          ['Content-Type', 'text/plain'],
          ['X-Twice', 'a'],
          ['X-Twice', 'b'],
          ['Set-Cookie', 'c=1'],
        ].flat(),
      );
      response.end('gone');
    });
    const capture = await fetchText(engine(), `${url}/a?b#c`);
    expect(capture).toMatchObject({
      url: `${url}/a?b#c`,
      loadedUrl: `${url}/a?b#c`,
      redirectChain: [],
      statusCode: 404,
      text: 'gone',
      wireBytes: 4,
    });
    expect(capture.headers).toMatchObject({ 'content-type': 'text/plain', 'x-twice': 'a, b', 'set-cookie': ['c=1'] });
    expect(capture.timings.totalMs).toBeGreaterThanOrEqual(capture.timings.headersMs);
    expect(Math.abs(Date.now() - capture.timings.startedAtMs)).toBeLessThan(60_000);
  });

  it('sends method, payload, the headers of the order, host and accept-encoding', async () => {
    const seen: unknown[] = [];
    const server = await serve(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      seen.push({ method: request.method, url: request.url, headers: request.headers, body });
      response.end();
    });
    await fetchText(engine(), `${server.url}/p?q=1#frag`, {
      method: 'post',
      payload: Buffer.from('ä'),
      headers: { 'X-Own': '1', Connection: 'close' },
    });
    expect(seen).toEqual([
      {
        method: 'POST',
        url: '/p?q=1',
        body: 'ä',
        headers: {
          host: `127.0.0.1:${server.port}`,
          connection: 'keep-alive',
          'x-own': '1',
          'accept-encoding': expect.stringContaining('gzip'),
          'content-length': '2',
        },
      },
    ]);
  });

  it.each([
    ['gzip', zlib.gzipSync],
    ['deflate', zlib.deflateSync],
    ['deflate', zlib.deflateRawSync],
    ['br', zlib.brotliCompressSync],
  ])('decodes %s', async (coding, encode) => {
    const { url } = await serve((_request, response) => {
      response.setHeader('content-encoding', coding);
      response.end(encode(Buffer.from(page)));
    });
    const capture = await fetchText(engine(), url);
    expect(capture.text).toBe(page);
    expect(capture.wireBytes).toBeLessThan(page.length);
  });

  it.each([
    ['HEAD', 200],
    ['GET', 204],
    ['GET', 304],
  ])('finds no body after %s %i, whatever the headers promise', async (method, status) => {
    const { url } = await serveRaw((socket) => {
      const length = status === 204 ? '' : 'Content-Length: 99999999\r\n';
      socket.write(`HTTP/1.1 ${status} X\r\n${length}Content-Encoding: gzip\r\n\r\n`);
    });
    const capture = await fetchText(engine(), url, { method });
    expect(capture).toMatchObject({ statusCode: status, text: '', wireBytes: 0 });
  });

  it('reads a body that ends with the connection', async () => {
    const { url } = await serveRaw((socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nto the end'));
    expect((await fetchText(engine(), url)).text).toBe('to the end');
  });

  it('leaves errors their stacks when the response ended its connection', async () => {
    const { url } = await serve((_request, response) => {
      response.writeHead(200, { connection: 'close' }).end('last words');
    });
    const stack = await engine().visit(order(url), async () => new Error('in the handler').stack);
    expect(stack).toMatch(/in the handler\n +at /);
    const undecodable = await serve((_request, response) => {
      response.writeHead(200, { connection: 'close', 'content-encoding': 'gzip' }).end('no gzip');
    });
    const error = await fetchText(engine(), undecodable.url).catch((thrown: unknown) => thrown as Error);
    expect(error).toMatchObject({ code: 'BODY_DECODE', stack: expect.stringMatching(/\n +at /) });
  });

  it('skips early hints', async () => {
    const { url } = await serveRaw((socket) =>
      socket.write('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'),
    );
    expect(await fetchText(engine(), url)).toMatchObject({ statusCode: 200, text: 'ok' });
  });

  it('passes on what the continuation returns and what it throws', async () => {
    const { url } = await serve((_request, response) => response.end('x'));
    const http = engine();
    expect(await http.visit(order(url), async () => 42)).toBe(42);
    const thrown = new Error('mine');
    await expect(http.visit(order(url), () => Promise.reject(thrown))).rejects.toBe(thrown);
    expect(http.connections).toEqual({ inUse: 0, idle: 1 });
  });
});

describe('bad answers', () => {
  const raw: [string, string, string | Buffer, { code: string }][] = [
    ['text that is no HTTP', 'garbage', 'SSH-2.0-OpenSSH_9\r\n\r\n', { code: 'HTTP_MALFORMED' }],
    [
      'two lengths that differ',
      'lengths',
      'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabcde',
      { code: 'HTTP_MALFORMED' },
    ],
    [
      'a broken chunk size',
      'chunk',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      { code: 'HTTP_MALFORMED' },
    ],
    [
      'a cut chunked body',
      'cut chunk',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nabc',
      { code: 'BODY_INCOMPLETE' },
    ],
    [
      'less than the length it promised',
      'short',
      'HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nabc',
      { code: 'BODY_INCOMPLETE' },
    ],
    [
      'a protocol switch nobody asked for',
      'upgrade',
      'HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
      { code: 'HTTP_MALFORMED' },
    ],
    [
      'gzip that is none',
      'no gzip',
      'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nplain',
      { code: 'BODY_DECODE' },
    ],
    ['nothing at all', 'nothing', '', { code: 'CONNECT_RESET' }],
  ];
  for (const [what, , bytes, expected] of raw) {
    it(`names ${what} ${expected.code}`, async () => {
      const server = await serveRaw((socket) => socket.end(bytes));
      const error = await fetchText(engine(), server.url).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject(expected);
      expect((error as Error).message).toContain(`127.0.0.1:${server.port}`);
      expect((error as Error).cause).toBeInstanceOf(Error);
      await until(() => server.open.size === 0, 'the connection closes');
    });
  }

  it('takes what a length that is too short promised', async () => {
    const { url } = await serveRaw((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef'));
    const http = engine();
    expect((await fetchText(http, url)).text).toBe('abc');
    expect((await fetchText(http, url)).text).toBe('abc');
  });

  it.each(['header', 'name', 'status', 'interim', 'trailer', 'extension'])('breaks off an endless %s', async (kind) => {
    const pieces: Record<string, [string, string]> = {
      header: ['HTTP/1.1 200 OK\r\n', `X-A: ${'a'.repeat(1000)}\r\n`],
      name: ['HTTP/1.1 200 OK\r\nX', 'a'.repeat(1000)],
      status: ['HTTP/1.1 200 ', 'a'.repeat(50_000)],
      interim: ['', 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'],
      extension: ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;', 'a'.repeat(50_000)],
      trailer: ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n', `X-A: ${'a'.repeat(1000)}\r\n`],
    };
    const [start, more] = pieces[kind]!;
    const server = await serveRaw((socket) => {
      socket.write(start);
      const pour = () => {
        if (!socket.destroyed) socket.write(more, () => setImmediate(pour));
      };
      pour();
    });
    const error = await fetchText(engine(), server.url, { timeoutMs: 20_000 }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'HTTP_MALFORMED' });
    await until(() => server.open.size === 0, 'the connection closes');
  });

  it('refuses a request that cannot be sent, and stays usable', async () => {
    const { url } = await serve((_request, response) => response.end('ok'));
    const http = engine();
    await expect(fetchText(http, url, { headers: { 'x-a': 'b\r\nc: d' } })).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
    });
    await expect(fetchText(http, url, { method: 'G T' })).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
    expect(http.connections.inUse).toBe(0);
    expect((await fetchText(http, url)).text).toBe('ok');
  });

  it('names bad URLs and schemes', async () => {
    await expect(fetchText(engine(), 'nonsense')).rejects.toMatchObject({ code: 'URL_INVALID' });
    await expect(fetchText(engine(), 'ftp://127.0.0.1/')).rejects.toMatchObject({ code: 'URL_SCHEME' });
  });
});

describe('the cap on body bytes', () => {
  it('refuses a length over the cap before reading, and accepts one at it', async () => {
    const { url, open } = await serve((_request, response) => response.end('x'.repeat(100)));
    await expect(fetchText(engine(), url, { maxBodyBytes: 99 })).rejects.toMatchObject({ code: 'BODY_TOO_LARGE' });
    await until(() => open.size === 0, 'the connection closes');
    expect((await fetchText(engine(), url, { maxBodyBytes: 100 })).wireBytes).toBe(100);
  });

  it('breaks off a body without end soon after the cap', async () => {
    let sent = 0;
    const server = await serve((_request, response) => {
      const chunk = Buffer.alloc(16_384, 'x');
      const pour = () => {
        if (response.destroyed) return;
        sent += chunk.length;
        response.write(chunk, () => setImmediate(pour));
      };
      pour();
    });
    await expect(fetchText(engine(), server.url, { maxBodyBytes: 200_000 })).rejects.toMatchObject({
      code: 'BODY_TOO_LARGE',
    });
    await until(() => server.open.size === 0, 'the connection closes');
    // What the kernel buffers on loopback may be on its way; a runaway would be far beyond.
    expect(sent).toBeLessThan(20_000_000);
  });

  it('stops a compression bomb at the cap', async () => {
    const bomb = zlib.gzipSync(Buffer.alloc(50_000_000));
    const { url } = await serve((_request, response) => {
      response.setHeader('content-encoding', 'gzip');
      response.end(bomb);
    });
    const http = engine();
    await expect(fetchText(http, url)).rejects.toMatchObject({ code: 'BODY_TOO_LARGE' });
    // The exchange itself was in order: the connection is kept.
    expect(http.connections).toEqual({ inUse: 0, idle: 1 });
  });
});

describe('deadlines', () => {
  it('names the wait for headers, and closes the connection', async () => {
    const server = await serve(() => undefined);
    const error = await fetchText(engine(), server.url, { timeoutMs: 150 }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'FETCH_TIMEOUT', message: expect.stringMatching(/headers.*150 ms/) });
    await until(() => server.open.size === 0, 'the connection closes');
  });

  it('names the wait for the body, also when bytes trickle', async () => {
    const server = await serve((_request, response) => {
      const trickle = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(trickle));
      response.write('x');
    });
    const error = await fetchText(engine(), server.url, { timeoutMs: 300 }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'FETCH_TIMEOUT', message: expect.stringMatching(/body/) });
    await until(() => server.open.size === 0, 'the connection closes');
  });

  it('names a body that stalls before the visit ends', async () => {
    const server = await serve((_request, response) => void response.write('x'));
    const http = engine({ bodyIdleTimeoutMs: 100 });
    await expect(fetchText(http, server.url)).rejects.toMatchObject({
      code: 'FETCH_TIMEOUT',
      message: expect.stringMatching(/no body bytes within 100 ms/),
    });
    const headers = engine({ headersTimeoutMs: 100 });
    const silent = await serve(() => undefined);
    await expect(fetchText(headers, silent.url)).rejects.toMatchObject({
      code: 'FETCH_TIMEOUT',
      message: expect.stringMatching(/no response headers within 100 ms/),
    });
  });

  it('gives up on a name that never resolves and on a handshake that never ends', async () => {
    const http = engine({ connectTimeoutMs: 100, resolve: () => new Promise(() => undefined) });
    await expect(fetchText(http, 'http://slow.example/')).rejects.toMatchObject({ code: 'CONNECT_TIMEOUT' });
    const mute = await serveRaw(() => undefined);
    await expect(fetchText(http, mute.url.replace('http', 'https'))).rejects.toMatchObject({ code: 'CONNECT_TIMEOUT' });
    await until(() => mute.open.size === 0, 'the connection closes');
    const whole = fetchText(engine({ resolve: () => new Promise(() => undefined) }), 'http://slow.example/', {
      timeoutMs: 100,
    });
    await expect(whole).rejects.toMatchObject({ code: 'FETCH_TIMEOUT', message: expect.stringContaining('connect') });
  });
});

describe('aborting', () => {
  it('ends a visit in any phase with ABORTED and closes its connection', async () => {
    const silent = await serve(() => undefined);
    const stalled = await serve((_request, response) => void response.write('x'));
    const mute = await serveRaw(() => undefined);
    const http = engine();
    const phases: [string, () => boolean][] = [
      [silent.url, () => silent.open.size === 1],
      [stalled.url, () => stalled.open.size === 1],
      [mute.url.replace('http', 'https'), () => mute.open.size === 1],
    ];
    for (const [url, reached] of phases) {
      const controller = new AbortController();
      const visit = fetchText(http, url, { signal: controller.signal }).catch((thrown: unknown) => thrown);
      await until(reached, 'the visit is under way');
      controller.abort(new Error('enough'));
      expect(await visit).toMatchObject({ code: 'ABORTED', cause: { message: 'enough' } });
    }
    for (const { open } of [silent, stalled, mute]) await until(() => open.size === 0, 'the connection closes');
    expect(http.connections).toEqual({ inUse: 0, idle: 0 });
  });

  it('does not start a visit whose signal is already aborted', async () => {
    const server = await serve((_request, response) => response.end());
    const visit = fetchText(engine(), server.url, { signal: AbortSignal.abort() });
    await expect(visit).rejects.toMatchObject({ code: 'ABORTED' });
    expect(server.accepted()).toBe(0);
  });

  it('ends all visits when the engine closes, and refuses new ones', async () => {
    const server = await serve(() => undefined);
    const http = engine();
    const visits = [1, 2, 3].map(() => fetchText(http, server.url).catch((thrown: unknown) => thrown));
    await until(() => server.open.size === 3, 'all are under way');
    await http.close();
    for (const visit of visits) expect(await visit).toMatchObject({ code: 'ABORTED' });
    await until(() => server.open.size === 0, 'the connections close');
    await expect(fetchText(http, server.url)).rejects.toMatchObject({ code: 'ABORTED' });
  });
});

describe('connections', () => {
  it('are used again, one request at a time', async () => {
    const server = await serve((_request, response) => response.end('x'));
    const http = engine();
    for (let index = 0; index < 5; index++) await fetchText(http, server.url);
    expect(server.accepted()).toBe(1);
    await Promise.all([1, 2, 3].map(() => fetchText(http, server.url)));
    expect(server.accepted()).toBe(3);
  });

  it('are opened anew when the server has closed a kept one, for requests that may be repeated', async () => {
    const served: string[] = [];
    const server = await serveRaw((socket, request) => {
      const method = request.split(' ')[0]!;
      const seen = served.filter((line) => line === method).length;
      served.push(method);
      // The second request of each method meets a server that has just hung up.
      if (seen === 1) socket.destroy();
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
    const http = engine();
    await fetchText(http, server.url);
    expect((await fetchText(http, server.url)).text).toBe('ok');
    expect(server.accepted()).toBe(2);
    await fetchText(http, server.url, { method: 'POST' });
    await expect(fetchText(http, server.url, { method: 'POST' })).rejects.toMatchObject({ code: 'CONNECT_RESET' });
    expect(served).toEqual(['GET', 'GET', 'GET', 'POST', 'POST']);
  });

  it('stay within the limit over many hosts, and close when they have been idle', async () => {
    const server = await serve((_request, response) => response.end('x'));
    const http = engine({ maxConnections: 10, onceIdleMs: 300, resolve: async () => ({ addresses: ['127.0.0.1'] }) });
    for (let index = 0; index < 60; index++) await fetchText(http, `http://h${index}.example:${server.port}/`);
    expect(http.connections.idle).toBeLessThanOrEqual(10);
    await until(() => server.open.size <= 10, 'the server sees no more');
    await until(() => http.connections.idle === 0 && server.open.size === 0, 'idle ones close');
  });

  it('report refused ports and unknown names by code', async () => {
    const server = await serve((_request, response) => response.end());
    const { url } = server;
    await closeAll();
    await expect(fetchText(engine(), url)).rejects.toMatchObject({ code: 'CONNECT_REFUSED' });
    const nowhere = engine({
      resolve: () => Promise.reject(Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' })),
    });
    await expect(fetchText(nowhere, 'http://nowhere.example/')).rejects.toMatchObject({ code: 'DNS_NOT_FOUND' });
  });

  it('try the next address of a name when one does not answer', async () => {
    const server = await serve((_request, response) => response.end('second'));
    const http = engine({ resolve: async () => ({ addresses: ['::1', '127.0.0.1'] }) });
    expect((await fetchText(http, `http://two.example:${server.port}/`)).text).toBe('second');
  });
});
