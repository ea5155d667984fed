// The usual path for matching one path segment with several stars, such as `*-*-*.html`.
// Promise: each text between two stars is searched once, so a test costs segment length × pattern size at most.
import { type CharacterSet, characterSet, contains, type PatternNode } from './glob-automaton.js';

/** What lies between two stars: one set for each character. */
type Piece = readonly CharacterSet[];

/**
 * A test of a whole segment, or `undefined` if the pattern is more than characters and stars.
 *
 * A star matches anything within a segment, so the leftmost place of a piece leaves the most room for the next one:
 * no other place needs to be tried.
 */
export function createStarsTest(pattern: PatternNode, flags: string): ((segment: string) => boolean) | undefined {
  // With the u flag a character may be two code units.
  if (pattern.kind !== 'sequence' || flags.includes('u')) return undefined;
  const items = pattern.items.slice(1, -1);
  const [first] = items;
  const noDot = first !== undefined && isNoDot(first);
  const pieces = piecesOf(noDot ? items.slice(1) : items, flags);
  if (pieces === undefined || pieces.length < 2) return undefined;

  const head = pieces[0] as Piece;
  const tail = pieces.at(-1) as Piece;
  const middle = pieces.slice(1, -1);
  return (segment) => {
    const end = segment.length - tail.length;
    if (head.length > end || (noDot && segment.startsWith('.'))) return false;
    if (!fits(tail, segment, end) || !fits(head, segment, 0)) return false;
    let at = head.length;
    for (const piece of middle) {
      while (at + piece.length <= end && !fits(piece, segment, at)) at += 1;
      at += piece.length;
      if (at > end) return false;
    }
    return true;
  };
}

function fits(piece: Piece, segment: string, at: number): boolean {
  for (let i = 0; i < piece.length; i += 1) {
    if (!contains(piece[i] as CharacterSet, segment.charCodeAt(at + i))) return false;
  }
  return true;
}

function piecesOf(items: readonly PatternNode[], flags: string): Piece[] | undefined {
  let piece: CharacterSet[] = [];
  const pieces = [piece];
  for (const item of items) {
    if (item.kind === 'character') {
      piece.push(characterSet(item.source, flags));
    } else if (item.kind === 'any' && item.body.kind === 'character' && isAnything(item.body.source)) {
      piece = [];
      pieces.push(piece);
    } else {
      return undefined;
    }
  }
  return pieces;
}

function isNoDot(node: PatternNode): boolean {
  if (node.kind !== 'not' || node.body.kind !== 'sequence' || node.body.items.length !== 1) return false;
  const [only] = node.body.items;
  return only?.kind === 'character' && only.source === '\\.';
}

/** The engine may escape the slash in the source it shows. */
function isAnything(source: string): boolean {
  return source === '[^/]' || source === '[^\\/]';
}
