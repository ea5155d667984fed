// The text of any subtree on one line, as a reader sees it.
// Promise: words of different blocks never run together; what is not shown is not text.
import type { PageTree } from '../../parse/tree/tree.js';
import { RAW, TEXT, elementNumber } from './elements.js';
import { IS_BLOCK, isUnseen } from './segment.js';

const BR = elementNumber('br');

export function nodeText(tree: PageTree, node: number): string {
  let text = '';
  const ends: number[] = [];
  const last = tree.tag[node] === TEXT || tree.tag[node] === RAW ? node + 1 : tree.end[node]!;
  for (let at = node; at < last;) {
    while (ends.length > 0 && at >= ends.at(-1)!) {
      ends.pop();
      text += ' ';
    }
    const kind = tree.tag[at]!;
    if (tree.flags[at] === 1) text += ' ';
    if (kind === TEXT) text += tree.decode(tree.from[at]!, tree.to[at]!);
    else if (kind === RAW) text += tree.raw(tree.from[at]!, tree.to[at]!);
    else if (isUnseen(tree, at)) {
      at = tree.end[at]!;
      continue;
    } else if (IS_BLOCK[kind] === 1 || kind === BR || kind === 0) {
      text += ' ';
      ends.push(tree.end[at]!);
    }
    at++;
  }
  return text.replace(/[\s\u00a0]+/g, ' ').trim();
}
