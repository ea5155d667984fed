// A page as markdown in the forms that readers of models ask for: whole, its content, with numbered references.
// Promise: each form is rendered when first read; the same page and options give the same bytes.
import { elementNumber } from '../page/elements.js';
import type { ContentFilter } from '../choose/filters.js';
import { applyFilter } from '../choose/filters.js';
import { destination } from './inline.js';
import { asksForScript } from '../choose/set-aside.js';
import { droppedNodes } from '../page/kept-nodes.js';
import { renderMarkdown } from './markdown.js';
import type { PageView } from '../page/page-view.js';
import { CONTROL } from '../page/segment.js';
import { standInMarkdown } from '../facts/stand-in.js';

const NOSCRIPT = elementNumber('noscript');

/** Markdown of a page. `String(markdown)` is `raw`. */
export interface PageMarkdown {
  /** The page's own title, without the name of its site. */
  readonly title: string | null;
  /** The whole page. */
  readonly raw: string;
  /** The main content, or what the filter keeps. */
  readonly fit: string;
  /** As `raw` (or `fit`, with a filter), links numbered: `[text][1]`. Followed by `references` it is a complete document. */
  readonly withCitations: string;
  /** The numbered addresses, a line each: `[1]: https://…`. */
  readonly references: string;
  /** The same as `raw`. */
  toString(): string;
}

export interface MarkdownSettings {
  readonly filter?: ContentFilter | undefined;
  /** What the citations are made of. */
  readonly source?: 'raw' | 'fit' | undefined;
  /** `false`: `withCitations` is its source as it is, without references. */
  readonly citations?: boolean | undefined;
  readonly images?: boolean | undefined;
  readonly links?: boolean | undefined;
}

/** The markdown of a page. */
export function readMarkdown(view: PageView, settings: MarkdownSettings = {}): PageMarkdown {
  return new LazyMarkdown(view, settings);
}

/** Of a page printed for reading. */
const SHOWN_CHARACTERS = 2_000;

class LazyMarkdown implements PageMarkdown {
  readonly #view: PageView;
  readonly #settings: MarkdownSettings;
  #raw: string | undefined;
  #fit: string | undefined;
  #cited: { text: string; references: string } | undefined;
  #fitDropped: Uint8Array | undefined;

  constructor(view: PageView, settings: MarkdownSettings) {
    this.#view = view;
    this.#settings = settings;
  }

  get title(): string | null {
    return this.#view.facts.title;
  }

  get raw(): string {
    return (this.#raw ??= this.#render(unseenNodes(this.#view)));
  }

  get fit(): string {
    return (this.#fit ??= this.#renderFit());
  }

  get withCitations(): string {
    return this.#citations().text;
  }

  get references(): string {
    return this.#citations().references;
  }

  toString(): string {
    return this.raw;
  }

  /** What `console.log` shows: the text, clipped. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    const { raw } = this;
    return raw.length > SHOWN_CHARACTERS ? `${raw.slice(0, SHOWN_CHARACTERS)}… (${raw.length} characters)` : raw;
  }

  toJSON(): { raw: string; fit: string; withCitations: string; references: string } {
    const { raw, fit, withCitations, references } = this;
    return { raw, fit, withCitations, references };
  }

  #renderFit(): string {
    const { standIn } = this.#view;
    const isMain = this.#settings.filter === undefined && standIn !== null;
    return isMain ? standInMarkdown(standIn) : this.#render(this.#chosen());
  }

  #chosen(): Uint8Array {
    const { filter } = this.#settings;
    const view = this.#view;
    return (this.#fitDropped ??= droppedNodes(
      view.segments,
      filter === undefined ? view.main.chosen : applyFilter(view, filter),
    ));
  }

  #render(dropped: Uint8Array, linkStyle?: (url: string) => string): string {
    const { images = true, links = true } = this.#settings;
    const style = linkStyle === undefined ? {} : { linkStyle };
    const { math } = this.#view.options;
    // Of the whole page, and with a filter, the posts are not known.
    const parts = dropped === this.#fitDropped && this.#settings.filter === undefined ? this.#view.main.posts : [];
    return renderMarkdown(this.#view.tree, 0, { urls: this.#view.urls, dropped, images, links, math, parts, ...style });
  }

  #citations(): { text: string; references: string } {
    const isFit = (this.#settings.source ?? (this.#settings.filter === undefined ? 'raw' : 'fit')) === 'fit';
    if (this.#settings.citations === false) return { text: isFit ? this.fit : this.raw, references: '' };
    if (this.#cited === undefined) {
      const numbers = new Map<string, number>();
      const number = (url: string): string => {
        let known = numbers.get(url);
        if (known === undefined) numbers.set(url, (known = numbers.size + 1));
        return `[${known}]`;
      };
      const text = this.#render(isFit ? this.#chosen() : unseenNodes(this.#view), number);
      const references = [...numbers].map(([url, known]) => `[${known}]: ${destination(url)}`).join('\n');
      this.#cited = { text, references };
    }
    return this.#cited;
  }
}

/**
 * By node: 1 for what is marked as not shown. `noscript` counts only where it holds most of the page, and one that asks
 * for scripts only where it is all there is.
 */
export function unseenNodes({ tree, segments }: PageView): Uint8Array {
  const dropped = new Uint8Array(tree.count);
  for (let node = 1; node < tree.count; node++) {
    const reason = segments.hidden[node]!;
    if (reason !== 0 && reason !== CONTROL) dropped[node] = 1;
    if (tree.tag[node] === NOSCRIPT) {
      const words = segments.words[node]!;
      const all = segments.words[0]!;
      if (words * 2 < all || (words < all && asksForScript(tree, node))) dropped[node] = 1;
    }
  }
  return dropped;
}
