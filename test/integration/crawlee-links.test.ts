// Crawlee's functions that enqueue the links of a document and of a page, over its queue on a storage client.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { load } from 'cheerio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  browserCrawlerEnqueueLinks,
  cheerioCrawlerEnqueueLinks,
  Configuration,
  extractUrlsFromPage,
  MemoryStorage,
  PlaywrightCrawler,
  RequestQueueV1,
} from '../../src/crawlee/entry.js';

const HTML = `<a class="c" href="https://example.com/a/first">1</a><a class="c" href="https://example.com/a/second">2</a>
<a class="c" href="http://cool.com/">3</a><a href="/x/path">4</a><a href="mailto:a@b.cz">5</a>`;

async function newQueue() {
  const client = new MemoryStorage({ persistStorage: false });
  const { id } = await client.requestQueues().getOrCreate('links');
  return new RequestQueueV1({ id, client });
}

async function queued(queue: Awaited<ReturnType<typeof newQueue>>): Promise<string[]> {
  const found: string[] = [];
  for await (const { method, url } of queue) found.push(`${method} ${url}`);
  return found;
}

describe('the links of a document', () => {
  const originalRequestUrl = 'https://example.com';
  it.each([
    [{}, ['GET https://example.com/a/first', 'GET https://example.com/a/second', 'GET https://example.com/x/path']],
    [{ selector: '.c', globs: ['https://example.com/**/s*'] }, ['GET https://example.com/a/second']],
    [
      {
        selector: '.c',
        pseudoUrls: ['https://example.com/a/[f\\w+]', { purl: '[http|https]://cool.com/', method: 'POST' }],
      },
      ['GET https://example.com/a/first', 'POST http://cool.com/'],
    ],
    [{ limit: 1 }, ['GET https://example.com/a/first']],
  ] as [object, string[]][])('with %j go to the queue', async (options, expected) => {
    const requestQueue = await newQueue();
    const { processedRequests } = await cheerioCrawlerEnqueueLinks({
      options,
      $: load(HTML),
      requestQueue: requestQueue as never,
      originalRequestUrl,
    });
    expect(await queued(requestQueue)).toEqual(expected);
    expect(processedRequests).toHaveLength(expected.length);
  });

  it('are compared with the address from before a redirect to another domain', async () => {
    const requestQueue = await newQueue();
    await cheerioCrawlerEnqueueLinks({
      options: { strategy: 'same-domain' },
      $: load(HTML),
      requestQueue: requestQueue as never,
      originalRequestUrl,
      finalRequestUrl: 'https://other.com/',
    });
    expect(await queued(requestQueue)).toEqual(['GET https://example.com/a/first', 'GET https://example.com/a/second']);
  });

  it('cannot be enqueued without a document', async () => {
    await expect(cheerioCrawlerEnqueueLinks({ $: null, originalRequestUrl })).rejects.toThrow('DOM is not available');
  });
});

describe('the links of a page', () => {
  let server: Server;
  beforeAll(async () => {
    server = createServer((_, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(`<base href="/deep/"><a href="one">1</a><a href="two">2</a><a href="http://cool.com/">3</a>`);
    });
    await new Promise<void>((resume) => server.listen(0, '127.0.0.1', resume));
  });
  afterAll(() => void server.close());

  it('go to the queue, relative to the base that the page declares', async () => {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const requestQueue = await newQueue();
    let urls: string[] = [];
    const crawler = new PlaywrightCrawler(
      {
        maxRequestRetries: 0,
        async requestHandler({ page }) {
          urls = await extractUrlsFromPage(page as never, 'a', origin);
          await browserCrawlerEnqueueLinks({
            page: page as never,
            requestQueue: requestQueue as never,
            originalRequestUrl: origin,
          });
        },
      },
      new Configuration({ persistStorage: false }),
    );
    await crawler.run([origin]);
    expect(urls).toEqual([`${origin}/deep/one`, `${origin}/deep/two`, 'http://cool.com/']);
    expect(await queued(requestQueue)).toEqual([`GET ${origin}/deep/one`, `GET ${origin}/deep/two`]);
  });
});
