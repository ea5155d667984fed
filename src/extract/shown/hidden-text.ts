// Lists what was left out of a page because readers cannot see it.
// Promise: in document order, each text once, bounded in number and length.
import { LIMITS, limitReached } from '../../limits.js';
import { RAW, TEXT } from '../page/elements.js';
import type { HiddenReason } from './hidden.js';
import { HIDDEN_REASONS } from './hidden.js';
import { nodeText } from '../page/node-text.js';
import type { Segments } from '../page/segment.js';
import { unseenLetters } from './shown-text.js';

/** A text that readers cannot see. */
export interface HiddenText {
  /** The words that readers cannot see. */
  readonly text: string;
  /** What hides them. */
  readonly reason: HiddenReason;
}

const MAX_ENTRIES = LIMITS.hiddenTexts.max;
const MAX_CHARS = 2_000;

export function listHidden({ tree, hidden }: Segments): HiddenText[] {
  const list: HiddenText[] = [];
  const add = (text: string, reason: HiddenReason): void => {
    if (text !== '') list.push({ text: text.slice(0, MAX_CHARS), reason });
  };
  for (let node = 1; node < tree.count; node++) {
    if (list.length >= MAX_ENTRIES) {
      limitReached('hiddenTexts');
      break;
    }
    const reason = HIDDEN_REASONS[hidden[node]!];
    if (reason !== null && reason !== undefined) {
      add(nodeText(tree, node), reason);
      node = tree.end[node]! - 1;
    } else if (tree.tag[node] === TEXT || tree.tag[node] === RAW) {
      add(unseenLetters(tree.decode(tree.from[node]!, tree.to[node]!)), 'characters');
    }
  }
  return list;
}
