// What crawlers offer besides the lifecycle: sessions, proxies, other requests, files, state, queues and lists.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  BasicCrawler,
  CheerioCrawler,
  type CrawlError,
  FileDownload,
  HttpCrawler,
  ProxyConfiguration,
  RequestList,
  RequestQueue,
  Simweb,
} from '../../src/index.js';
import { startProxy } from '../../src/testing/index.js';
import { memoryConfig, silent, testConfig } from '../support/crawl.js';

let web: Simweb;
beforeAll(async () => {
  web = await Simweb.start({ hosts: 2, pagesPerHost: 10, pageBytes: 3000 });
});
afterAll(() => web.close());

const fast = { log: silent, retryDelayMs: 5, maxRetryDelayMs: 20 };

describe('sessions', () => {
  it('carry cookies from one request of a session to the next', async () => {
    const seen: unknown[] = [];
    const crawler = new HttpCrawler(
      {
        ...fast,
        maxConcurrency: 1,
        sessionPoolOptions: { maxPoolSize: 1 },
        requestHandler: ({ json }) => void seen.push(json),
      },
      memoryConfig(),
    );
    await crawler.run([web.url(0, '/_/cookies/set?flavour=oat'), web.url(0, '/_/cookies')]);
    expect(JSON.stringify(seen.at(-1))).toContain('oat');
  });

  it('are retired by a blocked status, and the request is retried with another', async () => {
    const sessions: string[] = [];
    const crawler = new HttpCrawler(
      {
        ...fast,
        maxRequestRetries: 2,
        preNavigationHooks: [({ session }) => void sessions.push(session!.id)],
        requestHandler: () => undefined,
      },
      memoryConfig(),
    );
    const stats = await crawler.run([web.url(0, '/_/status/403')]);
    expect(stats.requestsFailed).toBe(1);
    expect(new Set(sessions).size).toBe(3);
  });

  it('rotate without counting retries when retryOnBlocked is set', async () => {
    let attempts = 0;
    const crawler = new HttpCrawler(
      {
        ...fast,
        retryOnBlocked: true,
        maxRequestRetries: 0,
        maxSessionRotations: 4,
        preNavigationHooks: [() => void attempts++],
        requestHandler: () => undefined,
      },
      memoryConfig(),
    );
    await crawler.run([web.url(0, '/_/status/403')]);
    expect(attempts).toBe(5);
  });
});

describe('proxies', () => {
  it('carry the requests, with credentials, and are shown to the handler', async () => {
    const proxy = await startProxy({ auth: { username: 'user', password: 'secret' } });
    try {
      let shown: unknown;
      const crawler = new HttpCrawler(
        {
          ...fast,
          proxyConfiguration: new ProxyConfiguration({ proxyUrls: [proxy.url] }),
          requestHandler: ({ proxyInfo }) => void (shown = proxyInfo),
        },
        memoryConfig(),
      );
      const stats = await crawler.run([web.url(0)]);
      expect(stats.requestsFinished).toBe(1);
      expect(proxy.requests.length).toBeGreaterThan(0);
      expect(shown).toMatchObject({ username: 'user', password: 'secret' });
    } finally {
      await proxy.close();
    }
  });
});

describe('a handler', () => {
  it('sends other requests with the session of the visit', async () => {
    let answer: unknown;
    const crawler = new BasicCrawler(
      {
        ...fast,
        allowPrivateAddresses: true,
        async requestHandler({ sendRequest }) {
          const { body, statusCode, ok } = await sendRequest<{ method: string; body: string }>({
            method: 'POST',
            json: { a: 1 },
            responseType: 'json',
          });
          answer = { statusCode, ok, method: body.method, sent: body.body };
        },
      },
      memoryConfig(),
    );
    await crawler.run([web.url(0, '/_/echo')]);
    expect(answer).toEqual({ statusCode: 200, ok: true, method: 'POST', sent: '{"a":1}' });
  });

  it('shares state with the other handlers and finds it saved', async () => {
    const config = await testConfig();
    const crawler = new CheerioCrawler(
      {
        ...fast,
        async requestHandler({ useState, enqueueLinks }) {
          const state = await useState({ visits: 0 });
          state.visits++;
          await enqueueLinks();
        },
      },
      config,
    );
    await crawler.run([web.url(0)]);
    expect(await crawler.useState()).toEqual({ visits: 10 });
    await crawler.teardown();
  });

  it('reads JSON, keeps Buffers for other types, and decodes by the declared charset', async () => {
    const seen: Record<string, unknown> = {};
    const crawler = new CheerioCrawler(
      {
        ...fast,
        additionalMimeTypes: ['application/pdf'],
        requestHandler({ request, body, json, contentType, $ }) {
          const path = new URL(request.url).pathname;
          seen[path] = path.endsWith('json') ? json : path.endsWith('pdf') ? body : $.text();
          seen[`${path} type`] = contentType.type;
        },
      },
      memoryConfig(),
    );
    await crawler.run(['/_/json', '/_/pdf', '/_/charset/windows-1251'].map((path) => web.url(0, path)));
    expect(seen['/_/json']).toBeTypeOf('object');
    expect(Buffer.isBuffer(seen['/_/pdf'])).toBe(true);
    expect(seen['/_/charset/windows-1251']).toMatch(/[а-я]/);
    expect(seen['/_/pdf type']).toBe('application/pdf');
  });

  it('skips navigation when asked', async () => {
    web.reset();
    let response: unknown = 'unset';
    const crawler = new HttpCrawler(
      { ...fast, requestHandler: (context) => void (response = context.response) },
      memoryConfig(),
    );
    await crawler.run([{ url: web.url(0), skipNavigation: true }]);
    expect(response).toBeUndefined();
    expect(web.served()).toBe(0);
  });

  it('gets results of enqueueLinks as known at the call, within limits and rules', async () => {
    const results: unknown[] = [];
    const skipped: string[] = [];
    const crawler = new CheerioCrawler(
      {
        ...fast,
        onSkippedRequest: ({ reason }) => void skipped.push(reason),
        async requestHandler({ request, enqueueLinks }) {
          if (request.crawlDepth > 0) return;
          const { processedRequests } = await enqueueLinks({
            selector: 'a[href]',
            limit: 3,
            transformRequestFunction: (options) => ({ ...options, label: 'NEXT' }),
          });
          results.push(...processedRequests.filter((one) => !one.wasAlreadyPresent));
        },
      },
      memoryConfig(),
    );
    const stats = await crawler.run([web.url(0)]);
    expect(results).toHaveLength(3);
    expect(stats.requestsFinished).toBe(4);
    expect(skipped).toContain('enqueueLimit');
  });
});

describe('FileDownload', () => {
  it('gives whole files of any type', async () => {
    let bytes = 0;
    const crawler = new FileDownload(
      { ...fast, requestHandler: ({ body }) => void (bytes = body.length) },
      memoryConfig(),
    );
    await crawler.run([web.url(0, '/_/bytes/300000')]);
    expect(bytes).toBe(300_000);
  });

  it('fails a file beyond its limit, which is 1 GiB unless another is given', async () => {
    const server = createServer((request, response) => {
      if (request.url === '/announced')
        return void response.writeHead(200, { 'content-length': 1024 ** 3 + 1 }).write('x');
      const pour = (): void => {
        if (!response.destroyed) response.write(Buffer.alloc(65_536), () => setImmediate(pour));
      };
      pour();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const failures: unknown[] = [];
    const failedRequestHandler = (_context: unknown, error: Error) => void failures.push((error as CrawlError).code);
    let handled = 0;
    const whole = new FileDownload(
      { ...fast, failedRequestHandler, requestHandler: () => void handled++ },
      memoryConfig(),
    );
    await whole.run([`${url}/announced`]);
    const streamed = new FileDownload(
      {
        ...fast,
        failedRequestHandler,
        maxBodyBytes: 2_000_000,
        streamHandler: async ({ stream }) => {
          for await (const chunk of stream) void chunk;
          handled++;
        },
      },
      memoryConfig(),
    );
    await streamed.run([`${url}/endless`]);
    server.closeAllConnections();
    server.close();
    expect([failures, handled]).toEqual([['BODY_TOO_LARGE', 'BODY_TOO_LARGE'], 0]);
  });

  it('gives streams, and lets the handler give one up', async () => {
    let bytes = 0;
    const crawler = new FileDownload(
      {
        ...fast,
        async streamHandler({ stream, request, abortDownload }) {
          for await (const chunk of stream) {
            bytes += (chunk as Buffer).length;
            if (request.url.includes('endless') && bytes > 1_000_000) {
              abortDownload();
              break;
            }
          }
        },
      },
      memoryConfig(),
    );
    const stats = await crawler.run([web.url(0, '/_/bytes/300000'), web.url(0, '/_/endless')]);
    expect(stats).toMatchObject({ requestsFinished: 2, requestsFailed: 0 });
    expect(bytes).toBeGreaterThan(1_000_000);
  });
});

describe('sources of requests', () => {
  it('are queues and lists of the user', async () => {
    const config = memoryConfig();
    const requestQueue = await RequestQueue.open('mine', { config });
    await requestQueue.addRequest(web.url(0, 1));
    const requestList = await RequestList.open(null, [web.url(0, 2), web.url(0, 3)]);
    const visited: string[] = [];
    const crawler = new HttpCrawler(
      { ...fast, requestQueue, requestList, requestHandler: ({ request }) => void visited.push(request.url) },
      config,
    );
    await crawler.run();
    expect(visited.sort()).toEqual([web.url(0, 1), web.url(0, 2), web.url(0, 3)].sort());
  });

  it('are lists of URLs on the web', async () => {
    web.serve('/list.txt', {
      body: `${web.url(0, 4)}\nnonsense\n${web.url(0, 5)}`,
      headers: { 'content-type': 'text/plain' },
    });
    const visited: string[] = [];
    const crawler = new HttpCrawler(
      { ...fast, allowPrivateAddresses: true, requestHandler: ({ request }) => void visited.push(request.url) },
      memoryConfig(),
    );
    await crawler.run([{ requestsFromUrl: web.url(0, '/list.txt') }]);
    expect(visited.sort()).toEqual([web.url(0, 4), web.url(0, 5)].sort());
  });
});
