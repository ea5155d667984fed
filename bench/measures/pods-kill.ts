// Fetchers, parsers, the orchestrator and Redis servers killed at random during crawls, until fifty are dead.
import { crawlOnPods, type Victim } from '../../test/support/pods-crawl.js';
import type { Figure } from '../measure.js';

const KILLS = Number(process.env.PODS_KILLS ?? 50);
const KILLS_A_CRAWL = 10;
const ORDER: readonly Victim[] = ['fetcher', 'redis', 'parser', 'fetcher', 'orchestrator', 'redis', 'parser'];

export async function measure(): Promise<Figure[]> {
  const sum = { kills: 0, missing: 0, duplicates: 0, misplaced: 0, pages: 0, violations: 0 };
  const by: Record<Victim, number> = { fetcher: 0, parser: 0, orchestrator: 0, redis: 0 };
  let smallestGapMs = Infinity;
  let stuck = 0;
  while (sum.kills < KILLS) {
    const kills = Array.from({ length: KILLS_A_CRAWL }, (_, n) => ORDER[(sum.kills + n) % ORDER.length]!);
    const report = await crawlOnPods({
      ...{ pods: 2, fetchers: 1, parsers: 1, hosts: 40, pagesPerHost: 30, delaySecs: 0.3 },
      kills,
      patienceMs: 600_000,
    });
    for (const victim of Object.keys(by) as Victim[]) by[victim] += report.kills[victim];
    sum.kills += Object.values(report.kills).reduce((all, count) => all + count, 0);
    sum.missing += report.missing;
    sum.duplicates += report.duplicates;
    sum.misplaced += report.misplaced;
    sum.pages += report.expected;
    sum.violations += report.violations;
    if (report.exitCode !== 0) stuck++;
    if (report.violation !== undefined) console.log('  violation:', JSON.stringify(report.violation));
    smallestGapMs = Math.min(smallestGapMs, report.smallestGapMs);
  }
  return [
    {
      what: 'kills: fetcher, parser, orchestrator, Redis',
      measured: `${by.fetcher}, ${by.parser}, ${by.orchestrator}, ${by.redis}`,
      goal: `≥ ${KILLS} in all`,
    },
    { what: 'pages missing / stored twice', measured: `${sum.missing} / ${sum.duplicates}`, goal: '0 / 0' },
    { what: 'pages', measured: String(sum.pages), goal: '' },
    { what: 'domains on another pod than their own', measured: String(sum.misplaced), goal: '0' },
    { what: 'crawls that did not end well', measured: String(stuck), goal: '0' },
    { what: 'smallest gap at the server, delay 300 ms', measured: `${smallestGapMs.toFixed(1)} ms`, goal: '≥ 300' },
    { what: 'violations in the visit log', measured: String(sum.violations), goal: '0' },
  ];
}
