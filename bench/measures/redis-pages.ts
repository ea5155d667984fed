// What a page costs Redis in a real crawl: two pods without parsers, delay 0, appendfsync always, pages of 100 links of
// which ten are new. From the start of `orcrawl run` to its end, heartbeats and polls included.
import { crawlOnTwoServers } from '../../test/support/redis-pages.js';
import type { Figure } from '../measure.js';
import { measureShare } from './share.js';

export async function measure(): Promise<Figure[]> {
  const share = measureShare();
  const cost = await crawlOnTwoServers({
    hosts: Math.round(320 * share),
    pagesPerHost: 160,
    maxPages: Math.round(5_000 * share),
  });
  if (cost.exitCode !== 0) throw new Error(`the crawl ended with ${cost.exitCode}: ${cost.output}`);
  console.log('  …', cost);
  const { pages, links } = cost;
  const aPage = (count: number, digits = 1): string => (count / pages).toFixed(digits);
  return [
    {
      what: 'pages; URLs accepted a page; seconds',
      measured: `${pages}; ${aPage(cost.accepted)}; ${cost.seconds.toFixed(0)}`,
      goal: '≥ 5,000; about 10',
    },
    {
      what: 'commands sent by clients a page, heartbeats and polls included',
      measured: aPage(cost.sent, 3),
      goal: '≤ 0.2',
    },
    {
      what: 'server CPU per page (appendfsync always)',
      measured: `${aPage(cost.serverCpuMs, 3)} ms`,
      goal: '≤ 0.2 ms',
    },
    {
      what: 'a SADD in a Lua loop in the same run (ANCHORS: 1.25 µs on an idle machine)',
      measured: `${cost.saddMicros.toFixed(2)} µs`,
      goal: 'the yardstick',
    },
    { what: 'commands inside scripts a page', measured: aPage(cost.inScripts), goal: 'reported' },
    {
      what: 'links on a page; without its own repeats; that reached a store; dropped by the recent cache',
      measured:
        `${aPage(links.onPages)}; ${aPage(links.distinct)}; ${aPage(links.offered)}; ` +
        `${((1 - links.offered / links.distinct) * 100).toFixed(0)} %`,
      goal: 'reported',
    },
    {
      what: 'a script call by the clock: median; p99',
      measured: `${cost.scriptMs.p50.toFixed(2)} ms; ${cost.scriptMs.p99.toFixed(2)} ms`,
      goal: '< 5 ms',
    },
  ];
}
