// Which elements end others without an end tag: the rules of HTML's tree construction that change what a reader sees.
// Promise: tables by tag number only; the tree builder asks, these never look at the page.
import { tagNumber, tagSet } from '../tokens/tags.js';
import type { ContentModel } from '../tokens/tokenizer.js';
import { ESCAPABLE, PLAINTEXT, RAW, SCRIPT } from '../tokens/tokenizer.js';

/** Start tags before which an open `p` ends. */
export const ENDS_PARAGRAPH = tagSet(
  'address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 ' +
    'h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul xmp',
);
export const HEADING = tagSet('h1 h2 h3 h4 h5 h6');
export const VOID = tagSet(
  'area base basefont bgsound br col command embed frame hr image img input keygen link meta param source track wbr',
);
/** Elements that may stand in the head; any other start tag ends it. */
export const STAYS_IN_HEAD = tagSet(
  'base basefont bgsound head html link meta noframes noscript script style template title',
);
/** An end tag does not reach past these. */
export const SCOPE_WALL = tagSet('applet caption html marquee object table td template th');
/** Inline elements that an end tag closes even when blocks opened inside them are still open. */
export const FORMATTING = tagSet('a b big code em font form i nobr s small strike strong tt u');
/** The standard's "special" elements: an inline end tag or a list item does not reach past them. */
export const SPECIAL = tagSet(
  'address applet article aside blockquote body button caption center col colgroup dd details dir div dl dt ' +
    'embed fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html iframe li listing main ' +
    'marquee menu nav noembed noframes noscript object ol p plaintext pre script section select style summary table ' +
    'tbody td template textarea tfoot th thead title tr ul xmp',
);
/** Of the special elements, those that an item of a list does reach past. */
export const LET_ITEMS_PASS = tagSet('address div p');

export const TABLE_PART = tagSet('caption col colgroup tbody td tfoot th thead tr');
const CELL_HOME = tagSet('tr tbody thead tfoot table template');
const ROW_HOME = tagSet('tbody thead tfoot table template');
const GROUP_HOME = tagSet('table template');

/** The elements one of which a part of a table must stand directly in. */
export function homeOf(part: number): Uint8Array {
  if (part === tagNumber('td') || part === tagNumber('th')) return CELL_HOME;
  return part === tagNumber('tr') ? ROW_HOME : GROUP_HOME;
}

/** How the content of an element is read. `noscript` is markup here: pages keep images in it. */
export const MODEL_OF = new Uint8Array(256) as Uint8Array & Record<number, ContentModel>;
for (const name of ['title', 'textarea']) MODEL_OF[tagNumber(name)] = ESCAPABLE;
for (const name of ['style', 'xmp', 'iframe', 'noembed', 'noframes']) MODEL_OF[tagNumber(name)] = RAW;
MODEL_OF[tagNumber('script')] = SCRIPT;
MODEL_OF[tagNumber('plaintext')] = PLAINTEXT;
