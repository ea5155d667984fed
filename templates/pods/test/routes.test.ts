// The routes against a synthetic web, in this process: pods would run the same handlers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CheerioCrawler, Configuration } from 'orcrawl';
import { Simweb } from 'orcrawl/testing';
import { router, type Page } from '../src/routes.js';

test('stores every page of every host', async () => {
  const web = await Simweb.start({ hosts: 3, pagesPerHost: 5, crossHostLinks: 0.2 });
  const crawler = new CheerioCrawler(
    { requestHandler: router, allowPrivateAddresses: ['127.0.0.0/8'] },
    new Configuration({ persistStorage: false }),
  );
  await crawler.run(web.seeds());
  const { items } = await crawler.getData();
  const pages = items as unknown as Page[];
  const expected = [...web.allUrls()];
  await web.close();

  assert.deepEqual(pages.map(({ url }) => url).sort(), expected.sort());
  for (const { title, words } of pages) {
    assert.match(title ?? '', /\w/);
    assert.ok(words > 10);
  }
});
