// `httpClient`: a crawl's requests sent by a client of the user's, in the sense of Crawlee's BaseHttpClient.
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type BaseHttpClient,
  CheerioCrawler,
  Configuration,
  FileDownload,
  GotScrapingHttpClient,
  HttpCrawler,
  type HttpRequest,
} from '../../src/crawlee/entry.js';

const config = () => new Configuration({ persistStorage: false });
const quiet = { maxRequestRetries: 0, retryDelayMs: 0 };

/** Answers everything by itself; what it was asked is in `asked`. */
function clientThatSays(answers: (request: HttpRequest) => { status?: number; headers?: object; body?: string }) {
  const asked: HttpRequest[] = [];
  const answerTo = (request: HttpRequest) => {
    asked.push(request);
    const { status = 200, headers = { 'content-type': 'text/html' }, body = '' } = answers(request);
    const head = { url: String(request.url), statusCode: status, headers, redirectUrls: [], trailers: {} };
    return { head: { ...head, complete: true, request }, body };
  };
  const none = { percent: 1, transferred: 0 };
  const client: BaseHttpClient = {
    async sendRequest(request) {
      const { head, body } = answerTo(request as HttpRequest);
      return { ...head, body: `sent ${body}` } as never;
    },
    async stream(request) {
      const { head, body } = answerTo(request);
      return {
        ...head,
        stream: Readable.from([Buffer.from(body)]),
        downloadProgress: none,
        uploadProgress: none,
      } as never;
    },
  };
  return { client, asked };
}

describe('an HTTP client of the user', () => {
  let server: Server;
  let origin: string;
  const seen: IncomingMessage[] = [];
  beforeAll(async () => {
    server = createServer((request, response) => {
      seen.push(request);
      response.setHeader('content-type', 'text/html').end('<title>real</title>');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it('gives the pages and the answers to sendRequest', async () => {
    const { client, asked } = clientThatSays(() => ({ body: '<title>from the client</title>' }));
    const found: unknown[] = [];
    const crawler = new CheerioCrawler(
      {
        ...quiet,
        httpClient: client,
        async requestHandler({ $, sendRequest, response }) {
          found.push($('title').text(), (await sendRequest()).body, response.statusCode);
        },
      },
      config(),
    );
    await crawler.run(['https://nobody.example/a']);
    expect(found).toEqual(['from the client', 'sent <title>from the client</title>', 200]);
    expect(asked.map(({ url, method, responseType }) => [String(url), method, responseType])).toEqual([
      ['https://nobody.example/a', 'GET', undefined],
      ['https://nobody.example/a', 'GET', 'text'],
    ]);
  });

  it('is asked for each hop, with the cookies of the session and without the secrets of another site', async () => {
    const { client, asked } = clientThatSays(({ url }) => {
      if (String(url).endsWith('/start'))
        return { status: 302, headers: { location: 'https://other.example/end', 'Set-Cookie': 'a=1; Path=/' } };
      return { body: 'end' };
    });
    const loaded: unknown[] = [];
    const crawler = new HttpCrawler(
      {
        ...quiet,
        httpClient: client,
        sessionPoolOptions: { maxPoolSize: 1 },
        maxConcurrency: 1,
        requestHandler: ({ request }) => void loaded.push(request.loadedUrl),
      },
      config(),
    );
    await crawler.run([
      { url: 'https://one.example/start', headers: { authorization: 'secret' } },
      'https://one.example/second',
    ]);
    expect(loaded).toEqual(['https://other.example/end', 'https://one.example/second']);
    const header = (at: number, name: string) => (asked[at]!.headers as Record<string, string>)[name];
    expect(asked.map(({ followRedirect }) => followRedirect)).toEqual([false, false, false]);
    expect([header(0, 'authorization'), header(1, 'authorization')]).toEqual(['secret', undefined]);
    expect([header(0, 'cookie'), header(1, 'cookie'), header(2, 'cookie')]).toEqual([undefined, undefined, 'a=1']);
  });

  it('is not asked for private addresses that nobody named, also after a redirect', async () => {
    const { client, asked } = clientThatSays(({ url }) =>
      String(url).endsWith('/go') ? { status: 301, headers: { location: `${origin}/secret` } } : { body: 'secret' },
    );
    const errors: string[] = [];
    const crawler = new HttpCrawler(
      {
        ...quiet,
        httpClient: client,
        async requestHandler({ sendRequest }) {
          await sendRequest({ url: `${origin}/secret` });
        },
        failedRequestHandler: (_context, error) => void errors.push((error as { code?: string }).code!),
      },
      config(),
    );
    await crawler.run(['https://one.example/go', 'https://one.example/page']);
    expect(errors).toEqual(['ADDRESS_REFUSED', 'ADDRESS_REFUSED']);
    expect(asked.map(({ url }) => String(url)).sort()).toEqual(['https://one.example/go', 'https://one.example/page']);
  });

  it('keeps to the limits of bodies and of time, and its errors are retried', async () => {
    const calls: string[] = [];
    const codes: string[] = [];
    const { client } = clientThatSays(() => ({ body: 'x'.repeat(5_000) }));
    const stream = client.stream.bind(client);
    client.stream = (request) => {
      calls.push(String(request.url));
      if (String(request.url).endsWith('/hang')) return new Promise(() => undefined);
      if (String(request.url).endsWith('/broken')) return Promise.reject(new Error('no luck'));
      return stream(request);
    };
    const crawler = new HttpCrawler(
      {
        retryDelayMs: 0,
        maxRequestRetries: 1,
        maxBodyBytes: 1_000,
        navigationTimeoutSecs: 0.2,
        httpClient: client,
        requestHandler: () => undefined,
        failedRequestHandler: (_context, error) => void codes.push((error as { code?: string }).code!),
      },
      config(),
    );
    await crawler.run(['https://one.example/large', 'https://one.example/hang', 'https://one.example/broken']);
    expect(codes.sort()).toEqual(['BODY_TOO_LARGE', 'CONNECT_FAILED', 'FETCH_TIMEOUT']);
    expect(calls.filter((url) => url.endsWith('/broken'))).toHaveLength(2);
  });

  it('streams files', async () => {
    const { client } = clientThatSays(() => ({ headers: { 'content-type': 'text/plain' }, body: 'a file' }));
    const got: string[] = [];
    const crawler = new FileDownload(
      {
        ...quiet,
        httpClient: client,
        async streamHandler({ stream }) {
          for await (const piece of stream) got.push(String(piece));
        },
      },
      config(),
    );
    await crawler.run(['https://one.example/file']);
    expect(got.join('')).toBe('a file');
  });

  it('GotScrapingHttpClient is the built-in engine', async () => {
    const before = seen.length;
    const titles: string[] = [];
    const crawler = new CheerioCrawler(
      {
        ...quiet,
        httpClient: new GotScrapingHttpClient(),
        requestHandler: ({ $ }) => void titles.push($('title').text()),
      },
      config(),
    );
    await crawler.run([`${origin}/x`]);
    expect([titles, seen.length - before]).toEqual([['real'], 1]);
  });
});
