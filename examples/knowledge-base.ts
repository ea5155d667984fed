// A knowledge base that stays current: the chunks of each page are replaced, added or removed as the page is.
// Run: node --import jiti/register examples/knowledge-base.ts https://docs.example.com/
import { createHash } from 'node:crypto';
import { Configuration, HttpCrawler, KeyValueStore } from 'orcrawl';

const config = new Configuration({ purgeOnStart: true });
const chunks = await KeyValueStore.open('chunks', { config });
const keyOf = (url: string) => createHash('sha256').update(url).digest('hex');

const crawler = new HttpCrawler(
  {
    remember: { revisit: true },
    duplicates: 'skip',
    maxRequestsPerCrawl: 1_000,
    requestHandler: async ({ enqueueLinks }) => void (await enqueueLinks()),
    async onChange({ request, change, content }) {
      console.log(change.kind, request.url);
      if (change.kind === 'removed') return chunks.setValue(keyOf(request.url), null);
      // A chunk per heading of the main content.
      await chunks.setValue(keyOf(request.url), content.main().markdown.split(/\n(?=#)/));
    },
  },
  config,
);

await crawler.run(process.argv.slice(2));
