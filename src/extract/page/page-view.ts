// One page under extraction: its tree and what the extractors share of it, each part worked out once, when first needed.
// Promise: reading one output never computes another; the page's bytes are held as long as the view is.
import { limitReached, LIMITS } from '../../limits.js';
import type { PageTree } from '../../parse/tree/tree.js';
import { blockText } from './block-text.js';
import { elementNumber } from './elements.js';
import type { ContentSettings } from '../content-options.js';
import { contentSettings } from '../content-options.js';
import { writtenDate } from '../facts/dates.js';
import type { PageFacts, Titles, VisibleFacts } from '../facts/facts.js';
import { readFacts } from '../facts/facts.js';
import { detectLanguage } from '../facts/language.js';
import { HINT_NAMES } from './hints.js';
import type { MainContent } from '../choose/main-content.js';
import { findMainContent, wholeContent } from '../choose/main-content.js';
import { applyRoles } from '../choose/roles.js';
import type { PageHead } from '../facts/metadata.js';
import { readHead } from '../facts/metadata.js';
import type { PageUrls } from './page-urls.js';
import { createPageUrls } from './page-urls.js';
import type { Segments } from './segment.js';
import { standInLines } from '../facts/stand-in.js';
import { CONTAINER, FIRST_NODE, HEADING, LAST_NODE, LINK_WORDS, STRIDE, WORDS, segment } from './segment.js';

const TIME = elementNumber('time');
const PRE = elementNumber('pre');
const A = elementNumber('a');
const BODY = elementNumber('body');
const AUTHOR = 1 << HINT_NAMES.indexOf('author');

/** Each is compared with its neighbours in some hundred ways. */
const MAX_BLOCKS = LIMITS.contentBlocks.max;
/** Longer lines are not read. */
const MAX_BYLINE = 200;
/** A day after the name of an author, in its usual forms. */
const DAY =
  /[ ,|·•–—-]{1,3}(?:on )?(?:\p{L}{3,9}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}|\d{1,2}\.? \p{L}{3,9}\.?,? \d{4}|\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4})/u;

/** What a page asks of its reader beside the name of an author. */
const ASKS =
  /^(?:edit|view|see|your|my|log|sign|follow|about|more|all|create|update|manage|profile|authors?$|contact|share)(?!\p{L})/iu;

export class PageView {
  readonly tree: PageTree;
  readonly url: string | null;
  readonly options: ContentSettings;
  #segments: Segments | undefined;
  #head: PageHead | undefined;
  #main: MainContent | undefined;
  #urls: PageUrls | undefined;
  #facts: PageFacts | undefined;
  #standIn: readonly string[] | null | undefined;

  /** `isWhole`: all of the page is its content, as of a document. */
  constructor(
    tree: PageTree,
    url: string | null,
    options: ContentSettings = contentSettings(),
    readonly isWhole = false,
  ) {
    this.tree = tree;
    this.url = url;
    this.options = options;
  }

  get segments(): Segments {
    return (this.#segments ??= segment(this.tree, this.options.hidden === 'keep'));
  }

  get head(): PageHead {
    return (this.#head ??= readHead(this.tree));
  }

  get main(): MainContent {
    if (this.#main === undefined && this.isWhole) this.#main = wholeContent(this.segments);
    if (this.#main === undefined && this.segments.count > MAX_BLOCKS) {
      limitReached('contentBlocks');
      this.#main = { ...wholeContent(this.segments), confidence: 0 };
    }
    if (this.#main === undefined) {
      this.#main = findMainContent(this.segments, this.head, this.url, this.options.favor);
      const { title, byline, captions, comments, contents } = this.options;
      if ([title, byline, captions, comments, contents].some((role) => role !== undefined))
        applyRoles(this.segments, this.#main.chosen, this.options, this.facts.title);
    }
    return this.#main;
  }

  /** What stands in for the content where the page shows next to none; else `null`. */
  get standIn(): readonly string[] | null {
    if (this.#standIn === undefined) this.#standIn = standInLines(this.tree, this.head, this.segments.words[0]!);
    return this.#standIn;
  }

  get urls(): PageUrls {
    return (this.#urls ??= createPageUrls(this.tree, this.url, this.head.base));
  }

  get facts(): PageFacts {
    return (this.#facts ??= readFacts(this.head, this.#titles(), this.#visible(), this.url));
  }

  blockText(block: number): string {
    const at = block * STRIDE;
    const { segments } = this;
    const { blocks } = segments;
    return blockText(segments, blocks[at + FIRST_NODE]!, blocks[at + LAST_NODE]!, this.options.math);
  }

  /** The chosen blocks, a line each; lines of code and of line breaks are lines too. */
  text(chosen: Uint8Array): string {
    const lines: string[] = [];
    for (let b = 0; b < chosen.length; b++) if (chosen[b] === 1) lines.push(this.blockText(b));
    return lines.join('\n');
  }

  /** Texts of the first headings of the highest level, and of those that are the site's: links to its first page. */
  #titles(): Titles {
    const { blocks, count } = this.segments;
    const headings: string[] = [];
    const sites: string[] = [];
    for (const level of [1, 2]) {
      for (let b = 0; b < count && headings.length < 5 && sites.length < 5; b++) {
        const at = b * STRIDE;
        if (blocks[at + HEADING] !== level || blocks[at + WORDS]! > 60) continue;
        const isSite = blocks[at + LINK_WORDS]! >= blocks[at + WORDS]! && this.#leadsHome(blocks[at + FIRST_NODE]!);
        (isSite ? sites : headings).push(this.blockText(b).replace(/\n/g, ' '));
      }
      if (headings.length > 0) break;
    }
    return { headings, sites };
  }

  /** Whether a text is a link to the first page of the site, on another page. */
  #leadsHome(node: number): boolean {
    const { tree, urls, url } = this;
    let link = node;
    for (let step = 0; step < LINK_STEPS && link > 0 && tree.tag[link] !== A; step++) link = tree.parent[link]!;
    const address = tree.tag[link] === A ? urls.read(link, 'href') : null;
    return address !== null && address !== url && FIRST_PAGE.test(address);
  }

  /** The author and dates that the page shows, as its markup names them, and what its text says where that is wanted. */
  #visible(): VisibleFacts {
    const { tree } = this;
    let published: string | null = null;
    let modified: string | null = null;
    let byline: string | null = null;
    for (let node = 1; node < tree.count && (published === null || modified === null); node++) {
      if (tree.tag[node] !== TIME) continue;
      const date = tree.attribute(node, 'datetime');
      if (date === null) continue;
      const names = `${tree.attribute(node, 'itemprop') ?? ''} ${tree.attribute(node, 'class') ?? ''}`;
      if (CHANGED.test(names.slice(0, 500))) modified ??= date;
      else published ??= date;
    }
    const { blocks, count, hintLow } = this.segments;
    for (let b = 0; b < count && byline === null; b++) {
      const at = b * STRIDE;
      if (blocks[at + WORDS]! > 12) continue;
      const container = blocks[at + CONTAINER]!;
      const isNamed = isAuthor(tree, hintLow, blocks[at + FIRST_NODE]!, container);
      if (!isNamed) continue;
      const text = this.blockText(b)
        .split('\n', 1)[0]!
        .slice(0, MAX_BYLINE)
        .replace(/^(?:(?:written |posted |reviewed )?by|author)\b:?\s*|^(?:von|par|por|door|przez) ?:\s*/i, '')
        .replace(/^(?:von|par|por|door|przez)\s+(?=\p{Lu})/u, '')
        .split(DAY, 1)[0]!
        .split(BESIDE_NAME, 1)[0]!
        .trim();
      if (/\p{L}/u.test(text) && text.length <= 80 && !ASKS.test(text) && !NO_NAME.test(text)) byline = text;
    }
    return {
      byline,
      published,
      modified,
      writtenPublished: () => this.#writtenDate(false),
      writtenModified: () => this.#writtenDate(true),
      language: () => detectLanguage(this.#prose()),
    };
  }

  /** A day that a short line around the title says; lines about changes count for changes alone. */
  #writtenDate(isChange: boolean): string | null {
    const { blocks, count } = this.segments;
    let title = 0;
    while (title < count && blocks[title * STRIDE + HEADING] !== 1) title++;
    if (title === count) title = 0;
    for (let b = Math.max(0, title - LINES_ABOVE); b < count && b < title + LINES_BELOW; b++) {
      if (blocks[b * STRIDE + WORDS]! > DATED_WORDS || isCode(this.tree, blocks[b * STRIDE + CONTAINER]!)) continue;
      const text = this.blockText(b).slice(0, 300);
      const date = CHANGED.test(text) === isChange ? writtenDate(text) : null;
      if (date !== null) return date;
    }
    return null;
  }

  /** Some thousand characters of whole sentences. */
  #prose(): string {
    const { blocks, count } = this.segments;
    let text = '';
    for (let b = 0; b < count && text.length < PROSE_CHARACTERS; b++)
      if (blocks[b * STRIDE + WORDS]! >= PROSE_WORDS) text += `${this.blockText(b).slice(0, PROSE_CHARACTERS)}\n`;
    return text;
  }
}

/** Between a name and what stands beside it: a date, a count of posts. */
const BESIDE_NAME = /\s[»•·|]\s/;
/** A price, a place that a script never filled in, or a sentence that goes on. */
const NO_NAME = /[$€£¥{}]|^\p{Ll}\S*(?:\s+\S+){3}/u;
const CHANGED = /modif|updat|aktualis|geändert|mis à jour|maj |actualiz|atualiz|aggiornat|bijgewerkt|gewijzigd/i;
/** Elements between a text and the link around it. */
const LINK_STEPS = 4;
const FIRST_PAGE = /^https?:\/\/[^/?#]+\/?$/;
const LINES_ABOVE = 8;
const LINES_BELOW = 25;
const DATED_WORDS = 25;
const PROSE_CHARACTERS = 6_000;
const PROSE_WORDS = 8;

/** A day in code is an example. */
function isCode(tree: PageTree, node: number): boolean {
  return tree.tag[node] === PRE || tree.tag[tree.parent[node]!] === PRE;
}

/** True when a text stands in an element whose name, role or relation says author, no further up than its container. */
function isAuthor(tree: PageTree, hintLow: Int32Array, node: number, container: number): boolean {
  for (let at = tree.parent[node]!; at > 0; at = tree.parent[at]!) {
    // The names of the whole page say what kind of page it is.
    if (tree.tag[at] === BODY) return false;
    if ((hintLow[at]! & AUTHOR) !== 0) return true;
    if (tree.tag[at] === A && /\bauthor\b/.test(tree.attribute(at, 'rel') ?? '')) return true;
    if (at === container) return false;
  }
  return false;
}
