// html → markdown → html with a CommonMark + GFM renderer that is not ours: what of a page's structure comes back.
// Shared by the conformance test, which runs it on a few pages, and by `npm run measure -- extraction`.
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import type { DefaultTreeAdapterMap } from 'parse5';
import { parse, serialize } from 'parse5';
import { viewPage } from '../../src/crawl/page/extraction.js';
import { renderHtml } from '../../src/extract/markdown/clean-html.js';
import { readMarkdown, unseenNodes } from '../../src/extract/markdown/markdown-document.js';

export type Node = DefaultTreeAdapterMap['node'];
export type Counts = Map<string, number>;
export const childrenOf = (node: Node): Node[] =>
  'content' in node ? node.content.childNodes : 'childNodes' in node ? node.childNodes : [];
export const squeeze = (text: string): string => text.replace(/[\s\u00a0]+/g, ' ').trim();
export const add = (counts: Counts, key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1);
/** How many of `wanted` are in `found`, and how many there are. */
export function matched(wanted: Counts, found: Counts): [number, number] {
  let common = 0;
  let total = 0;
  for (const [key, count] of wanted) {
    common += Math.min(count, found.get(key) ?? 0);
    total += count;
  }
  return [common, total];
}

const BLOCK =
  /^(?:div|p|li|ul|ol|h\d|td|th|tr|table|br|dd|dt|dl|pre|blockquote|figure|figcaption|hr|summary|details|caption|tbody|thead)$/;

export function textOf(node: Node, without: RegExp | null = null): string {
  if (node.nodeName === '#text') return (node as DefaultTreeAdapterMap['textNode']).value;
  if (without?.test(node.nodeName)) return ' ';
  const inner = childrenOf(node)
    .map((child) => textOf(child, without))
    .join('');
  return BLOCK.test(node.nodeName) ? ` ${inner} ` : inner;
}

const attributeOf = (node: Node, name: string): string | undefined =>
  'attrs' in node ? node.attrs.find((attribute) => attribute.name === name)?.value : undefined;

function descendants(node: Node): Node[] {
  return childrenOf(node).flatMap((child) => [child, ...descendants(child)]);
}

/** Tables that a pipe table can hold. */
function isData(table: Node): boolean {
  const inside = descendants(table);
  if (inside.some(({ nodeName }) => /^(?:table|pre|h\d|blockquote|hr)$/.test(nodeName))) return false;
  return inside.some(
    (row) =>
      row.nodeName === 'tr' &&
      childrenOf(row).reduce(
        (sum, cell) => sum + (/^t[dh]$/.test(cell.nodeName) ? Number(attributeOf(cell, 'colspan') ?? 1) : 0),
        0,
      ) > 1,
  );
}

const hasHeading = (node: Node): boolean => descendants(node).some(({ nodeName }) => /^h[1-6]$/.test(nodeName));

/** Lists whose items all have a heading: they are written as parts of the page, without marks. */
function isArranging(list: Node): boolean {
  const items = childrenOf(list).filter(({ nodeName }) => nodeName === 'li');
  return items.length > 0 && items.every(hasHeading);
}

/** Headings with level, items with depth, cells, code and link targets of a document, given as its root. */
function elementsOf(root: Node, urlOf: (href: string) => string | null = (href) => href): Counts {
  const counts: Counts = new Map();
  const visit = (node: Node, depth: number, inTable: boolean, inPre: boolean, inHeading: boolean): void => {
    const name = node.nodeName;
    const isHeading = /^h[1-6]$/.test(name);
    if (isHeading && !inTable && squeeze(textOf(node)) !== '') add(counts, `${name} ${squeeze(textOf(node))}`);
    if (name === 'li' && !inTable && !inHeading && !hasHeading(node)) {
      const own = squeeze(
        childrenOf(node)
          .map((child) => textOf(child, /^(?:ul|ol|dl|pre|table|blockquote)$/))
          .join(''),
      );
      if (own !== '') add(counts, `li ${depth} ${own}`);
    }
    if (/^t[dh]$/.test(name) && inTable && squeeze(textOf(node)) !== '') add(counts, `cell ${squeeze(textOf(node))}`);
    if (name === 'pre' && !inTable) {
      // Highlighters lay lines out as blocks; there only the characters can be compared.
      const hasBlocks = descendants(node).some(({ nodeName }) => /^(?:div|br|p|li|table)$/.test(nodeName));
      const code = textOf(node).slice(1, -1).replace(/^\n/, '').trimEnd();
      if (code.trim() !== '') {
        add(counts, `code ${code.replace(/\s+/g, '')}`);
        if (!hasBlocks) add(counts, `exact code ${code}`);
      }
    }
    const href = name === 'a' && !inPre ? attributeOf(node, 'href') : undefined;
    const url = href === undefined ? null : urlOf(href);
    if (url !== null && squeeze(textOf(node)) !== '') add(counts, `a ${decoded(url)}`);
    const deeper = /^(?:ul|ol|dl|dd)$/.test(name) && !isArranging(node) ? depth + 1 : depth;
    const table = name === 'table' ? isData(node) || inTable : inTable;
    for (const child of childrenOf(node)) visit(child, deeper, table, inPre || name === 'pre', inHeading || isHeading);
  };
  visit(root, 0, false, false, false);
  return counts;
}

function decoded(url: string): string {
  try {
    return decodeURI(url);
  } catch {
    return url;
  }
}

export interface RoundTrip {
  /** Letters and digits of the whole text are the same, in the same order. */
  readonly sameText: boolean;
  /** By sort of element (heading, item, cell, code, link): how many came back, and how many there were. */
  readonly kept: ReadonlyMap<string, readonly [kept: number, all: number]>;
}

const OPTIONS = { url: 'https://example.com/x/y' };
const SORTS: readonly [RegExp, string][] = [
  [/^h[1-6] /, 'headings with their level'],
  [/^li /, 'list items with their depth'],
  [/^cell /, 'table cells'],
  [/^(?:exact )?code /, 'code'],
  [/^a /, 'link targets'],
];

const letters = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, '');

/** What the markdown of a page is as HTML, by a renderer that is not ours. */
function rendered(markdown: string): Node {
  return parse(micromark(markdown, { extensions: [gfm()], htmlExtensions: [gfmHtml()], allowDangerousProtocol: true }));
}

function compared(wanted: Counts, found: Counts): RoundTrip['kept'] {
  const kept = new Map<string, readonly [number, number]>();
  for (const [pattern, sort] of SORTS)
    kept.set(sort, matched(new Map([...wanted].filter(([key]) => pattern.test(key))), found));
  return kept;
}

/** Renders what a page shows as HTML, that as markdown, and that as HTML again, and compares the two. */
export function roundTrip(body: Uint8Array): RoundTrip {
  const view = viewPage(body, OPTIONS);
  const html = parse(renderHtml(view.tree, 0, view.urls, unseenNodes(view)));
  const back = rendered(readMarkdown(viewPage(serialize(html), OPTIONS)).raw);
  return {
    sameText: letters(textOf(back)) === letters(textOf(html)),
    kept: compared(elementsOf(html), elementsOf(back)),
  };
}

/** Nothing in these is shown, or not as text; ruby's readings are left out by rule. */
const UNSEEN =
  /^(?:#comment|#documentType|script|style|svg|head|title|iframe|textarea|select|canvas|audio|video|noembed|noframes|object|applet|embed|template|noscript|rt|rp)$/;
/** A link over a part of the page for the keyboard, which markdown mostly leaves out by rule: it counts on neither side. */
const skipsPart = (node: Node): boolean =>
  node.nodeName === 'a' &&
  (attributeOf(node, 'href') ?? '').includes('#') &&
  /^(?:skip|jump)\b.{0,30}$/i.test(squeeze(textOf(node)));

/**
 * The same from the page's own bytes as parse5 reads them, so that what our tree or our HTML loses counts as lost. What
 * a page hides stays in on both sides: what is hidden is judged elsewhere. Addresses are resolved by `URL`.
 */
export function roundTripOfSource(body: Uint8Array): RoundTrip {
  const view = viewPage(body, { ...OPTIONS, hidden: 'keep' });
  const source = parse(view.tree.bytes.toString('utf8'), { scriptingEnabled: false });
  const show = (node: Node): void => {
    if (!('childNodes' in node)) return;
    node.childNodes = node.childNodes.filter((child) => !UNSEEN.test(child.nodeName) && !skipsPart(child));
    node.childNodes.forEach(show);
  };
  let base = OPTIONS.url;
  for (const node of descendants(source)) {
    const href = node.nodeName === 'base' ? attributeOf(node, 'href') : undefined;
    if (href !== undefined) {
      base = new URL(href, base).href;
      break;
    }
  }
  show(source);
  const urlOf = (href: string): string | null => {
    const url = URL.canParse(href, base) && href.trim() !== '' && href.trim() !== '#' ? new URL(href, base) : null;
    return url !== null && /^(?:https?|mailto|tel):$/.test(url.protocol) ? url.href : null;
  };
  const back = rendered(readMarkdown(view).raw);
  show(back);
  return {
    sameText: letters(textOf(back)) === letters(textOf(source)),
    kept: compared(elementsOf(source, urlOf), elementsOf(back)),
  };
}
