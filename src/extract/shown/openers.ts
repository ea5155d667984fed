// Buttons that open the text below them: the questions above answers, the titles of an accordion.
// Promise: only directly above kept text, and only a question or a button that names what it opens.
import type { PageTree } from '../../parse/tree/tree.js';
import { elementNumber } from '../page/elements.js';
import type { Segments } from '../page/segment.js';
import { BUTTON_WORDS, CONTAINER, FIRST_NODE, LAST_BYTE, STRIDE, WORDS } from '../page/segment.js';

const BUTTON = elementNumber('button');
const QUESTION_MARK = 0x3f;
const MAX_WORDS = 30;
const MAX_NAME = 200;
/** Elements from a text to its button, and to what the button opens. */
const TO_BUTTON = 6;
const TO_OPENED = 8;
const REFERRING = ['aria-controls', 'data-target', 'data-bs-target'];
/** Below this a rule has spoken. */
const RULED_OUT = -8;

/** Takes the buttons that open what is taken. */
export function keepOpeners({ tree, blocks, count }: Segments, logits: Float32Array, chosen: Uint8Array): void {
  if (tree.tag.indexOf(BUTTON) < 0) return;
  const isButton = (b: number): boolean => blocks[b * STRIDE + BUTTON_WORDS]! >= blocks[b * STRIDE + WORDS]!;
  for (let b = count - 2; b >= 0; b--) {
    const at = b * STRIDE;
    if (chosen[b] === 1 || chosen[b + 1] === 0 || blocks[at + WORDS]! > MAX_WORDS) continue;
    if (!isButton(b) || isButton(b + 1) || logits[b]! <= RULED_OUT) continue;
    const opened = blocks[at + STRIDE + CONTAINER]!;
    if (blocks[at + LAST_BYTE] === QUESTION_MARK || opens(tree, blocks[at + FIRST_NODE]!, opened)) chosen[b] = 1;
  }
}

/** Whether the button around a text names an element around another. */
function opens(tree: PageTree, text: number, opened: number): boolean {
  let button = text;
  for (let step = 0; step < TO_BUTTON && tree.tag[button] !== BUTTON; step++) button = tree.parent[button]!;
  if (tree.tag[button] !== BUTTON) return false;
  const names = REFERRING.map((name) => (tree.attribute(button, name) ?? '').slice(0, MAX_NAME).replace(/^#/, ''));
  let up = opened;
  for (let step = 0; step < TO_OPENED && up > 0; step++, up = tree.parent[up]!) {
    const id = tree.attribute(up, 'id');
    if (id !== null && id !== '' && names.includes(id)) return true;
  }
  return false;
}
