// Bytes of a page in, the document that `$` works on out: rows from one pass of the tokenizer, then one object a node.
// Promise: any bytes give a document, in linear time; attributes and text stay bytes until somebody reads them.
import { AttributeList } from '../tokens/attributes.js';
import type { PageNode, ParentNode } from './nodes.js';
import { PageComment, PageDirective, PageDocument, PageElement, PageText } from './nodes.js';
import { COMMENT, DocumentRows, MORE_RAW_TEXT, MORE_TEXT, RAW_TEXT, TEXT } from './rows.js';
import { SVG_NAME_OF } from './rules.js';
import { DocumentSource } from './source.js';
import { tokenize } from '../tokens/tokenizer.js';

/**
 * More elements than this without a common parent get one, as every page has in a browser. Measured for one
 * `$('a')` over 40,000 without: 3.5 s, with: 10 ms.
 */
export const MAX_ROOTS = 1_000;

// Reading is synchronous and never re-enters itself, so all pages share these.
const attributes = new AttributeList();
const rows = new DocumentRows(attributes);
const KEPT_ROWS = 1 << 16;
/** How many children of a row are made already. */
let made = new Int32Array(KEPT_ROWS);

/** Reads a page in UTF-8 into a document. */
export function readDocument(page: Buffer | DocumentSource): PageDocument {
  const source = page instanceof DocumentSource ? page : new DocumentSource(() => page);
  rows.start();
  tokenize(source.bytes, attributes, rows);
  attributes.release();
  const document = makeNodes(source);
  if (document.children.length > MAX_ROOTS) gather(document, source);
  return document;
}

function makeNodes(source: DocumentSource): PageDocument {
  const { count, parent: parents, children } = rows;
  if (made.length < count || made.length > KEPT_ROWS) made = new Int32Array(Math.max(count, KEPT_ROWS));
  else made.fill(0, 0, count);
  const document = new PageDocument(listOf(children[0]!));
  const nodes = new Array<PageNode | PageDocument>(count);
  nodes[0] = document;
  for (let row = 1; row < count; row++) {
    const above = parents[row]!;
    const parent = nodes[above] as ParentNode;
    const at = made[above]!;
    const prev = at === 0 ? null : parent.children[at - 1]!;
    const node = makeNode(row, parent, prev, source);
    if (node === null) continue;
    nodes[row] = node;
    parent.children[at] = node;
    if (prev !== null) prev.next = node;
    made[above] = at + 1;
  }
  return document;
}

/** The node of a row; `null` when the row only adds to the node before it. */
function makeNode(row: number, parent: ParentNode, prev: PageNode | null, source: DocumentSource): PageNode | null {
  const kind = rows.kind[row]!;
  const from = rows.from[row]!;
  const to = rows.to[row]!;
  if (kind >= 0) {
    const name = (rows.svg[row] === 1 ? SVG_NAME_OF.get(kind) : undefined) ?? rows.names.nameOf(kind);
    return new PageElement(parent, prev, name, listOf(rows.children[row]!), source, from);
  }
  switch (kind) {
    case TEXT:
      return new PageText(parent, prev, source, from, to);
    case RAW_TEXT:
      return new PageText(parent, prev, source, -1 - from, to);
    case MORE_TEXT:
      (prev as PageText).data += source.text(from, to);
      return null;
    case MORE_RAW_TEXT:
      (prev as PageText).data += source.rawText(from, to);
      return null;
    case COMMENT:
      return new PageComment(parent, prev, () => source.comment(from, to));
    default:
      return source.isDoctype(from, to)
        ? new PageDirective(parent, prev, '!doctype', source.rawText(from, to))
        : new PageComment(parent, prev, () => source.bogusComment(from, to));
  }
}

/** An array of exactly this length: one that grows by `push` begins with room for 17. */
function listOf(length: number): PageNode[] {
  return length === 0 ? [] : new Array<PageNode>(length);
}

/** Gives the children of a document one parent. */
function gather(document: PageDocument, source: DocumentSource): void {
  const html = new PageElement(document, null, 'html', document.children, source, -1);
  for (const child of html.children) child.parent = html;
  document.children = [html];
}
