// The unmodified SDK as a program of its own, so that it can run on another Node than the tests: watches two jobs.
// Arguments: server URL, token, URL of a site. Writes one line of JSON.
import Firecrawl from 'firecrawl';

const [apiUrl, apiKey, site] = process.argv.slice(2);
const sdk = new Firecrawl({ apiKey, apiUrl });

async function watched(id, kind) {
  const watcher = sdk.watcher(id, { kind, pollInterval: 1 });
  const documents = [];
  let snapshots = 0;
  watcher.on('document', (document) => documents.push(document.metadata.sourceURL));
  watcher.on('snapshot', () => snapshots++);
  const done = new Promise((resolve, reject) => {
    watcher.on('done', resolve);
    watcher.on('error', (error) => reject(new Error(JSON.stringify(error))));
  });
  await watcher.start();
  const { status } = await done;
  return { status, documents: documents.length, unique: new Set(documents).size, snapshots };
}

const page = await sdk.scrape(site, { formats: ['markdown', 'links'] });
const crawl = await sdk.startCrawl(site, { limit: 15 });
const first = await watched(crawl.id, 'crawl');
const batch = await sdk.startBatchScrape(page.links.slice(0, 5), { options: { formats: ['links'] } });
const second = await watched(batch.id, 'batch');
process.stdout.write(
  `${JSON.stringify({ node: process.version, socket: typeof WebSocket, markdown: page.markdown.length, crawl: first, batch: second })}\n`,
);
process.exit(0);
