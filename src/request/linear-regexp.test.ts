import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLinearRegExp, type LinearRegExp } from './linear-regexp.js';

// Few characters, so that random patterns and texts meet often.
const character = fc.constantFrom(
  'a',
  'a',
  'b',
  '/',
  '-',
  'ü',
  '.',
  '[ab]',
  '[^a]',
  '\\w',
  '\\W',
  '\\/',
  '\\u0061',
  '\\p{L}',
);
const edge = fc.constantFrom('^', '$', '\\b', '\\B');
const repeat = fc.constantFrom('', '', '*', '+', '?', '*?', '{2}', '{1,}', '{0,2}');
const piece = fc.letrec<{ part: string; pattern: string }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 3 },
    { weight: 4, arbitrary: fc.tuple(character, repeat).map((parts) => parts.join('')) },
    { weight: 1, arbitrary: edge },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom('(', '(?:', '(?<n>'), tie('pattern'), repeat)
        .map(([open, body, count]) => `${open === '(?<n>' ? '(' : open}${body})${count}`),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.constantFrom('(?=', '(?!'), tie('pattern')).map(([open, body]) => `${open}${body})`),
    },
  ),
  pattern: fc
    .array(fc.array(tie('part'), { maxLength: 3 }), { minLength: 1, maxLength: 2 })
    .map((branches) => branches.map((parts) => parts.join('')).join('|')),
})).pattern;
const text = fc
  .array(fc.constantFrom('a', 'a', 'b', '/', '-', 'ü', '\n'), { maxLength: 7 })
  .map((parts) => parts.join(''));

describe('a regular expression of a stranger', () => {
  it('matches what RegExp matches', () => {
    fc.assert(
      fc.property(piece, text, (source, tested) => {
        const pattern = createLinearRegExp(source, 0);
        return 'slow' in pattern || pattern.test(tested) === new RegExp(source, 'u').test(tested);
      }),
      { numRuns: 3_000 },
    );
  });

  it('reads every escape, class and named group', () => {
    const cases: [source: string, text: string][] = [
      ['^\\u{1F600}$', '😀'],
      ['^\\uD83D\\uDE00$', '😀'],
      ['^\\x41\\cJ\\0$', 'A\n\0'],
      ['^[\\]\\\\a-c]+$', ']\\b'],
      ['^(?<year>\\d{4})-\\d{2}$', '2026-11'],
      ['^\\P{Lu}\\S\\D$', 'xyz'],
      ['^[^]$', '\n'],
      ['[]', 'a'],
    ];
    for (const [source, tested] of cases) {
      expect([source, (createLinearRegExp(source, 0) as LinearRegExp).test(tested)]).toEqual([
        source,
        new RegExp(source, 'u').test(tested),
      ]);
    }
  });

  it('costs no more than the length of the text times its own', () => {
    // Each takes the engine of the language minutes at the least.
    for (const source of [
      '(a+)+$',
      '(a|aa)*b',
      '(a|aa)'.repeat(60) + 'b',
      'a?'.repeat(60) + 'a'.repeat(60) + 'b',
      '.*.*.*.*.*x',
    ]) {
      const pattern = createLinearRegExp(source) as LinearRegExp;
      expect(pattern.test(`${'a'.repeat(2_000)}c`)).toBe(false);
      expect(pattern.size).toBeLessThan(400);
    }
  });
});

it('does not read a pattern of a hundred thousand characters and more', () => {
  expect(createLinearRegExp('a'.repeat(100_001))).toEqual({ slow: 'is too large' });
});
