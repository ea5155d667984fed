// What a page of a PDF consists of, once its drawing is interpreted: words, rules, links. Points from the top left corner.

export interface FontLook {
  readonly isBold: boolean;
  readonly isItalic: boolean;
  readonly isMono: boolean;
}

export interface Box {
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
}

export interface Word {
  readonly text: string;
  readonly x0: number;
  readonly x1: number;
  /** Of the baseline. */
  readonly y: number;
  readonly size: number;
  readonly font: FontLook;
  /** Whether a blank stands before it, in the line. */
  readonly hasSpace: boolean;
  /** Whether that blank is a character of its own: then the line goes on, however wide it is. */
  readonly hasBlank?: boolean | undefined;
  /** Its place in the drawing. */
  readonly order: number;
  readonly href?: string | undefined;
}

/** A piece of a line: words that stand together. */
export interface Line extends Box {
  readonly words: readonly Word[];
  readonly y: number;
  readonly size: number;
  readonly order: number;
  /** A dot was drawn before it. */
  readonly hasDot: boolean;
}

/** A straight line, level or upright. */
export type Rule = Box;

export interface PageDrawing {
  readonly width: number;
  readonly height: number;
  readonly words: readonly Word[];
  readonly rules: readonly Rule[];
  /** Small filled shapes, such as the bullets of lists. */
  readonly dots: readonly Box[];
}

export type Matrix = readonly [number, number, number, number, number, number];

export const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0];

/** First `inner`, then `outer`. */
export function combine(outer: Matrix, inner: Matrix): Matrix {
  return [
    outer[0] * inner[0] + outer[2] * inner[1],
    outer[1] * inner[0] + outer[3] * inner[1],
    outer[0] * inner[2] + outer[2] * inner[3],
    outer[1] * inner[2] + outer[3] * inner[3],
    outer[0] * inner[4] + outer[2] * inner[5] + outer[4],
    outer[1] * inner[4] + outer[3] * inner[5] + outer[5],
  ];
}

export function boxOf(matrix: Matrix, x0: number, y0: number, x1: number, y1: number): Box {
  // The four corners, without lists: a page may have millions of shapes.
  const [a, b, c, d, e, f] = matrix;
  const xs0 = a * x0 + c * y0 + e;
  const xs1 = a * x0 + c * y1 + e;
  const xs2 = a * x1 + c * y0 + e;
  const xs3 = a * x1 + c * y1 + e;
  const ys0 = b * x0 + d * y0 + f;
  const ys1 = b * x0 + d * y1 + f;
  const ys2 = b * x1 + d * y0 + f;
  const ys3 = b * x1 + d * y1 + f;
  return {
    x0: Math.min(xs0, xs1, xs2, xs3),
    y0: Math.min(ys0, ys1, ys2, ys3),
    x1: Math.max(xs0, xs1, xs2, xs3),
    y1: Math.max(ys0, ys1, ys2, ys3),
  };
}

/** Numbers that lie close together, as one each: their middle. */
export function clustered(values: readonly number[], distance: number): number[] {
  const sorted = [...values].sort((a, b) => a - b);
  const clusters: number[] = [];
  for (let from = 0; from < sorted.length;) {
    let to = from + 1;
    while (to < sorted.length && sorted[to]! - sorted[to - 1]! <= distance) to++;
    clusters.push((sorted[from]! + sorted[to - 1]!) / 2);
    from = to;
  }
  return clusters;
}

export function median(values: readonly number[]): number {
  if (values.length === 0) return 0;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1]!;
}

/** The least of what a list says, without spreading the list. */
export function least<T>(list: readonly T[], of: (one: T) => number): number {
  let found = Infinity;
  for (const one of list) found = Math.min(found, of(one));
  return found;
}

export function most<T>(list: readonly T[], of: (one: T) => number): number {
  let found = -Infinity;
  for (const one of list) found = Math.max(found, of(one));
  return found;
}

/** The first place in a sorted list whose number is not below `value`. */
export function firstFrom<T>(sorted: readonly T[], of: (one: T) => number, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (of(sorted[middle]!) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Finds what stands between two heights. */
export type Between<T> = (top: number, bottom: number) => readonly T[];

/**
 * Sorts once, then finds by halving. All that is found together is at most `LOOKS` times the list: a page that asks for
 * more is hostile, and finds nothing further.
 */
export function findBetween<T>(list: readonly T[], of: (one: T) => number): Between<T> {
  const sorted = [...list].sort((a, b) => of(a) - of(b));
  let left = LOOKS * list.length;
  return (top, bottom) => {
    const from = firstFrom(sorted, of, top);
    const to = firstFrom(sorted, of, bottom);
    left -= to - from;
    return left < 0 ? [] : sorted.slice(from, to);
  };
}

const LOOKS = 30;
