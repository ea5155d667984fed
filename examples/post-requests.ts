// POST requests: the payload is part of what makes a request unique, so one URL can be asked many things.
// Run: node --import jiti/register examples/post-requests.ts https://example.com/search
import { HttpCrawler } from 'orcrawl';

const startUrl = process.argv[2] ?? process.env.START_URL ?? 'https://example.com/';
const queries = ['orca', 'dolphin', 'whale'];

const crawler = new HttpCrawler({
  async requestHandler({ request, response, body, pushData }) {
    await pushData({
      query: request.userData.query,
      status: response.statusCode,
      answer: body.toString('utf8').slice(0, 500),
    });
  },
});

await crawler.run(
  queries.map((query) => ({
    url: startUrl,
    method: 'POST' as const,
    payload: JSON.stringify({ query }),
    headers: { 'content-type': 'application/json' },
    useExtendedUniqueKey: true,
    userData: { query },
  })),
);

const { items } = await crawler.getData();
for (const { query, status } of items) console.log(`${query}: ${status}`);
