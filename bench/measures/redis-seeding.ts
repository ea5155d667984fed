// A million domains from a file into a Redis frontier: CPU of both sides, and the client's memory.
import type { Figure } from '../measure.js';
import { DURABLE, megabytes, sized, step } from './redis-steps.js';
import { measureShare } from './share.js';

export async function measure(): Promise<Figure[]> {
  const seeds = await step<{ count: number; clientSeconds: number; serverSeconds: number; rss: number }>(
    'seeding',
    DURABLE,
  );
  return [
    {
      what: `seeding ${sized(1)} domains from a file: CPU of client and server; resident memory of the client`,
      measured: `${seeds.clientSeconds.toFixed(1)} + ${seeds.serverSeconds.toFixed(1)} CPU-s; ${megabytes(seeds.rss)}`,
      goal: `≤ ${60 * measureShare()} CPU-s; ≤ 500 MB`,
    },
  ];
}
