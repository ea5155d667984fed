// Crawlee's AdaptivePlaywrightCrawler: a predictor decides where a page is loaded, and what the handler did is checked and
// compared. Nothing of a run that is only compared is stored.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AdaptivePlaywrightCrawler,
  type AdaptivePlaywrightCrawlingContext,
  Configuration,
  createAdaptivePlaywrightRouter,
  type RenderingOptions,
  type RenderingType,
} from '../../src/crawlee/entry.js';

const LINKS = ['a', 'b'].map((name) => `<a href="/plain?${name}">${name}</a>`).join('');
const PLAIN = `<h1>Heading</h1>${LINKS}<p>${'Enough text to be a page of its own. '.repeat(4)}</p>`;
const SCRIPTED = `<script>addEventListener('load', () => { document.body.innerHTML = '${PLAIN}' })</script><body></body>`;

describe('AdaptivePlaywrightCrawler for scripts of Crawlee', () => {
  let server: Server;
  let origin: string;
  beforeAll(async () => {
    server = createServer((request, response) => {
      response.setHeader('content-type', 'text/html').end(request.url?.startsWith('/plain') ? PLAIN : SCRIPTED);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  function rigged(renderingType: RenderingType, detectionProbabilityRecommendation: number) {
    const stored: string[] = [];
    const asked: string[] = [];
    const predictor: RenderingOptions['renderingTypePredictor'] = {
      predict({ url }) {
        asked.push(new URL(url).pathname);
        return { renderingType, detectionProbabilityRecommendation };
      },
      storeResult: (_request, type) => void stored.push(type),
    };
    return { predictor, stored, asked };
  }

  async function crawl(
    path: string,
    options: RenderingOptions,
    requestHandler: (context: AdaptivePlaywrightCrawlingContext) => Promise<void>,
  ) {
    const failed: string[] = [];
    const crawler = new AdaptivePlaywrightCrawler(
      {
        maxRequestRetries: 0,
        maxRequestsPerCrawl: 1,
        ...options,
        requestHandler,
        failedRequestHandler: (_context, error) => void failed.push(error.message),
      },
      new Configuration({ persistStorage: false }),
    );
    await crawler.run([`${origin}${path}`]);
    const { items } = await crawler.getData();
    await crawler.teardown();
    return { items, failed };
  }

  it.each([
    ['/plain', 'static'],
    ['/scripted', 'clientOnly'],
  ])('finds out by two runs that %s is %s, and stores one of them', async (path, expected) => {
    const { predictor, stored, asked } = rigged('clientOnly', 1);
    let runs = 0;
    const { items } = await crawl(path, { renderingTypePredictor: predictor }, async (context) => {
      runs++;
      const $ = await context.parseWithCheerio('h1');
      await context.pushData({ heading: $('h1').text() });
    });
    expect({ items, stored, asked, runs }).toEqual({
      items: [{ heading: 'Heading' }],
      stored: [expected],
      asked: [path],
      runs: 2,
    });
  });

  it('loads a page in a browser when its result is not accepted, or its handler failed, without one', async () => {
    const { predictor } = rigged('static', 0);
    const types: string[] = [];
    const refused = await crawl(
      '/plain',
      { renderingTypePredictor: predictor, resultChecker: ({ datasetItems }) => datasetItems[0]?.item['n'] !== 1 },
      async ({ pushData, renderingType }) => {
        types.push(renderingType);
        await pushData({ n: types.length });
      },
    );
    expect({ items: refused.items, types }).toEqual({ items: [{ n: 2 }], types: ['static', 'browser'] });
    const broken = await crawl('/plain', { renderingTypePredictor: predictor }, async ({ pushData, renderingType }) => {
      if (renderingType === 'static') throw new Error('only in a browser');
      await pushData({ renderingType });
    });
    expect(broken).toEqual({ items: [{ renderingType: 'browser' }], failed: [] });
    types.length = 0;
    const checked: unknown[] = [];
    const empty = await crawl(
      '/scripted',
      {
        renderingTypePredictor: predictor,
        resultChecker: ({ datasetItems: [first] }) => checked.push(first?.item['heading']) > 1,
      },
      async ({ pushData, querySelector, renderingType }) => {
        types.push(renderingType);
        await pushData({ heading: (await querySelector('h1')).text() });
      },
    );
    expect({ items: empty.items, types, checked }).toEqual({
      items: [{ heading: 'Heading' }],
      types: ['static', 'browser'],
      checked: [''],
    });
    const told = await crawl(
      '/plain',
      { renderingTypePredictor: predictor, shouldPropagateError: () => true },
      async () => {
        throw new Error('mine');
      },
    );
    expect(told).toEqual({ items: [], failed: ['mine'] });
  });

  it('compares what both runs queued, with a router too', async () => {
    const { predictor, stored } = rigged('clientOnly', 1);
    const compared: number[][] = [];
    const router = createAdaptivePlaywrightRouter();
    router.addDefaultHandler(async ({ enqueueLinks }) => void (await enqueueLinks()));
    await crawl(
      '/plain',
      {
        renderingTypePredictor: predictor,
        resultComparator(first, second) {
          compared.push([first.enqueuedUrls.length, second.enqueuedUrls.length]);
          return 'inconclusive';
        },
      },
      router as never,
    );
    expect({ compared, stored }).toEqual({ compared: [[2, 2]], stored: [] });
  });
});
