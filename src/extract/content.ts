// The main content of a page in every form people ask for: facts, text, markdown, HTML, images.
// Promise: each form is rendered when first read, from one choice of blocks, so all of them say the same.
import { limitReached, LIMITS } from '../limits.js';
import type { PageKind } from './model/context-features.js';
import { renderHtml } from './markdown/clean-html.js';
import { droppedNodes } from './page/kept-nodes.js';
import { renderMarkdown } from './markdown/markdown.js';
import { imageSource } from './page/media.js';
import { elementNumber } from './page/elements.js';
import type { HiddenText } from './shown/hidden-text.js';
import { listHidden } from './shown/hidden-text.js';
import type { PageView } from './page/page-view.js';
import { collapse } from './facts/metadata.js';
import { STAND_IN_CONFIDENCE, standInHtml, standInMarkdown } from './facts/stand-in.js';

export type { HiddenReason } from './shown/hidden.js';
export type { HiddenText } from './shown/hidden-text.js';
export type { PageKind } from './model/context-features.js';

/** An image of the content. */
export interface ContentImage {
  /** Absolute. */
  readonly url: string;
  /** What it shows, in the words of the page. */
  readonly alt: string;
  /** In pixels, as the page states it. */
  readonly width: number | null;
  /** In pixels, as the page states it. */
  readonly height: number | null;
}

/** What {@link extractContent} finds. */
export interface ExtractedContent {
  /** Without the name of the site, where that can be told. */
  readonly title: string | null;
  /** Who wrote it, as the page says. */
  readonly byline: string | null;
  /** ISO 8601: a moment, or a day. */
  readonly publishedAt: string | null;
  /** The last change that the page states, as above. */
  readonly modifiedAt: string | null;
  /** The name of the site. */
  readonly siteName: string | null;
  /** What the page says of itself in a sentence. */
  readonly description: string | null;
  /** A tag such as `en`; detected from the text where the page states none. */
  readonly language: string | null;
  /** What sort of page the extractor took it for. */
  readonly kind: PageKind;
  /** The content as HTML without scripts, styles, handlers or unsafe addresses. */
  readonly html: string;
  /** The content as plain text, a line per block. */
  readonly text: string;
  /** The content as CommonMark with GFM tables. */
  readonly markdown: string;
  /** The images of the content. */
  readonly images: readonly ContentImage[];
  /** What readers cannot see, and why: all that was left out for it, on the whole page. */
  readonly hiddenText: readonly HiddenText[];
  /** How good the choice is expected to be, from 0 to 1. */
  readonly confidence: number;
}

const IMG = elementNumber('img');
const MAX_IMAGES = LIMITS.contentImages.max;

/** The content of a page. */
export function readContent(view: PageView): ExtractedContent {
  return new LazyContent(view) as unknown as ExtractedContent;
}

class LazyContent {
  readonly #view: PageView;
  #dropped: Uint8Array | undefined;
  #html: string | undefined;
  #text: string | undefined;
  #markdown: string | undefined;
  #images: readonly ContentImage[] | undefined;
  #hidden: readonly HiddenText[] | undefined;

  // Own and enumerable, and the same functions for every page: getters made per object would keep each page's bytes
  // alive until a full collection (src/parse/own-getters.ts).
  static readonly #readers: {
    readonly [Name in keyof ExtractedContent]: (page: LazyContent) => ExtractedContent[Name];
  } = {
    title: (page) => page.#view.facts.title,
    byline: (page) => page.#view.facts.byline,
    publishedAt: (page) => page.#view.facts.publishedAt,
    modifiedAt: (page) => page.#view.facts.modifiedAt,
    siteName: (page) => page.#view.facts.siteName,
    description: (page) => page.#view.facts.description,
    language: (page) => page.#view.facts.language,
    kind: (page) => page.#view.main.kind,
    html: (page) => (page.#html ??= page.#renderHtml()),
    text: (page) => (page.#text ??= page.#view.standIn?.join('\n') ?? page.#view.text(page.#view.main.chosen)),
    markdown: (page) => (page.#markdown ??= page.#renderMarkdown()),
    images: (page) => (page.#images ??= readImages(page.#view, page.#drop())),
    hiddenText: (page) => (page.#hidden ??= listHidden(page.#view.segments)),
    confidence: (page) => (page.#view.standIn === null ? page.#view.main.confidence : STAND_IN_CONFIDENCE),
  };
  static readonly #properties: PropertyDescriptorMap = Object.fromEntries(
    Object.entries(LazyContent.#readers).map(([name, read]) => [
      name,
      {
        enumerable: true,
        get(this: LazyContent) {
          return read(this);
        },
      },
    ]),
  );

  constructor(view: PageView) {
    this.#view = view;
    Object.defineProperties(this, LazyContent.#properties);
  }

  #renderHtml(): string {
    const { standIn, tree, urls } = this.#view;
    return standIn === null ? renderHtml(tree, 0, urls, this.#drop()) : standInHtml(standIn);
  }

  #renderMarkdown(): string {
    const { standIn, tree, urls, options, main } = this.#view;
    if (standIn !== null) return standInMarkdown(standIn);
    return renderMarkdown(tree, 0, { urls, dropped: this.#drop(), math: options.math, parts: main.posts });
  }

  #drop(): Uint8Array {
    return (this.#dropped ??= droppedNodes(this.#view.segments, this.#view.main.chosen));
  }
}

function readImages(view: PageView, dropped: Uint8Array): ContentImage[] {
  const { tree, urls } = view;
  const images = new Map<string, ContentImage>();
  for (let node = 1; node < tree.count && images.size < MAX_IMAGES; node++) {
    if (tree.tag[node] !== IMG || dropped[node] === 1) continue;
    const url = imageSource(tree, node, urls);
    if (url === null || images.has(url)) continue;
    const size = (name: 'width' | 'height') => pixelsOf(tree.attribute(node, name));
    images.set(url, {
      url,
      alt: collapse(tree.attribute(node, 'alt') ?? ''),
      width: size('width'),
      height: size('height'),
    });
  }
  if (images.size >= MAX_IMAGES) limitReached('contentImages');
  return [...images.values()];
}

function pixelsOf(text: string | null): number | null {
  const size = /^\s*\d{1,6}(?:px)?\s*$/.test(text ?? '') ? Number.parseInt(text!, 10) : 0;
  return size > 0 ? size : null;
}
