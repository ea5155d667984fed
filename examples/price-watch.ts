// Watches prices: run it again and again; it asks only for pages that changed, and tells what became of each price.
// Run: node --import jiti/register examples/price-watch.ts https://shop.example/lamp
import { CheerioCrawler, Configuration } from 'orcrawl';

const urls = process.argv.slice(2);

const crawler = new CheerioCrawler(
  {
    remember: true,
    async requestHandler({ request, change, $ }) {
      const price = $('[itemprop=price], .price').first().text().trim();
      const { price: moved } = change?.diffFields({ price }) ?? {};
      if (change?.kind === 'new') console.log(`${request.url}: ${price}`);
      else if (moved) console.log(`${request.url}: ${String(moved.previous)} -> ${String(moved.current)}`);
    },
  },
  // Each run is a new crawl; the memory of pages stays.
  new Configuration({ purgeOnStart: true }),
);

await crawler.run(urls);
