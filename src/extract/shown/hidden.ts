// Which elements of a page a reader cannot see, and why: by attribute, inline style, or a simple rule of the page's sheets.
// Promise: one look per element, in document order; `html` and `body` are never hidden, as scripts show them.
import { sliceLatin1 } from '../../base/bytes.js';
import type { PageTree } from '../../parse/tree/tree.js';
import type { Colour, Declarations, HiddenReason } from './css-look.js';
import {
  CAN_SHOW_AGAIN,
  MAY_HIDE,
  colourOf,
  hidingReason,
  isSameColour,
  mayAppear,
  readDeclarations,
  showsAgain,
} from './css-look.js';
import { ELEMENTS, TEXT, elementNumber, elementSet } from '../page/elements.js';
import { createOpenReader } from './can-open.js';
import { hintsFound } from '../page/hints.js';
import type { StyleRules } from './style-rules.js';
import { readStyleRules } from './style-rules.js';
import { WORD_SEED, mixLetter } from '../page/word-table.js';

export type { HiddenReason } from './css-look.js';

/** By the number that {@link createHiddenReader} gives; 0 is shown. */
export const HIDDEN_REASONS: readonly (HiddenReason | null)[] = [
  null,
  'attribute',
  'aria-hidden',
  'display',
  'visibility',
  'opacity',
  'size',
  'colour',
  'position',
  'clip',
];
/** Hidden, but a reader can open it: it counts as text, and the models know that it is closed. */
export const CLOSED = HIDDEN_REASONS.length;
const COLOUR = HIDDEN_REASONS.indexOf('colour');
const ARIA = HIDDEN_REASONS.indexOf('aria-hidden');
const NEVER_HIDDEN = elementSet('html body head');
/** Longer inline styles hold data. */
const MAX_STYLE = 2_000;
const MAX_NAMES = 400;
const WHITE: Colour = [255, 255, 255];
const STYLE = elementNumber('style');
const A = elementNumber('a');
const HASH_SIGN = 0x23;
/** Bytes of a tooltip. */
const MAX_TIP = 200;
const NOTHING: Declarations = new Map();

/** Reads elements in document order, each after {@link readHints} read its names. */
export interface HiddenReader {
  /** Why an element is hidden, as a number of {@link HIDDEN_REASONS} or {@link CLOSED}; `around` is what its parent has. */
  read(node: number, around: number): number;
}

export function createHiddenReader(tree: PageTree): HiddenReader {
  const { bytes } = tree;
  let rules: StyleRules | null = null;
  const backgrounds = new Map<number, Colour>();
  const canOpen = createOpenReader(tree);
  const readRules = (): StyleRules => (rules ??= readStyleRules(tree));
  const hasSheets = tree.tag.indexOf(STYLE) >= 0;
  if (hasSheets) readRules();

  const declared = (node: number): Declarations => {
    const style = tree.attribute(node, 'style')?.slice(0, MAX_STYLE) ?? '';
    const own = rules === null ? NOTHING : fromRules(node);
    if (style === '') return own;
    return readDeclarations(style, new Map(own));
  };
  const fromRules = (node: number): Declarations => {
    const classes = (tree.attribute(node, 'class') ?? '').slice(0, MAX_NAMES);
    const id = (tree.attribute(node, 'id') ?? '').slice(0, MAX_NAMES);
    return rules!.declarationsFor(ELEMENTS[tree.tag[node]!]!, id, classes);
  };
  /** The background of an element: its own, or that of the nearest element around it. */
  const backgroundOf = (node: number): Colour => {
    const passed: number[] = [];
    let found: Colour | undefined;
    let at = node;
    for (; at > 0 && found === undefined; at = tree.parent[at]!) {
      found = backgrounds.get(at);
      if (found !== undefined) break;
      passed.push(at);
      const own = colourOf(declared(at).get('background'));
      // Between a text and the page's own colour, sheets of other addresses paint what holds the text.
      if (own !== undefined && own !== 'clear')
        found = NEVER_HIDDEN[tree.tag[at]!] === 1 && readRules().hasOthers ? null : own;
    }
    const { hasOthers, paints } = readRules();
    const colour = found === undefined ? (hasOthers || paints ? null : WHITE) : found;
    for (const one of passed) backgrounds.set(one, colour);
    return colour;
  };
  const isUnreadable = (node: number, look: Declarations): boolean => {
    const colour = colourOf(look.get('color'));
    if (colour === undefined || colour === null) return false;
    if (colour === 'clear')
      return !look.has('background-clip') && !look.has('-webkit-background-clip') && !look.has('background');
    return isSameColour(colour, backgroundOf(node));
  };
  /** Whether a class or id is one that a rule may hide. */
  const isNamed = (from: number, to: number): boolean => {
    const { hiding } = rules!;
    const end = Math.min(to, from + MAX_NAMES);
    let hash = WORD_SEED;
    for (let k = from; k <= end; k++) {
      const byte = k < end ? bytes[k]! : 0x20;
      if (byte > 0x20) hash = mixLetter(hash, byte);
      else {
        if (hash !== WORD_SEED && hiding.has(hash)) return true;
        hash = WORD_SEED;
      }
    }
    return false;
  };
  const mayBeHidden = (node: number, around: number): boolean => {
    const { styleFrom, styleTo, classFrom, classTo, idFrom, idTo } = hintsFound;
    if (styleFrom < styleTo) {
      if (around !== 0) return true;
      if (MAY_HIDE.test(sliceLatin1(bytes, styleFrom, Math.min(styleTo, styleFrom + MAX_STYLE)))) return true;
    }
    if (rules === null) return false;
    if (around !== 0 && classFrom < classTo) return true;
    if (rules.tags.size > 0 && rules.tags.has(ELEMENTS[tree.tag[node]!]!)) return true;
    return rules.hiding.size > 0 && (isNamed(classFrom, classTo) || isNamed(idFrom, idTo));
  };

  return {
    read(node, around) {
      if (NEVER_HIDDEN[tree.tag[node]!] === 1) return 0;
      if (around !== 0 && around !== CLOSED && !CAN_SHOW_AGAIN.has(HIDDEN_REASONS[around]!)) return around;
      if (hintsFound.hiddenBy === ARIA && isSeenLink(tree, node)) return around;
      if (hintsFound.hiddenBy !== 0)
        return canOpen(node) || (hintsFound.hiddenBy === ARIA && isPart(tree, node)) ? CLOSED : hintsFound.hiddenBy;
      if (!mayBeHidden(node, around)) return around;
      const styleRange = hintsFound.styleTo - hintsFound.styleFrom;
      const look = declared(node);
      const reason = hidingReason(look);
      if (reason !== null && !isEntrance(tree, node, reason))
        return canOpen(node) ||
          isFolded(look, reason, styleRange) ||
          (styleRange === 0 && isPart(tree, node)) ||
          (reason === 'position' && isTip(tree, node))
          ? CLOSED
          : HIDDEN_REASONS.indexOf(reason);
      const outer = HIDDEN_REASONS[around];
      if (outer !== null && outer !== undefined)
        return CAN_SHOW_AGAIN.has(outer) && showsAgain(look, outer) && !isUnreadable(node, look) ? 0 : around;
      return isUnreadable(node, look) ? COLOUR : 0;
    },
  };
}

/** Bytes of markup from which on an element that a rule hides is a part of the page, which a script shows. */
const PART_BYTES = 3_000;

function isPart(tree: PageTree, node: number): boolean {
  return tree.to[tree.end[node]! - 1]! - tree.from[node]! > PART_BYTES;
}

/** A rule that folds an element up, or hides it with a transition, belongs to what shows it. */
function isFolded(look: Declarations, reason: HiddenReason, inlineLength: number): boolean {
  if (inlineLength > 0) return false;
  if (reason === 'visibility') return mayAppear(look);
  return reason === 'clip' && !look.has('position') && !look.has('clip') && !look.has('clip-path');
}

/** A link to elsewhere is hidden from screen readers when another leads there too: teasers of lists. Eyes see both. */
function isSeenLink(tree: PageTree, node: number): boolean {
  if (tree.tag[node] !== A) return false;
  const href = tree.attributeRange(node, 'href');
  return href !== null && href.from < href.to && tree.bytes[href.from] !== HASH_SIGN;
}

/** A swatch or an icon whose words a reader sees as a tooltip: the words are its title too. */
function isTip(tree: PageTree, node: number): boolean {
  const text = node + 1;
  if (tree.end[node]! !== node + 2 || tree.tag[text] !== TEXT || tree.to[text]! - tree.from[text]! > MAX_TIP)
    return false;
  const title = tree.attribute(node, 'title')?.trim();
  return title !== undefined && title !== '' && title === tree.decode(tree.from[text]!, tree.to[text]!).trim();
}

/** Marks of the libraries that fade elements in when a reader scrolls to them. */
const ENTRANCES = ['data-aos', 'data-w-id', 'data-framer-appear-id', 'data-sal', 'data-scroll', 'data-animate'];

function isEntrance(tree: PageTree, node: number, reason: HiddenReason): boolean {
  if (reason !== 'opacity' && reason !== 'visibility') return false;
  if (ENTRANCES.some((name) => tree.attributeRange(node, name) !== null)) return true;
  return /(?:^|[\s_-])(?:wow|aos|animated?|fade-?in|reveal|elementor-invisible)(?:$|[\s_-])/i.test(
    (tree.attribute(node, 'class') ?? '').slice(0, MAX_NAMES),
  );
}
