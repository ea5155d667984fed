// The chosen part of a page as HTML that is safe to show: structure and text, no scripts, styles or handlers.
// Promise: only listed elements and attributes, every address checked, every text escaped; linear in the page.
import type { PageTree } from '../../parse/tree/tree.js';
import { ELEMENTS, RAW, TEXT, elementNumber, elementSet } from '../page/elements.js';
import { codeLanguage } from './code.js';
import { formulasOf, writeFormula } from '../math/formulas.js';
import { textOf } from '../shown/shown-text.js';
import { emoticonOf, imageSource } from '../page/media.js';
import type { PageUrls } from '../page/page-urls.js';
import { IS_BLOCK, isUnseen } from '../page/segment.js';

const KEPT = elementSet(
  'a abbr b bdi bdo blockquote br caption cite code dd del details dfn dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i img ins ' +
    'kbd li mark ol p pre q rp rt ruby s samp small strong sub summary sup table tbody td tfoot th thead time tr tt u ul var',
);
const VOID = elementSet('br hr img wbr');
const A = elementNumber('a');
const IMG = elementNumber('img');
const CELL = elementSet('td th');
const OL = elementNumber('ol');
const PRE = elementNumber('pre');
const TIME = elementNumber('time');
const DIV_LIKE = elementSet('div section article main address center fieldset form header footer aside nav body');

export function escapeHtml(text: string): string {
  return /[&<>]/.test(text) ? text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;') : text;
}

const attribute = (name: string, value: string): string => ` ${name}="${escapeHtml(value).replace(/"/g, '&quot;')}"`;

/** Renders the subtree of `root` without the dropped nodes. */
export function renderHtml(tree: PageTree, root: number, urls: PageUrls, dropped: Uint8Array | null): string {
  const formulas = formulasOf(tree);
  const parts: string[] = [];
  const closing: { end: number; tag: string }[] = [];
  for (let node = root + 1; node < tree.end[root]!;) {
    while (closing.length > 0 && node >= closing.at(-1)!.end) parts.push(closing.pop()!.tag);
    const kind = tree.tag[node]!;
    if (tree.flags[node] === 1) parts.push(IS_BLOCK[kind] === 1 ? '\n' : ' ');
    const formula = formulas.get(node);
    const isDropped = dropped !== null && dropped[node] === 1;
    if (formula !== undefined && !isDropped) parts.push(escapeHtml(writeFormula(formula, 'dollar')));
    if (formula !== undefined || isDropped || isUnseen(tree, node)) {
      node = tree.end[node]!;
      continue;
    }
    if (kind === TEXT || kind === RAW) parts.push(escapeHtml(textOf(tree, node)));
    else {
      const name = KEPT[kind] === 1 ? ELEMENTS[kind]! : DIV_LIKE[kind] === 1 && hasOwnText(tree, node) ? 'div' : null;
      const start = name === null ? null : startTag(tree, node, kind, name, urls);
      if (start !== null) {
        parts.push(start);
        if (VOID[kind] === 0) closing.push({ end: tree.end[node]!, tag: `</${name}>` });
      }
    }
    node++;
  }
  while (closing.length > 0) parts.push(closing.pop()!.tag);
  return parts.join('').trim();
}

function hasOwnText(tree: PageTree, node: number): boolean {
  for (let child = node + 1; child < tree.end[node]!; child = tree.end[child]!) {
    if (tree.tag[child] === TEXT || IS_BLOCK[tree.tag[child]!] === 0) return true;
  }
  return false;
}

/** The start tag, or the words of a smiley; `null` for an element that is nothing without its address. */
function startTag(tree: PageTree, node: number, kind: number, name: string, urls: PageUrls): string | null {
  let out = `<${name}`;
  if (kind === A) {
    const url = urls.read(node, 'href');
    if (url === null) return null;
    out += attribute('href', url);
  } else if (kind === IMG) {
    const emoticon = emoticonOf(tree, node);
    if (emoticon !== null) return escapeHtml(emoticon);
    const source = imageSource(tree, node, urls);
    if (source === null) return null;
    out += attribute('src', source) + attribute('alt', tree.attribute(node, 'alt') ?? '');
  } else if (CELL[kind] === 1) {
    for (const span of ['colspan', 'rowspan']) {
      const value = Number.parseInt(tree.attribute(node, span) ?? '', 10);
      if (value > 1 && value <= 1_000) out += attribute(span, String(value));
    }
  } else if (kind === OL) {
    const start = Number.parseInt(tree.attribute(node, 'start') ?? '', 10);
    if (start >= 0 && start !== 1) out += attribute('start', String(start));
  } else if (kind === PRE) {
    const language = codeLanguage(tree, node);
    if (language !== '') out += attribute('class', `language-${language}`);
  } else if (kind === TIME) {
    const when = tree.attribute(node, 'datetime');
    if (when !== null) out += attribute('datetime', when);
  }
  return `${out}>`;
}
