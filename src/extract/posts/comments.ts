// Reader comments below an article, by the class names of blogs and comment software.
// Promise: only if the page has its own text outside; a page whose comments are its content keeps them.
import { elementSet } from '../page/elements.js';
import { createNameMatcher, markElements, nextElement } from '../choose/name-matcher.js';
import { isNamedPost } from './post-names.js';
import type { Segments } from '../page/segment.js';
import { CONTAINER, STRIDE, WORDS } from '../page/segment.js';

const isThread = createNameMatcher(
  'comments commentlist commentslist commentsection commentsarea commentthread commentsblock commentbody commentcontent ' +
    'disqus livefyre spotim openweb viafoura hyvor commento giscus utterances ' +
    'kommentare kommentarer commentaires comentarios commenti reacties komentarze yorumlar',
  ['comment', 'list thread threads section area tree content body text respond form reply replies'],
);
/** What buyers say of a product goes by the names of comments in some shops. */
const isReview = createNameMatcher('review reviews testimonial testimonials');
const OUTERMOST = elementSet('html body main');
/** Words outside that make a text of its own. */
const MIN_TEXT = 100;
/** Less is a remark in passing: a link to the comments, a field of a record. */
const MIN_THREAD = 25;
const COMMENT = -8;

/** By node: 1 within comments; null where the page has none. */
export function commentNodes(segments: Segments): Uint8Array | null {
  const { tree, words } = segments;
  let heading: Int32Array | null = null;
  return markElements(tree, (node) => {
    if (!isThread(segments, node) || OUTERMOST[tree.tag[node]!] === 1 || words[node]! < MIN_THREAD) return false;
    if (isReview(segments, node) || isReview(segments, tree.parent[node]!)) return false;
    heading ??= nextElement(tree, 'h1 html body main');
    return heading[node]! >= tree.end[node]!;
  });
}

/** Whether comments are made of posts by the names of forum software: those of Lemmy, Reddit, Hacker News. */
export function holdsPosts({ tree }: Segments, comments: Uint8Array): boolean {
  let posts = 0;
  for (let node = 1; node < tree.count && posts < 2; node++)
    if (comments[node] === 1 && isNamedPost(tree, node)) posts++;
  return posts === 2;
}

/** Lowers the logits of comments, where the page has a text of its own outside. */
export function leaveComments({ blocks, count }: Segments, comments: Uint8Array, logits: Float32Array): void {
  let outside = 0;
  for (let b = 0, at = 0; b < count; b++, at += STRIDE)
    if (logits[b]! > 0 && comments[blocks[at + CONTAINER]!] === 0) outside += blocks[at + WORDS]!;
  if (outside < MIN_TEXT) return;
  for (let b = 0, at = 0; b < count; b++, at += STRIDE)
    if (comments[blocks[at + CONTAINER]!] === 1) logits[b]! += COMMENT;
}
