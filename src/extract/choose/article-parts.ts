// Parts that articles of most sites have: captions, adverts, teasers of other pages, posts of others that the text
// quotes, and lines that lead away, call to the reader or credit a picture.
// Promise: a nudge as far as the page is an article; nothing here knows a site.
import { elementNumber } from '../page/elements.js';
import { HINT_NAMES } from '../page/hints.js';
import { CALLS, CUT_OFF, NOTICES, lineMarks } from './line-marks.js';
import { createNameMatcher, markElements } from './name-matcher.js';
import type { Segments } from '../page/segment.js';
import { CONTAINER, LAST_BYTE, LINK_WORDS, STRIDE, WORDS } from '../page/segment.js';

const FIGCAPTION = elementNumber('figcaption');
const ADVERT = 1 << HINT_NAMES.indexOf('advert');
const ADVERT_LEVELS = 3;
/** In logits, of a page that is an article for sure; each alone gained on two sets and cost none (decision 043). */
const CAPTION_COST = 3;
const ADVERT_COST = 2;
const TEASER_COST = 3;
const POST_GAIN = 3;
/** A short line that begins like a notice. */
const NOTICE_COST = 3;
const NOTICE_WORDS = 20;
/** One that asks for something anywhere in it. */
const CALL_COST = 2;
const CALL_WORDS = 30;
const TEASER_WORDS = 90;
/** Less of a text that leads elsewhere is a link like any other. */
const TEASER_LINK = 0.05;
/** Below this a block is out of the question. */
const HOPELESS = -4;
/** Last bytes of `.`, `]` and `…`. */
const DOTS: ReadonlySet<number> = new Set([0x2e, 0x5d, 0xa6]);
/** Elements that show a post of another site, by the names its scripts look for. */
const isPost = createNameMatcher('', ['twitter instagram bluesky tiktok mastodon', 'tweet media embed']);

/** By node: 1 within a post of another site; null where the page has none. */
export function postNodes(segments: Segments): Uint8Array | null {
  return markElements(segments.tree, (node) => isPost(segments, node));
}

/** Below this share of an article the parts weigh hundredths, and are not looked for. */
const MIN_SHARE = 0.02;

/** Weighs such parts; `share` is how sure the page is an article. */
export function weighArticleParts(segments: Segments, share: number, logits: Float32Array): void {
  if (share < MIN_SHARE) return;
  const { tree, blocks, count, hintLow } = segments;
  const posts = postNodes(segments);
  for (let b = 0, at = 0; b < count; b++, at += STRIDE) {
    if (logits[b]! <= HOPELESS) continue;
    const container = blocks[at + CONTAINER]!;
    let sum = 0;
    if (tree.tag[container] === FIGCAPTION) sum -= CAPTION_COST;
    let node = container;
    for (let level = 0; level < ADVERT_LEVELS && node > 0; level++, node = tree.parent[node]!)
      if ((hintLow[node]! & ADVERT) !== 0) {
        sum -= ADVERT_COST;
        break;
      }
    if (isTeaser(segments, b)) sum -= TEASER_COST;
    sum -= noticeCost(segments, b);
    if (posts !== null && posts[container] === 1) sum += POST_GAIN;
    logits[b]! += share * sum;
  }
}

function noticeCost(segments: Segments, block: number): number {
  const words = segments.blocks[block * STRIDE + WORDS]!;
  if (words > CALL_WORDS) return 0;
  const marks = lineMarks(segments, block);
  if (words <= NOTICE_WORDS && (marks & NOTICES) !== 0) return NOTICE_COST;
  return (marks & CALLS) !== 0 ? CALL_COST : 0;
}

function isTeaser(segments: Segments, block: number): boolean {
  const { blocks } = segments;
  const at = block * STRIDE;
  const words = blocks[at + WORDS]!;
  if (words > TEASER_WORDS || blocks[at + LINK_WORDS]! <= TEASER_LINK * words || !DOTS.has(blocks[at + LAST_BYTE]!))
    return false;
  return (lineMarks(segments, block) & CUT_OFF) !== 0;
}
