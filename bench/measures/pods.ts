// Four pods of two fetchers and a parser on four Redis servers, thousands of hosts: ownership by scanning the stores,
// politeness at the server, data directories, an exact max_pages, and an end on its own.
import { crawlOnPods } from '../../test/support/pods-crawl.js';
import type { Figure } from '../measure.js';

const HOSTS = Number(process.env.PODS_HOSTS ?? 3_000);

export async function measure(): Promise<Figure[]> {
  const shape = {
    pods: 4,
    fetchers: 2,
    parsers: 1,
    hosts: HOSTS,
    pagesPerHost: 2,
    delaySecs: 1,
    patienceMs: 1_200_000,
  };
  const whole = await crawlOnPods(shape);
  const limited = await crawlOnPods({ ...shape, maxPages: 1_501 });
  return [
    { what: `pages stored of ${HOSTS} hosts`, measured: String(whole.stored), goal: String(whole.expected) },
    { what: 'missing / stored twice', measured: `${whole.missing} / ${whole.duplicates}`, goal: '0 / 0' },
    { what: 'domains on another pod than their own', measured: String(whole.misplaced), goal: '0' },
    { what: 'domains by pod', measured: whole.domainsByPod.join(', '), goal: '' },
    { what: 'pages by data directory', measured: whole.byDirectory.join(', '), goal: '' },
    { what: 'pages in another directory than their own', measured: String(whole.wrongDirectory), goal: '0' },
    {
      what: 'smallest gap at the server with a delay of 1 s',
      measured: `${whole.smallestGapMs.toFixed(1)} ms`,
      goal: '≥ 1,000',
    },
    { what: 'audit of the visit log', measured: `${whole.audited}, ${whole.violations} violations`, goal: '0' },
    { what: 'log files', measured: String(whole.logs.length), goal: '16' },
    { what: 'exit status, ended by itself', measured: `${whole.exitCode} after ${whole.seconds} s`, goal: '0' },
    { what: 'pages with max_pages 1,501', measured: String(limited.stored), goal: '1501' },
  ];
}
