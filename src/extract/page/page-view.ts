// One page under extraction: its tree and what the extractors share of it, each part worked out once, when first needed.
// Promise: reading one output never computes another; the page's bytes are held as long as the view is.
import type { PageTree } from '../../parse/tree/tree.js';
import { blockText } from './block-text.js';
import { elementNumber } from './elements.js';
import type { PageFacts } from '../facts/facts.js';
import { readFacts } from '../facts/facts.js';
import { HINT_NAMES } from './hints.js';
import type { MainContent } from '../choose/main-content.js';
import { findMainContent } from '../choose/main-content.js';
import type { PageHead } from '../facts/metadata.js';
import { readHead } from '../facts/metadata.js';
import type { PageUrls } from './page-urls.js';
import { createPageUrls } from './page-urls.js';
import type { Segments } from './segment.js';
import { standInLines } from '../facts/stand-in.js';
import { CONTAINER, FIRST_NODE, HEADING, LAST_NODE, STRIDE, WORDS, segment } from './segment.js';

const TIME = elementNumber('time');
const A = elementNumber('a');
const AUTHOR = 1 << HINT_NAMES.indexOf('author');

export class PageView {
  readonly tree: PageTree;
  readonly url: string | null;
  #segments: Segments | undefined;
  #head: PageHead | undefined;
  #main: MainContent | undefined;
  #urls: PageUrls | undefined;
  #facts: PageFacts | undefined;
  #standIn: readonly string[] | null | undefined;

  constructor(tree: PageTree, url: string | null) {
    this.tree = tree;
    this.url = url;
  }

  get segments(): Segments {
    return (this.#segments ??= segment(this.tree));
  }

  get head(): PageHead {
    return (this.#head ??= readHead(this.tree));
  }

  get main(): MainContent {
    return (this.#main ??= findMainContent(this.segments, this.head, this.url));
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
    return (this.#facts ??= readFacts(this.head, this.#headings(), this.#visible(), this.url));
  }

  blockText(block: number): string {
    const at = block * STRIDE;
    const { blocks } = this.segments;
    return blockText(this.tree, blocks[at + FIRST_NODE]!, blocks[at + LAST_NODE]!);
  }

  /** The chosen blocks, a line each; lines of code and of line breaks are lines too. */
  text(chosen: Uint8Array): string {
    const lines: string[] = [];
    for (let b = 0; b < chosen.length; b++) if (chosen[b] === 1) lines.push(this.blockText(b));
    return lines.join('\n');
  }

  /** Texts of the first headings of the highest level, those of the content first. */
  #headings(): string[] {
    const { blocks, count } = this.segments;
    const found: string[] = [];
    for (const level of [1, 2]) {
      for (let b = 0; b < count && found.length < 5; b++) {
        const at = b * STRIDE;
        if (blocks[at + HEADING] === level && blocks[at + WORDS]! <= 60)
          found.push(this.blockText(b).replace(/\n/g, ' '));
      }
      if (found.length > 0) break;
    }
    return found;
  }

  /** The author and date that the page shows, as its markup names them. */
  #visible(): { byline: string | null; date: string | null } {
    const { tree } = this;
    let date: string | null = null;
    let byline: string | null = null;
    for (let node = 1; node < tree.count && date === null; node++) {
      if (tree.tag[node] === TIME) date = tree.attribute(node, 'datetime');
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
        .replace(/^(?:(?:written |posted |reviewed )?by|author)\b:?\s*/i, '')
        .trim();
      if (/\p{L}/u.test(text) && text.length <= 80) byline = text;
    }
    return { byline, date };
  }
}

/** True when a text stands in an element whose name, role or relation says author, no further up than its container. */
function isAuthor(tree: PageTree, hintLow: Int32Array, node: number, container: number): boolean {
  for (let at = tree.parent[node]!; at > 0; at = tree.parent[at]!) {
    if ((hintLow[at]! & AUTHOR) !== 0) return true;
    if (tree.tag[at] === A && /\bauthor\b/.test(tree.attribute(at, 'rel') ?? '')) return true;
    if (at === container) return false;
  }
  return false;
}
