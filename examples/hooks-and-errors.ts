// Hooks and errors: change a request before it is sent, look at a response before the handler, decide what
// is retried, and be told once about what failed for good.
// Run: node --import jiti/register examples/hooks-and-errors.ts https://example.com/
import { CheerioCrawler, NonRetryableError } from 'orcrawl';

const urls = process.argv.length > 2 ? process.argv.slice(2) : [process.env.START_URL ?? 'https://example.com/'];

const crawler = new CheerioCrawler({
  maxRequestRetries: 2,
  retryDelayMs: 100,
  preNavigationHooks: [
    (_context, options) => {
      options.headers['accept-language'] = 'en';
    },
  ],
  postNavigationHooks: [
    ({ response, log }) => {
      log.debug(`${response.url} answered ${response.statusCode}`);
    },
  ],
  async requestHandler({ request, response, $, pushData }) {
    // 4xx reaches the handler; to try again would change nothing.
    if (response.statusCode >= 400) throw new NonRetryableError(`${request.url} answered ${response.statusCode}`);
    await pushData({ url: request.url, title: $('title').text(), tries: request.retryCount + 1 });
  },
  errorHandler({ request, log }, error) {
    log.info(`${request.url} will be tried again: ${error.message}`);
  },
  async failedRequestHandler({ request, pushData }, error) {
    await pushData({ url: request.url, error: error.message, tries: request.retryCount + 1 });
  },
});

const { requestsFinished, requestsFailed } = await crawler.run(urls);
console.log(`${requestsFinished} finished, ${requestsFailed} failed`);
