// What the elements of a page are in markdown: which lists define or arrange, what a heading is, and how cells and
// headings are escaped. Promise: each is linear in the element it is asked about.
import type { PageTree } from '../../parse/tree/tree.js';
import { TEXT, elementNumber } from '../page/elements.js';
import { IS_BLOCK } from '../page/segment.js';
import { textOf } from '../shown/shown-text.js';
import { escapeLineStart } from './inline.js';

const DD = elementNumber('dd');
const DL = elementNumber('dl');
const DT = elementNumber('dt');
const HASH = 35;
const BACKSLASH = 92;
/** By element: 1 to 6, and 0 for all that are not headings. */
export const HEADING_LEVEL = new Uint8Array(256);
for (let level = 1; level <= 6; level++) HEADING_LEVEL[elementNumber(`h${level}`)] = level;
const MAX_NAMES = 400;
/** LaTeXML sets a formula beside its number by a table. */
export const EQUATION = /(?:^|\s)ltx_(?:eqn_table|equation(?:group)?)(?:\s|$)/;
const AUTHOR = /(?:^|[\s_-])(?:author|byline)(?:$|[\s_-])/i;
const LABEL = /(?:^|\s)pi-data-label(?:\s|$)/;

/** Whether a `dl` has terms and shown definitions, as children or as children of what groups them. */
export function isDefining(tree: PageTree, list: number, dropped: Uint8Array | null): boolean {
  let terms = false;
  let definitions = false;
  const note = (node: number): void => {
    if (tree.tag[node] === DT) terms = true;
    else if (tree.tag[node] === DD && dropped?.[node] !== 1) definitions = true;
  };
  for (let child = list + 1; child < tree.end[list]!; child = tree.end[child]!) {
    const kind = tree.tag[child]!;
    note(child);
    if (kind === DT || kind === DD || kind === DL || IS_BLOCK[kind] === 0) continue;
    for (let inner = child + 1; inner < tree.end[child]!; inner = tree.end[inner]!) note(inner);
  }
  return terms && definitions;
}

/** By node: the next heading after it that is shown. */
export function nextHeadings({ tag, count }: PageTree, dropped: Uint8Array | null): Int32Array {
  const next = new Int32Array(count);
  for (let node = count - 1, at = count; node >= 0; node--) {
    next[node] = at;
    if (HEADING_LEVEL[tag[node]!]! > 0 && dropped?.[node] !== 1) at = node;
  }
  return next;
}

/** Whether the text of an element begins with a bracket. */
export function isBracketed(tree: PageTree, node: number): boolean {
  const text = node + 1;
  return text < tree.end[node]! && tree.tag[text] === TEXT && /^\s*[[(]/.test(textOf(tree, text).slice(0, 40));
}

/** The class names of an element, as far as a rule reads them. */
export function classOf(tree: PageTree, node: number): string {
  return (tree.attribute(node, 'class') ?? '').slice(0, MAX_NAMES);
}

/** A heading; what names the value below it, in boxes of Fandom's wikis, or the author is a line like any other. */
export function headingLine(text: string, level: number, names: string): string {
  if (LABEL.test(names)) return `**${text}**`;
  if (level > 2 && AUTHOR.test(names)) return escapeLineStart(text);
  return `${'#'.repeat(level)} ${escapeLastHashes(text)}`;
}

/** Hashes at the end of a heading would be taken for its end. */
function escapeLastHashes(text: string): string {
  let from = text.length;
  while (from > 0 && text.charCodeAt(from - 1) === HASH) from--;
  // The first of them is escaped already.
  if (from < text.length && text.charCodeAt(from - 1) === BACKSLASH) from++;
  return from < text.length ? `${text.slice(0, from)}\\${text.slice(from)}` : text;
}

/** A pipe in a cell is escaped unless it already is. */
export function escapePipes(text: string): string {
  let out = '';
  let copied = 0;
  for (let at = text.indexOf('|'); at >= 0; at = text.indexOf('|', at + 1)) {
    let slashes = 0;
    while (at - slashes > copied && text.charCodeAt(at - slashes - 1) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) out += `${text.slice(copied, at)}\\|`;
    else out += text.slice(copied, at + 1);
    copied = at + 1;
  }
  return copied === 0 ? text : out + text.slice(copied);
}

/** The number of the first item. */
export function startOf(tree: PageTree, list: number): number {
  const start = Number.parseInt(tree.attribute(list, 'start') ?? '1', 10);
  return start >= 0 && start <= 999_999_999 ? start : 1;
}

/** The number that an item gives itself. */
export function numberOf(tree: PageTree, item: number): number | null {
  const value = Number.parseInt(tree.attribute(item, 'value') ?? '', 10);
  return value >= 0 && value <= 999_999_999 ? value : null;
}
