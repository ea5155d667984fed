// The page as a cheerio document, for handlers that want one and for the tools that read pages.
// Promise: nesting is bounded, because htmlparser2 and css-select take quadratic time in it; cheerio loads on first use.
import { createRequire } from 'node:module';
import type { CheerioAPI } from 'cheerio';
import type * as CheerioSlim from 'cheerio/slim';
import type * as HtmlParser from 'htmlparser2';
import { limitReached, LIMITS } from '../limits.js';
import type { NodePrototypes } from '../parse/document/nodes.js';

/**
 * What is nested deeper is hostile: browsers stop at 512. Measured at 100,000: 8 s to parse, 12 s for one
 * `$('a')`; and `.text()` and `.html()` recurse, which at this depth they still can.
 */
export const MAX_NESTING = LIMITS.markupDepth.max;

/**
 * More elements than this without a common parent get one, as every page has in a browser. Measured for one
 * `$('a')` over 40,000 without: 3.5 s, with: 10 ms.
 */
export const MAX_ROOTS = 1_000;

let cheerio: typeof CheerioSlim | undefined;
let htmlparser: typeof HtmlParser | undefined;

type Document = ReturnType<typeof HtmlParser.parseDocument>;
type Element = Extract<Document['children'][number], { attribs: unknown }>;

/** Parses HTML, or XML when asked to. A page nested deeper than MAX_NESTING ends where it gets there. */
export function loadDocument(markup: string, xml = false): CheerioAPI {
  htmlparser ??= createRequire(import.meta.url)('htmlparser2') as typeof HtmlParser;
  return cheerioOn(parseBounded(htmlparser, markup, optionsFor(xml)), xml);
}

/**
 * `$` on a document of domhandler's nodes, or of nodes like them. `load` makes a class for every document, whose hidden
 * classes keep that document until a full collection; here all documents share one, and each instance knows its root.
 */
export function cheerioOn(root: unknown, xml = false): CheerioAPI {
  const shared = (sharedBy[xml ? 'xml' : 'html'] ??= shareClass(load('', xml)));
  const state: PageState = {
    root,
    xml,
    shared,
    top: shared(undefined, null, root as never)._root as never,
    own: undefined,
  };
  const $ = ((selector, context, from, options) =>
    state.own === undefined
      ? shared(selector, context, from ?? state.top, options)
      : state.own(selector, context, from, options)) as CheerioAPI & { [STATE]: PageState };
  $[STATE] = state;
  for (const name of STATIC_NAMES) $[name] = shared[name] as never;
  ($ as { _root: unknown })._root = root;
  Object.defineProperty($, 'fn', OWN_METHODS);
  Object.defineProperty($, 'prototype', OWN_METHODS);
  return $;
}

interface PageState {
  readonly root: unknown;
  readonly xml: boolean;
  readonly shared: CheerioAPI;
  readonly top: Parameters<CheerioAPI>[2];
  /** Made when somebody adds methods, which are this document's only. */
  own: CheerioAPI | undefined;
}

const STATE = Symbol('state');
const STATIC_NAMES = [
  'load',
  'html',
  'xml',
  'text',
  'parseHTML',
  'root',
  'contains',
  'extract',
  'merge',
  '_options',
] as const;
const sharedBy: { html?: CheerioAPI; xml?: CheerioAPI } = {};

/** One getter for all documents: one of each document's own would keep it as a class of its own would. */
const OWN_METHODS: PropertyDescriptor = {
  configurable: true,
  enumerable: true,
  get(this: { [STATE]: PageState }) {
    const state = this[STATE];
    return (state.own ??= load(state.root, state.xml)).fn;
  },
};

/** Makes instances look for selectors in their own document, not in the one the class was made with. */
function shareClass(shared: CheerioAPI): CheerioAPI {
  const fn = shared.fn as unknown as { _make: unknown };
  fn._make = function (this: { _root: never }, selector: never, context: never) {
    const made = shared(selector, context, this._root);
    (made as { prevObject: unknown }).prevObject = this;
    return made;
  };
  return shared;
}

function load(root: unknown, xml: boolean): CheerioAPI {
  const $ = loadCheerio().load(root as never, { xml: optionsFor(xml) }) as CheerioAPI;
  const fn = $.fn;
  const setText = fn.text as (this: unknown, text: unknown) => unknown;
  // cheerio joins an array for every element: half the cost of the text of a page.
  fn.text = function (this: ArrayLike<TextSource>, text?: unknown) {
    return text === undefined ? textOf(this) : setText.call(this, text);
  } as typeof fn.text;
  return $;
}

/** What text is read from; every cheerio (domhandler) node fits. */
interface TextSource {
  readonly type: string;
  readonly data?: string;
  readonly children?: readonly TextSource[];
}

/** The text of nodes and all they hold, comments aside. */
function textOf(nodes: ArrayLike<TextSource>): string {
  let text = '';
  for (let k = 0; k < nodes.length; k++) {
    const node = nodes[k]!;
    if (node.type === 'text') text += node.data!;
    else if (node.children !== undefined && node.type !== 'comment') text += textOf(node.children);
  }
  return text;
}

/** The classes of the nodes that cheerio makes. */
export function nodePrototypes(): NodePrototypes {
  const $ = loadCheerio().load('<!doctype html><a>text</a><!---->', { xml: optionsFor(false) });
  const document = $.root()[0]!;
  const [directive, element, comment] = document.children;
  const [text] = (element as Element).children;
  const prototypeOf = (node: object | undefined): object => Object.getPrototypeOf(node) as object;
  return {
    document: prototypeOf(document),
    directive: prototypeOf(directive),
    element: prototypeOf(element),
    text: prototypeOf(text),
    comment: prototypeOf(comment),
  };
}

function loadCheerio(): typeof CheerioSlim {
  return (cheerio ??= createRequire(import.meta.url)('cheerio/slim') as typeof CheerioSlim);
}

function optionsFor(xml: boolean): { xmlMode: boolean; decodeEntities: boolean } {
  return { xmlMode: xml, decodeEntities: true };
}

function parseBounded(
  { DomHandler, parseDocument, Parser }: typeof HtmlParser,
  markup: string,
  options: HtmlParser.ParserOptions,
): unknown {
  const handler = new DomHandler(undefined, options);
  let depth = 0;
  const open = handler.onopentag.bind(handler);
  const close = handler.onclosetag.bind(handler);
  handler.onopentag = (name, attributes) => {
    open(name, attributes);
    if (++depth >= MAX_NESTING) parser.pause();
  };
  handler.onclosetag = () => {
    depth--;
    close();
  };
  const parser = new Parser(handler, options);
  parser.end(markup);
  // A paused parser does not say that it ended.
  if (depth >= MAX_NESTING) {
    limitReached('markupDepth');
    handler.onend();
  }
  const { root } = handler;
  if (!options.xmlMode && root.children.length > MAX_ROOTS) gather(root, parseDocument('<html></html>'));
  return root;
}

/** Moves the children of `root` into the one element of `other`, and that element into `root`. */
function gather(root: Document, other: Document): void {
  const html = other.firstChild as Element;
  html.children = root.children;
  for (const child of html.children) child.parent = html;
  html.parent = root;
  root.children = [html];
}
