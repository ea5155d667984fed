// Starts the crawl: npm start -- https://example.com/
// Without a URL it crawls a synthetic web on this machine, so that it works offline.
import { CheerioCrawler } from 'orcrawl';
import { Simweb } from 'orcrawl/testing';
import { router } from './routes.js';

const [startUrl] = process.argv.slice(2);
const web = startUrl === undefined ? await Simweb.start({ pagesPerHost: 30 }) : undefined;

const crawler = new CheerioCrawler({
  requestHandler: router,
  maxRequestsPerCrawl: 100,
  // Good manners: obey robots.txt, and pause between two requests to a site.
  respectRobotsTxtFile: true,
  sameDomainDelaySecs: web ? 0 : 1,
});
const { requestsFinished, requestsFailed } = await crawler.run([startUrl ?? web!.url(0)]);
await crawler.exportData('pages.csv');
await web?.close();
console.log(`${requestsFinished} pages, ${requestsFailed} failed. The items are in pages.csv`);
