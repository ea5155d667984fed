// The nodes of a document as domhandler's classes have them, which is what cheerio works on; attributes and text are read
// from the page's bytes on first use. Promise: what is set stays set; nothing but nodes is made of a page.
import type { DocumentSource } from './source.js';

export type ParentNode = PageDocument | PageElement;
export type PageNode = PageElement | PageText | PageComment | PageDirective;

export class PageDocument {
  parent: ParentNode | null;
  prev: PageNode | null;
  next: PageNode | null;
  type: string;
  children: PageNode[];

  constructor(children: PageNode[]) {
    this.parent = null;
    this.prev = null;
    this.next = null;
    this.type = 'root';
    this.children = children;
  }
}

export class PageElement {
  parent: ParentNode | null;
  prev: PageNode | null;
  next: PageNode | null;
  type: string;
  name: string;
  children: PageNode[];
  readonly #source: DocumentSource;
  /** Where the attributes stand. */
  readonly #at: number;
  #attribs: Record<string, string> | undefined;

  constructor(
    parent: ParentNode,
    prev: PageNode | null,
    name: string,
    children: PageNode[],
    source: DocumentSource,
    at: number,
  ) {
    this.parent = parent;
    this.prev = prev;
    this.next = null;
    this.type = name === 'script' || name === 'style' ? name : 'tag';
    this.name = name;
    this.children = children;
    this.#source = source;
    this.#at = at;
    this.#attribs = undefined;
  }

  get attribs(): Record<string, string> {
    return (this.#attribs ??= this.#source.attributes(this.#at));
  }

  set attribs(attribs: Record<string, string>) {
    this.#attribs = attribs;
  }
}

/** Text; its bytes are read as they stand when `from` is `-1 - from`. */
export class PageText {
  declare type: string;
  parent: ParentNode | null;
  prev: PageNode | null;
  next: PageNode | null;
  readonly #source: DocumentSource;
  readonly #from: number;
  readonly #to: number;
  #data: string | undefined;

  constructor(parent: ParentNode, prev: PageNode | null, source: DocumentSource, from: number, to: number) {
    this.parent = parent;
    this.prev = prev;
    this.next = null;
    this.#source = source;
    this.#from = from;
    this.#to = to;
    this.#data = undefined;
  }

  get data(): string {
    return (this.#data ??= this.#read());
  }

  set data(data: string) {
    this.#data = data;
  }

  #read(): string {
    const from = this.#from;
    return from < 0 ? this.#source.rawText(-1 - from, this.#to) : this.#source.text(from, this.#to);
  }
}

export class PageComment {
  declare type: string;
  parent: ParentNode | null;
  prev: PageNode | null;
  next: PageNode | null;
  readonly #read: () => string;
  #data: string | undefined;

  constructor(parent: ParentNode, prev: PageNode | null, read: () => string) {
    this.parent = parent;
    this.prev = prev;
    this.next = null;
    this.#read = read;
    this.#data = undefined;
  }

  get data(): string {
    return (this.#data ??= this.#read());
  }

  set data(data: string) {
    this.#data = data;
  }
}

/** A doctype. */
export class PageDirective {
  parent: ParentNode | null;
  prev: PageNode | null;
  next: PageNode | null;
  type: string;
  name: string;
  data: string;

  constructor(parent: ParentNode, prev: PageNode | null, name: string, data: string) {
    this.parent = parent;
    this.prev = prev;
    this.next = null;
    this.type = 'directive';
    this.name = name;
    this.data = data;
  }
}

// What is the same for all nodes of a class stands once: there are thousands of texts in a page.
Object.assign(PageText.prototype, { type: 'text' });
Object.assign(PageComment.prototype, { type: 'comment' });
for (const { prototype } of [PageDocument, PageElement, PageText, PageComment, PageDirective]) {
  // Where a node stands in its source is not kept, as by default in domhandler.
  Object.assign(prototype, { startIndex: null, endIndex: null });
}

/** Prototypes of domhandler's classes: for `instanceof`, and for the properties that are named as the DOM names them. */
export interface NodePrototypes {
  readonly document: object;
  readonly element: object;
  readonly text: object;
  readonly comment: object;
  readonly directive: object;
}

/** Makes nodes instances of domhandler's classes; once, before the first document. */
export function inheritFrom(prototypes: NodePrototypes): void {
  Object.setPrototypeOf(PageDocument.prototype, prototypes.document);
  Object.setPrototypeOf(PageElement.prototype, prototypes.element);
  Object.setPrototypeOf(PageText.prototype, prototypes.text);
  Object.setPrototypeOf(PageComment.prototype, prototypes.comment);
  Object.setPrototypeOf(PageDirective.prototype, prototypes.directive);
}
