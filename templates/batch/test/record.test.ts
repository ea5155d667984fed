// The records of a synthetic web: it needs no network, and fails where we tell it to.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WebCrawler } from 'orcrawl';
import { Simweb } from 'orcrawl/testing';
import { CONFIG, recordOf } from '../src/record.js';

test('one record per URL, failures included', async () => {
  const web = await Simweb.start({ pagesPerHost: 5 });
  const missing = web.url(0, '/_/status/404');
  const crawler = await WebCrawler.open();
  const results = await crawler.runMany([...web.allUrls(), missing], CONFIG);
  const records = results.map(recordOf);
  await crawler.close();
  await web.close();

  assert.equal(records.length, 6);
  assert.deepEqual(records.at(-1), { url: missing, error: 'HTTP_STATUS' });
  for (const { title, fields, markdown } of records.slice(0, -1)) {
    assert.notEqual(title, '');
    assert.match(String((fields as { published: unknown }).published), /^\d{4}-\d\d-\d\d/);
    assert.match(markdown ?? '', /\w/);
  }
});
