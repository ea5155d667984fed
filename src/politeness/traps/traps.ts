// Detects endless link spaces by their URLs before anything is queued: called for every link.
// Promise: one pass over the URL, memory bounded by options, a stable code for each refusal.
import { aBoolean, aFunction, aWholeNumber, checkOptions, type ShapeOf } from '../../option-checks.js';
import { fingerprintOf } from '../../request/fingerprint.js';
import { createDateWindow } from './dates.js';
import { hasSessionId } from '../../request/session-ids.js';

export type TrapReason =
  | 'TRAP_LINK_DEPTH'
  | 'TRAP_URL_LENGTH'
  | 'TRAP_PATH_DEPTH'
  | 'TRAP_REPEATED_SEGMENTS'
  | 'TRAP_QUERY_PARAMETERS'
  | 'TRAP_QUERY_VARIANTS'
  | 'TRAP_SESSION_ID'
  | 'TRAP_CALENDAR';

/** Which links count as endless, and are not followed. */
export interface TrapOptions {
  /** Links between a seed and the page. Default: no limit. */
  maxLinkDepth?: number;
  /** Default 2,000 characters. */
  maxUrlLength?: number;
  /** Segments of a path. Default 20. */
  maxPathDepth?: number;
  /** How often one segment may stand in a path; a run of several may stand there one time less in a row. Default 3. */
  maxSegmentRepeats?: number;
  /** Default 20. */
  maxQueryParameters?: number;
  /** Different queries of one path. Default 1,000. */
  maxQueryVariants?: number;
  /** Refuses URLs that carry a session id. Default false: polite and broad crawls set it. */
  refuseSessionIds?: boolean;
  /** Dates further ahead than this are refused. Default 2 years. */
  maxYearsAhead?: number;
  /** In paths that speak of a calendar, dates further back than this are refused too. Default 10 years. */
  maxCalendarYearsBack?: number;
  /** Queries remembered to count variants, all paths together; the path longest unused is forgotten. Default 200,000. */
  maxRemembered?: number;
  /** Wall clock in milliseconds, for what "ahead" means. */
  now?: () => number;
}

const SHAPE: ShapeOf<TrapOptions> = {
  maxLinkDepth: aWholeNumber({ from: 0, orInfinity: true }),
  maxUrlLength: aWholeNumber({ from: 1, orInfinity: true }),
  maxPathDepth: aWholeNumber({ from: 1, orInfinity: true }),
  maxSegmentRepeats: aWholeNumber({ from: 1, orInfinity: true }),
  maxQueryParameters: aWholeNumber({ from: 0, orInfinity: true }),
  maxQueryVariants: aWholeNumber({ from: 1, orInfinity: true }),
  refuseSessionIds: aBoolean,
  maxYearsAhead: aWholeNumber({ from: 0, orInfinity: true }),
  maxCalendarYearsBack: aWholeNumber({ from: 0, orInfinity: true }),
  maxRemembered: aWholeNumber({ from: 1 }),
  now: aFunction,
};

/** Why the URL (absolute, as the URL parser spells it) is not to be queued, or undefined. */
export type TrapRules = (url: string, linkDepth?: number) => TrapReason | undefined;

/**
 * The rules that keep a crawl out of endless link spaces.
 *
 * @example
 * const trapOf = createTrapRules({ refuseSessionIds: true });
 * trapOf('https://example.com/a/b/a/b/a/b'); // 'TRAP_REPEATED_SEGMENTS'
 */
export function createTrapRules(options: TrapOptions = {}): TrapRules {
  checkOptions('traps', options, SHAPE);
  const { maxLinkDepth = Infinity, maxUrlLength = 2_000, maxPathDepth = 20, maxSegmentRepeats = 3 } = options;
  const { maxQueryParameters = 20, maxQueryVariants = 1_000, refuseSessionIds = false } = options;
  const { maxYearsAhead = 2, maxCalendarYearsBack = 10, now = Date.now } = options;
  const isFarDate = createDateWindow({ maxYearsAhead, maxCalendarYearsBack, now });
  const variants = createVariantCounter(maxQueryVariants, options.maxRemembered ?? 200_000);

  return function trapOf(url, linkDepth = 0) {
    if (linkDepth > maxLinkDepth) return 'TRAP_LINK_DEPTH';
    if (url.length > maxUrlLength) return 'TRAP_URL_LENGTH';
    const hash = url.indexOf('#');
    const end = hash < 0 ? url.length : hash;
    const mark = url.indexOf('?');
    const pathEnd = mark < 0 || mark > end ? end : mark;
    const pathStart = url.indexOf('/', url.indexOf('//') + 2);
    const path = pathStart < 0 || pathStart > pathEnd ? '/' : url.slice(pathStart, pathEnd);
    const query = pathEnd < end ? url.slice(pathEnd + 1, end) : '';

    const segments = path.slice(1).split('/');
    if (segments.length > maxPathDepth) return 'TRAP_PATH_DEPTH';
    if (repeats(segments, maxSegmentRepeats)) return 'TRAP_REPEATED_SEGMENTS';
    if (query !== '' && countParameters(query) > maxQueryParameters) return 'TRAP_QUERY_PARAMETERS';
    if (refuseSessionIds && hasSessionId(path, query)) return 'TRAP_SESSION_ID';
    if (isFarDate(segments, query)) return 'TRAP_CALENDAR';
    // Last, so that URLs refused above do not use up a path's variants.
    if (query !== '' && !variants.admits(url.slice(0, pathEnd), query)) return 'TRAP_QUERY_VARIANTS';
    return undefined;
  };
}

const NUMBER = /^\d+$/;

/**
 * One segment more than `max` times (except numbers: `/tiles/0/0/0` is not a trap), or a sequence of two or more `max`
 * times in a row. Paths are short here, so comparing all sequences is cheap.
 */
function repeats(segments: readonly string[], max: number): boolean {
  if (segments.length <= Math.min(max, 3)) return false;
  const counts = new Map<string, number>();
  for (const segment of segments) {
    if (NUMBER.test(segment)) continue;
    const count = (counts.get(segment) ?? 0) + 1;
    if (count > max) return true;
    counts.set(segment, count);
  }
  // A run that follows itself has each of its segments as often.
  if (counts.size === segments.length) return false;
  for (let length = 2; length * max <= segments.length; length++) {
    let same = 0;
    for (let at = length; at < segments.length; at++) {
      same = segments[at] === segments[at - length] ? same + 1 : 0;
      if (same >= length * (max - 1)) return true;
    }
  }
  return false;
}

function countParameters(query: string): number {
  let count = 1;
  for (let at = query.indexOf('&'); at >= 0; at = query.indexOf('&', at + 1)) count++;
  return count;
}

interface VariantCounter {
  /** Whether this query was counted before, or the path has room for another. */
  admits(path: string, query: string): boolean;
}

/** Exact per path. Keys are SHA-1 fingerprints: no site can craft a path that uses up another's. */
function createVariantCounter(maxVariants: number, maxRemembered: number): VariantCounter {
  // In order of use. Most paths have one query: that one needs no set.
  const queriesOf = new Map<number, number | Set<number>>();
  let remembered = 0;

  function forgetOldest(): void {
    for (const [path, queries] of queriesOf) {
      if (remembered <= maxRemembered) return;
      remembered -= typeof queries === 'number' ? 1 : queries.size;
      queriesOf.delete(path);
    }
  }

  return {
    admits(path, query) {
      if (maxVariants === Infinity) return true;
      const { hi, lo } = fingerprintOf(path);
      const key = hi * 2 ** 20 + (lo >>> 12);
      const variant = fingerprintOf(query).lo | 0;
      let queries = queriesOf.get(key);
      if (queries === variant) return true;
      if (queries === undefined) queries = variant;
      else {
        if (typeof queries === 'number') queries = new Set([queries]);
        remembered -= queries.size;
        if (queries.size < maxVariants) queries.add(variant);
        // Also if it is refused: an active trap must not be forgotten.
        queriesOf.delete(key);
      }
      remembered += typeof queries === 'number' ? 1 : queries.size;
      queriesOf.set(key, queries);
      if (remembered > maxRemembered) forgetOldest();
      return typeof queries === 'number' || queries.has(variant);
    },
  };
}
