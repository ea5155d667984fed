// What handlers hold on to after their visit: content, document, nodes and body say the same as during it, although the
// memory of their pages was used again for others meanwhile.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CheerioCrawler, HttpCrawler } from '../../src/index.js';
import { memoryConfig, silent } from '../support/crawl.js';

const PAGES = 60;
const title = (n: number) => `Page ${n} of ${'many '.repeat(n % 7)}`.trim();
const html = (n: number) =>
  `<!doctype html><html lang=en><title>${title(n)}</title><meta name=description content="about ${n}">` +
  `<body class="c${n}"><!-- note ${n} --><h1>Heading ${n}</h1>${`<p>Words of page ${n} &amp; é.</p>`.repeat(50 + ((n * 37) % 200))}` +
  `<a href="/p/${n + 1}">next ${n}</a>`;

let server: Server;
let seeds: string[];

beforeEach(async () => {
  server = createServer(({ url }, response) => {
    const body = gzipSync(html(Number(url!.slice(3))));
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-encoding': 'gzip' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  seeds = Array.from({ length: PAGES }, (_, n) => `http://127.0.0.1:${port}/p/${n}`);
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const numberOf = (url: string) => Number(/\d+$/.exec(url)![0]);
const text = (n: number) => `Words of page ${n} & é.`;

describe('what a handler holds on to', () => {
  it('content: read, half read and never read during the visit', async () => {
    const kept: {
      n: number;
      content: { title: string; text: string; links: readonly { url: string; text: string }[] };
    }[] = [];
    const crawler = new HttpCrawler(
      {
        log: silent,
        maxConcurrency: 8,
        async requestHandler({ request, content, enqueueLinks }) {
          const n = numberOf(request.url);
          kept.push({ n, content });
          if (n % 3 === 0) void content.title;
          if (n % 3 === 1) await enqueueLinks({ limit: 0 });
          if (n % 5 === 0) void content.text;
        },
      },
      memoryConfig(),
    );
    await crawler.run(seeds);
    expect(kept).toHaveLength(PAGES);
    for (const { n, content } of kept) {
      expect(content.title).toBe(title(n));
      expect(content.text).toContain(text(n));
      expect(content.links.map((link) => link.text)).toEqual([`next ${n}`]);
      expect(content).toMatchObject({ metadata: { description: `about ${n}` }, language: 'en' });
      expect((content as unknown as { markdown(): string }).markdown()).toContain(`# Heading ${n}`);
    }
  });

  it('the body, and the main content that was worked out of it', async () => {
    const kept: { n: number; body: Buffer; main: { text: string } }[] = [];
    const crawler = new HttpCrawler(
      {
        log: silent,
        maxConcurrency: 8,
        async requestHandler({ request, body, content }) {
          kept.push({ n: numberOf(request.url), body: body as Buffer, main: content.main() });
        },
      },
      memoryConfig(),
    );
    await crawler.run(seeds);
    expect(kept).toHaveLength(PAGES);
    for (const { n, body, main } of kept) {
      expect(body.toString()).toBe(html(n));
      expect(main.text).toContain(text(n));
    }
  });

  it('the context: its getters work after the visit', async () => {
    const kept: { n: number; context: { body: unknown; content: { title: string } } }[] = [];
    const crawler = new HttpCrawler(
      {
        log: silent,
        maxConcurrency: 8,
        requestHandler: (context) => void kept.push({ n: numberOf(context.request.url), context }),
      },
      memoryConfig(),
    );
    await crawler.run(seeds);
    expect(kept).toHaveLength(PAGES);
    for (const { n, context } of kept) {
      expect(context.content.title).toBe(title(n));
      expect(String(context.body)).toBe(html(n));
    }
  });

  it('the document and its nodes, touched or not', async () => {
    const kept: { n: number; $: (selector: string) => { text(): string; attr(name: string): string | undefined } }[] =
      [];
    const crawler = new CheerioCrawler(
      {
        log: silent,
        maxConcurrency: 8,
        async requestHandler({ request, $, enqueueLinks }) {
          const n = numberOf(request.url);
          if (n % 2 === 0) void $('title').text();
          if (n % 3 === 0) await enqueueLinks({ limit: 0 });
          kept.push({ n, $: $ as never });
        },
      },
      memoryConfig(),
    );
    await crawler.run(seeds);
    expect(kept).toHaveLength(PAGES);
    for (const { n, $ } of kept) {
      expect($('title').text()).toBe(title(n));
      expect($('body').attr('class')).toBe(`c${n}`);
      expect($('body').text()).toContain(text(n));
      expect($('a').attr('href')).toBe(`/p/${n + 1}`);
    }
  });
});
