// The text of a page by which its versions are compared: all that is said outside of what is plainly furniture.
// Promise: whether a block counts depends on itself and on what it stands in, so a change elsewhere does not move it
// in or out; linear in the page.
import { elementSet } from './elements.js';
import { advertsByLabel, isNamedAdvert, isNamedConsent } from './furniture-names.js';
import { HINT_NAMES } from './hints.js';
import type { PageView } from './page-view.js';
import { CHARS, CONTAINER, FIRST_NODE, HEADING, IS_HIDDEN, LAST_NODE, LINK_WORDS, STRIDE, WORDS } from './segment.js';

/** Nothing in these is content. */
const FURNITURE = elementSet('nav footer button menu');
const ADVERT_NAMES = namesOf('advert');
const CONSENT_NAMES = namesOf('consent');
/** Sentences in these may be content that has the wrong name; a counter or a caption is not worth the doubt. */
const ASIDE = elementSet('aside form dialog');
const ASIDE_WORDS = 'navigation footer breadcrumb pager share related comment modal newsletter search account';
const ASIDE_NAMES = namesOf(`${ASIDE_WORDS} sidebar`);
/** An article beside others is laid out, not aside: cards in lists of articles are called `side-by-side`. */
const ARTICLE = elementSet('article');
const ASIDE_NAMES_OF_ARTICLES = namesOf(ASIDE_WORDS);
/** Questions and headings open their answers by a button. */
const BUTTON = elementSet('button');
const HEADINGS = elementSet('h1 h2 h3 h4 h5 h6 dt');
/** From here on it is a sentence. */
const SENTENCE_WORDS = 7;
/** A link of so many words and letters is a headline: on a page that lists articles, it is what the page says. */
const HEADLINE_WORDS = 4;
const HEADLINE_CHARS = 25;

/** Names are often wrong: an element with this share of the page's prose is not furniture, whatever its name. */
const MOST_OF_THE_PAGE = 0.3;
/** Unless it is so little: then the page has next to no prose. */
const FEW_WORDS = 50;
/** A page with so much prose, and more of it than of headlines, is an article: lists of headlines beside it are not its own. */
const ARTICLE_WORDS = 200;
const PROSE_OVER_HEADLINES = 2;

/** By name or label, also within a line; a question in a button is no furniture. */
const IS_ADVERT = 3;
const IS_FURNITURE = 2;
const IS_ASIDE = 1;

export function comparedText(view: PageView): string {
  const places = placesOf(view);
  const { blocks, count } = view.segments;
  const isLinks = (at: number): boolean =>
    blocks[at + LINK_WORDS]! > 0 && blocks[at + LINK_WORDS]! * 2 >= blocks[at + WORDS]!;
  const isAllLinks = (at: number): boolean => blocks[at + LINK_WORDS]! * 10 >= blocks[at + WORDS]! * 9;
  const isHeadline = (at: number): boolean =>
    blocks[at + WORDS]! >= SENTENCE_WORDS ||
    (blocks[at + WORDS]! >= HEADLINE_WORDS && blocks[at + CHARS]! >= HEADLINE_CHARS);
  /** Of the block's container; or of an element within a line that holds all of it. */
  const placeOf = (at: number): number => {
    const within = Math.min(places[blocks[at + FIRST_NODE]!]!, places[blocks[at + LAST_NODE]!]!);
    return within === IS_ADVERT ? within : places[blocks[at + CONTAINER]!]!;
  };
  let [prose, headlines] = [0, 0];
  for (let at = 0; at < count * STRIDE; at += STRIDE) {
    if (placeOf(at) !== 0) continue;
    if (!isLinks(at)) prose += blocks[at + WORDS]! >= SENTENCE_WORDS ? blocks[at + WORDS]! : 0;
    else if (isHeadline(at)) headlines += blocks[at + WORDS]!;
  }
  const isArticle = prose >= ARTICLE_WORDS && prose >= PROSE_OVER_HEADLINES * headlines;
  const lines: string[] = [];
  for (let block = 0; block < count; block++) {
    const at = block * STRIDE;
    const place = placeOf(at);
    const isSentence = blocks[at + WORDS]! >= SENTENCE_WORDS;
    const isHidden = blocks[at + IS_HIDDEN] === 1;
    const isLeftOut = isLinks(at) && (!isHeadline(at) || (isArticle && isAllLinks(at) && blocks[at + HEADING]! === 0));
    const isPlain = place === 0 && !isLeftOut && (isSentence || !isHidden);
    const isSaidAside = place === IS_ASIDE && isSentence && !isLinks(at) && !isHidden;
    if (isPlain || isSaidAside) lines.push(view.blockText(block));
  }
  return lines.join('\n');
}

/** By node: what it stands in. */
function placesOf({ segments }: PageView): Uint8Array {
  const { tree, hintLow, hintHigh, proseWords, words } = segments;
  const total = Math.max(1, proseWords[0]! || words[0]!);
  const places = new Uint8Array(tree.count);
  const isLabelled = advertsByLabel(tree);
  for (let node = 1; node < tree.count; node++) {
    const tag = tree.tag[node]!;
    const is = (names: Names) => (hintLow[node]! & names.low) !== 0 || (hintHigh[node]! & names.high) !== 0;
    const said = proseWords[node]! || words[node]!;
    const isLarge = said > FEW_WORDS && said > MOST_OF_THE_PAGE * total;
    const isNamed = () =>
      (is(ADVERT_NAMES) && isNamedAdvert(tree, node)) ||
      (is(CONSENT_NAMES) && isNamedConsent(tree, node)) ||
      isLabelled(node);
    const isQuestion = () =>
      BUTTON[tag] === 1 && (HEADINGS[tree.tag[tree.parent[node]!]!] === 1 || words[node]! >= SENTENCE_WORDS);
    const own = isLarge
      ? 0
      : isNamed()
        ? IS_ADVERT
        : FURNITURE[tag] === 1 && !isQuestion()
          ? IS_FURNITURE
          : ASIDE[tag] === 1 || is(ARTICLE[tag] === 1 ? ASIDE_NAMES_OF_ARTICLES : ASIDE_NAMES)
            ? IS_ASIDE
            : 0;
    places[node] = Math.max(own, places[tree.parent[node]!]!);
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
