// Fetches a list: npm start -- urls.txt
// Without a file it fetches pages of a synthetic web on this machine, so that it works offline.
import { createReadStream } from 'node:fs';
import { appendFile, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { CrawlerMonitor, MemoryAdaptiveDispatcher, RateLimiter, WebCrawler } from 'orcrawl';
import { Simweb } from 'orcrawl/testing';
import { CONFIG, recordOf } from './record.js';

const [file] = process.argv.slice(2);
const web = file === undefined ? await Simweb.start({ pagesPerHost: 30 }) : undefined;

/** Read only as fast as pages are fetched: the list may be of any length. */
async function* linesOf(list: string) {
  for await (const line of createInterface({ input: createReadStream(list) })) if (line.trim() !== '') yield line;
}

const dispatcher = new MemoryAdaptiveDispatcher({
  maxSessionPermit: 20,
  // Good manners: a pause between two requests to a domain.
  rateLimiter: new RateLimiter({ baseDelayMs: web ? [5, 10] : [1000, 3000] }),
  monitor: new CrawlerMonitor(),
});

const crawler = await WebCrawler.open();
let count = 0;
await writeFile('records.jsonl', '');
for await (const result of crawler.runMany(web ? web.allUrls() : linesOf(file!), CONFIG, dispatcher)) {
  await appendFile('records.jsonl', `${JSON.stringify(recordOf(result))}\n`);
  count++;
}
await crawler.close();
await web?.close();
console.log(`${count} records in records.jsonl`);
