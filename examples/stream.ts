// A long list, streamed: results as they complete, at most 25 at once, a polite pause between requests of a domain.
// The generator is pulled only as fast as the loop reads, so the list may be as long as it likes.
// Run: node --import jiti/register examples/stream.ts https://example.com/ 100
import { CrawlerMonitor, DisplayMode, MemoryAdaptiveDispatcher, RateLimiter, WebCrawler } from 'orcrawl';

const [start = 'https://example.com/', count = '20'] = process.argv.slice(2);

function* urls() {
  for (let page = 1; page <= Number(count); page++) yield `${start}?page=${page}`;
}

const dispatcher = new MemoryAdaptiveDispatcher({
  maxSessionPermit: 25,
  rateLimiter: new RateLimiter({ baseDelayMs: [20, 40], maxRetries: 2 }),
  monitor: new CrawlerMonitor({ displayMode: DisplayMode.AGGREGATED }),
});
const crawler = await WebCrawler.open();
let words = 0;
for await (const result of crawler.runMany(urls(), { stream: true }, dispatcher)) {
  if (result.success) words += result.text.split(/\s+/).length;
  else console.error(`${result.url}: ${result.errorCode}`);
}
console.log(`${words} words`);
await crawler.close();
