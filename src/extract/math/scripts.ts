// Sub- and superscripts as plain characters, the same in text and markdown: `10^23`, `H_2O`, `x^{n+1}`, `word[1]`.
// Promise: only what stands directly after a character is one; ordinals (`1st`) and marks (`™`) stay as they are.
import type { PageTree } from '../../parse/tree/tree.js';
import { RAW, TEXT, elementNumber } from '../page/elements.js';
import { textOf } from '../shown/shown-text.js';

const A = elementNumber('a');
const SUP = elementNumber('sup');
const SUB = elementNumber('sub');
/** Longer ones are set small, not above. */
const MAX_CHARS = 24;
const MAX_NODES = 30;
const SIMPLE = /^(?:[+\-\u2212\u2013]?\d+|\p{L}|[+\-\u2212*\u2032\u2020])$/u;
const ORDINAL = /^(?:st|nd|rd|th|e|er|re|ers|res|ère|ème|eme|nde?|o|a|os|as|ᵉ|mo|da)$/i;
const MARK = /^[(]?(?:™|®|©|℠|tm|sm|r|c|ª|º|°)[)]?$/i;
const NOTE = /^(?:\d{1,3}|[a-z]|\*{1,3}|[†‡§])$/i;

/** What stands before and after the text of a script; `null` for an element that is none, or is written without marks. */
export type ScriptMarks = readonly [before: string, after: string];

export function scriptMarks(tree: PageTree, node: number, before: string): ScriptMarks | null {
  const kind = tree.tag[node];
  if (kind !== SUP && kind !== SUB) return null;
  if (before === '' || /\s/.test(before)) return null;
  let text = '';
  let linked = 0;
  let linkEnd = 0;
  const end = tree.end[node]!;
  if (end - node > MAX_NODES) return null;
  for (let at = node + 1; at < end; at++) {
    if (tree.tag[at] === A) linkEnd = tree.end[at]!;
    if (tree.tag[at] !== TEXT && tree.tag[at] !== RAW) continue;
    if (tree.to[at]! - tree.from[at]! > MAX_CHARS * 8) return null;
    const part = textOf(tree, at);
    text += part;
    if (at < linkEnd) linked += part.trim().length;
  }
  text = text.trim();
  if (text === '' || text.length > MAX_CHARS || MARK.test(text)) return null;
  if (ORDINAL.test(text) && (/\p{N}/u.test(before) || text.length > 1)) return null;
  if (kind === SUP && linked > 0) return linked === text.length && NOTE.test(text) ? ['[', ']'] : null;
  if (/^[[(].*[\])]$/.test(text)) return null;
  const sign = kind === SUP ? '^' : '_';
  return SIMPLE.test(text) ? [sign, ''] : [`${sign}{`, '}'];
}
