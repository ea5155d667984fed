// One rule's path pattern: `*` is any sequence of characters, a final `$` is the end of the URL.
// Promise: matching is one pass over the URL, segment by segment; a pattern of stars costs no more than its length.
import { decodeUnreserved, type RobotsMode, withLiteralSpecials } from './path.js';

/** Characters that may still be looked at to decide about one URL. */
export interface Steps {
  left: number;
}

export interface PathPattern {
  /** The literal pieces between stars; the first stands at the start of the path. */
  readonly segments: readonly string[];
  readonly isAnchored: boolean;
  readonly literalLength: number;
}

/** `text` as `encodeRule` made it. */
export function compilePattern(text: string, mode: RobotsMode): PathPattern {
  const isAnchored = text.endsWith('$');
  const body = (isAnchored ? text.slice(0, -1) : text).replace(/\*{2,}/g, '*');
  const pieces = body.split('*');
  const segments = mode === 'google' ? pieces : pieces.map(withLiteralSpecials);
  return { segments, isAnchored, literalLength: segments.reduce((sum, segment) => sum + segment.length, 0) };
}

/** The same pattern with unreserved characters decoded, or undefined when that is the same. */
export function normalizedPattern(text: string, mode: RobotsMode): PathPattern | undefined {
  const decoded = decodeUnreserved(text);
  return decoded === text ? undefined : compilePattern(decoded, mode);
}

/** Leftmost placement of each segment is enough: a later one can only leave less room for the rest. */
export function matchesPath(
  { segments, isAnchored, literalLength }: PathPattern,
  path: string,
  steps?: Steps,
): boolean {
  if (literalLength > path.length) return false;
  const first = segments[0] as string;
  if (!path.startsWith(first)) return false;
  const last = segments.length - 1;
  if (last === 0) return !isAnchored || path.length === first.length;
  let at = first.length;
  for (let i = 1; i < last; i++) {
    const segment = segments[i] as string;
    const found = find(path, segment, at, steps);
    if (found < 0) return false;
    at = found + segment.length;
  }
  const tail = segments[last] as string;
  if (isAnchored) return path.length - tail.length >= at && path.endsWith(tail);
  return find(path, tail, at, steps) >= 0;
}

/** Searching costs a comparison per character, or several where a long segment almost matches everywhere. */
const CHEAP_LENGTH = 16;

function find(path: string, segment: string, from: number, steps: Steps | undefined): number {
  if (steps) {
    steps.left -= (path.length - from) * Math.max(1, segment.length / CHEAP_LENGTH);
    if (steps.left < 0) return -1;
  }
  return path.indexOf(segment, from);
}
