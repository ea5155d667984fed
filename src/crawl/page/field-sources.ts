// Fields of a schema looked up by CSS in a cheerio document, which loads on first use, or by patterns in the text.
// Promise: an invalid selector is rejected by name.
import type { CheerioAPI } from 'cheerio';
import { CrawlError } from '../../errors.js';
import type { FieldSource } from '../../extract/fields/fields.js';
import { nodeText } from '../../extract/page/node-text.js';
import type { PageView } from '../../extract/page/page-view.js';
import { readableLine, readableLines } from '../../handle/readable-text.js';
import { eachNode, type EditedNode } from '../../handle/tree-edits.js';
import { documentOf } from './document.js';

/** A cheerio node; its types are not exported by the slim build. */
type Element = Parameters<CheerioAPI['contains']>[0];

export function createCssSource(view: PageView): { source: FieldSource<Element>; root: Element } {
  const $ = documentOf(view.tree.bytes);
  const root = $.root()[0] as unknown as Element;
  const { order, sizes } = measured(root);
  const sizeOf = (node: Element): number => sizes[order.get(node) ?? -1] ?? 1;
  const size = order.size;
  let read = 0;
  let lines: ((node: Element) => string) | undefined;
  const found = new Map<string, Element[]>();

  /** What a selector finds in the page, in its order: looked for once, however many items ask. */
  function everywhere(selector: string): Element[] {
    let list = found.get(selector);
    if (list === undefined) {
      list = ($(selector).toArray() as Element[]).sort((a, b) => order.get(a)! - order.get(b)!);
      found.set(selector, list);
    }
    return list;
  }

  /** Those of them below a node: they stand in a row. */
  function below(from: Element, selector: string): readonly Element[] {
    const list = everywhere(selector);
    const first = order.get(from)! + 1;
    const after = order.get(from)! + sizeOf(from);
    return list.slice(
      firstFrom(list.length, (at) => order.get(list[at]!)! >= first),
      firstFrom(list.length, (at) => order.get(list[at]!)! >= after),
    );
  }

  /** Whoever asks for more text than the page has gets it from one look at all of it. */
  function textOf(node: Element): string {
    if (lines !== undefined) return lines(node);
    read += sizeOf(node);
    if (read > size) lines = readableLines(root, size, (one) => order.get(one)!);
    return readableLine(node);
  }

  const source: FieldSource<Element> = {
    size,
    sizeOf,
    select(from, selector) {
      try {
        return OWN_SCOPE.test(selector) ? ($(from).find(selector).toArray() as Element[]) : below(from, selector);
      } catch (cause) {
        throw new CrawlError(
          'OPTION_INVALID',
          `the CSS selector ${JSON.stringify(selector.slice(0, 200))} is not valid`,
          { cause },
        );
      }
    },
    text: textOf,
    html: (node) => $(node).html() ?? '',
    attribute: (node, name) => $(node).attr(name) ?? null,
    resolve: (reference) => view.urls.resolve(reference),
  };
  return { source, root };
}

/** Selectors that mean something else below each node: relative ones, and those that count what they find. */
const OWN_SCOPE = /^\s*[>+~]|,\s*[>+~]|:scope\b|:(?:first|last|eq|gt|lt|even|odd|nth)(?![\w-])/i;

/** The first of `count` numbers for which `isPast` holds; it holds for all after it. */
function firstFrom(count: number, isPast: (at: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isPast(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The place of each node in the page, and by place how many there are at and below it. */
function measured(root: Element): { order: Map<unknown, number>; sizes: Int32Array } {
  const order = new Map<unknown, number>();
  eachNode(root, (node) => {
    order.set(node, order.size);
    return true;
  });
  const sizes = new Int32Array(order.size).fill(1);
  // From the last to the first: what is below a node comes after it.
  const nodes = [...order.keys()] as EditedNode[];
  for (let place = nodes.length - 1; place > 0; place--) {
    const parent = order.get(nodes[place]!.parent);
    if (parent !== undefined) sizes[parent]! += sizes[place]!;
  }
  return { order, sizes };
}

/** The page's text as the only node: what `regex` schemas read. */
export function createTextSource(view: PageView): FieldSource<string> {
  return {
    size: 1,
    sizeOf: () => 1,
    select: (from) => [from],
    text: (text) => text,
    html: (text) => text,
    attribute: () => null,
    resolve: (reference) => view.urls.resolve(reference),
  };
}

export function pageText(view: PageView): string {
  return nodeText(view.tree, 0);
}
