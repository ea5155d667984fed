// The texts of posts on a page of a forum, by the names that forum software gives to a post's parts.
// Promise: a nudge to what was learned, and only where a page has several named posts; names of software, never of a site.
import type { PageTree } from '../parse/tree.js';
import { blockText } from './block-text.js';
import { RAW, TEXT, elementNumber } from './elements.js';
import type { Segments } from './segment.js';
import { CONTAINER, FIRST_NODE, LAST_NODE, STRIDE, WORDS } from './segment.js';
import { WORD_SEED, createWordTable, mixLetter } from './word-table.js';

/** Words are parts of a class, id or property, or two parts in a row: `post-body` and `postBody` are postbody. */
const NAMES = createWordTable([
  // The text of a post.
  'postbody messagebody postmessage posttext msgtext msgbody messagetext bbwrapper cooked sprose replycontent replybody ' +
    'topiccontent usertext commtext ipsrich typenormal contenttext mddiv',
  // Around it in the same post: who, when, votes, what others remarked.
  'author authors byline bio avatar profile poster postprofile userdetails userinfo posterinfo authorpane authorcolumn usercard ' +
    'userextras usertitle userbanner userstats userstatistics usermeta authorinfo authorcard messageavatar messagename ' +
    'userpanel postauthor postuser postmeta posthead postheader postdate postinfo messageattribution msginfobox lastedit ' +
    'lastedited editedby edited useraction actiontime postnumber postcount permalink dateline posttime topicoverview ' +
    'reactions reactionsbar reaction likes likebutton upvote downvote votecount votingcontainer voting postmenu ' +
    'postcontrols postbuttons postactions actionbar quickreply quickedit replybutton karma kudos commentbody commenttext ' +
    'commentcontent commentcopy',
  // What others wrote, repeated in a reply.
  'bbquote bbcodequote ipsquote standardquote postquote quotecontainer quotecontents quotecontent quotebox quotebody',
  // Never the text of a post, though its markup may be the same.
  'signature signatures usersig sigtext postsig forumsig similarthreads similartopics ' +
    'relatedtopics suggestedtopics relatedquestions similarcontent relatedthreads topiclist threadlist',
]);
/** What schema.org calls the text of a post or of a reply. */
const IS_TEXT = /^(?:text|commentText)$/;
const POST = 1;
const BESIDE = 2;
const QUOTE = 4;
const FOREIGN = 8;
/** Longer values are data, not names. */
const MAX_NAME = 400;

/** What a name is worth, in logits: picked on the given pages, where values around these score alike (decision 013). */
const IN_POST = 2;
const OUT_OF_POST = -3;
const MIN_POSTS = 2;
const MIN_SHARE = 0.05;
/** The logit of what is content on no page. */
export const NEVER = -20;
const REPEATED_QUOTE = -8;
/** Words in a row that tell a repetition, and how many of such are remembered. */
const RUN = 4;
const MAX_RUNS = 100_000;
const BLOCKQUOTE = elementNumber('blockquote');

/** Moves the logits of a forum's blocks: up in the texts of its posts, down elsewhere. Left alone where few are named. */
export function weighPosts(segments: Segments, logits: Float32Array): void {
  const { tree, blocks, count } = segments;
  const post = new Int32Array(tree.count);
  const beside = new Uint8Array(tree.count);
  const quote = new Uint8Array(tree.count);
  for (let node = 1; node < tree.count; node++) {
    const up = tree.parent[node]!;
    const isElement = tree.tag[node] !== TEXT && tree.tag[node] !== RAW;
    const said = isElement && tree.from[node]! < tree.to[node]! ? namesOf(tree, node) : 0;
    const isText = (said & POST) !== 0;
    post[node] = isText ? node : post[up]!;
    if ((said & FOREIGN) !== 0 || beside[up] === FOREIGN) beside[node] = FOREIGN;
    else if (!isText && ((said & BESIDE) !== 0 || beside[up] === BESIDE)) beside[node] = BESIDE;
    if (tree.tag[node] === BLOCKQUOTE || (said & QUOTE) !== 0 || quote[up] === 1) quote[node] = 1;
  }
  const inPost = new Uint8Array(count);
  let posts = 0;
  let last = 0;
  let postWords = 0;
  let words = 0;
  for (let b = 0, at = 0; b < count; b++, at += STRIDE) {
    const container = blocks[at + CONTAINER]!;
    if (logits[b]! > NEVER) words += blocks[at + WORDS]!;
    if (post[container] === 0 || beside[container] !== 0) continue;
    inPost[b] = 1;
    postWords += blocks[at + WORDS]!;
    if (post[container]! > last) {
      posts++;
      last = post[container]!;
    }
  }
  leaveQuotes(segments, quote, logits);
  if (posts < MIN_POSTS || postWords < MIN_SHARE * words) return;
  for (let b = 0; b < count; b++) logits[b]! += inPost[b] === 1 ? IN_POST : OUT_OF_POST;
}

/** A reply that quotes a post repeats what stands further up: lowers quotations half of which was there already. */
function leaveQuotes({ tree, blocks, count }: Segments, quote: Uint8Array, logits: Float32Array): void {
  if (!quote.includes(1)) return;
  const seen = new Set<string>();
  for (let b = 0, at = 0; b < count; b++, at += STRIDE) {
    const text = blockText(tree, blocks[at + FIRST_NODE]!, blocks[at + LAST_NODE]!).toLowerCase();
    const words = text.match(/[\p{L}\p{N}]+/gu) ?? [];
    const length = Math.max(1, Math.min(RUN, words.length));
    let repeated = 0;
    for (let k = 0; k + length <= words.length; k++) {
      const run = words.slice(k, k + length).join(' ');
      if (seen.has(run)) repeated++;
      else if (seen.size < MAX_RUNS) seen.add(run);
    }
    const runs = words.length - length + 1;
    if (quote[blocks[at + CONTAINER]!] === 1 && repeated * 2 > runs) logits[b]! += REPEATED_QUOTE;
  }
}

function namesOf(tree: PageTree, node: number): number {
  let said = 0;
  for (const attribute of ['class', 'id', 'itemprop']) {
    const range = tree.attributeRange(node, attribute);
    if (range === null) continue;
    if (attribute === 'itemprop' && IS_TEXT.test(tree.raw(range.from, range.to))) return POST;
    said |= wordsOf(tree.bytes, range.from, Math.min(range.to, range.from + MAX_NAME));
  }
  return said;
}

/** The categories of a value's words. */
function wordsOf(bytes: Uint8Array, from: number, to: number): number {
  let said = 0;
  const note = (hash: number): void => {
    const category = NAMES.find(hash);
    if (category >= 0) said |= 1 << category;
  };
  let word = WORD_SEED;
  // Of the part before and this one, within one name.
  let pair = WORD_SEED;
  let hasPair = false;
  let length = 0;
  let previousLower = false;
  for (let k = from; k <= to; k++) {
    const byte = k < to ? bytes[k]! : 0x20;
    const isLower = byte >= 0x61 && byte <= 0x7a;
    const isUpper = byte >= 0x41 && byte <= 0x5a;
    if (!isLower && !(isUpper && !previousLower)) {
      if (length > 0) {
        note(word);
        if (hasPair) note(pair);
        pair = word;
        hasPair = true;
      }
      if (byte <= 0x20) {
        pair = WORD_SEED;
        hasPair = false;
      }
      word = WORD_SEED;
      length = 0;
    }
    if (isLower || isUpper) {
      word = mixLetter(word, byte | 0x20);
      pair = mixLetter(pair, byte | 0x20);
      length++;
    }
    previousLower = isLower;
  }
  return said;
}
