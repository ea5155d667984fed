// Pages that change by themselves: at moments that the seed decides, at a rate of their own.
// Promise: the true state of any page at any time is known, independent of requests.
import { createRolls, hash32, SALT, share } from './pages/chance.js';
import type { SimwebPlan } from './knobs.js';

export interface PageChanges {
  /** How often a page had changed on its own at a time, in milliseconds since 1970. */
  countAt(host: number, page: number, atMs: number): number;
  /** The moments at which it changed, up to a time. */
  momentsOf(host: number, page: number, untilMs: number): number[];
}

const HOUR_MS = 3_600_000;
/** Further changes of a page look the same. */
const MAX_MOMENTS = 100_000;

export function createPageChanges(
  { seed, changes }: Pick<SimwebPlan, 'seed' | 'changes'>,
  startMs: number,
): PageChanges {
  const [least, most] = changes.perHour;

  function momentsOf(host: number, page: number, untilMs: number): number[] {
    const rate = least + share(hash32(seed, host, page, SALT.changeRate)) * (most - least);
    const moments: number[] = [];
    if (rate <= 0) return moments;
    const roll = createRolls(hash32(seed, host, page, SALT.changeTimes));
    for (let atMs = startMs; moments.length < MAX_MOMENTS;) {
      atMs += (-Math.log((roll() + 0.5) / 2 ** 32) / rate) * HOUR_MS;
      if (atMs > untilMs) break;
      moments.push(atMs);
    }
    return moments;
  }

  return { momentsOf, countAt: (host, page, atMs) => momentsOf(host, page, atMs).length };
}
