// What the text of a short block says of it: notices, calls to the reader, dots at its end.
// Promise: each text is read once per page, whoever asks; long texts are not read.
import { blockText } from '../page/block-text.js';
import type { Segments } from '../page/segment.js';
import { FIRST_NODE, LAST_NODE, STRIDE, WORDS } from '../page/segment.js';
import { MAX_NOTICE_WORDS, NOTICE_NAMES, hasCall, isCutOff, noticesIn } from './notices.js';

/** Bits of `away`, `take part` and `credit`; a date is part of a text more often. */
export const NOTICES = 7;
/** Bits after those of {@link NOTICE_NAMES}. */
export const CALLS = 1 << NOTICE_NAMES.length;
export const CUT_OFF = CALLS << 1;
const READ = CALLS << 2;
/** Longer texts are not asked. */
const MAX_WORDS = 90;

const known = new WeakMap<Segments, Uint8Array>();

/** The marks of a block, as bits. */
export function lineMarks(segments: Segments, block: number): number {
  let marks = known.get(segments);
  if (marks === undefined) known.set(segments, (marks = new Uint8Array(segments.count)));
  const found = marks[block]!;
  if (found !== 0) return found;
  const { blocks } = segments;
  const at = block * STRIDE;
  const words = blocks[at + WORDS]!;
  if (words > MAX_WORDS) return (marks[block] = READ);
  const text = blockText(segments, blocks[at + FIRST_NODE]!, blocks[at + LAST_NODE]!);
  const notices = words <= MAX_NOTICE_WORDS ? noticesIn(text) : 0;
  return (marks[block] = READ | notices | (hasCall(text) ? CALLS : 0) | (isCutOff(text) ? CUT_OFF : 0));
}
