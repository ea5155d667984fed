import { describe, expect, it } from 'vitest';
import { isBelievedOfChange, isBelievedOfSameness, learnt, readCounts, type Said, type TrustCounts } from './trust.js';

function after(visits: readonly (readonly [Said, boolean])[], before?: TrustCounts): TrustCounts {
  let counts = before;
  for (const [said, hasChanged] of visits) counts = learnt(counts, said, hasChanged);
  return counts!;
}
const times = (count: number, said: Said, hasChanged: boolean) =>
  Array.from({ length: count }, () => [said, hasChanged] as const);

describe('the trust in the hints of a site', () => {
  it('visits sooner on the word of a site that nothing is known of, and leaves nothing alone', () => {
    expect(isBelievedOfChange(undefined)).toBe(true);
    expect(isBelievedOfSameness(undefined)).toBe(false);
  });

  it('is lost by a site whose pages always changed just now', () => {
    expect(isBelievedOfChange(after(times(10, 'changed', false)))).toBe(false);
  });

  it('leaves pages alone when ten visits found what was said, and not after it was wrong', () => {
    const good = after(times(10, 'same', false));
    expect(isBelievedOfSameness(good)).toBe(true);
    expect(isBelievedOfSameness(after(times(1, 'same', true), good))).toBe(false);
  });

  it('comes back, since old visits count less', () => {
    const bad = after(times(100, 'changed', false));
    expect(isBelievedOfChange(bad)).toBe(false);
    expect(isBelievedOfChange(after(times(150, 'changed', true), bad))).toBe(true);
  });

  it('reads only what it wrote', () => {
    expect(readCounts([1, 2, 3, 4])).toEqual([1, 2, 3, 4]);
    for (const other of [undefined, null, [1, 2, 3], [1, 2, 3, -1], [1, 2, 3, 'x'], { 0: 1 }]) {
      expect(readCounts(other)).toBeUndefined();
    }
  });
});
