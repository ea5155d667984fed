// When pages change: by themselves, at moments that the seed decides and a rate of their own, and when a test touches them.
// Promise: the true state of any page at any time is known, independent of requests; a mirror's is that of its source.
import { createRolls, hash32, SALT, share } from './pages/chance.js';
import type { SimwebPlan } from './knobs.js';
import type { WebState } from './state.js';

export interface PageChanges {
  /** How often a page had changed at a time, in milliseconds since 1970. */
  versionAt(host: number, page: number, atMs: number): number;
  /** The moments at which it changed, up to a time. */
  momentsOf(host: number, page: number, untilMs: number): number[];
}

export interface ChangeParts {
  readonly plan: Pick<SimwebPlan, 'seed' | 'changes'>;
  /** When the web started. */
  readonly startMs: number;
  readonly state: Pick<WebState, 'touches'>;
  /** The host whose pages a host has. */
  readonly sourceOf: (host: number) => number;
}

const HOUR_MS = 3_600_000;
/** Further changes of a page look the same. */
const MAX_MOMENTS = 100_000;

export function createPageChanges({ plan, startMs, state, sourceOf }: ChangeParts): PageChanges {
  const { seed, changes } = plan;
  const [least, most] = changes.perHour;

  function byItself(host: number, page: number, untilMs: number): number[] {
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

  function momentsOf(host: number, page: number, untilMs: number): number[] {
    const source = sourceOf(host);
    const touched = state.touches(source, page).filter((atMs) => atMs <= untilMs);
    const moments = byItself(source, page, untilMs);
    return touched.length === 0 ? moments : [...moments, ...touched].sort((a, b) => a - b);
  }

  return { momentsOf, versionAt: (host, page, atMs) => momentsOf(host, page, atMs).length };
}
