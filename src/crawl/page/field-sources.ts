// Fields of a schema looked up by CSS in a cheerio document, which loads on first use, or by patterns in the text.
// Promise: a selector that is no CSS is refused by name.
import type { CheerioAPI } from 'cheerio';
import { CrawlError } from '../../errors.js';
import type { FieldSource } from '../../extract/fields/fields.js';
import { nodeText } from '../../extract/page/node-text.js';
import type { PageView } from '../../extract/page/page-view.js';
import { readableText } from '../../handle/readable-text.js';
import { eachNode, type EditedNode } from '../../handle/tree-edits.js';
import { documentOf } from './document.js';

/** A cheerio node; its types are not exported by the slim build. */
type Element = Parameters<CheerioAPI['contains']>[0];

export function createCssSource(view: PageView): { source: FieldSource<Element>; root: Element } {
  const $ = documentOf(view.tree.bytes);
  const root = $.root()[0] as unknown as Element;
  const sizes = sizesOf(root);
  const source: FieldSource<Element> = {
    size: sizes.get(root)!,
    sizeOf: (node) => sizes.get(node) ?? 1,
    select(from, selector) {
      try {
        return $(from).find(selector).toArray() as Element[];
      } catch (cause) {
        throw new CrawlError(
          'OPTION_INVALID',
          `the CSS selector ${JSON.stringify(selector.slice(0, 200))} is not valid`,
          { cause },
        );
      }
    },
    text: (node) => readableText(node).text,
    html: (node) => $(node).html() ?? '',
    attribute: (node, name) => $(node).attr(name) ?? null,
    resolve: (reference) => view.urls.resolve(reference),
  };
  return { source, root };
}

/** How many nodes there are at and below each. */
function sizesOf(root: Element): Map<unknown, number> {
  const sizes = new Map<unknown, number>();
  eachNode(root, (node) => {
    sizes.set(node, 1);
    return true;
  });
  // From the last to the first: what is below a node comes after it.
  for (const node of [...sizes.keys()].reverse() as EditedNode[]) {
    const { parent } = node;
    if (parent !== null && node !== (root as unknown)) sizes.set(parent, sizes.get(parent)! + sizes.get(node)!);
  }
  return sizes;
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
