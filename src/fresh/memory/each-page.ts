// All pages of a memory, one after the other.
// Promise: there may be millions: the process is never held up for long, so whoever watches over it hears from it.
import { setImmediate as others } from 'node:timers/promises';
import type { Fingerprint } from '../../request/fingerprint.js';
import type { KnownPage, PageMemory } from './memory.js';

/** Some milliseconds of the cheapest work. */
const AT_ONCE = 500;

export async function eachPage(
  memory: Pick<PageMemory, 'pages'>,
  take: (page: KnownPage & { readonly key: Fingerprint }) => void,
): Promise<void> {
  let count = 0;
  for (const page of memory.pages()) {
    take(page);
    if (++count % AT_ONCE === 0) await others();
  }
}
