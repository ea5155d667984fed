// maxRequestsPerMinute: 600, counted at the server.
import { Configuration, HttpCrawler, Log, LogLevel } from '../../dist/index.js';
import { startSimwebProcess } from '../../dist/testing/index.js';
import type { Figure } from '../measure.js';

export async function measure(): Promise<Figure[]> {
  await using web = await startSimwebProcess({ hosts: 5, pagesPerHost: 40, pageBytes: 2000 });
  const crawler = new HttpCrawler(
    {
      log: new Log({ level: LogLevel.ERROR }),
      maxRequestsPerMinute: 600,
      maxRequestsPerCrawl: 150,
      allowPrivateAddresses: true,
      requestHandler: async ({ enqueueLinks }) => void (await enqueueLinks()),
    },
    new Configuration({ persistStorage: false }),
  );
  const startedAt = performance.now();
  await crawler.run(web.seeds());
  const perMinute = (150 / (performance.now() - startedAt)) * 60_000;
  return [
    { what: 'most requests in any sliding second', measured: String(await web.maxInWindow(1000)), goal: '≤ 11' },
    { what: 'requests per minute over the run', measured: String(Math.round(perMinute)), goal: 'about 600' },
  ];
}
