// Waits until the text of a page stops changing: pages that render after loading are read when they are complete.
// Promise: always ends at its limit; a page that shows text at once is checked once.
import { CrawlError } from '../../errors.js';
import { evaluate } from './live-page.js';
import type { PooledPage } from './page-lease.js';

export interface Settling {
  /** Longest wait. */
  readonly maxMs: number;
  /** `empty`: a page that shows text already is taken as it is. `always`: its text must stop changing first. */
  readonly when: 'always' | 'empty';
  readonly wait: (ms: number) => Promise<void>;
  readonly nowMs: () => number;
}

/** A page with less text has not rendered yet: a title, "Loading …". */
export const HARDLY_ANY_TEXT = 60;
const POLL_MS = 100;
/** Text that did not change for so long is settled. */
const QUIET_MS = 500;
/** A page that shows hardly anything may still wait for an answer. */
const QUIET_WHEN_EMPTY_MS = 2_000;

/** The number of visible characters, of elements, and whether scripts could add some. */
const LOOK = `(() => {
  const text = (document.body?.innerText ?? '').replace(/\\s+/g, ' ').trim();
  return [text.length, document.getElementsByTagName('*').length, document.scripts.length > 0];
})()`;

/** Resolves when the text of the page has settled, or at the limit. */
export async function settle(lent: PooledPage, { maxMs, when, wait, nowMs }: Settling): Promise<void> {
  const endsAtMs = nowMs() + maxMs;
  let last = '';
  let sinceMs = nowMs();
  while (!lent.isGone) {
    const look = await lookAt(lent);
    if (look) {
      const [length, elements, hasScripts] = look;
      const isEmpty = length < HARDLY_ANY_TEXT;
      if (!hasScripts || (when === 'empty' && !isEmpty)) return;
      const now = `${length} ${elements}`;
      if (now !== last) sinceMs = nowMs();
      last = now;
      if (nowMs() - sinceMs >= (isEmpty ? QUIET_WHEN_EMPTY_MS : QUIET_MS)) return;
    }
    if (nowMs() + POLL_MS >= endsAtMs) return;
    await wait(POLL_MS);
  }
}

/** Undefined while the page is on its way to another one. */
async function lookAt(lent: PooledPage): Promise<[number, number, boolean] | undefined> {
  try {
    return await evaluate<[number, number, boolean]>(lent, LOOK);
  } catch (error) {
    // The page broke its own document and will show nothing more.
    if (error instanceof CrawlError) return [0, 0, false];
    return undefined;
  }
}
