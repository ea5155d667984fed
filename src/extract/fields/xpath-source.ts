// Fields of a schema looked up by XPath in the compact tree.
// Promise: each path is parsed once per schema; nothing is built but what is returned.
import { renderHtml } from '../markdown/clean-html.js';
import type { FieldSource } from './fields.js';
import { nodeText } from '../page/node-text.js';
import type { PageView } from '../page/page-view.js';
import type { Path } from './xpath.js';
import { parseXPath } from './xpath.js';
import type { Found } from './xpath-evaluate.js';
import { XPathQuery } from './xpath-evaluate.js';

export function createXPathSource(view: PageView): FieldSource<Found> {
  const { tree, urls } = view;
  const parsed = new Map<string, readonly Path[]>();
  const query = new XPathQuery(tree);
  return {
    size: tree.count,
    sizeOf: (found) => ('value' in found ? 1 : tree.end[found.node]! - found.node),
    select(from, selector) {
      let paths = parsed.get(selector);
      if (paths === undefined) parsed.set(selector, (paths = parseXPath(selector)));
      return 'value' in from ? [] : query.select(paths, from.node);
    },
    text: (found) => ('value' in found ? found.value.replace(/\s+/g, ' ').trim() : nodeText(tree, found.node)),
    html: (found) => ('value' in found ? found.value : renderHtml(tree, found.node, urls, null)),
    attribute: (found, name) =>
      'value' in found || found.node === 0 ? null : tree.attribute(found.node, name.toLowerCase()),
    resolve: (reference) => urls.resolve(reference),
  };
}
