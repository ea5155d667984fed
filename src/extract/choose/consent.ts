// Cookie consent dialogs, by the class names of consent software.
// Promise: names of software and of dialogs, never of a site; an element with the page's heading or main part is not a dialog.
import { elementSet } from '../page/elements.js';
import { createNameMatcher, markElements, nextElement } from './name-matcher.js';
import type { Segments } from '../page/segment.js';

const asksForConsent = createNameMatcher(
  // The software.
  'onetrust cybot cookiebot usercentrics didomi truste cmplz cky iubenda osano termly cookieyes klaro tarteaucitron axeptio ' +
    'cookieconsent cookiebanner cookienotice cookiebar cookielaw cookiepopup cookiedialog',
  // The thing itself: `cookie-banner`.
  [
    'cookie cookies consent gdpr ccpa',
    'banner notice bar popup modal dialog law overlay preferences settings manager consent cookie',
  ],
);
const OUTERMOST = elementSet('html body main article');

/** By node: 1 within such a dialog; null where the page has none. */
export function consentNodes(segments: Segments): Uint8Array | null {
  const { tree } = segments;
  let main: Int32Array | null = null;
  return markElements(tree, (node) => {
    if (!asksForConsent(segments, node) || OUTERMOST[tree.tag[node]!] === 1) return false;
    main ??= nextElement(tree, 'h1 html body main article');
    return main[node]! >= tree.end[node]!;
  });
}
