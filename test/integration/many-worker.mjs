// Leaves the loop over a batch after ten results, closes, and prints what is still open. Must end on its own.
import { SemaphoreDispatcher, WebCrawler } from '../../dist/index.js';

const [url, storageDir] = process.argv.slice(2);
const turn = () => new Promise((resume) => setImmediate(resume));

/** What keeps the process, but for its own standard streams, which come into being when first used. */
async function open() {
  void [process.stdout, process.stderr];
  for (let turns = 0; turns < 3; turns++) await turn();
  return process.getActiveResourcesInfo().sort();
}

const before = await open();
const crawler = await WebCrawler.open({ storageDir });
async function* list() {
  for (let n = 0; ; n++) yield `${url}/?n=${n}`;
}
let read = 0;
const dispatcher = new SemaphoreDispatcher({ permits: 20 });
for await (const { success } of crawler.runMany(list(), { cacheMode: 'enabled', respectRobots: true }, dispatcher)) {
  if (!success || ++read === 10) break;
}
const leftAtMs = performance.now();
await crawler.close();
const closedMs = performance.now() - leftAtMs;
const after = await open();
process.stdout.write(JSON.stringify({ read, closedMs, before, after }));
