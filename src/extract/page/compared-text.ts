// The text of a page by which its versions are compared: all that is said outside of what is plainly furniture.
// Promise: whether a block counts depends on itself and on what it stands in, so a change elsewhere does not move it
// in or out; linear in the page.
import { elementSet } from './elements.js';
import { advertsByLabel, isNamedAdvert, isNamedAside, isNamedConsent } from './furniture-names.js';
import { HINT_NAMES } from './hints.js';
import type { PageTree } from '../../parse/tree/tree.js';
import type { PageView } from './page-view.js';
import {
  CHARS,
  CONTAINER,
  FIRST_NODE,
  HEADING,
  INNER_LINKS,
  IS_HIDDEN,
  LAST_NODE,
  LINK_WORDS,
  LINKS,
  SENTENCES,
  STRIDE,
  type Segments,
  WORDS,
} from './segment.js';

/** Nothing in these is content. */
const FURNITURE = elementSet('nav footer button menu');
const ADVERT_NAMES = namesOf('advert');
const CONSENT_NAMES = namesOf('consent');
/** Longer lines in these may be content that has the wrong name; a counter or a caption is not worth the doubt. */
const ASIDE = elementSet('form dialog');
const ASIDE_WORDS = 'navigation footer breadcrumb pager share comment modal newsletter search';
/** Of these a hint is not enough. */
const PERHAPS_ASIDE_NAMES = namesOf('account advert');
const ASIDE_NAMES = namesOf(`${ASIDE_WORDS} sidebar`);
/** Of these also lists of headlines amid the content are other pages'. */
const RELATED = elementSet('aside');
const RELATED_NAMES = namesOf('related');
/** An article beside others is laid out, not aside: cards in lists of articles are called `side-by-side`. */
const ARTICLE = elementSet('article');
/** An item of a list is a card, whatever it or what fills it is called; what the list is called counts. */
const ITEM = elementSet('li');
const BODY = elementSet('html body');
const MAIN = elementSet('main');
const ASIDE_NAMES_OF_ARTICLES = namesOf(ASIDE_WORDS);
/** Questions and headings open their answers by a button. */
const BUTTON = elementSet('button');
const HEADINGS = elementSet('h1 h2 h3 h4 h5 h6 dt');
/** A heading is often named by what it says: `id="six-ways-to-read-more"`. */
const NAMED_BY_TEXT = elementSet('h1 h2 h3 h4 h5 h6');
const A = elementSet('a');
/** From here on it is a sentence; a shorter one ends like one. */
const SENTENCE_WORDS = 7;
const SHORT_SENTENCE_WORDS = 5;
/** A link that says so much, and ends like a sentence, is not a headline but a card of text. */
const CARD_WORDS = 10;
/** A link of so many words and letters is a headline: on a page that lists articles, it is what the page says. */
const HEADLINE_WORDS = 4;
const HEADLINE_CHARS = 25;
/** In some languages three words are as long. */
const LONG_HEADLINE_CHARS = 40;

/** A link that is further above a text is not looked for. */
const MOST_ABOVE = 20;
/** Names are often wrong: an element with this share of the page's prose is not furniture, whatever its name. */
const MOST_OF_THE_PAGE = 0.3;
/** Unless it is so little: then the page has next to no prose. */
const FEW_WORDS = 50;
/** A page with so much prose, and more of it than of headlines, is an article. */
const ARTICLE_WORDS = 60;
const PROSE_OVER_HEADLINES = 2;
/** The smallest element with this share of what the page says is its core: lists of headlines elsewhere are not its own. */
const CORE_SHARE = 0.8;

/** By name or label, also within a line; a question in a button is no furniture. */
const IS_ADVERT = 4;
const IS_FURNITURE = 3;
const IS_RELATED = 2;
const IS_ASIDE = 1;

export function comparedText(view: PageView): string {
  const places = placesOf(view);
  const { blocks, count } = view.segments;
  const isLinks = (at: number): boolean =>
    blocks[at + LINK_WORDS]! > 0 && blocks[at + LINK_WORDS]! * 2 >= blocks[at + WORDS]!;
  /** To other pages: a link within the page says what the page says. */
  const isAllLinks = (at: number): boolean =>
    blocks[at + LINK_WORDS]! * 10 >= blocks[at + WORDS]! * 9 && !isWithinPage(view.segments, at);
  const isCard = (at: number): boolean => blocks[at + WORDS]! >= CARD_WORDS && blocks[at + SENTENCES]! > 0;
  const isHeadline = (at: number): boolean =>
    blocks[at + WORDS]! >= SENTENCE_WORDS ||
    blocks[at + CHARS]! >= LONG_HEADLINE_CHARS ||
    (blocks[at + WORDS]! >= HEADLINE_WORDS && blocks[at + CHARS]! >= HEADLINE_CHARS);
  /** Of the block's container; or of an element within a line that holds all of it. */
  const placeOf = (at: number): number => {
    const within = Math.min(places[blocks[at + FIRST_NODE]!]!, places[blocks[at + LAST_NODE]!]!);
    return within === IS_ADVERT ? within : places[blocks[at + CONTAINER]!]!;
  };
  const { tree } = view.segments;
  const said = new Int32Array(tree.count);
  const prose = new Int32Array(tree.count);
  for (let at = 0; at < count * STRIDE; at += STRIDE) {
    if (placeOf(at) !== 0 || !isHeadline(at)) continue;
    said[blocks[at + CONTAINER]!]! += blocks[at + WORDS]!;
    if (!isLinks(at) && blocks[at + WORDS]! >= SENTENCE_WORDS) prose[blocks[at + CONTAINER]!]! += blocks[at + WORDS]!;
  }
  sumUp(tree, said);
  sumUp(tree, prose);
  const core = coreOf(tree, said);
  const isArticle = prose[0]! >= ARTICLE_WORDS && prose[0]! >= PROSE_OVER_HEADLINES * (said[0]! - prose[0]!);
  // An article that is not in one element: beside it stand lists without a sentence.
  const foreign = isArticle && BODY[tree.tag[core]!] === 1 ? childrenWithout(tree, core, prose) : undefined;
  const main = mainOf(tree);
  // Beside an article stand lists within its main part, too; a large banner may have the core of a page that lists articles.
  const countsMain = main !== undefined && (!isArticle || core < main || core >= tree.end[main]!);
  const isInCore = (at: number): boolean => {
    const container = blocks[at + CONTAINER]!;
    const isWithin = (node: number): boolean => container >= node && container < tree.end[node]!;
    return (isWithin(core) && foreign?.[container] !== 1) || (countsMain && isWithin(main));
  };
  const lines: string[] = [];
  for (let block = 0; block < count; block++) {
    const at = block * STRIDE;
    const place = placeOf(at);
    const isSentence =
      blocks[at + WORDS]! >= SENTENCE_WORDS ||
      (blocks[at + WORDS]! >= SHORT_SENTENCE_WORDS && blocks[at + SENTENCES]! > 0);
    const isHidden = blocks[at + IS_HIDDEN] === 1;
    const isOfList = isAllLinks(at) && !isCard(at);
    const isLeftOut = isLinks(at) && (!isHeadline(at) || (isOfList && blocks[at + HEADING]! === 0 && !isInCore(at)));
    const isPlain = place === 0 && !isLeftOut && (isSentence || !isHidden || (isHeadline(at) && isInCore(at)));
    const isAside = place === IS_ASIDE || place === IS_RELATED;
    const isLine = isSentence || (place === IS_ASIDE && isHeadline(at) && !isLinks(at));
    const isSaidAside = isAside && isLine && (!isOfList || (place === IS_ASIDE && isInCore(at)));
    if (isPlain || isSaidAside) lines.push(view.blockText(block));
  }
  return lines.join('\n');
}

/** By element, over all within. */
function sumUp({ count, parent }: PageTree, words: Int32Array): void {
  for (let node = count - 1; node > 0; node--) words[parent[node]!]! += words[node]!;
}

/** By node: 1 in children of an element that have no such words. */
function childrenWithout({ count, end }: PageTree, element: number, words: Int32Array): Uint8Array {
  const marked = new Uint8Array(count);
  for (let child = element + 1; child < end[element]!; child = end[child]!) {
    if (words[child] === 0) marked.fill(1, child, end[child]!);
  }
  return marked;
}

/** What the page itself calls its main part. */
function mainOf({ count, tag }: PageTree): number | undefined {
  const main = tag.subarray(0, count).findIndex((one) => MAIN[one] === 1);
  return main < 0 ? undefined : main;
}

/** Where the page says what it says. */
function coreOf({ end }: PageTree, said: Int32Array): number {
  const least = CORE_SHARE * said[0]!;
  let core = 0;
  for (let child = core + 1; child < end[core]!;) {
    if (said[child]! >= least) {
      core = child;
      child++;
    } else child = end[child]!;
  }
  return core;
}

/** Whether the links of a block lead to places of its own page. */
function isWithinPage({ tree, blocks }: Segments, at: number): boolean {
  if (blocks[at + LINKS]! > 0) return blocks[at + INNER_LINKS]! >= blocks[at + LINKS]!;
  // A link around blocks.
  let node = tree.parent[blocks[at + FIRST_NODE]!]!;
  for (let up = 0; up < MOST_ABOVE && node > 0 && A[tree.tag[node]!] === 0; up++) node = tree.parent[node]!;
  if (A[tree.tag[node]!] === 0) return false;
  return /^(?:#|javascript:)/i.test(tree.attribute(node, 'href')?.trim() ?? '#');
}

/** By node: what it stands in. */
function placesOf({ segments }: PageView): Uint8Array {
  const { tree, hintLow, hintHigh, proseWords, words, blocks, count } = segments;
  const total = Math.max(1, proseWords[0]! || words[0]!);
  const places = new Uint8Array(tree.count);
  const told = new Int32Array(tree.count);
  for (let at = 0; at < count * STRIDE; at += STRIDE) {
    if (blocks[at + WORDS]! >= HEADLINE_WORDS && blocks[at + CHARS]! >= HEADLINE_CHARS)
      told[blocks[at + CONTAINER]!]! += blocks[at + WORDS]!;
  }
  sumUp(tree, told);
  const isLabelled = advertsByLabel(tree);
  /** Items, and elements that say all that their item says. */
  const isItem = new Uint8Array(tree.count);
  for (let node = 1; node < tree.count; node++) {
    const tag = tree.tag[node]!;
    const is = (names: Names) => (hintLow[node]! & names.low) !== 0 || (hintHigh[node]! & names.high) !== 0;
    const parent = tree.parent[node]!;
    if (ITEM[tag] === 1 || (isItem[parent] === 1 && words[node] === words[parent])) isItem[node] = 1;
    const said = proseWords[node]! || words[node]!;
    const isLarge = said > FEW_WORDS && said > MOST_OF_THE_PAGE * total;
    const isQuestion = () => BUTTON[tag] === 1 && (HEADINGS[tree.tag[parent]!] === 1 || words[node]! >= SENTENCE_WORDS);
    const isNamed = () =>
      (is(ADVERT_NAMES) && isNamedAdvert(tree, node) && !isQuestion()) ||
      (is(CONSENT_NAMES) && isNamedConsent(tree, node)) ||
      isLabelled(node);
    const own = () => {
      if (isLarge || NAMED_BY_TEXT[tag] === 1) return 0;
      if (isNamed()) return IS_ADVERT;
      if (FURNITURE[tag] === 1 && !isQuestion()) return IS_FURNITURE;
      if (isItem[node] === 1 || (told[node]! > FEW_WORDS && told[node]! > MOST_OF_THE_PAGE * told[0]!)) return 0;
      if (RELATED[tag] === 1 || is(RELATED_NAMES)) return IS_RELATED;
      if (is(PERHAPS_ASIDE_NAMES) && isNamedAside(tree, node)) return IS_ASIDE;
      return ASIDE[tag] === 1 || is(ARTICLE[tag] === 1 ? ASIDE_NAMES_OF_ARTICLES : ASIDE_NAMES) ? IS_ASIDE : 0;
    };
    places[node] = Math.max(own(), places[parent]!);
  }
  return places;
}

interface Names {
  readonly low: number;
  readonly high: number;
}

/** As bits of what the names of an element say. */
function namesOf(list: string): Names {
  let [low, high] = [0, 0];
  for (const name of list.split(' ')) {
    const at = HINT_NAMES.indexOf(name);
    if (at < 32) low |= 1 << at;
    else high |= 1 << (at - 32);
  }
  return { low, high };
}
