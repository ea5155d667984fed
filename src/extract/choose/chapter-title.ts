// The title of a chapter, which books on the web show in the page's header, far above the text.
// Promise: only by its name, and only where the page has one such heading, before its content.
import type { Segments } from '../page/segment.js';
import { CONTAINER, HEADING, STRIDE } from '../page/segment.js';
import { createNameMatcher } from './name-matcher.js';

const isNamed = createNameMatcher('', ['chapter', 'title heading name']);

/** Takes that heading. */
export function keepChapterTitle(segments: Segments, chosen: Uint8Array): void {
  const { blocks, count, hidden } = segments;
  const firstChosen = chosen.indexOf(1);
  let title = -1;
  for (let b = 0, at = 0; b < count; b++, at += STRIDE) {
    const container = blocks[at + CONTAINER]!;
    if (blocks[at + HEADING] === 0 || hidden[container] !== 0 || !isNamed(segments, container)) continue;
    if (title >= 0) return;
    title = b;
  }
  if (title >= 0 && title < firstChosen) chosen[title] = 1;
}
