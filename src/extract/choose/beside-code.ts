// What stands beside a table or a listing: its caption, which belongs to it, and its buttons, which do not.
// Promise: a caption follows what it names; a button is left out only where it is a line of its own next to code.
import { elementNumber, elementSet } from '../page/elements.js';
import type { Segments } from '../page/segment.js';
import { BUTTON_WORDS, CONTAINER, HEADING, STRIDE, WORDS } from '../page/segment.js';

const FIGURE = elementNumber('figure');
const FIGCAPTION = elementNumber('figcaption');
const PRE = elementNumber('pre');
const SHOWN = elementSet('pre table');
const CAPTION_LEVELS = 4;
/** "Copy", "Copy to clipboard", "Try it yourself". */
const BUTTON_WORDS_MAX = 4;

/** Takes the captions of figures whose table or listing is taken. */
export function keepCaptions({ tree, blocks, count }: Segments, chosen: Uint8Array): void {
  if (tree.tag.indexOf(FIGCAPTION) < 0) return;
  // By node: the innermost figure around it, where a table or a listing in it is chosen, and where it is a caption.
  const figure = new Int32Array(tree.count);
  const isShown = new Uint8Array(tree.count);
  const isTaken = new Uint8Array(tree.count);
  for (let node = 1; node < tree.count; node++) {
    const up = tree.parent[node]!;
    figure[node] = tree.tag[node] === FIGURE ? node : figure[up]!;
    isShown[node] = SHOWN[tree.tag[node]!] === 1 ? 1 : isShown[up]!;
  }
  for (let b = 0; b < count; b++) {
    const at = blocks[b * STRIDE + CONTAINER]!;
    if (chosen[b] === 1 && isShown[at] === 1) isTaken[figure[at]!] = 1;
  }
  for (let b = 0; b < count; b++) {
    const at = blocks[b * STRIDE + CONTAINER]!;
    if (chosen[b] === 0 && figure[at]! > 0 && isTaken[figure[at]!] === 1 && isCaption(tree, at)) chosen[b] = 1;
  }
}

function isCaption({ tag, parent }: Segments['tree'], node: number): boolean {
  for (let at = node, level = 0; at > 0 && level < CAPTION_LEVELS; at = parent[at]!, level++)
    if (tag[at] === FIGCAPTION) return true;
  return false;
}

/** Leaves out lines that are all button, directly before or after code. */
export function leaveCodeButtons({ tree, blocks, count }: Segments, chosen: Uint8Array): void {
  if (tree.tag.indexOf(PRE) < 0) return;
  const inCode = (b: number): boolean => {
    if (b < 0 || b >= count) return false;
    for (let at = blocks[b * STRIDE + CONTAINER]!, level = 0; at > 0 && level < 3; at = tree.parent[at]!, level++)
      if (tree.tag[at] === PRE) return true;
    return false;
  };
  for (let b = 0, at = 0; b < count; b++, at += STRIDE) {
    const words = blocks[at + WORDS]!;
    if (chosen[b] === 0 || words > BUTTON_WORDS_MAX || blocks[at + BUTTON_WORDS]! < words || blocks[at + HEADING]! > 0)
      continue;
    if ((inCode(b - 1) || inCode(b + 1)) && !inCode(b)) chosen[b] = 0;
  }
}
