// Numbers of slides: `1/5`, `2/5` … each in a line of its own, beside the pictures of a carousel.
// Promise: only where all numbers from the first to the last are there, in order; short lines alone are read.
import { TEXT } from '../page/elements.js';
import type { Segments } from '../page/segment.js';
import { CHARS, FIRST_NODE, LAST_NODE, STRIDE, WORDS } from '../page/segment.js';

const MAX_CHARS = 9;
const MAX_NODES = 12;
const MIN_SLIDES = 3;
const NUMBER = /^(\d{1,2}) ?(?:\/|of) ?(\d{1,2})$/;

/** Leaves out such lines. */
export function leaveSlideNumbers(segments: Segments, chosen: Uint8Array): void {
  const { count } = segments;
  let run: number[] = [];
  let last = 0;
  for (let b = 0; b < count; b++) {
    const found = readNumber(segments, b);
    if (found === null) continue;
    if (found.at === 1) [run, last] = [[], found.of];
    if (found.of !== last || found.at !== run.length + 1) {
      [run, last] = [[], 0];
      continue;
    }
    run.push(b);
    if (run.length === last && last >= MIN_SLIDES) for (const one of run) chosen[one] = 0;
  }
}

function readNumber({ tree, blocks }: Segments, block: number): { readonly at: number; readonly of: number } | null {
  const at = block * STRIDE;
  if (blocks[at + CHARS]! > MAX_CHARS || blocks[at + WORDS]! > 3) return null;
  const [first, last] = [blocks[at + FIRST_NODE]!, blocks[at + LAST_NODE]!];
  if (last - first > MAX_NODES) return null;
  let text = '';
  for (let node = first; node <= last; node++)
    if (tree.tag[node] === TEXT)
      text += ` ${tree.decode(tree.from[node]!, Math.min(tree.to[node]!, tree.from[node]! + 200))}`;
  const found = NUMBER.exec(text.replace(/\s+/g, ' ').trim());
  return found === null ? null : { at: Number(found[1]), of: Number(found[2]) };
}
