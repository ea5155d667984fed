// Turns a parsed glob into a test of whole URLs, segment by segment, as minimatch tests paths.
// Promise: a test costs at most URL length × glob size, so no URL can block the process.
import type { Minimatch } from 'minimatch';
import { createSegmentTest, type SegmentTest } from './glob-segment.js';

/** What is used of a parsed glob: one list of segments for each way its braces can be read. */
export type ParsedGlob = Pick<Minimatch, 'set' | 'negate' | 'comment'>;

/** `undefined` is `**`: any number of segments that do not begin with a dot. */
type Part = SegmentTest | undefined;

interface Alternative {
  /** The segments before the first `**`. */
  readonly head: readonly SegmentTest[];
  /** From the first `**` on; empty if there is none. */
  readonly rest: readonly Part[];
}

export function createGlobMatcher({ set, negate, comment }: ParsedGlob): (url: string) => boolean {
  if (comment) return () => false;
  const alternatives = set.map((parts) =>
    createAlternative(parts.map((part) => (typeof part === 'symbol' ? undefined : createSegmentTest(part)))),
  );
  return (url) => {
    const segments = url.split(/\/+/);
    return alternatives.some((alternative) => matches(alternative, segments)) !== negate;
  };
}

function createAlternative(parts: readonly Part[]): Alternative {
  const firstGlobstar = parts.indexOf(undefined);
  const end = firstGlobstar === -1 ? parts.length : firstGlobstar;
  return { head: parts.slice(0, end) as SegmentTest[], rest: parts.slice(end) };
}

function matches({ head, rest }: Alternative, segments: readonly string[]): boolean {
  if (segments.length < head.length) return false;
  for (const [index, test] of head.entries()) if (!test(segments[index] as string)) return false;
  return rest.length === 0 ? isEnd(head.length, segments) : matchesRest(rest, segments, head.length);
}

/**
 * Reads the parts from the last to the first. After each, `fits[i]` says whether the parts read so far match the
 * segments from `i` on; a segment is tested only where what follows it fits.
 */
function matchesRest(rest: readonly Part[], segments: readonly string[], from: number): boolean {
  const count = segments.length;
  let fits = new Uint8Array(count + 1);
  for (let i = Math.max(from, count - 1); i <= count; i += 1) fits[i] = isEnd(i, segments) ? 1 : 0;

  for (let partIndex = rest.length - 1; partIndex >= 0; partIndex -= 1) {
    const test = rest[partIndex];
    const before = new Uint8Array(count + 1);
    if (test !== undefined) {
      for (let i = count - 1; i >= from; i -= 1) {
        if (fits[i + 1] === 1 && test(segments[i] as string)) before[i] = 1;
      }
    } else {
      // A last `**` stands for one segment at least.
      const isLast = partIndex === rest.length - 1;
      for (let i = count - 1; i >= from; i -= 1) {
        const swallows = (isLast && i === count - 1) || before[i + 1] === 1;
        if ((!isLast && fits[i] === 1) || (swallows && !(segments[i] as string).startsWith('.'))) before[i] = 1;
      }
    }
    fits = before;
  }
  return fits[from] === 1;
}

/** A slash too many at the end of the URL does no harm. */
function isEnd(index: number, segments: readonly string[]): boolean {
  return index === segments.length || (index === segments.length - 1 && segments[index] === '');
}
