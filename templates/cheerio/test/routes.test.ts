// The routes against a synthetic web: it needs no network, and it knows which pages a crawl must find.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CheerioCrawler, Configuration } from 'orcrawl';
import { Simweb } from 'orcrawl/testing';
import { router, type Page } from '../src/routes.js';

test('stores every page behind the start page', async () => {
  const web = await Simweb.start({ pagesPerHost: 20, statusMix: { recovering: 0.1, recoverAfter: 1 } });
  const crawler = new CheerioCrawler(
    { requestHandler: router, retryDelayMs: 10 },
    new Configuration({ persistStorage: false }),
  );
  await crawler.run([web.url(0)]);
  const { items } = await crawler.getData();
  const pages = items as unknown as Page[];
  const expected = [...web.allUrls()].filter((url) => url !== web.url(0));
  await web.close();

  assert.deepEqual(pages.map(({ url }) => url).sort(), expected.sort());
  for (const { title, published } of pages) {
    assert.notEqual(title, '');
    assert.match(published ?? '', /^\d{4}-\d\d-\d\d$/);
  }
});
