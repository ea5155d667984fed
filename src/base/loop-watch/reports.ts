// What people read about a blocked event loop: one line while it blocks, one when it turns again.
import type { BlockReport } from './watching.js';

const NAMED = 5;

/** While it still blocks. */
export function blockedLine(report: BlockReport): string {
  return `The event loop has been blocked for ${seconds(report)}: ${whoseWork(report)} (VISIT_BLOCKED_LOOP)`;
}

/** When it is over. */
export function freedLine(report: BlockReport): string {
  return `The event loop was blocked for ${seconds(report)}: ${whoseWork(report)} (VISIT_BLOCKED_LOOP)`;
}

function seconds({ blockedMs }: BlockReport): string {
  return `${Math.round(blockedMs / 100) / 10} s`;
}

function whoseWork({ visits, isCertain }: BlockReport): string {
  if (visits.length === 0) return 'no visit was under way, so look at the code around the crawl';
  const named = visits.slice(0, NAMED).map(({ url }) => url);
  if (isCertain || visits.length === 1) return `${isCertain ? '' : 'probably '}by the visit of ${named[0]}`;
  const more = visits.length > NAMED ? ` and ${visits.length - NAMED} more` : '';
  return `by one of the visits of ${named.join(', ')}${more}`;
}
