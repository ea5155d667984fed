// Which elements end others, hold nothing or change their names in a document: the rules of htmlparser2, which handlers
// written for Crawlee were written against. Tables by name number only; the builder asks, these never look at the page.
import { tagNumber } from '../tokens/tags.js';
import type { ContentModel } from '../tokens/tokenizer.js';
import { ESCAPABLE, PLAINTEXT, RAW, SCRIPT } from '../tokens/tokenizer.js';

/** Numbers of tags, then of the names that {@link EXTRA_NAMES} adds, then of names met in pages. */
export const FIRST_EXTRA = 256;

/** SVG names that HTML writes with capitals. */
const SVG_NAMES =
  'altGlyph altGlyphDef altGlyphItem animateColor animateMotion animateTransform clipPath feBlend feColorMatrix ' +
  'feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight feDropShadow feFlood ' +
  'feFuncA feFuncB feFuncG feFuncR feGaussianBlur feImage feMerge feMergeNode feMorphology feOffset fePointLight ' +
  'feSpecularLighting feSpotLight feTile feTurbulence foreignObject glyphRef linearGradient radialGradient textPath';

const LOWER_SVG_NAMES = SVG_NAMES.toLowerCase()
  .split(' ')
  .filter((name) => name !== 'foreignobject');

/** Names besides those of tags.ts that a rule needs, in lower case. */
export const EXTRA_NAMES: readonly string[] = ['datalist', 'isindex', ...LOWER_SVG_NAMES];

/** Numbers below this have a place in every table here. */
const TABLE_SIZE = 512;

/** The number of a name that a rule is about. */
function numberOf(name: string): number {
  const extra = EXTRA_NAMES.indexOf(name);
  return extra < 0 ? tagNumber(name) : FIRST_EXTRA + extra;
}

function nameSet(list: string): Uint8Array {
  const set = new Uint8Array(TABLE_SIZE);
  for (const name of list.split(' ')) set[numberOf(name)] = 1;
  return set;
}

/** Elements that hold nothing and have no end tag. */
export const HOLDS_NOTHING = nameSet(
  'area base basefont br col command embed frame hr img input isindex keygen link meta param source track wbr',
);

/** By the name of a start tag: the elements that end before it when they are innermost. */
export const ENDS_BEFORE: readonly (Uint8Array | undefined)[] = endsBefore([
  ['tr', 'tr th td'],
  ['th', 'th'],
  ['td', 'thead th td'],
  ['body', 'head link script'],
  ['a', 'a'],
  ['li', 'li'],
  ['option', 'option'],
  ['optgroup', 'optgroup option'],
  ['dd dt', 'dd dt'],
  ['rt rp', 'rt rp'],
  ['tbody tfoot', 'thead tbody'],
  ['h1 h2 h3 h4 h5 h6', 'h1 h2 h3 h4 h5 h6 p'],
  ['select input output button datalist textarea', 'input option optgroup select button datalist textarea'],
  [
    'p address article aside blockquote details div dl fieldset figcaption figure footer form header hr main nav ol pre ' +
      'section table ul',
    'p',
  ],
]);

function endsBefore(rules: readonly (readonly [string, string])[]): (Uint8Array | undefined)[] {
  const table = new Array<Uint8Array | undefined>(TABLE_SIZE).fill(undefined);
  for (const [starts, ended] of rules) {
    const set = nameSet(ended);
    for (const name of starts.split(' ')) table[numberOf(name)] = set;
  }
  return table;
}

/** Elements of SVG and MathML inside which tags are HTML again. */
export const HOSTS_HTML = nameSet('mi mo mn ms mtext annotation-xml foreignobject desc title');

/** What an SVG element is called, by the number of its lower-case name. */
export const SVG_NAME_OF = new Map(SVG_NAMES.split(' ').map((name) => [numberOf(name.toLowerCase()), name]));

/** How the content of an HTML element is read. `noscript` is markup, as in every parser without scripting. */
export const CONTENT_MODEL = new Uint8Array(TABLE_SIZE) as Uint8Array & Record<number, ContentModel>;
for (const name of ['title', 'textarea']) CONTENT_MODEL[numberOf(name)] = ESCAPABLE;
for (const name of ['style', 'xmp', 'iframe', 'noembed', 'noframes']) CONTENT_MODEL[numberOf(name)] = RAW;
CONTENT_MODEL[numberOf('script')] = SCRIPT;
CONTENT_MODEL[numberOf('plaintext')] = PLAINTEXT;
