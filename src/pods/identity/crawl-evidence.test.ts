import { describe, expect, it } from 'vitest';
import { type Evidence, findCrawl } from './crawl-evidence.js';

/** Stores as `name*` (filled), `name` (named, empty), `*` (filled, without a name) or `` (empty); folders by name. */
function evidence(
  stores: readonly string[],
  folders: readonly string[] = [],
  joined: readonly number[] = [],
): Evidence {
  const named = (text: string) => text.replace('*', '') || undefined;
  return {
    stores: stores.map((text, pod) => ({ pod, where: `s${pod}`, crawl: named(text), isFilled: text.endsWith('*') })),
    folders: folders.map((text, i) => ({
      key: i === 0 ? 'state_dir' : 'data_dirs',
      path: `d${i}`,
      crawl: named(text),
    })),
    coordinator: 0,
    hasJoined: (pod) => joined.includes(pod),
  };
}

describe('what a resume continues', () => {
  it('is the crawl that everything names; what never took part may join', () => {
    expect(findCrawl(evidence(['a*', 'a', ''], ['a', '']))).toMatchObject({ kind: 'named', crawl: 'a' });
    expect(findCrawl(evidence(['*', '*'], ['']))).toEqual({ kind: 'unnamed' });
    expect(findCrawl(evidence(['', ''], ['']))).toEqual({ kind: 'nothing' });
  });

  it.each<[string, Evidence, string, RegExp]>([
    ['a pod that took part', evidence(['a*', '', 'a*'], ['a'], [1]), 'QUEUE_EMPTIED', /pod 1 \(s1\) is empty/],
    ['the pod that coordinates', evidence(['', 'a*'], ['a']), 'QUEUE_EMPTIED', /pod 0 \(s0\) is empty/],
    ['every pod', evidence(['', ''], ['', 'a']), 'QUEUE_EMPTIED', /pod 0[^]*pod 1/],
    ['a pod of 0.1', evidence(['*', '']), 'QUEUE_EMPTIED', /pod 1 \(s1\) is empty/],
  ])('is not a crawl whose store is empty: %s', (_what, found, code, message) => {
    expect(() => findCrawl(found)).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }));
  });

  it('is not a mixture: everything of another crawl is named at once', () => {
    const found = evidence(['a*', 'b*', '*', 'a*'], ['b', 'a', 'c']);
    const message = /crawl a [^]*pod 1 \(s1\) belongs to crawl b[^]*pod 2[^]*unnamed[^]*d0 belongs[^]*d2 belongs/;
    expect(() => findCrawl(found)).toThrow(
      expect.objectContaining({ code: 'QUEUE_FOREIGN', message: expect.stringMatching(message) }),
    );
  });
});
