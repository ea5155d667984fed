// Links of a heading or a caption that lead to itself, as manuals and forums write them for those who copy addresses.
// Promise: by the id of the heading, of what stands in it, closely around it or empty before it; a link to any other place stays.
import type { PageTree } from '../../parse/tree/tree.js';
import { RAW, TEXT, hasLongTag } from '../page/elements.js';
import type { PageUrls } from '../page/page-urls.js';

/** Elements around a heading that may carry its id: a section, the post that it titles. */
const STEPS = 6;
const MAX_NODES = 12;
const MAX_ID = 300;

/** The addresses of the place where a heading stands. */
export function headingAddresses(tree: PageTree, heading: number, urls: PageUrls): ReadonlySet<string> {
  const found = new Set<string>();
  const note = (node: number): void => {
    if (tree.tag[node] === TEXT || tree.tag[node] === RAW || hasLongTag(tree, node)) return;
    const id = tree.attribute(node, 'id') ?? tree.attribute(node, 'name') ?? '';
    const url = id === '' || id.length > MAX_ID ? null : urls.resolve(`#${id}`);
    if (url !== null) found.add(url);
  };
  for (let at = heading; at < Math.min(tree.end[heading]!, heading + MAX_NODES); at++) note(at);
  for (let up = heading, step = 0; up > 0 && step <= STEPS; up = tree.parent[up]!, step++) {
    note(up);
    // RFCs name a figure by an empty element before it.
    if (up - 1 > tree.parent[up]! && tree.end[up - 1] === up) note(up - 1);
  }
  return found;
}
