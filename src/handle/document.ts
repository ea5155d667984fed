// The page as a cheerio document, for handlers that want one and for the tools that read pages.
// Promise: nesting is bounded, because htmlparser2 and css-select take quadratic time in it; cheerio loads on first use.
import { createRequire } from 'node:module';
import type { CheerioAPI } from 'cheerio';
import type * as CheerioSlim from 'cheerio/slim';
import type * as HtmlParser from 'htmlparser2';

/**
 * What is nested deeper is hostile: browsers stop at 512. Measured at 100,000: 8 s to parse, 12 s for one
 * `$('a')`; and `.text()` and `.html()` recurse, which at this depth they still can.
 */
export const MAX_NESTING = 2_000;

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
  const require = createRequire(import.meta.url);
  cheerio ??= require('cheerio/slim') as typeof CheerioSlim;
  htmlparser ??= require('htmlparser2') as typeof HtmlParser;
  const options = { xmlMode: xml, decodeEntities: true };
  return cheerio.load(parseBounded(htmlparser, markup, options) as never, { xml: options }) as CheerioAPI;
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
  if (depth >= MAX_NESTING) handler.onend();
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
