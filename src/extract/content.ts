// The main content of a page in every form people ask for: facts, text, markdown, HTML, images.
// Promise: each form is rendered when first read, from one choice of blocks, so all of them say the same.
import type { PageKind } from './context-features.js';
import { renderHtml } from './clean-html.js';
import { droppedNodes } from './kept-nodes.js';
import { lazily } from './lazily.js';
import { renderMarkdown } from './markdown.js';
import { imageSource } from './media.js';
import { elementNumber } from './elements.js';
import type { PageView } from './page-view.js';
import { collapse } from './metadata.js';

export type { PageKind } from './context-features.js';

/** An image of the content. */
export interface ContentImage {
  readonly url: string;
  readonly alt: string;
}

/** What {@link extractContent} finds. */
export interface ExtractedContent {
  readonly title: string | null;
  readonly byline: string | null;
  /** ISO 8601: a moment, or a day. */
  readonly publishedAt: string | null;
  readonly siteName: string | null;
  readonly description: string | null;
  readonly language: string | null;
  readonly kind: PageKind;
  /** The content as HTML without scripts, styles, handlers or unsafe addresses. */
  readonly html: string;
  /** The content as plain text, a line a block. */
  readonly text: string;
  /** The content as CommonMark with GFM tables. */
  readonly markdown: string;
  readonly images: readonly ContentImage[];
  /** How good the choice is expected to be, from 0 to 1. */
  readonly confidence: number;
}

const IMG = elementNumber('img');
const MAX_IMAGES = 1_000;

/** The content of a page. */
export function readContent(view: PageView): ExtractedContent {
  let dropped: Uint8Array | undefined;
  const drop = (): Uint8Array => (dropped ??= droppedNodes(view.segments, view.main.chosen));
  return lazily<ExtractedContent>({
    title: () => view.facts.title,
    byline: () => view.facts.byline,
    publishedAt: () => view.facts.publishedAt,
    siteName: () => view.facts.siteName,
    description: () => view.facts.description,
    language: () => view.facts.language,
    kind: () => view.main.kind,
    html: () => renderHtml(view.tree, 0, view.urls, drop()),
    text: () => view.text(view.main.chosen),
    markdown: () => renderMarkdown(view.tree, 0, { urls: view.urls, dropped: drop() }),
    images: () => readImages(view, drop()),
    confidence: () => view.main.confidence,
  });
}

function readImages(view: PageView, dropped: Uint8Array): ContentImage[] {
  const { tree, urls } = view;
  const images = new Map<string, ContentImage>();
  for (let node = 1; node < tree.count && images.size < MAX_IMAGES; node++) {
    if (tree.tag[node] !== IMG || dropped[node] === 1) continue;
    const url = imageSource(tree, node, urls);
    if (url !== null && !images.has(url)) images.set(url, { url, alt: collapse(tree.attribute(node, 'alt') ?? '') });
  }
  return [...images.values()];
}
