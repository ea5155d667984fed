// HttpCrawler with `content`: title, text, links and metadata from one pass over the bytes, without a DOM.
// Run: node --import jiti/register examples/http-content.ts https://example.com/
import { HttpCrawler } from 'orcrawl';

const startUrl = process.argv[2] ?? process.env.START_URL ?? 'https://example.com/';

const crawler = new HttpCrawler({
  maxRequestsPerCrawl: 30,
  // At most ten requests per second, spread evenly.
  maxRequestsPerMinute: 600,
  async requestHandler({ request, content, enqueueLinks, pushData }) {
    await pushData({
      url: request.loadedUrl,
      title: content.title,
      description: content.metadata.description,
      language: content.language,
      links: content.links.length,
      words: content.text.split(/\s+/).length,
    });
    await enqueueLinks({ exclude: ['**/private/**', /\.(?:pdf|zip)$/i] });
  },
});

await crawler.run([startUrl]);
await crawler.exportData('pages.csv');
console.log('wrote pages.csv');
