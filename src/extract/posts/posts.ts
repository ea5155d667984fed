// The texts of forum posts, by forum software's class names.
// Promise: only adjusts the model's result, and only if a page has several named posts.
import { blockText } from '../page/block-text.js';
import { headsOfPosts } from './post-heads.js';
import { FOREIGN, markPosts } from './post-names.js';
import type { Segments } from '../page/segment.js';
import { CONTAINER, FIRST_NODE, HEADING, LAST_NODE, STRIDE, WORDS } from '../page/segment.js';

/** What a name is worth, in logits: picked on the given pages, where values around these score alike (decision 013). */
const IN_POST = 2.5;
const HEAD_OF_POST = 6;
const OUT_OF_POST = -3;
const NOT_OF_POST = -8;
const MIN_POSTS = 2;
const MIN_SHARE = 0.05;
/** The logit of what is content on no page. */
export const NEVER = -20;
const REPEATED_QUOTE = -8;
const MAX_NOTICE_WORDS = 40;
/** Words in a row that tell a repetition, and how many of such are remembered. */
const RUN = 4;
/** Words of the line that says whom a reply quotes. */
const MAX_QUOTED_WORDS = 6;
const MAX_RUNS = 100_000;

/** Moves the logits of a forum's blocks: up in its posts, down elsewhere. Gives the posts' elements, `null` where few are named. */
export function weighPosts(segments: Segments, logits: Float32Array): readonly number[] | null {
  const { tree, blocks, count } = segments;
  const marks = markPosts(tree);
  const { post, beside } = marks;
  const inPost = new Uint8Array(count);
  let posts = 0;
  let last = 0;
  let postWords = 0;
  let words = 0;
  for (let b = 0, at = 0; b < count; b++, at += STRIDE) {
    const container = blocks[at + CONTAINER]!;
    if (logits[b]! > NEVER) words += blocks[at + WORDS]!;
    if (post[container] === 0 || beside[container] !== 0 || isOfSoftware(segments, at)) continue;
    inPost[b] = 1;
    postWords += blocks[at + WORDS]!;
    if (post[container]! > last) {
      posts++;
      last = post[container]!;
    }
  }
  leaveQuotes(segments, marks.quote, logits);
  if (posts < MIN_POSTS || postWords < MIN_SHARE * words) return null;
  const { heads, elements } = headsOfPosts(segments, marks, inPost);
  for (let b = 0; b < count; b++) {
    const isForeign = beside[blocks[b * STRIDE + CONTAINER]!] === FOREIGN;
    logits[b]! += inPost[b] === 1 ? IN_POST : heads[b] === 1 ? HEAD_OF_POST : isForeign ? NOT_OF_POST : OUT_OF_POST;
  }
  return elements;
}

/** What the software says in a post's place: "Re: the title" above each, that a topic was closed. */
function isOfSoftware(segments: Segments, at: number): boolean {
  const { blocks } = segments;
  if (blocks[at + WORDS]! > MAX_NOTICE_WORDS) return false;
  const text = blockText(segments, blocks[at + FIRST_NODE]!, blocks[at + LAST_NODE]!);
  return (blocks[at + HEADING]! > 0 && /^re: /i.test(text)) || /^This topic was automatically \w+ after /.test(text);
}

/** Whether a line says whom a reply quotes, as forum software writes it. */
function saysWho(segments: Segments, at: number): boolean {
  const { blocks } = segments;
  const text = blockText(segments, blocks[at + FIRST_NODE]!, blocks[at + LAST_NODE]!);
  return /[:：↑]$|^(?:originally )?posted by |^quote from |^zitat von |^citation de /i.test(text.trim());
}

/** A reply that quotes a post repeats what stands further up: lowers quotations half of which was there already. */
function leaveQuotes(segments: Segments, quote: Int32Array, logits: Float32Array): void {
  const { tree, blocks, count, words: wordsOf } = segments;
  if (quote.every((node) => node === 0)) return;
  const seen = new Set<string>();
  for (let b = 0, at = 0; b < count; b++, at += STRIDE) {
    const text = blockText(segments, blocks[at + FIRST_NODE]!, blocks[at + LAST_NODE]!).toLowerCase();
    const words = text.match(/[\p{L}\p{N}]+/gu) ?? [];
    const length = Math.max(1, Math.min(RUN, words.length));
    let repeated = 0;
    for (let k = 0; k + length <= words.length; k++) {
      const run = words.slice(k, k + length).join(' ');
      if (seen.has(run)) repeated++;
      else if (seen.size < MAX_RUNS) seen.add(run);
    }
    const runs = words.length - length + 1;
    const node = quote[blocks[at + CONTAINER]!]!;
    if (node === 0 || repeated * 2 <= runs) continue;
    logits[b]! += REPEATED_QUOTE;
    // "Ada said:" stands in the quotation, or in an element that has nothing else.
    const around = tree.parent[node]!;
    const outer = wordsOf[around]! - wordsOf[node]! <= MAX_QUOTED_WORDS ? around : node;
    const isFirst = (block: number): boolean =>
      blocks[block * STRIDE + FIRST_NODE]! >= outer &&
      (block === 0 || blocks[(block - 1) * STRIDE + FIRST_NODE]! < outer);
    if (b > 0 && isFirst(b - 1) && blocks[at - STRIDE + WORDS]! <= MAX_QUOTED_WORDS && saysWho(segments, at - STRIDE))
      logits[b - 1] = Math.min(logits[b - 1]!, REPEATED_QUOTE);
  }
}
