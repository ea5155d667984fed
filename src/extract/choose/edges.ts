// The first and last lines of the content: the title of a chapter, the lead of a manual's page, headings with nothing below.
// Promise: by names and markup alone; each looks at every block once.
import { elementNumber } from '../page/elements.js';
import type { Segments } from '../page/segment.js';
import { CONTAINER, HEADING, LAST_BYTE, LINK_WORDS, SENTENCES, STRIDE, WORDS } from '../page/segment.js';
import { createNameMatcher } from './name-matcher.js';

const isNamed = createNameMatcher('', ['chapter', 'title heading name']);

const P = elementNumber('p');
/** A lead is a sentence, and most of it is no link. */
const LEAD_WORDS = 8;
const OUT_OF_QUESTION = -4;
const QUESTION_MARK = 0x3f;

/**
 * Takes the heading of a chapter, which books on the web show in the page's header, far above the text: only by its name,
 * and only where the page has one such heading, before its content.
 */
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

/** Takes the paragraph between the title of a manual's page and the text that is taken: what the page is about. */
export function keepLead({ tree, blocks, count, hidden }: Segments, logits: Float32Array, chosen: Uint8Array): void {
  const firstChosen = chosen.indexOf(1);
  let title = -1;
  for (let b = 0; b < firstChosen; b++) if (blocks[b * STRIDE + HEADING] === 1) title = b;
  if (title < 0) return;
  for (let b = Math.min(firstChosen, count) - 1; b > title; b--) {
    const at = b * STRIDE;
    const container = blocks[at + CONTAINER]!;
    const words = blocks[at + WORDS]!;
    if (tree.tag[container] !== P || hidden[container] !== 0 || logits[b]! <= OUT_OF_QUESTION) continue;
    if (words >= LEAD_WORDS && blocks[at + SENTENCES]! > 0 && blocks[at + LINK_WORDS]! * 2 < words) {
      chosen[b] = 1;
      return;
    }
  }
}

/** Leaves out headings at the end whose text is left out, but for titles of a list that have no text either. */
export function leaveLastHeadings({ blocks, count }: Segments, chosen: Uint8Array): void {
  const kept: number[] = [];
  for (let b = 0; b < count; b++) if (chosen[b] === 1) kept.push(b);
  const levelOf = (k: number): number => blocks[kept[k]! * STRIDE + HEADING]!;
  for (let last = kept.length - 1; last > 0 && levelOf(last) > 1; last--) {
    const level = levelOf(last);
    const at = kept[last]! * STRIDE;
    // The answer to a question may come by script; one word may be the name of what the page is about.
    if (blocks[at + LAST_BYTE] === QUESTION_MARK || blocks[at + WORDS] === 1) return;
    for (let k = 0; k < last; k++) if (levelOf(k) === level && levelOf(k + 1) > 0 && levelOf(k + 1) <= level) return;
    chosen[kept[last]!] = 0;
  }
}
