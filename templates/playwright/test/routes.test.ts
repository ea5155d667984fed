// The routes in a real browser, against a synthetic web: it needs no network.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Configuration, PlaywrightCrawler } from 'orcrawl';
import { Simweb } from 'orcrawl/testing';
import { router, type Page } from '../src/routes.js';

test('stores every page of the site', async () => {
  const web = await Simweb.start({ pagesPerHost: 4 });
  const crawler = new PlaywrightCrawler({ requestHandler: router }, new Configuration({ persistStorage: false }));
  await crawler.run([web.url(0)]);
  const { items } = await crawler.getData();
  const pages = items as unknown as Page[];
  const expected = [...web.allUrls()];
  await web.close();

  assert.deepEqual(pages.map(({ url }) => url).sort(), expected.sort());
  for (const { title, headings } of pages) {
    assert.notEqual(title, '');
    assert.ok(headings > 0);
  }
});
