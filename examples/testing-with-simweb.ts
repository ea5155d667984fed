// Testing a crawler: the synthetic web serves a site on loopback and knows what a whole crawl must find, so
// that a test can compare both sides. Needs no network.
// Run: node --import jiti/register examples/testing-with-simweb.ts
import assert from 'node:assert/strict';
import { Configuration, HttpCrawler } from 'orcrawl';
import { Simweb } from 'orcrawl/testing';

await using web = await Simweb.start({ seed: 1, pagesPerHost: 40, statusMix: { recovering: 0.1 } });

const found = new Set<string>();
const crawler = new HttpCrawler(
  {
    retryDelayMs: 50,
    async requestHandler({ request, enqueueLinks }) {
      found.add(request.uniqueKey);
      await enqueueLinks();
    },
  },
  new Configuration({ persistStorage: false }),
);
await crawler.run(web.seeds());

const missed = [...web.allUrls()].filter((url) => !found.has(url.replace(/\/$/, '')));
assert.deepEqual(missed, [], 'every page of the map was visited');
console.log(`visited all ${found.size} pages; the server saw ${web.served()} requests`);
