// A million URLs through one batch: its memory, what a URL costs, and how far the generator is read ahead.
import type { Figure } from '../measure.js';
import { run, STEP, withServer } from './many.js';

const URLS = 1_000_000;

export async function measure(): Promise<Figure[]> {
  const [million, { served }] = await withServer(0, (port) =>
    run(STEP, [], ['stream', String(port), String(URLS), '100']),
  );
  return [
    {
      what: 'a million URLs from an async generator, streamed: highest RSS',
      measured: `${million.peakRssMb} MB (${million.succeeded} succeeded, ${served} served; RSS at 10 %: ${million.earlyRssMb} MB)`,
      goal: '≤ 300 MB',
    },
    { what: 'the same: CPU time a URL', measured: `${million.cpuUsPerUrl} µs`, goal: '' },
    {
      what: 'the same: most the generator was ahead of the reader',
      measured: `${million.mostAhead} URLs`,
      goal: 'bounded',
    },
  ];
}
