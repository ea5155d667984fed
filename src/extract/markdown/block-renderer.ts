// What lists, definition lists and tables need of the renderer of a page, so that each has a file of its own.
// Promise: whoever writes a block ends the paragraph before it, and says what list it ended with.
import type { PageTree } from '../../parse/tree/tree.js';
import type { InlineText } from './inline.js';
import type { MarkdownWriter } from './markdown-writer.js';

/** The list that was written last: two in a row need different markers. */
export interface LastList {
  /** The marker of the list that ended last, when nothing came after it. */
  marker: string;
  /** The class of that list, where it had one item. */
  singleClass: string;
}

/** Writes the elements of a page as blocks of markdown. */
export interface BlockRenderer {
  readonly tree: PageTree;
  /** Nodes to leave out, by row; `null` keeps everything that is shown. */
  readonly dropped: Uint8Array | null;
  /** Elements that begin with a rule: the posts of a thread. */
  readonly parts: ReadonlySet<number>;
  readonly writer: MarkdownWriter;
  /** The paragraph being gathered. */
  readonly inline: InlineText;
  readonly lastList: LastList;
  /** Writes a node, whatever it is. */
  node(node: number): void;
  /** Writes the children of an element. */
  children(node: number): void;
  /** Writes an element as a part of the page: with a rule before it where it is one of {@link parts}. */
  part(node: number): void;
  /** Ends the paragraph being gathered. */
  flush(): void;
  /** Writes the lines of one paragraph. */
  write(lines: readonly string[]): void;
  /** All of an element on one line. */
  line(node: number): string;
  /** A caption, as a line of its own. */
  caption(node: number): string;
  /** What titles something, and the pictures in it on a line of their own. */
  title(node: number): [text: string, pictures: readonly string[]];
}
