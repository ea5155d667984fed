// What code shows other than its text: lines made of spans, lines that are hidden, markup that a script renders.
// Promise: used only within `pre`; lines that the text itself breaks stay as they are.
import type { PageTree } from '../../parse/tree/tree.js';
import { TEXT, elementNumber } from './elements.js';

const SPAN = elementNumber('span');
/** `line`, `cm-line`, `token-line`. */
const LINE_CLASS = /(?:^|[\s-])line(?:\s|$)/;
/** mdBook keeps the lines that make an example complete in the page and hides them. */
const HIDDEN_CLASS = 'boring';
/** `line-number`, `highlight-line-number`, `line-num`. */
const NUMBER_CLASS = /(?:^|[\s_-])line-num(?:ber)?s?(?:\s|$)/;
const MAX_NUMBER_BYTES = 8;

export type CodeSpan = 'line' | 'hidden' | null;

/** What an element within code stands for. */
export function codeSpan(tree: PageTree, node: number): CodeSpan {
  if (tree.tag[node] !== SPAN || tree.from[node]! >= tree.to[node]!) return null;
  const name = tree.attribute(node, 'class');
  if (name === null || name.length > 100) return null;
  if (name === HIDDEN_CLASS || (NUMBER_CLASS.test(name) && isNumber(tree, node))) return 'hidden';
  return LINE_CLASS.test(name) ? 'line' : null;
}

/** Whether an element holds a number and nothing else. */
function isNumber(tree: PageTree, node: number): boolean {
  const text = node + 1;
  if (tree.end[node] !== node + 2 || tree.tag[text] !== TEXT) return false;
  const bytes = tree.to[text]! - tree.from[text]!;
  return bytes <= MAX_NUMBER_BYTES && /^\s*\d+\s*$/.test(tree.raw(tree.from[text]!, tree.to[text]!));
}

/** Termynal, of MkDocs and FastAPI's pages, shows the markup that a listing spells out. */
const TERMINAL_CLASS = /(?:^|\s)termy(?:\s|$)/;
const STYLING = /<\/?(?:font|span|b|i|u|em|strong)(?:\s[^<>]*)?>/g;
/** References that such a listing spells out: a script writes it as HTML. */
const REFERENCES: Readonly<Record<string, string>> = { amp: '&', apos: "'", gt: '>', lt: '<', quot: '"' };
const TERMINAL_LEVELS = 8;

/** The text of code in `node` as a reader sees it. */
export function shownCode(tree: PageTree, node: number, text: string): string {
  if (!text.includes('</')) return text;
  for (let at = node, level = 0; at > 0 && level < TERMINAL_LEVELS; at = tree.parent[at]!, level++) {
    const name = tree.from[at]! < tree.to[at]! && tree.tag[at] !== TEXT ? tree.attribute(at, 'class') : null;
    if (name !== null && TERMINAL_CLASS.test(name.slice(0, 100)))
      return text.replace(STYLING, '').replace(/&(amp|apos|gt|lt|quot);/g, (_, name: string) => REFERENCES[name]!);
  }
  return text;
}
