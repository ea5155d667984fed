// Which hidden elements a reader can open: tabs, accordions, slides, what a link or button on the page refers to.
// Promise: names of such things, or a reference by id; the references of a page are read once.
import type { PageTree } from '../../parse/tree/tree.js';
import { RAW, TEXT } from '../page/elements.js';

const NAMES =
  /(?:^|[^a-z])(?:accordion|collaps|tab(?:s|bed|panel|content|pane)?(?:[^a-z]|$)|panel|pane(?:[^a-z]|$)|faq|answer|toggle|expand|slide|slick|swiper|carousel|splide|glide|flickity|region|details|disclosure|read-?more|show-?more|more-?(?:text|content|info)|full-?(?:text|description|content|bio)|mw-collapsible)/;
const OUTER_NAMES =
  /(?:^|[^a-z])(?:accordion|collaps|tabs|faq|carousel|slider|swiper|splide|slick|expand|toggle|details)/;
const MAX_NAMES = 300;
const LEVELS_UP = 3;
const MAX_IDS = 10_000;

const namesOf = (tree: PageTree, node: number): string =>
  ['class', 'id', 'role', 'itemtype']
    .map((name) => (tree.attribute(node, name) ?? '').slice(0, MAX_NAMES))
    .join(' ')
    .toLowerCase();

/** Tells of hidden elements whether a reader can open them. */
export function createOpenReader(tree: PageTree): (node: number) => boolean {
  let targets: Set<string> | undefined;
  return (node) => {
    if (NAMES.test(namesOf(tree, node)) || tree.attributeRange(node, 'aria-labelledby') !== null) return true;
    let up = tree.parent[node]!;
    for (let level = 0; level < LEVELS_UP && up > 0; level++, up = tree.parent[up]!)
      if (OUTER_NAMES.test(namesOf(tree, up))) return true;
    const id = tree.attribute(node, 'id');
    return id !== null && id !== '' && (targets ??= readTargets(tree)).has(id);
  };
}

const REFERRING = ['aria-controls', 'data-target', 'data-bs-target', 'href'];

/** The ids that links and buttons of the page refer to. */
function readTargets(tree: PageTree): Set<string> {
  const ids = new Set<string>();
  for (let node = 1; node < tree.count && ids.size < MAX_IDS; node++) {
    if (tree.tag[node] === TEXT || tree.tag[node] === RAW || tree.from[node]! >= tree.to[node]!) continue;
    for (const name of REFERRING) {
      const range = tree.attributeRange(node, name);
      if (range === null || range.to - range.from > MAX_NAMES) continue;
      const value = tree.raw(range.from, range.to);
      if (name === 'aria-controls') for (const id of value.split(/\s+/)) ids.add(id);
      else if (value.startsWith('#') && value.length > 1) ids.add(value.slice(1));
    }
  }
  return ids;
}
