// Patterns as typed on a command line, and globs against URLs that a hostile page made up.
import { describe, expect, it } from 'vitest';
import { parsePattern } from './pattern.js';
import { createScope } from './scope.js';

describe('a pattern on the command line', () => {
  it.each<[string, RegExp]>([
    ['/\\.pdf$/', /\.pdf$/],
    ['/docs/i', /docs/i],
    ['/a/b/c/', /a\/b\/c/],
    [' /x/gi ', /x/gi],
    ['/[^/]+\\/page/', /[^/]+\/page/],
  ])('%j is a regular expression', (text, expected) => {
    expect(parsePattern(text)).toEqual(expected);
  });

  it.each(['https://example.com/**', '**/docs/*', '*.pdf', 'http?(s)://**'])('%j is a glob', (text) => {
    expect(parsePattern(text)).toBe(text);
  });

  it.each([
    ['', /empty/],
    ['   ', /empty/],
    ['/blog/**', /neither a regular expression.*\*\*\/blog\/\*\*/s],
    ['/blog/new', /neither/],
    ['//', /neither/],
    ['/(/', /not a valid regular expression/],
    ['/a/gg', /not a valid regular expression/],
  ])('%j is refused with advice', (text, message) => {
    expect(() => parsePattern(text)).toThrow(message);
  });

  it('that was advised in place of a path works', () => {
    const scope = createScope({ globs: ['**/blog/**'] });
    expect(scope.decide('https://example.com/blog/2026/a').allowed).toBe(true);
    expect(scope.decide('https://example.com/shop/a').allowed).toBe(false);
  });
});

describe('a glob with several stars', () => {
  it('takes time in proportion to the length of a hostile URL', () => {
    const scope = createScope({ globs: ['https://example.com/*-*-*.html'] });
    const cpuMs = (dashes: number): number => {
      const url = `https://example.com/${'-'.repeat(dashes)}`;
      const start = process.cpuUsage();
      expect(scope.decide(url).allowed).toBe(false);
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1_000;
    };
    cpuMs(1_000);
    // Generous for a busy machine; a backtracking expression takes 64 times as long, from 200 ms on.
    expect(cpuMs(4_000)).toBeLessThan(20 * (cpuMs(1_000) + 5));
  });
});

describe('a glob beyond its limits', () => {
  it.each([
    ['characters', `https://example.com/${'a'.repeat(4_096)}`, '4096 characters'],
    ['brackets that are not closed', `https://example.com/${'['.repeat(500)}`, '32 `[`'],
    ['readings of its braces', `https://example.com/${'{1..9}'.repeat(50)}`, '1000 globs'],
  ])('is refused for its %s, at once', (_, glob, message) => {
    const before = process.cpuUsage();
    expect(() => parsePattern(glob)).toThrow(message);
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
  });
});
