// Definition lists: terms in bold with their definitions nested below, as CommonMark has no such list of its own.
// Promise: a `dl` without terms or without definitions only indents, and is written as what it holds.
import { elementNumber } from '../page/elements.js';
import { IS_BLOCK, isUnseen } from '../page/segment.js';
import type { BlockRenderer } from './block-renderer.js';
import { HEADING_LEVEL, isDefining } from './shapes.js';

const DD = elementNumber('dd');
const DT = elementNumber('dt');

/** Writes a `dl`. */
export function writeDefinitions(to: BlockRenderer, node: number): void {
  const { tree, writer, lastList, dropped } = to;
  if (!isDefining(tree, node, dropped)) {
    to.children(node);
    return to.flush();
  }
  const bullet = lastList.marker === '-' ? '*' : '-';
  let written = false;
  let inTerm = false;
  const endTerm = (): void => {
    to.flush();
    if (inTerm) writer.close();
    inTerm = false;
  };
  const visit = (parent: number): void => {
    for (let child = parent + 1; child < tree.end[parent]!; child = tree.end[child]!) {
      const kind = tree.tag[child]!;
      if (dropped?.[child] === 1) continue;
      if (kind === DT) {
        endTerm();
        writer.open(`${bullet} `, '  ');
        inTerm = true;
        if (writeTerm(to, child)) written = true;
        writer.tight();
      } else if (kind === DD) {
        writer.open(`${bullet} `, '  ');
        lastList.marker = '';
        to.children(child);
        to.flush();
        if (writer.close()) written = true;
        writer.tight();
      } else if (HEADING_LEVEL[kind]! > 0) {
        // It stands between two lists.
        endTerm();
        writer.loose();
        to.node(child);
        lastList.marker = '';
      } else if (IS_BLOCK[kind] === 1 && !isUnseen(tree, child)) visit(child);
      else to.node(child);
    }
  };
  visit(node);
  endTerm();
  if (written) {
    writer.loose();
    lastList.marker = bullet;
  }
}

/** Whether the term has anything to show. */
function writeTerm(to: BlockRenderer, node: number): boolean {
  const opened = to.inline.openEmphasis('**');
  const [text, pictures] = to.title(node);
  to.inline.close(opened);
  to.inline.take();
  to.write(text === '' ? [] : [text]);
  to.write(pictures);
  return text !== '' || pictures.length > 0;
}
