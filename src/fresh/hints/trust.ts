// How far the hints of a site are believed: counted from the visits that followed them.
// Promise: a site whose hints prove wrong is believed less, and again when they prove right; four numbers per site.

/** What a hint says of a page, compared with its last visit. */
export type Said = 'changed' | 'same';

/** Where a hint comes from: sitemaps and feeds, or the headers of the last response. */
export type HintKind = 'lists' | 'headers';

/** Visits that were made where something was said: [said changed: was, was not; said same: was same, had changed]. */
export type TrustCounts = readonly [changedRight: number, changedWrong: number, sameRight: number, sameWrong: number];

const NO_COUNTS: TrustCounts = [0, 0, 0, 0];
/** Older visits count less: halved when there are so many. */
const MOST_COUNTED = 200;
/** So many visits must have found what a site said, before a page is left alone because of it. */
const NEEDED = 10;
/** And so few of them the opposite. */
const MOST_WRONG = 0.02;
/** Below this, "it changed" is what a site says in any case. */
const LEAST_RIGHT = 0.3;

export function learnt(counts: TrustCounts = NO_COUNTS, said: Said, hasChanged: boolean): TrustCounts {
  const at = (said === 'changed' ? 0 : 2) + (hasChanged === (said === 'changed') ? 0 : 1);
  const more = counts.map((count, index) => count + (index === at ? 1 : 0));
  const total = more.reduce((sum, count) => sum + count, 0);
  const kept = total > MOST_COUNTED ? more.map((count) => count / 2) : more;
  return kept as unknown as TrustCounts;
}

/** Whether a page is visited sooner because its site says that it changed. Nobody is distrusted without a reason. */
export function isBelievedOfChange(counts: TrustCounts = NO_COUNTS): boolean {
  const [right, wrong] = counts;
  return (right + 1) / (right + wrong + 2) >= LEAST_RIGHT;
}

/** Whether a page is left alone because its site says that it did not change. Nobody is trusted without a reason. */
export function isBelievedOfSameness(counts: TrustCounts = NO_COUNTS): boolean {
  const [, , right, wrong] = counts;
  return right >= NEEDED && wrong <= MOST_WRONG * (right + wrong);
}

/** Counts as they were stored; undefined if they are not. */
export function readCounts(value: unknown): TrustCounts | undefined {
  const isCount = (one: unknown) => typeof one === 'number' && one >= 0 && one <= MOST_COUNTED;
  return Array.isArray(value) && value.length === 4 && value.every(isCount)
    ? (value as unknown as TrustCounts)
    : undefined;
}
