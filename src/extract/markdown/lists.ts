// Lists with bullets and numbers, nested ones, tasks, and lists that only arrange a page.
// Promise: numbers are those of the page; two lists in a row do not run together.
import { TEXT, elementNumber, elementSet } from '../page/elements.js';
import { isUnseen } from '../page/segment.js';
import type { BlockRenderer } from './block-renderer.js';
import { classOf, nextHeadings, numberOf, startOf } from './shapes.js';
import { taskOf } from './tasks.js';

const LI = elementNumber('li');
const OL = elementNumber('ol');
export const LIST = elementSet('ul ol menu dir');

/** By renderer of a page: the next heading after each node that is shown. */
const headingsAfter = new WeakMap<BlockRenderer, Int32Array>();

/** Writes a list. */
export function writeList(to: BlockRenderer, node: number): void {
  const { tree, writer, lastList, dropped, parts } = to;
  const ordered = tree.tag[node] === OL;
  const headed = isHeaded(to, node);
  let number = ordered ? startOf(tree, node) : 0;
  const style = classOf(tree, node);
  // Notion writes a list for each item.
  const goesOn = style !== '' && style === lastList.singleClass && lastList.marker !== '';
  if (goesOn) writer.tight();
  const [usual, other] = ordered ? ['.', ')'] : ['-', '*'];
  const bullet = (lastList.marker === usual) === goesOn ? usual! : other!;
  let written = 0;
  for (let child = node + 1; child < tree.end[node]!; child = tree.end[child]!) {
    if (dropped?.[child] === 1) continue;
    if (tree.tag[child] === TEXT) {
      // Text directly in a list is an item of its own.
      if (writeItem(to, ordered ? `1${bullet} ` : `${bullet} `, () => to.node(child))) writer.tight();
      continue;
    }
    if (isUnseen(tree, child)) continue;
    if (headed || parts.has(child)) {
      // A thread or a page written as a list: its items are parts of the page.
      to.part(child);
      continue;
    }
    const isItem = tree.tag[child] === LI;
    if (ordered && isItem) number = numberOf(tree, child) ?? number;
    const marker = ordered ? `${number}${bullet} ` : `${bullet} `;
    if (writeItem(to, marker, () => (isItem ? itemContent(to, child) : to.node(child)))) {
      written++;
      number++;
      writer.tight();
    }
  }
  if (written > 0) {
    writer.loose();
    lastList.marker = bullet;
    lastList.singleClass = written === 1 ? style : '';
  }
}

/** Whether every item of a list that is shown has a heading: such lists arrange a page. */
function isHeaded(to: BlockRenderer, list: number): boolean {
  const { tag, end } = to.tree;
  let next = headingsAfter.get(to);
  if (next === undefined) headingsAfter.set(to, (next = nextHeadings(to.tree, to.dropped)));
  let items = 0;
  for (let child = list + 1; child < end[list]!; child = end[child]!) {
    if (tag[child] !== LI || end[child] === child + 1 || to.dropped?.[child] === 1) continue;
    if (next[child]! >= end[child]!) return false;
    items++;
  }
  return items > 0;
}

/** Whether anything was written. */
function writeItem(to: BlockRenderer, marker: string, content: () => void): boolean {
  const { writer, lastList } = to;
  to.flush();
  writer.open(marker, ' '.repeat(marker.length));
  const before = lastList.marker;
  lastList.marker = '';
  content();
  to.flush();
  const written = writer.close();
  lastList.marker = written ? '' : before;
  return written;
}

/** An item's text is followed directly by a list in it. */
function itemContent(to: BlockRenderer, node: number): void {
  const { tree, inline } = to;
  const task = taskOf(tree, node);
  if (task !== null) {
    inline.markup(task ? '[x]' : '[ ]');
    inline.space();
  }
  for (let child = node + 1; child < tree.end[node]!; child = tree.end[child]!) {
    const kind = tree.tag[child]!;
    if (LIST[kind] === 1 && !inline.isEmpty) {
      to.flush();
      // A number other than 1 cannot follow a paragraph without a blank line.
      if (kind !== OL || startOf(tree, child) === 1) to.writer.tight();
    }
    to.node(child);
  }
  to.flush();
}
