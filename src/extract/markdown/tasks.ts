// Items of a list of tasks, done or not, as GitHub, GitLab and Notion show them.
// Promise: only a box that a reader of the page cannot tick; the boxes of forms and filters are none.
import type { PageTree } from '../../parse/tree/tree.js';
import { TEXT, elementNumber } from '../page/elements.js';

const INPUT = elementNumber('input');
const LI = elementNumber('li');
/** How far into an item its box may stand: in a paragraph, in a label. */
const MAX_NODES = 4;
const NOTION = /(?:^|\s)checkbox-(on|off)(?:\s|$)/;
const MAX_NAMES = 400;

/** Whether the task of an item is done; `null` for an item that is none. */
export function taskOf(tree: PageTree, item: number): boolean | null {
  const end = Math.min(tree.end[item]!, item + 1 + MAX_NODES);
  for (let node = item + 1; node < end && tree.tag[node] !== TEXT && tree.tag[node] !== LI; node++) {
    if (tree.tag[node] === INPUT) {
      const isBox = /^checkbox$/i.test(tree.attribute(node, 'type') ?? '');
      if (!isBox || tree.attributeRange(node, 'disabled') === null) return null;
      return tree.attributeRange(node, 'checked') !== null;
    }
    const state = NOTION.exec((tree.attribute(node, 'class') ?? '').slice(0, MAX_NAMES))?.[1];
    if (state !== undefined) return state === 'on';
  }
  return null;
}
