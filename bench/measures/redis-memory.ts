// What URLs and domains cost a Redis frontier in memory: slopes between two sizes, so that what the server needs anyway
// does not count.
import type { Figure } from '../measure.js';
import { bytes, sized, step } from './redis-steps.js';

export async function measure(): Promise<Figure[]> {
  const exact = await step<{ slope: number }>('domains-of-1500-exact');
  const bloom = await step<{ slope: number }>('domains-of-1500-bloom');
  const single = await step<{ slope: number }>('single-url-domains');
  return [
    {
      what: `memory a seen URL, exact, ${sized(1)} → ${sized(3)}`,
      measured: bytes(exact.slope - bloom.slope),
      goal: '≤ 12 bytes',
    },
    {
      what: 'memory a queued URL of 60 bytes, domains of 500 to 1,500',
      measured: bytes(bloom.slope),
      goal: '≤ 70 bytes',
    },
    { what: 'memory a domain with one queued URL of 60 bytes', measured: bytes(single.slope), goal: '≤ 500 bytes' },
  ];
}
