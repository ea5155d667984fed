// One contestant of the browser comparison: crawls N pages and exits; its parent counts the CPU of its process tree.
// Usage: contestant.mjs orcrawl|crawlee BASE_URL PAGES CONCURRENCY EXECUTABLE PACKAGE_ENTRY
const [, , name, base, pages, concurrency, executablePath, entry] = process.argv;
process.env.CRAWLEE_PERSIST_STORAGE = 'false';
process.env.CRAWLEE_LOG_LEVEL = 'ERROR';
const { PlaywrightCrawler, Configuration } = await import(entry);
const urls = Array.from({ length: Number(pages) }, (_, n) => `${base}/page/${n}`);
let seen = 0;
const crawler = new PlaywrightCrawler(
  {
    headless: true,
    minConcurrency: Number(concurrency),
    maxConcurrency: Number(concurrency),
    launchContext: { launchOptions: { executablePath, args: name === 'crawlee' ? ['--no-sandbox'] : [] } },
    async requestHandler({ page }) {
      if ((await page.title()).startsWith('page')) seen++;
    },
  },
  new Configuration({ persistStorage: false }),
);
await crawler.run(urls);
console.log(JSON.stringify({ seen }));
