// Reading a page by what a request brought along: selectors, XPaths and patterns that its client wrote.
// Promise: one page costs the server a bounded time, whatever they are.
import { withinTime } from '../../base/time-limit.js';
import { CrawlError } from '../../errors.js';
import { LIMITS, limitReached } from '../../limits.js';
import type { PageWish } from './formats.js';

const READING_MS = LIMITS.readingMs.max;

export function boundedReading<T>(read: () => T): T {
  return withinTime(READING_MS, read, () => {
    limitReached('readingMs');
    const message = `The selectors or patterns took longer than ${READING_MS} ms on this page. Use simpler ones.`;
    return new CrawlError('VISIT_BLOCKED_LOOP', message);
  });
}

/** As it is where nothing of the client's reads the page: a limit costs some time itself. */
export function readingFor<T>({ options, attributes }: PageWish, read: () => T): T {
  const { includeTags = [], excludeTags = [] } = options;
  return includeTags.length + excludeTags.length + attributes.length > 0 ? boundedReading(read) : read();
}
