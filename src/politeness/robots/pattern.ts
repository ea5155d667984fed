// One rule's path pattern: `*` is any sequence of characters, a final `$` is the end of the URL.
// Promise: matching is one pass over the URL, segment by segment; a pattern of stars costs no more than its length.
import { decodeUnreserved, type RobotsMode, withLiteralSpecials } from './path.js';

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
export function matchesPath({ segments, isAnchored, literalLength }: PathPattern, path: string): boolean {
  if (literalLength > path.length) return false;
  const first = segments[0] as string;
  if (!path.startsWith(first)) return false;
  const last = segments.length - 1;
  if (last === 0) return !isAnchored || path.length === first.length;
  let at = first.length;
  for (let i = 1; i < last; i++) {
    const segment = segments[i] as string;
    const found = path.indexOf(segment, at);
    if (found < 0) return false;
    at = found + segment.length;
  }
  const tail = segments[last] as string;
  if (isAnchored) return path.length - tail.length >= at && path.endsWith(tail);
  return path.indexOf(tail, at) >= 0;
}
