// Code as a page shows it: its exact text and its language.
// Promise: line breaks and blanks are kept; line numbers and copy buttons that scripts add are not code.
import type { PageTree } from '../../parse/tree/tree.js';
import { codeSpan, shownCode } from '../page/code-lines.js';
import { RAW, TEXT, elementNumber, elementSet, hasLongTag } from '../page/elements.js';
import { isUnseen } from '../page/segment.js';
import { textOf } from '../shown/shown-text.js';

const BR = elementNumber('br');
const BUTTON = elementNumber('button');
const TABLE = elementNumber('table');
const LINE = elementSet('div li p tr');
const LANGUAGE =
  /(?:^|\s)(?:lang(?:uage)?-|highlight-(?:source-)?|brush:\s*|sourceCode\s+)([a-z0-9+#.-]{1,20})(?=\s|;|$)/i;
const DOCUMENTS = /^(?:none|auto|default|notranslate|plain|text|plaintext|nohighlight|txt)$/i;

/** The text of a subtree with its white space as written. */
export function preformattedText(tree: PageTree, node: number, dropped: Uint8Array | null): string {
  if (tree.tag[node] === TEXT) return textOf(tree, node);
  const parts: string[] = [];
  // The last character so far: asking a string that is being joined for it would copy all of it.
  let last = '';
  const write = (part: string): void => {
    if (part === '') return;
    parts.push(part);
    last = part[part.length - 1]!;
  };
  const lineEnds: number[] = [];
  const endLine = (): void => {
    if (last !== '' && last !== '\n') write('\n');
  };
  for (let at = node + 1; at < tree.end[node]!;) {
    while (lineEnds.length > 0 && at >= lineEnds.at(-1)!) {
      lineEnds.pop();
      endLine();
    }
    const kind = tree.tag[at]!;
    if (kind === BUTTON || (dropped !== null && dropped[at] === 1)) {
      at = tree.end[at]!;
      continue;
    }
    if (kind === TEXT || kind === RAW) write(textOf(tree, at));
    else if (kind === BR) write('\n');
    else if (isUnseen(tree, at) || codeSpan(tree, at) === 'hidden') {
      at = tree.end[at]!;
      continue;
    } else if (LINE[kind] === 1) {
      endLine();
      lineEnds.push(tree.end[at]!);
    } else if (codeSpan(tree, at) === 'line') endLine();
    else if (tree.flags[at] === 1 && last !== '' && last.trim() !== '') write(' ');
    at++;
  }
  return shownCode(tree, node, parts.join(''));
}

/** rustdoc names the language first. */
const RUSTDOC = /(?:^|\s)rust(?:-example-rendered)?(?=\s|$)/;

function namedIn(names: string): string | undefined {
  return LANGUAGE.exec(names)?.[1] ?? (RUSTDOC.test(names) ? 'rust' : undefined);
}

/** Tables that set line numbers beside code: of Pygments, Rouge and Hugo. */
const CODE_TABLE = /(?:^|\s)(?:highlighttable|rouge-table|lntable)(?:\s|$)/;
const TABLE_LEVELS = 6;

/** What wraps the table that code stands in for its line numbers; 0 where it stands in none. */
function aroundCodeTable(tree: PageTree, node: number): number {
  for (let up = tree.parent[node]!, level = 0; up > 0 && level < TABLE_LEVELS; up = tree.parent[up]!, level++)
    if (tree.tag[up] === TABLE && CODE_TABLE.test((tree.attribute(up, 'class') ?? '').slice(0, 300)))
      return tree.parent[up]!;
  return 0;
}

/** The language that the element, its `code` or what wraps it names; empty when none does. */
export function codeLanguage(tree: PageTree, node: number): string {
  const wrapper = aroundCodeTable(tree, node);
  const candidates = [node, tree.firstChild(node), tree.parent[node]!, tree.parent[tree.parent[node]!]!];
  if (wrapper > 0) candidates.push(wrapper, tree.parent[wrapper]!);
  for (const candidate of candidates) {
    if (candidate <= 0 || tree.tag[candidate] === TEXT || tree.tag[candidate] === RAW) continue;
    if (candidate !== node && hasLongTag(tree, candidate)) continue;
    const named =
      namedIn((tree.attribute(candidate, 'class') ?? '').slice(0, 300)) ??
      tree.attribute(candidate, 'data-lang') ??
      tree.attribute(candidate, 'data-language') ??
      namedIn((tree.attribute(candidate, 'data-syntaxhighlighter-params') ?? '').slice(0, 300));
    if (named !== undefined && named !== null && /^[a-z0-9+#.-]{1,20}$/i.test(named)) {
      return DOCUMENTS.test(named) ? '' : named.toLowerCase();
    }
  }
  return '';
}
