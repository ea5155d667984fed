// The characters of a text that a reader sees: without those that take no room and carry text for machines only.
// Promise: joiners stay where scripts and emoji need them; texts without any are returned as they are.
import type { PageTree } from '../../parse/tree/tree.js';
import { RAW } from '../page/elements.js';

/** Zero-width spaces and joiners, soft hyphens, marks of direction, fillers, variation selectors and tags. */
const SUSPECT =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|\udb40[\udc00-\uddef]/;
/**
 * The first group stays: a flag of a region (a black flag and the tags of its letters), joiners between letters that need
 * them. The others are taken in runs, since each match costs more than its characters.
 */
const UNSEEN =
  /(\u{1f3f4}[\u{e0061}-\u{e007a}\u{e0030}-\u{e0039}]{2,6}\u{e007f}|(?<=[^\u0000-\u024f])[\u200c\u200d]{1,999}(?=[^\u0000-\u024f]))|[\u200c\u200d]|[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e01ef}]{1,999}/gu;
/** So many pieces are joined at a time: a string of millions of pieces takes longer. */
const PIECES = 4_096;

/** A text without what takes no room. */
export function shownCharacters(text: string): string {
  if (!SUSPECT.test(text)) return text;
  // Not by `replace`: it keeps every match until it is done.
  let shown = '';
  let pieces: string[] = [];
  let from = 0;
  UNSEEN.lastIndex = 0;
  for (let found = UNSEEN.exec(text); found; found = UNSEEN.exec(text)) {
    if (found[1] !== undefined) continue;
    if (found.index > from && pieces.push(text.slice(from, found.index)) >= PIECES) {
      shown += pieces.join('');
      pieces = [];
    }
    from = UNSEEN.lastIndex;
  }
  pieces.push(text.slice(from));
  return shown + pieces.join('');
}

/** What tags and variation selectors spell in a text: letters that only machines read. */
export function unseenLetters(text: string): string {
  if (!SUSPECT.test(text)) return '';
  let out = '';
  for (const [found, kept] of text.matchAll(UNSEEN)) {
    if (kept !== undefined) continue;
    for (const char of found) {
      const code = char.codePointAt(0)!;
      if (code >= 0xe0020 && code < 0xe007f) out += String.fromCharCode(code - 0xe0000);
      else if (code >= 0xe0100 && code <= 0xe01ef) out += String.fromCharCode(code - 0xe0100 + 16);
    }
  }
  return out;
}

/** The text of a text node as a reader sees it. */
export function textOf(tree: PageTree, node: number): string {
  const from = tree.from[node]!;
  const to = tree.to[node]!;
  return shownCharacters(tree.tag[node] === RAW ? tree.raw(from, to) : tree.decode(from, to));
}
