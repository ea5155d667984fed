// Dialogs that ask for consent to cookies, by the names that the software showing them gives to its elements.
// Promise: names of software and of the thing itself, never of a site; what holds the page's heading or main part is no dialog.
import type { PageTree } from '../parse/tree.js';
import { elementNumber, elementSet } from './elements.js';
import type { Segments } from './segment.js';
import { createWordTable } from './word-table.js';

const SOFTWARE = createWordTable([
  'onetrust cybot cookiebot usercentrics didomi truste cmplz cky iubenda osano termly cookieyes klaro tarteaucitron axeptio ' +
    'cookieconsent cookiebanner cookienotice cookiebar cookielaw cookiepopup cookiedialog',
]);
/** `cookie-banner`: the first word, directly before the second. */
const SUBJECT = createWordTable(['cookie cookies consent gdpr ccpa']);
const THING = createWordTable([
  'banner notice bar popup modal dialog law overlay preferences settings manager consent cookie',
]);
const OUTERMOST = elementSet('html body main article');
const H1 = elementNumber('h1');

/** By node: 1 within such a dialog; null where the page has none. */
export function consentNodes({ tree, names, nameStart }: Segments): Uint8Array | null {
  let marked: Uint8Array | null = null;
  let main: Int32Array | null = null;
  for (let node = 1; node < tree.count; node++) {
    if (nameStart[node] === nameStart[node + 1] || OUTERMOST[tree.tag[node]!] === 1) continue;
    if (!isNamed(names, nameStart[node]!, nameStart[node + 1]!)) continue;
    main ??= nextMain(tree);
    if (main[node]! < tree.end[node]!) continue;
    marked ??= new Uint8Array(tree.count);
    marked.fill(1, node, tree.end[node]);
    node = tree.end[node]! - 1;
  }
  return marked;
}

/** By node: the first one after it that is a page's heading or holds its main part. */
function nextMain({ tag, count }: PageTree): Int32Array {
  const next = new Int32Array(count);
  for (let node = count - 1, at = count; node >= 0; node--) {
    next[node] = at;
    if (tag[node] === H1 || OUTERMOST[tag[node]!] === 1) at = node;
  }
  return next;
}

function isNamed(names: Int32Array, from: number, to: number): boolean {
  for (let k = from; k < to; k++) {
    if (SOFTWARE.find(names[k]!) >= 0) return true;
    if (k + 1 < to && SUBJECT.find(names[k]!) >= 0 && THING.find(names[k + 1]!) >= 0) return true;
  }
  return false;
}
