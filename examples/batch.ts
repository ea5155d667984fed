// A list of URLs, awaited as a whole: one result each, in the order of the list, failures included.
// Run: node --import jiti/register examples/batch.ts https://example.com/ https://example.org/
import { CacheMode, WebCrawler } from 'orcrawl';

const crawler = await WebCrawler.open();
const results = await crawler.runMany(process.argv.slice(2), {
  cacheMode: CacheMode.ENABLED,
  cacheTtlSecs: 3600,
  excludedTags: ['nav', 'footer'],
});
for (const { url, success, statusCode, errorCode, cacheStatus, metadata } of results) {
  if (success) console.log(`${statusCode} ${cacheStatus} ${url} ${metadata?.title}`);
  else console.log(`${errorCode} ${url}`);
}
await crawler.close();
