// Matches an element's names: one word of a list, or a word of one list directly before one of another.
// Promise: hash lookups, no strings; forbidden content of such elements is found in one pass over the page.
import type { PageTree } from '../../parse/tree/tree.js';
import { elementSet } from '../page/elements.js';
import type { Segments } from '../page/segment.js';
import { createWordTable } from '../page/word-table.js';

/** Tells whether the names of a node match. */
export type NameMatcher = (segments: Pick<Segments, 'names' | 'nameStart'>, node: number) => boolean;

/**
 * A pair holds first words and second ones: `['cookie', 'banner bar']` matches `cookie-banner` and `cookieBar`. No two pairs
 * of a matcher share a first word: each word of a page is looked up once.
 */
export function createNameMatcher(words: string, ...pairs: readonly (readonly [string, string])[]): NameMatcher {
  const table = createWordTable([words, ...pairs.map(([first]) => first)]);
  const seconds = pairs.map(([, second]) => createWordTable([second]));
  return ({ names, nameStart }, node) => {
    for (let k = nameStart[node]!, end = nameStart[node + 1]!; k < end; k++) {
      const found = table.find(names[k]!);
      if (found === 0) return true;
      if (found > 0 && k + 1 < end && seconds[found - 1]!.find(names[k + 1]!) >= 0) return true;
    }
    return false;
  };
}

/** By node: the next one after it that is one of these elements. */
export function nextElement({ tag, count }: PageTree, elements: string): Int32Array {
  const wanted = elementSet(elements);
  const next = new Int32Array(count);
  for (let node = count - 1, at = count; node >= 0; node--) {
    next[node] = at;
    if (wanted[tag[node]!] === 1) at = node;
  }
  return next;
}

/** By node: 1 within the outermost elements that are wanted; null where there is none. */
export function markElements(tree: PageTree, isWanted: (node: number) => boolean): Uint8Array | null {
  let marked: Uint8Array | null = null;
  for (let node = 1; node < tree.count; node++) {
    if (!isWanted(node)) continue;
    marked ??= new Uint8Array(tree.count);
    marked.fill(1, node, tree.end[node]);
    node = tree.end[node]! - 1;
  }
  return marked;
}
