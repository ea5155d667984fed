// The reading order of a page: bands across it, and in each band its columns from left to right.
// Promise: bounded depth; what stands across columns divides them above and below.
import { type Box, least, most } from './geometry.js';

/** Something on a page: a line or a table. */
export interface Item extends Box {
  readonly size: number;
  /** Its place in the drawing. */
  readonly order: number;
  readonly isTable: boolean;
}

/** A gap between columns is at least so wide, in sizes of the text. */
const NARROWEST = 0.55;
const MAX_DEPTH = 6;
const MOST_GAPS = 12;

/** The items of a page, column by column. Each list is one column of one band. */
export function columnsOf<T extends Item>(items: readonly T[], depth = 0): T[][] {
  if (items.length < 4 || depth >= MAX_DEPTH) return items.length === 0 ? [] : [byHeight(items)];
  const gutter = gutterOf(items);
  if (gutter === undefined) return [byHeight(items)];
  const bands: { isWide: boolean; items: T[] }[] = [];
  for (const item of byHeight(items)) {
    const isWide = item.x0 < gutter && item.x1 > gutter;
    const last = bands.at(-1);
    if (last && last.isWide === isWide) last.items.push(item);
    else bands.push({ isWide, items: [item] });
  }
  return bands.flatMap(({ isWide, items: band }) => {
    if (isWide) return [band];
    const left = band.filter((item) => item.x1 <= gutter);
    const right = band.filter((item) => item.x1 > gutter);
    return [...columnsOf(left, depth + 1), ...columnsOf(right, depth + 1)];
  });
}

function byHeight<T extends Item>(items: readonly T[]): T[] {
  return [...items].sort((a, b) => a.y1 - b.y1 || a.x0 - b.x0);
}

/** Where a gap runs down between two columns; undefined when there is none. */
function gutterOf(items: readonly Item[]): number | undefined {
  const left = least(items, ({ x0 }) => x0);
  const right = most(items, ({ x1 }) => x1);
  const width = Math.ceil(right - left);
  if (width < 60 || width > 20_000) return undefined;
  const across = depthsOf(items, left, width);
  const size = medianSize(items);
  const first = Math.floor(width * 0.12);
  const last = Math.ceil(width * 0.88);
  const limit = items.length * 0.35;
  const gaps: { x: number; across: number; width: number }[] = [];
  // Lower than on both sides, in the middle of the page.
  for (const [at, { from, to, count }] of across.entries()) {
    if (count > limit || from < first || to > last) continue;
    const isLowest = (across[at - 1]?.count ?? Infinity) > count && (across[at + 1]?.count ?? Infinity) > count;
    if (isLowest && to - from >= NARROWEST * size)
      gaps.push({ x: left + (from + to) / 2, across: count, width: to - from });
  }
  // A page has few columns: the clearest gaps are enough.
  gaps.sort((a, b) => a.across - b.across || b.width - a.width || a.x - b.x);
  if (gaps.length === 0) return undefined;
  const drawn = inDrawnOrder(items);
  let best: { x: number; score: number } | undefined;
  for (const { x, across: count } of gaps.slice(0, MOST_GAPS)) {
    const score = scoreOf(drawn, x, count, size);
    if (score > 0 && (!best || score > best.score || (score === best.score && x < best.x))) best = { x, score };
  }
  return best?.x;
}

interface Stretch {
  readonly from: number;
  readonly to: number;
  /** How much stands across it. */
  readonly count: number;
}

/** The width cut into stretches that equally many items stand across, in whole points. */
function depthsOf(items: readonly Item[], left: number, width: number): Stretch[] {
  // By the point: how many more items stand across from there on than before it.
  const changes = new Int32Array(width + 2);
  for (const { x0, x1 } of items) {
    changes[Math.max(0, Math.floor(x0 - left))]!++;
    changes[Math.min(width + 1, Math.ceil(x1 - left))]!--;
  }
  const stretches: { from: number; to: number; count: number }[] = [];
  let count = 0;
  for (let x = 0; x < changes.length; x++) {
    count += changes[x]!;
    const last = stretches.at(-1);
    if (last?.count === count) continue;
    if (last) last.to = x;
    if (x <= width) stretches.push({ from: x, to: width + 1, count });
  }
  return stretches;
}

/** Items in the order they were drawn, packed: each gap looks at all of them. */
interface Drawn {
  readonly count: number;
  readonly x0: Float64Array;
  readonly x1: Float64Array;
  readonly y0: Float64Array;
  readonly y1: Float64Array;
  readonly isTable: Uint8Array;
}

function inDrawnOrder(items: readonly Item[]): Drawn {
  const count = items.length;
  const order = new Float64Array(count);
  items.forEach((item, at) => (order[at] = item.order));
  const sorted = new Uint32Array(count).map((_, at) => at).sort((a, b) => order[a]! - order[b]! || a - b);
  const numbers = (): Float64Array => new Float64Array(count);
  const drawn = { count, x0: numbers(), x1: numbers(), y0: numbers(), y1: numbers(), isTable: new Uint8Array(count) };
  const placeOf = new Uint32Array(count);
  sorted.forEach((item, at) => (placeOf[item] = at));
  // In the order of the list: a million items are read faster as they lie in memory.
  items.forEach((item, index) => {
    const at = placeOf[index]!;
    drawn.x0[at] = item.x0;
    drawn.x1[at] = item.x1;
    drawn.y0[at] = item.y0;
    drawn.y1[at] = item.y1;
    drawn.isTable[at] = item.isTable ? 1 : 0;
  });
  return drawn;
}

/** How well a gap separates columns: lines on both sides that fill them, or were drawn one column after the other. */
function scoreOf(drawn: Drawn, x: number, across: number, size: number): number {
  const left = sideOf(drawn, -Infinity, x);
  const right = sideOf(drawn, x, Infinity);
  if (left.count < 2 || right.count < 2) return 0;
  // Side by side at all: something of the right stands beside something of the left.
  if (Math.min(left.y1, right.y1) - Math.max(left.y0, right.y0) < 2 * size) return 0;
  const shorter = Math.min(left.count, right.count);
  const isDrawnInColumns = changesAt(drawn, x) <= Math.max(1 + 2 * across, shorter * 0.25);
  if (isDrawnInColumns && shorter >= 3) return shorter - across;
  const areFilled = isFilled(drawn, -Infinity, x, left) && isFilled(drawn, x, Infinity, right);
  if (!areFilled || (shorter < 3 && !isDrawnInColumns)) return 0;
  return shorter - across;
}

/** How often the drawing goes from one side of a gap to the other. */
function changesAt({ count, x0, x1 }: Drawn, x: number): number {
  let changes = 0;
  let last = 0;
  for (let at = 0; at < count; at++) {
    const side = x1[at]! <= x ? 1 : x0[at]! >= x ? 2 : 0;
    if (side === 0) continue;
    if (last !== 0 && last !== side) changes++;
    last = side;
  }
  return changes;
}

/** What stands on one side of a gap: how much, and where. */
interface Side extends Box {
  readonly count: number;
}

function sideOf(drawn: Drawn, from: number, to: number): Side {
  let count = 0;
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let at = 0; at < drawn.count; at++) {
    const x0 = drawn.x0[at]!;
    const x1 = drawn.x1[at]!;
    if (x0 < from || x1 > to) continue;
    count++;
    if (x0 < left) left = x0;
    if (x1 > right) right = x1;
    if (drawn.y0[at]! < top) top = drawn.y0[at]!;
    if (drawn.y1[at]! > bottom) bottom = drawn.y1[at]!;
  }
  return { count, x0: left, x1: right, y0: top, y1: bottom };
}

/** Whether most lines of a column end where it ends. */
function isFilled(drawn: Drawn, from: number, to: number, { x0, x1, count }: Side): boolean {
  const wide = 0.8 * (x1 - x0);
  let full = 0;
  for (let at = 0; at < drawn.count; at++) {
    if (drawn.x0[at]! < from || drawn.x1[at]! > to) continue;
    if (drawn.isTable[at] === 1 || drawn.x1[at]! - drawn.x0[at]! > wide) full++;
  }
  return full >= count * 0.5;
}

function medianSize(items: readonly Item[]): number {
  const sizes = items.map(({ size }) => size).sort((a, b) => a - b);
  return sizes[sizes.length >> 1] ?? 10;
}
