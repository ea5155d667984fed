// Parts of a page that some readers want and others do not: its title, byline, captions and comments.
// Promise: only what a caller requested changes; all forms of the content follow, as they come from one choice.
import type { ContentSettings } from '../content-options.js';
import { elementSet } from '../page/elements.js';
import { HINT_NAMES } from '../page/hints.js';
import type { Segments } from '../page/segment.js';
import { BUTTON_WORDS, CONTAINER, FIRST_NODE, HEADING, LAST_NODE, LINK_WORDS, STRIDE, WORDS } from '../page/segment.js';
import { blockText } from '../page/block-text.js';
import { commentNodes } from '../posts/comments.js';
import { contentsNodes } from './contents.js';

type Roles = Pick<ContentSettings, 'title' | 'byline' | 'captions' | 'comments' | 'contents'>;

const FIGURE = elementSet('figure figcaption');
const TIME = elementSet('time');
const bit = (name: string): number => 1 << HINT_NAMES.indexOf(name);
const AUTHOR = bit('author') | bit('date');
const CAPTION = bit('caption');
const STEPS = 3;
const MAX_BYLINE_WORDS = 30;
const MAX_CAPTION_WORDS = 120;
/** Blocks between a title and its byline, and between a caption and the text around it. */
const NEAR = 12;
/** Fewer words outside, and the comments are the content. */
const MIN_TEXT = 100;

/** Keeps or leaves out the parts that the options name. `title` is the page's. */
export function applyRoles(segments: Segments, chosen: Uint8Array, roles: Roles, title: string | null): void {
  const titleBlock = roles.title === undefined && roles.byline === undefined ? -1 : findTitle(segments, title);
  if (roles.title !== undefined && titleBlock >= 0) chosen[titleBlock] = roles.title ? 1 : 0;
  if (roles.title === false) for (const b of repeatsOfTitle(segments, title)) chosen[b] = 0;
  if (roles.captions !== undefined) applyCaptions(segments, chosen, roles.captions);
  if (roles.byline !== undefined) applyByline(segments, chosen, roles.byline, titleBlock);
  if (roles.contents === true) keepContents(segments, chosen);
  if (roles.comments !== undefined) applyComments(segments, chosen, roles.comments);
}

const squeeze = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
const textOf = (segments: Segments, b: number): string =>
  blockText(segments, segments.blocks[b * STRIDE + FIRST_NODE]!, segments.blocks[b * STRIDE + LAST_NODE]!);

/** The first heading that says the title; else the first of the first level. */
function findTitle(segments: Segments, title: string | null): number {
  const [found] = repeatsOfTitle(segments, title);
  if (found !== undefined) return found;
  const { blocks, count } = segments;
  for (let b = 0; b < count; b++) if (blocks[b * STRIDE + HEADING] === 1) return b;
  return -1;
}

function repeatsOfTitle(segments: Segments, title: string | null): number[] {
  const { blocks, count } = segments;
  const wanted = squeeze((title ?? '').slice(0, 1_000));
  const found: number[] = [];
  if (wanted === '') return found;
  for (let b = 0; b < count; b++) {
    const at = b * STRIDE;
    if (blocks[at + HEADING] === 0 || blocks[at + WORDS]! > 60) continue;
    if (squeeze(textOf(segments, b)) === wanted) found.push(b);
  }
  return found;
}

/** Whether an element at most a few steps above a block is wanted. */
function isWithin(segments: Segments, b: number, isWanted: (node: number) => boolean): boolean {
  const { tree, blocks } = segments;
  let node = tree.parent[blocks[b * STRIDE + FIRST_NODE]!]!;
  for (let step = 0; step < STEPS && node > 0; step++, node = tree.parent[node]!) if (isWanted(node)) return true;
  return false;
}

function applyCaptions(segments: Segments, chosen: Uint8Array, keeps: boolean): void {
  const { tree, blocks, count, hintLow } = segments;
  for (let b = 0; b < count; b++) {
    if (blocks[b * STRIDE + WORDS]! > MAX_CAPTION_WORDS || (!keeps && chosen[b] === 0)) continue;
    const isCaption = isWithin(
      segments,
      b,
      (node) => FIGURE[tree.tag[node]!] === 1 || (hintLow[node]! & CAPTION) !== 0,
    );
    if (isCaption && !keeps) chosen[b] = 0;
    else if (isCaption && hasChosen(chosen, b - NEAR, b) && hasChosen(chosen, b + 1, b + 1 + NEAR)) chosen[b] = 1;
  }
}

function hasChosen(chosen: Uint8Array, from: number, to: number): boolean {
  for (let b = Math.max(0, from); b < Math.min(chosen.length, to); b++) if (chosen[b] === 1) return true;
  return false;
}

function applyByline(segments: Segments, chosen: Uint8Array, keeps: boolean, title: number): void {
  const { tree, blocks, count, hintLow } = segments;
  const from = keeps ? Math.max(0, title) : 0;
  const to = keeps ? Math.min(count, from + NEAR) : count;
  for (let b = from; b < to; b++) {
    const at = b * STRIDE;
    if (blocks[at + WORDS]! > MAX_BYLINE_WORDS || blocks[at + HEADING]! > 0 || (!keeps && chosen[b] === 0)) continue;
    const isByline = isWithin(segments, b, (node) => TIME[tree.tag[node]!] === 1 || (hintLow[node]! & AUTHOR) !== 0);
    if (isByline) chosen[b] = keeps ? 1 : 0;
  }
}

function keepContents(segments: Segments, chosen: Uint8Array): void {
  const { blocks, count } = segments;
  const contents = contentsNodes(segments);
  if (contents === null) return;
  for (let b = 0; b < count; b++) if (contents[blocks[b * STRIDE + CONTAINER]!] === 1) chosen[b] = 1;
}

function applyComments(segments: Segments, chosen: Uint8Array, keeps: boolean): void {
  const { blocks, count } = segments;
  const comments = commentNodes(segments);
  if (comments === null) return;
  const isComment = (b: number): boolean => comments[blocks[b * STRIDE + CONTAINER]!] === 1;
  let outside = 0;
  for (let b = 0; b < count; b++) if (chosen[b] === 1 && !isComment(b)) outside += blocks[b * STRIDE + WORDS]!;
  if (!keeps && outside < MIN_TEXT) return;
  for (let b = 0; b < count; b++) {
    if (!isComment(b)) continue;
    const at = b * STRIDE;
    const isText = blocks[at + LINK_WORDS]! * 2 < blocks[at + WORDS]! && blocks[at + BUTTON_WORDS] === 0;
    if (!keeps) chosen[b] = 0;
    else if (isText && segments.hidden[blocks[at + FIRST_NODE]!] === 0) chosen[b] = 1;
  }
}
