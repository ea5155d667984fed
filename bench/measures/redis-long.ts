// What bounds the memory of a Redis frontier: the tail of a long domain on disk, and the Bloom filter.
import type { Figure } from '../measure.js';
import { bytes, megabytes, sized, step } from './redis-steps.js';

export async function measure(): Promise<Figure[]> {
  const long = await step<{ peak: number; spilled: number; isOrdered: boolean }>('long-domain');
  const filter = await step<{ bytes: number; falsePositives: number }>('bloom-full');
  return [
    {
      what: `one domain with ${sized(1)} URLs, beyond the seen set: once spilled; peak; order kept`,
      measured: `${megabytes(long.spilled)}; ${megabytes(long.peak)}; ${long.isOrdered ? 'yes' : 'no'}`,
      goal: '< 10 MB; < 64 MB; yes',
    },
    {
      what: `Bloom filter for ${sized(2)} URLs at 0.1 %`,
      measured: `${bytes(filter.bytes)} a URL`,
      goal: '≤ 2.5 bytes',
    },
    {
      what: 'its false positives when full',
      measured: `${(filter.falsePositives * 100).toFixed(3)} %`,
      goal: '≤ 0.12 %',
    },
  ];
}
