// Author and date of a forum post: the lines that readers need besides the text.
// Promise: one short line of each kind per post, before the text and within the post's element.
import type { PostMarks } from './post-names.js';
import { FOREIGN, MEMBER, WHEN, WHO } from './post-names.js';
import { blockText } from '../page/block-text.js';
import { hasLongTag } from '../page/elements.js';
import type { Segments } from '../page/segment.js';
import { CHARS, CONTAINER, FIRST_NODE, HEADING, IS_HIDDEN, LAST_NODE, STRIDE, WORDS } from '../page/segment.js';

const MAX_WHO_WORDS = 4;
const MAX_WHEN_WORDS = 15;
const MAX_CHARS = 120;
/** Elements between a text and the item that it is of. */
const ITEM_STEPS = 20;
const MAX_TYPE = 200;
const MONTH = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\\.?';
/** Dates of the calendar: "a year ago" says little once the page is stored. */
const DATE = new RegExp(
  `\\b(?:19|20)\\d\\d\\b|\\b\\d{1,2}[/.-]\\d{1,2}[/.-]\\d{2,4}\\b|\\b${MONTH} \\d{1,2}\\b|\\b\\d{1,2}\\.? ${MONTH}|\\b(?:today|yesterday)\\b`,
  'i',
);

/** Where the posts of a page begin. */
export interface PostHeads {
  /** By block: 1 where it names the author or date of a post. */
  readonly heads: Uint8Array;
  /** The element of each post, with its text, author and date; remarks below a post belong to it. */
  readonly elements: readonly number[];
}

export function headsOfPosts(segments: Segments, { post, beside, head }: PostMarks, inPost: Uint8Array): PostHeads {
  const { tree, blocks, count } = segments;
  const texts: number[] = [];
  for (let b = 0; b < count; b++) {
    const node = post[blocks[b * STRIDE + CONTAINER]!]!;
    const last = texts.at(-1) ?? 0;
    if (inPost[b] === 1 && node > last && (last === 0 || node >= tree.end[last]!)) texts.push(node);
  }
  const heads = new Uint8Array(count);
  const elements: number[] = [];
  let b = 0;
  for (let k = 0; k < texts.length; k++) {
    const outer = elementOfPost(tree, texts[k]!, texts[k - 1] ?? 0, texts[k + 1] ?? tree.count);
    if (!isRemark(tree, texts[k]!)) elements.push(outer);
    while (b < count && blocks[b * STRIDE + FIRST_NODE]! < outer) b++;
    let found = 0;
    for (; b < count && blocks[b * STRIDE + FIRST_NODE]! < tree.end[outer]!; b++) {
      const at = b * STRIDE;
      // A post may have a title above its author.
      if (inPost[b] === 1 && blocks[at + HEADING] === 0) break;
      if (inPost[b] === 1) continue;
      const container = blocks[at + CONTAINER]!;
      if (beside[container] === FOREIGN || blocks[at + IS_HIDDEN] === 1) continue;
      if (blocks[at + WORDS]! > MAX_WHEN_WORDS || blocks[at + CHARS]! > MAX_CHARS) continue;
      const text = blockText(segments, blocks[at + FIRST_NODE]!, blocks[at + LAST_NODE]!);
      // A date among a member's details is the day of joining.
      const isWhen = (found & WHEN) === 0 && beside[container] !== MEMBER && DATE.test(text);
      const isNamed = ((head[container]! | head[blocks[at + FIRST_NODE]!]!) & WHO & ~found) !== 0;
      const isWho = isNamed && (isWhen || (blocks[at + WORDS]! <= MAX_WHO_WORDS && text.length > 1));
      if (!isWho && !isWhen) continue;
      found |= (isWho ? WHO : 0) | (isWhen ? WHEN : 0);
      heads[b] = 1;
    }
  }
  return { heads, elements };
}

/** Whether schema.org's names call a text a comment on a question or an answer. */
function isRemark(tree: Segments['tree'], text: number): boolean {
  for (let node = text, steps = 0; node > 0 && steps < ITEM_STEPS; node = tree.parent[node]!, steps++) {
    const type = hasLongTag(tree, node) ? null : tree.attribute(node, 'itemtype');
    if (type !== null) return /schema\.org\/Comment\s*$/i.test(type.slice(0, MAX_TYPE)) && isInAnswer(tree, node);
  }
  return false;
}

/** Whether a question or an answer stands around an item: elsewhere comments are the posts. */
function isInAnswer(tree: Segments['tree'], item: number): boolean {
  for (let node = tree.parent[item]!, steps = 0; node > 0 && steps < ITEM_STEPS; node = tree.parent[node]!, steps++)
    if (
      !hasLongTag(tree, node) &&
      /schema\.org\/(?:Answer|Question)\s*$/i.test((tree.attribute(node, 'itemtype') ?? '').slice(0, MAX_TYPE))
    )
      return true;
  return false;
}

/** The largest element around a post's text that holds no other post's. */
function elementOfPost({ parent, end }: Segments['tree'], text: number, before: number, after: number): number {
  let outer = text;
  for (let up = parent[text]!; up > before && end[up]! <= after; up = parent[up]!) outer = up;
  return outer;
}
