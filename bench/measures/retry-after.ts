// A 429 with Retry-After: 3, on many hosts at once: how long after it each host was asked again, and how it ended.
import { Configuration, HttpCrawler, Log, LogLevel } from '../../dist/index.js';
import { startSimwebProcess } from '../../dist/testing/index.js';
import type { Figure } from '../measure.js';

const HOSTS = 40;
const MODES = {
  'robots and a delay of 50 ms': { respectRobotsTxtFile: true, sameDomainDelaySecs: 0.05 },
  'not polite': {},
};

export async function measure(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [mode, options] of Object.entries(MODES)) figures.push(...(await measureMode(mode, options)));
  return figures;
}

async function measureMode(mode: string, options: object): Promise<Figure[]> {
  await using web = await startSimwebProcess({ hosts: HOSTS, pagesPerHost: 1 });
  const failed: string[] = [];
  let finished = 0;
  const crawler = new HttpCrawler(
    {
      ...options,
      log: new Log({ level: LogLevel.ERROR }),
      allowPrivateAddresses: true,
      maxRequestRetries: 0,
      requestHandler: async () => void finished++,
      failedRequestHandler: async ({ request }) => void failed.push(request.url),
    },
    new Configuration({ persistStorage: false }),
  );
  await crawler.run(Array.from({ length: HOSTS }, (_, host) => web.url(host, '/_/429/a?after=3')));
  await crawler.teardown();
  const waitsMs: number[] = [];
  let asked = 0;
  const requests = (await web.requests({})).filter(({ path }) => path.startsWith('/_/429/'));
  for (let host = 0; host < HOSTS; host++) {
    const own = requests.filter((one) => one.host === host);
    asked += own.length;
    for (let i = 1; i < own.length; i++) waitsMs.push(own[i]!.startMs - own[i - 1]!.endMs!);
  }
  return [
    {
      what: `${mode}: wait after a 429, shortest and longest of ${HOSTS} hosts`,
      measured: `${Math.min(...waitsMs).toFixed(0)} and ${Math.max(...waitsMs).toFixed(0)} ms`,
      goal: '3,000–3,500 ms',
    },
    {
      what: `${mode}: requests, successes, given up`,
      measured: `${asked}, ${finished}, ${failed.length}`,
      goal: `${HOSTS * 2}, ${HOSTS}, 0`,
    },
  ];
}
