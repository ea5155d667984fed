// The frontier in Redis on a real server, driven without a crawl around it: what a page costs in commands and CPU, and
// how long its script calls take. With the crawl: redis-pages. Memory: redis-memory, redis-long. Seeds: redis-seeding.
import type { Figure } from '../measure.js';
import { DURABLE, step } from './redis-steps.js';

interface PageCost {
  saddMicros: number;
  commands: number;
  serverMs: number;
  clientMs: number;
  inScripts: number;
  dropped: number;
  sent: number;
  p99Ms: Record<string, number>;
}

export async function measure(): Promise<Figure[]> {
  const pages = await step<PageCost>('pages', DURABLE);
  return [
    { what: 'commands sent a page', measured: pages.commands.toFixed(3), goal: '≤ 0.2' },
    { what: 'server CPU per page (appendfsync always)', measured: `${pages.serverMs.toFixed(3)} ms`, goal: '≤ 0.2 ms' },
    {
      what: 'a SADD in a Lua loop in the same run (ANCHORS: 1.25 µs on an idle machine)',
      measured: `${pages.saddMicros.toFixed(2)} µs`,
      goal: 'the yardstick',
    },
    { what: 'frontier client CPU per page', measured: `${pages.clientMs.toFixed(3)} ms`, goal: 'reported' },
    {
      what: 'links sent a page of 100; dropped by the recent cache; commands inside scripts a page',
      measured: `${pages.sent.toFixed(1)}; ${(pages.dropped * 100).toFixed(0)} %; ${pages.inScripts.toFixed(0)}`,
      goal: 'reported',
    },
    {
      what: 'p99 of the server CPU of one script call at its largest',
      measured: Object.entries(pages.p99Ms)
        .map(([name, ms]) => `${name} ${ms.toFixed(2)} ms`)
        .join(', '),
      goal: '< 5 ms',
    },
  ];
}
