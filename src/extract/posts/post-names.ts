// Forum software's class names for the parts of a post: text, author, date, quotes, the rest.
// Promise: names of software, never of a site; one pass over the page's elements.
import type { PageTree } from '../../parse/tree/tree.js';
import { RAW, TEXT, elementNumber } from '../page/elements.js';
import { WORD_SEED, createWordTable, mixLetter } from '../page/word-table.js';

/** Words are parts of a class, id or property, or two parts in a row: `post-body` and `postBody` are postbody. */
const NAMES = createWordTable([
  // The text of a post.
  'postbody messagebody postmessage posttext msgtext msgbody messagetext bbwrapper cooked sprose replycontent replybody ' +
    'topiccontent postarea postinner postmsg wpforopost usertext commtext ipsrich typerich contenttext markdownbody rtjson mddiv',
  // Around it in the same post: votes, links to it, what others remarked.
  'postheader lastedit lastedited editedby edited useraction actiontime postnumber postcount permalink topicoverview ' +
    'reactions reactionsbar reaction likes likebutton upvote downvote votecount votingcontainer voting postmenu postedit ' +
    'postcontrols postbuttons postactions actionbar postfoot sharemenu postshare moderatorbar undermessage unfurl ' +
    'quickreply threadinfo replybutton karma kudos commentbody commenttext commentcontent commentcopy',
  // What others wrote, repeated in a reply.
  'bbquote bbcodequote ipsquote standardquote postquote quotecontainer quotecontents quotecontent quotebox quotebody',
  // Never the text of a post, though its markup may be the same.
  'signature signatures postsignature membersignature usersig sigtext postsig forumsig similarthreads similartopics ' +
    'relatedtopics suggestedtopics relatedquestions similarcontent relatedthreads topiclist threadlist guestteaser samcode samitem expandlink shrinklink',
  // Who wrote a post, and when.
  'username bigusername author poster postauthor postername postuser messagename creator authorname membername',
  'postdate datetime dateline posttime postedon messageattribution keyinfo postinfo posthead postmeta commentmeta msginfobox date',
  // A member's details.
  'authors byline bio avatar profile postprofile userdetails userinfo posterinfo authorpane authorcolumn usercard ' +
    'userextras usertitle userbanner userstats userstatistics usermeta authorinfo authorcard messageavatar userpanel postleft',
]);
/** What schema.org calls the text of a post or of a reply. */
const IS_TEXT = /^(?:text|commentText)$/;
const POST = 1;
/** Beside the text, in the same post. */
export const ASIDE = 2;
const QUOTE = 4;
/** Never of a post. */
export const FOREIGN = 8;
export const WHO = 16;
export const WHEN = 32;
/** Among the author's details. */
export const MEMBER = 64;
/** Longer values are data, not names. */
const MAX_NAME = 400;
const BLOCKQUOTE = elementNumber('blockquote');

/** By node. */
export interface PostMarks {
  /** The element with the text of the post that it is in, or 0. */
  readonly post: Int32Array;
  /** {@link ASIDE}, {@link MEMBER} or {@link FOREIGN} where it is not of that text. */
  readonly beside: Uint8Array;
  /** {@link WHO} or {@link WHEN}. */
  readonly head: Uint8Array;
  /** The outermost quotation that it is in, or 0. */
  readonly quote: Int32Array;
}

/** Marks the parts of a page's posts. */
export function markPosts(tree: PageTree): PostMarks {
  const post = new Int32Array(tree.count);
  const beside = new Uint8Array(tree.count);
  const head = new Uint8Array(tree.count);
  const quote = new Int32Array(tree.count);
  for (let node = 1; node < tree.count; node++) {
    const up = tree.parent[node]!;
    const isElement = tree.tag[node] !== TEXT && tree.tag[node] !== RAW;
    const said = isElement && tree.from[node]! < tree.to[node]! ? namesOf(tree, node) : 0;
    const isText = (said & POST) !== 0;
    post[node] = isText ? node : post[up]!;
    head[node] = isText ? 0 : said & (WHO | WHEN) || head[up]!;
    if (((said | beside[up]!) & FOREIGN) !== 0) beside[node] = FOREIGN;
    else if (isText) beside[node] = 0;
    else if (((said | beside[up]!) & MEMBER) !== 0) beside[node] = MEMBER;
    else if ((said & (ASIDE | WHO | WHEN)) !== 0) beside[node] = ASIDE;
    else beside[node] = beside[up]!;
    quote[node] = quote[up]! > 0 ? quote[up]! : tree.tag[node] === BLOCKQUOTE || (said & QUOTE) !== 0 ? node : 0;
  }
  return { post, beside, head, quote };
}

/** Whether forum software names an element as the text of a post. */
export function isNamedPost(tree: PageTree, node: number): boolean {
  if (tree.tag[node] === TEXT || tree.tag[node] === RAW || tree.from[node]! >= tree.to[node]!) return false;
  const range = tree.attributeRange(node, 'class');
  return range !== null && (wordsOf(tree.bytes, range.from, Math.min(range.to, range.from + MAX_NAME)) & POST) !== 0;
}

function namesOf(tree: PageTree, node: number): number {
  let said = 0;
  for (const attribute of ['class', 'id', 'itemprop', 'data-role']) {
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
