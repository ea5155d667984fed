// Where an image's picture really is: pages that load images late keep it beside a placeholder.
// Promise: an absolute, fetchable address or null; never inline data.
import type { PageTree } from '../../parse/tree/tree.js';
import type { PageUrls } from './page-urls.js';

const LATE = ['data-src', 'data-original', 'data-lazy-src', 'data-srcset', 'data-lazy', 'data-url'];

/** The address of an `img`. */
export function imageSource(tree: PageTree, node: number, urls: PageUrls): string | null {
  const source = tree.attributeRange(node, 'src');
  if (source !== null && !isPlaceholder(tree, source.from, source.to)) {
    const url = urls.read(node, 'src');
    if (url !== null) return url;
  }
  for (const attribute of LATE) {
    const value = tree.attribute(node, attribute);
    const url = value === null ? null : urls.resolve(firstCandidate(value));
    if (url !== null) return url;
  }
  const set = tree.attribute(node, 'srcset');
  return set === null ? null : urls.resolve(firstCandidate(set));
}

/** Of a `srcset`, the first address; of a plain address, itself. */
function firstCandidate(value: string): string {
  return value.trim().slice(0, 4_096).split(/\s+/, 1)[0]!.replace(/,$/, '');
}

function isPlaceholder(tree: PageTree, from: number, to: number): boolean {
  return from === to || (to - from > 5 && /^data:/i.test(tree.raw(from, from + 5)));
}
