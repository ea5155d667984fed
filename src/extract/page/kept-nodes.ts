// From chosen blocks to the nodes that are rendered: their text, the elements around it, the pictures among it.
// Promise: an element is kept only for what it holds; two passes over the tree.
import { formulasOf } from '../math/formulas.js';
import { elementNumber, elementSet } from './elements.js';
import type { Segments } from './segment.js';
import { FIRST_NODE, LAST_NODE, STRIDE, WORDS, CONTAINER } from './segment.js';

const A = elementNumber('a');
const FIGURE = elementNumber('figure');
const IMG = elementNumber('img');
const BODY = elementNumber('body');
/** Elements around a picture alone that make it a part of the page, not of its text. */
const LOGO_STEPS = 2;
const LOGO = /(?:^|\s)logo$/i;
/** Elements from a picture to the link around it. */
const LINK_STEPS = 3;
const SIGN_WORDS = 4;
const FIRST_PAGE = /^(?:(?:https?:)?\/\/[^/?#]+)?\/$|^(?:https?:)?\/\/[^/?#]+$/i;
const MAX_ALT = 200;
/** What a line of text is made of; a break stays also where nothing else is in an element around it. */
const IN_LINES = elementSet('#text #raw br');
/** Elements without text of their own that stay with what stands around them. */
const COMPANIONS = elementSet('br wbr');

/** Where a picture stands; in a figure, where the figure does, as its caption may be left out. */
function outOfFigure({ tree }: Segments, node: number): number {
  for (let up = tree.parent[node]!, steps = 0; up > 0 && steps < 4; up = tree.parent[up]!, steps++) {
    if (tree.tag[up] === FIGURE) return tree.parent[up]!;
  }
  return tree.parent[node]!;
}

/** Whether a picture with few words is a link to the first page of a site: the sign of that site, or its advert. */
function leadsHome({ tree }: Segments, node: number): boolean {
  if ((tree.attribute(node, 'alt') ?? '').slice(0, MAX_ALT).trim().split(/\s+/).length > SIGN_WORDS) return false;
  for (let up = tree.parent[node]!, steps = 0; up > 0 && steps < LINK_STEPS; up = tree.parent[up]!, steps++)
    if (tree.tag[up] === A) return FIRST_PAGE.test((tree.attribute(up, 'href') ?? '').slice(0, MAX_ADDRESS).trim());
  return false;
}

/** Where pictures that load late have their address. */
const LATE = ['data-src', 'data-lazy-src', 'data-original', 'src'];
const MAX_ADDRESS = 1_000;
/** A drawing that a page shows as often as this is a sign in front of its lines. */
const SIGNS = 4;

/** The first of the pictures that are the same; none of those that are signs: ticks of a list, stars of a rating. */
function onceEach(tree: Segments['tree'], pictures: readonly number[]): number[] {
  const byAddress = new Map<string, number[]>();
  const kept: number[] = [];
  for (const node of pictures) {
    const address = LATE.map((name) => tree.attribute(node, name)).find((value) => value !== null) ?? '';
    // Inline data may stand for any picture.
    if (address === '' || address.length > MAX_ADDRESS || address.startsWith('data:')) {
      kept.push(node);
      continue;
    }
    const others = byAddress.get(address);
    if (others === undefined) byAddress.set(address, [node]);
    else others.push(node);
  }
  for (const [address, same] of byAddress)
    if (same.length < SIGNS || !/\.svg(?:$|[?#])/i.test(address)) kept.push(same[0]!);
  return kept;
}

/** By node: 1 for what is left out of the chosen part of the page. */
export function droppedNodes(segments: Segments, chosen: Uint8Array): Uint8Array {
  const { tree, blocks, count, words, hidden } = segments;
  const formulas = formulasOf(tree);
  const kept = new Uint8Array(tree.count);
  const chosenWords = new Int32Array(tree.count);
  let firstText = tree.count;
  let lastText = 0;
  for (let b = 0, at = 0; b < count; b++, at += STRIDE) {
    if (chosen[b] === 0) continue;
    firstText = Math.min(firstText, blocks[at + FIRST_NODE]!);
    lastText = blocks[at + LAST_NODE]!;
    for (let node = blocks[at + FIRST_NODE]!; node <= blocks[at + LAST_NODE]!; node++) {
      if (hidden[node] !== 0) node = tree.end[node]! - 1;
      else if (formulas.size > 0 && formulas.has(node)) {
        kept[node] = 1;
        node = tree.end[node]! - 1;
      } else if (IN_LINES[tree.tag[node]!] === 1) kept[node] = 1;
    }
    chosenWords[blocks[at + CONTAINER]!]! += blocks[at + WORDS]!;
  }
  for (let node = tree.count - 1; node > 0; node--) {
    const up = tree.parent[node]!;
    chosenWords[up]! += chosenWords[node]!;
    if (kept[node] === 1) kept[up] = 1;
  }
  const pictures: number[] = [];
  // A picture belongs to the nearest text around it.
  for (let node = 1; node < tree.count; node++) {
    if (formulas.size > 0 && formulas.has(node)) {
      node = tree.end[node]! - 1;
      continue;
    }
    if (hidden[node] !== 0) {
      node = tree.end[node]! - 1;
      continue;
    }
    if (tree.tag[node] !== IMG) continue;
    let up = outOfFigure(segments, node);
    let steps = 0;
    for (; up > 0 && words[up] === 0 && steps < 40; steps++) up = tree.parent[up]!;
    // Above and below the text, in parts of the page that have no text, stand logos and adverts.
    if (node < firstText || node > lastText) {
      if (steps >= LOGO_STEPS && tree.tag[up] === BODY) continue;
      if (LOGO.test((tree.attribute(node, 'alt') ?? '').slice(0, MAX_ALT)) || leadsHome(segments, node)) continue;
    }
    if (chosenWords[up]! * 2 <= words[up]! || words[up] === 0) continue;
    pictures.push(node);
  }
  for (const picture of onceEach(tree, pictures))
    for (let at = picture; at > 0 && kept[at] === 0; at = tree.parent[at]!) kept[at] = 1;
  const dropped = new Uint8Array(tree.count);
  for (let node = 1; node < tree.count; node++) {
    if (kept[node] === 1) continue;
    dropped[node] = COMPANIONS[tree.tag[node]!] === 1 && dropped[tree.parent[node]!] === 0 ? 0 : 1;
  }
  return dropped;
}
