// Detects small pages that are all content: the model, trained on pages with boilerplate, says little about them.
// Promise: one pass over the tree, and only for pages of a few words.
import { elementSet } from '../page/elements.js';
import { HINT_NAMES } from '../page/hints.js';
import type { Segments } from '../page/segment.js';

/** A page with more words than this has room for furniture. */
const BARE_WORDS = 300;
const FURNITURE = elementSet('nav header footer aside form dialog menu noscript button');
const FURNITURE_HINTS = ['navigation', 'footer', 'header', 'sidebar', 'breadcrumb', 'consent', 'modal', 'advert'].map(
  (name) => HINT_NAMES.indexOf(name),
);

/** A small page on which nothing is marked as furniture and little is a link: all that it shows is content. */
export function isBare({ tree, words, linkWords, hintLow, hintHigh }: Segments): boolean {
  if (words[0]! > BARE_WORDS || linkWords[0]! * 3 > words[0]!) return false;
  for (let node = 1; node < tree.count; node++) {
    if (FURNITURE[tree.tag[node]!] === 1) return false;
    for (const category of FURNITURE_HINTS) {
      if (((category < 32 ? hintLow[node]! : hintHigh[node]!) & (1 << (category & 31))) !== 0) return false;
    }
  }
  return true;
}
