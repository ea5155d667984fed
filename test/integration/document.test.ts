// `$` in a crawl: built of the response's bytes when touched, in the page's encoding, and what enqueueLinks makes of it.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CheerioCrawler, type CheerioCrawlingContext, HttpCrawler } from '../../src/index.js';
import { memoryConfig, silent } from '../support/crawl.js';

const PAGE = `<!doctype html><base href="/deep/"><title>Links</title><body>
<a href="one">1</a><a href="/two" rel="nofollow">2</a><div class=here><a href="three?a=1&amp;b=2">3</a></div>
<noscript><a href="never1">n</a></noscript><template><a href="never2">t</a></template>
<svg><a href="never3">s</a></svg><!-- <a href="never4"> --><a>no place</a>`;
// "Привет" in windows-1251.
const CYRILLIC = Buffer.concat([
  Buffer.from('<title>'),
  Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]),
  Buffer.from('</title>'),
]);

let server: Server;
let origin: string;
beforeAll(async () => {
  server = createServer(({ url }, response) => {
    if (url === '/cyrillic') response.setHeader('content-type', 'text/html; charset=windows-1251').end(CYRILLIC);
    else if (url === '/unlabelled') response.setHeader('content-type', 'text/html').end(CYRILLIC);
    else if (url === '/feed') response.setHeader('content-type', 'application/xml').end('<Feed><link>x</link></Feed>');
    else response.setHeader('content-type', 'text/html').end(url === '/' ? PAGE : '<p>leaf');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

/** What the handler queues, as paths. */
async function queuedBy(handle: (context: CheerioCrawlingContext) => Promise<unknown>, more: object = {}) {
  const paths: string[] = [];
  const crawler = new CheerioCrawler(
    {
      log: silent,
      maxCrawlDepth: 1,
      ...more,
      async requestHandler(context) {
        const { pathname, search } = new URL(context.request.url);
        if (pathname === '/') await handle(context);
        else paths.push(pathname + search);
      },
    },
    memoryConfig(),
  );
  await crawler.run([`${origin}/`]);
  return paths.sort();
}

describe('enqueueLinks of a handler that uses $', () => {
  const ALL = ['/deep/one', '/deep/three?a=1&b=2', '/two'];

  it('finds what it finds without $, whatever the handler did to the document', async () => {
    expect(await queuedBy(({ enqueueLinks }) => enqueueLinks())).toEqual(ALL);
    const touched = await queuedBy(async ({ $, enqueueLinks }) => {
      expect($('title').text()).toBe('Links');
      $('a').remove();
      $('body').append('<a href="/added">new</a>');
      await enqueueLinks();
    });
    expect(touched).toEqual(ALL);
  });

  it('goes by the document as it is when a selector is given', async () => {
    const selected = await queuedBy(async ({ $, enqueueLinks }) => {
      $('.here').append('<a href="/added">new</a>');
      await enqueueLinks({ selector: '.here a' });
    });
    expect(selected).toEqual(['/added', '/deep/three?a=1&b=2']);
  });

  it('leaves nofollow links out in a polite crawl, told of by the same scan', async () => {
    const skipped: string[] = [];
    const paths = await queuedBy(
      async ({ $, enqueueLinks }) => {
        expect($('a').length).toBe(7);
        await enqueueLinks();
      },
      {
        respectRobotsTxtFile: true,
        sameDomainDelaySecs: 0,
        onSkippedRequest: ({ url, reason }: { url: string; reason: string }) => void skipped.push(`${reason} ${url}`),
      },
    );
    expect(paths).toEqual(['/deep/one', '/deep/three?a=1&b=2']);
    expect(skipped).toContain(`nofollow ${origin}/two`);
  });
});

describe('$', () => {
  it('reads the page in its encoding, and XML as XML', async () => {
    const titles: string[] = [];
    const crawl = (paths: string[], more: object = {}) =>
      new CheerioCrawler(
        {
          log: silent,
          maxConcurrency: 1,
          ...more,
          requestHandler: ({ $ }) => void titles.push($('title, link').text()),
        },
        memoryConfig(),
      ).run(paths.map((path) => origin + path));
    await crawl(['/cyrillic', '/feed']);
    await crawl(['/unlabelled'], { forceResponseEncoding: 'windows-1251' });
    expect(titles).toEqual(['Привет', 'x', 'Привет']);
  });

  it('is there for error handlers, with what the handler changed', async () => {
    const seen: unknown[] = [];
    const crawler = new CheerioCrawler(
      {
        log: silent,
        maxRequestRetries: 0,
        requestHandler({ $ }) {
          $('title').text('changed');
          throw new Error('no');
        },
        failedRequestHandler: (context) => {
          const { $, body, contentType } = context as unknown as CheerioCrawlingContext;
          seen.push($('title').text(), (body as string).length, contentType.type, contentType.encoding);
        },
      },
      memoryConfig(),
    );
    await crawler.run([`${origin}/`]);
    expect(seen).toEqual(['changed', PAGE.length, 'text/html', 'utf-8']);
  });

  it('comes from parseWithCheerio too, where a missing selector is an error', async () => {
    const found: unknown[] = [];
    const crawler = new HttpCrawler(
      {
        log: silent,
        async requestHandler({ parseWithCheerio, waitForSelector }) {
          const $ = await parseWithCheerio('title');
          found.push($('title').text(), (await parseWithCheerio()) === $);
          found.push(
            await waitForSelector('blink').catch((error: Error) => error.message.includes('does not contain "blink"')),
          );
        },
      },
      memoryConfig(),
    );
    await crawler.run([`${origin}/`]);
    expect(found).toEqual(['Links', true, true]);
  });
});
