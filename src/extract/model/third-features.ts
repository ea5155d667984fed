// What the third look sees beyond the second: what that said of a block and its neighbours, and notices in many languages.
// Promise: linear in the page; texts are read only of short blocks that may become content.
import type { Segments } from '../page/segment.js';
import { CONTAINER, HEADING, STRIDE, WORDS } from '../page/segment.js';
import { CALLS, CUT_OFF, lineMarks } from '../choose/line-marks.js';
import { NOTICE_NAMES } from '../choose/notices.js';
import { postNodes } from '../choose/article-parts.js';
import { SHAPE_NAMES, shapeColumns } from './third-shape.js';

const OFFSETS = [-3, -2, -1, 1, 2, 3];
export const THIRD_NAMES: readonly string[] = [
  'second',
  ...OFFSETS.map((offset) => `second at ${offset}`),
  ...NOTICE_NAMES.map((name) => `notice ${name}`),
  ...NOTICE_NAMES.map((name) => `before it ${name}`),
  ...NOTICE_NAMES.map((name) => `under ${name}`),
  'sure before',
  'sure after',
  'since sure',
  'until sure',
  'sure around',
  'sure further',
  'cut off',
  'call',
  'call before',
  'call after',
  'post of others',
  ...SHAPE_NAMES,
];
export const THIRD_COUNT = THIRD_NAMES.length;

/** Below this a block is out of the question, and the third look is not asked. */
export const ASK_FROM = -3;
const SURE = 1;
const SURE_WORDS = 15;
const FAR = 30;
const NOTICES = (1 << NOTICE_NAMES.length) - 1;

/** Columns of all blocks; `second` are the second look's logits. Every place is written. */
export function thirdFeatures(segments: Segments, second: Float32Array, out: Float32Array): Float32Array {
  const { tree, blocks, count, words } = segments;
  const notices = new Uint8Array(count);
  const calls = new Uint8Array(count);
  const cut = new Uint8Array(count);
  const posts = postNodes(segments);
  const isSure = new Uint8Array(count);
  const sureWords = new Int32Array(tree.count);
  let total = 0;
  for (let b = 0, at = 0; b < count; b++, at += STRIDE) {
    const n = blocks[at + WORDS]!;
    if (second[b]! > ASK_FROM) {
      const marks = lineMarks(segments, b);
      notices[b] = marks & NOTICES;
      calls[b] = (marks & CALLS) === 0 ? 0 : 1;
      cut[b] = (marks & CUT_OFF) === 0 ? 0 : 1;
    }
    if (second[b]! > SURE && n >= SURE_WORDS) {
      isSure[b] = 1;
      total += n;
      sureWords[blocks[at + CONTAINER]!]! += n;
    }
  }
  for (let node = tree.count - 1; node > 0; node--) sureWords[tree.parent[node]!]! += sureWords[node]!;
  const until = new Int32Array(count);
  for (let b = count - 1, next = count + FAR; b >= 0; b--) {
    until[b] = Math.min(FAR, next - b);
    if (isSure[b] === 1) next = b;
  }
  let column = 0;
  const put = (b: number, value: number): void => {
    out[column++ * count + b] = value;
  };
  let before = 0;
  let last = -FAR;
  let under = 0;
  for (let b = 0, at = 0; b < count; b++, at += STRIDE) {
    column = 0;
    put(b, second[b]!);
    for (const offset of OFFSETS) put(b, second[b + offset] ?? -12);
    for (let k = 0; k < NOTICE_NAMES.length; k++) put(b, (notices[b]! >> k) & 1);
    for (let k = 0; k < NOTICE_NAMES.length; k++) put(b, b === 0 ? 0 : (notices[b - 1]! >> k) & 1);
    for (let k = 0; k < NOTICE_NAMES.length; k++) put(b, (under >> k) & 1);
    put(b, before / Math.max(1, total));
    put(b, (total - before - (isSure[b] === 1 ? blocks[at + WORDS]! : 0)) / Math.max(1, total));
    put(b, Math.min(FAR, b - last));
    put(b, until[b]!);
    const inside = blocks[at + CONTAINER]!;
    const around = tree.parent[inside]!;
    const further = tree.parent[around]!;
    put(b, sureWords[around]! / Math.max(1, words[around]!));
    put(b, sureWords[further]! / Math.max(1, words[further]!));
    put(b, cut[b]!);
    put(b, calls[b]!);
    put(b, calls[b - 1] ?? 0);
    put(b, calls[b + 1] ?? 0);
    put(b, posts === null ? 0 : posts[inside]!);
    if (isSure[b] === 1) {
      before += blocks[at + WORDS]!;
      last = b;
    }
    if (blocks[at + HEADING]! > 0) under = notices[b]!;
  }
  const sure = { byNode: sureWords, isSure, total };
  shapeColumns(segments, second, sure, out.subarray((THIRD_COUNT - SHAPE_NAMES.length) * count));
  return out;
}
