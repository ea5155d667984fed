// Globs over whole URLs: what minimatch matches is matched, in time that grows with the URL and no faster.
import fc from 'fast-check';
import { GLOBSTAR, Minimatch } from 'minimatch';
import { describe, expect, it } from 'vitest';
import { createGlobMatcher } from './glob.js';
import { createSegmentTest } from './glob-segment.js';

const parse = (glob: string): Minimatch => new Minimatch(glob, { nocase: true, platform: 'linux' });

// Few letters, so that random globs and URLs meet often.
const character = fc.constantFrom('a', 'a', 'b', 'A', '-', '.', 'ü');
const classes = fc.constantFrom('[ab]', '[!a]', '[a-b.]', '[^.]', '[[:alpha:]]', '[[:upper:]-]', '[b', '[a]', '[z-a]');
const plain = fc.oneof(
  { weight: 4, arbitrary: character },
  { weight: 4, arbitrary: fc.constantFrom('*', '*', '?') },
  { weight: 1, arbitrary: classes },
  { weight: 1, arbitrary: fc.constantFrom('{a,b}', '{a,*}', '{,.}', '{a/b,-}', '\\*', '\\a', '(', '|', '!', '#', '+') },
);
// Kept small: with stars in nested groups minimatch's expression takes seconds for a segment of five characters.
const groupOf = (piece: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom('!', '?', '+', '*', '@'),
      fc.array(fc.array(piece, { maxLength: 2 }), { minLength: 1, maxLength: 2 }),
    )
    .map(([type, branches]) => `${type}(${branches.map((branch) => branch.join('')).join('|')})`);
const extended = groupOf(
  fc.oneof({ weight: 3, arbitrary: plain }, { weight: 1, arbitrary: groupOf(fc.oneof(character, fc.constant('?'))) }),
);

const segmentOf = (piece: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''));
const plainSegment = segmentOf(plain);
const anySegment = fc.oneof(
  plainSegment,
  fc
    .tuple(fc.array(plain, { maxLength: 2 }), extended, fc.array(plain, { maxLength: 2 }))
    .map(([before, group, after]) => [...before, group, ...after].join('')),
  fc.tuple(extended, extended).map((groups) => groups.join('')),
);
const globOf = (segment: fc.Arbitrary<string>, globstars: number): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.array(segment, { minLength: 1, maxLength: 3 }),
      fc.array(fc.nat(3), { maxLength: globstars }),
      fc.constantFrom('', '', '/'),
    )
    .map(([segments, places, end]) => {
      for (const place of places) segments.splice(place, 0, '**');
      return segments.join('/') + end;
    });
const path = fc
  .tuple(
    fc.array(fc.string({ unit: character, maxLength: 5 }), { minLength: 1, maxLength: 6 }),
    fc.constantFrom('', '/'),
  )
  .map(([segments, end]) => segments.join('/') + end);
const paths = fc.array(path, { minLength: 5, maxLength: 20 });

/** The rule of `**` in its shortest form; each segment is tested by minimatch's own expression. */
function isMatch(parts: readonly (string | RegExp | symbol)[], segments: readonly string[]): boolean {
  const [part, ...rest] = parts;
  const [segment, ...others] = segments;
  if (part === undefined) return segment === undefined || (segment === '' && others.length === 0);
  if (segment === undefined) return false;
  if (typeof part === 'string') return segment === part && isMatch(rest, others);
  if (part instanceof RegExp) return part.test(segment) && isMatch(rest, others);
  if (rest.length > 0 && isMatch(rest, segments)) return true;
  return !segment.startsWith('.') && ((rest.length === 0 && others.length === 0) || isMatch(parts, others));
}

/** Some globs minimatch itself turns into an expression that the engine refuses: they are refused as options. */
function parsed(glob: string): Minimatch | undefined {
  try {
    return parse(glob);
  } catch {
    return undefined;
  }
}

function expectSame(glob: string, samples: readonly string[], expected: (parsed: Minimatch, path: string) => boolean) {
  const reference = parsed(glob);
  if (reference === undefined) return;
  const matches = createGlobMatcher(reference);
  for (const sample of samples) expect(matches(sample), `${glob} on ${sample}`).toBe(expected(reference, sample));
}

/** Stars and braces can meet to form a `**` that the glob does not show. */
function globstarsOf(glob: string): number {
  const counts = parsed(glob)?.set.map((parts) => parts.filter((part) => part === GLOBSTAR).length) ?? [];
  return Math.max(0, ...counts);
}

describe('a glob', () => {
  it('without ** matches exactly what minimatch matches', () => {
    fc.assert(
      fc.property(globOf(anySegment, 0), paths, (glob, samples) => {
        fc.pre(globstarsOf(glob) === 0);
        expectSame(glob, samples, (reference, sample) => reference.match(sample));
      }),
      { numRuns: 1_500 },
    );
  });

  it('with one ** matches exactly what minimatch matches', () => {
    fc.assert(
      fc.property(globOf(plainSegment, 1), paths, (glob, samples) => {
        fc.pre(globstarsOf(glob) <= 1);
        expectSame(glob, samples, (reference, sample) => reference.match(sample));
      }),
      { numRuns: 700 },
    );
  });

  // With several, minimatch 10 misses matches that its earlier versions find.
  it('with several ** lets each stand for any segments without a leading dot', () => {
    fc.assert(
      fc.property(globOf(anySegment, 4), paths, (glob, samples) => {
        expectSame(glob, samples, ({ set, negate, comment }, sample) => {
          const segments = sample.split(/\/+/);
          return !comment && set.some((parts) => isMatch(parts, segments)) !== negate;
        });
      }),
      { numRuns: 700 },
    );
  });

  it('matches every URL that minimatch matches', () => {
    fc.assert(
      fc.property(globOf(anySegment, 4), paths, (glob, samples) => {
        const reference = parsed(glob);
        if (reference === undefined || reference.negate) return;
        const matches = createGlobMatcher(reference);
        for (const sample of samples.filter((each) => reference.match(each))) {
          expect(matches(sample), `${glob} on ${sample}`).toBe(true);
        }
      }),
      { numRuns: 700 },
    );
  });

  it.each<[string, string, boolean]>([
    ['https://e.com/*-*-*.html', 'https://e.com/a-b-c.HTML', true],
    ['https://e.com/*-*-*.html', 'https://e.com/a-b.html', false],
    ['https://e.com/*-*-*.html', 'https://e.com/.a-b-c.html', false],
    ['https://e.com/**/a/b/c/**/d/**', 'https://e.com/a/b/c/d/e', true],
    ['https://e.com/**/a/**/.well-known', 'https://e.com/x/a/.well-known', true],
    ['https://e.com/**/x', 'https://e.com/.hidden/x', false],
    ['https://e.com/!(a|b)*(c|d)-*', 'https://e.com/x-1', true],
    ['https://e.com/+(a|b?(c))*-*', 'https://e.com/abcb-', true],
    ['https://e.com/+(a|b?(c))*-*', 'https://e.com/c-', false],
    ['!**/*-*-*', 'https://e.com/a-b', true],
    ['#*-*-*', '#a-b-c', false],
  ])('%j on %j: %j', (glob, url, expected) => {
    expect(createGlobMatcher(parse(glob))(url)).toBe(expected);
  });
});

describe('a hostile URL', () => {
  const repeated = (text: string, length: number): string => text.repeat(length / text.length);

  it.each<[name: string, glob: string, url: (length: number) => string]>([
    ['stars in a segment', 'https://e.com/*-*-*.html', (n) => `https://e.com/${repeated('-', n)}`],
    ['many stars', `https://e.com/${'*-'.repeat(8)}x`, (n) => `https://e.com/${repeated('-', n)}`],
    ['stars and classes', 'https://e.com/*[!a]*[a-c-]*?*.html', (n) => `https://e.com/${repeated('-', n)}`],
    ['stars after **', '**/*-*-*.html', (n) => `https://e.com/${repeated('-', n)}`],
    ['nested repetitions', 'https://e.com/+(+(-|--)|*(-))x', (n) => `https://e.com/${repeated('-', n)}`],
    ['repetitions and stars', 'https://e.com/*(*-|-*)*(-)x', (n) => `https://e.com/${repeated('-', n)}`],
    ['negations', 'https://e.com/!(*-x)!(*-*y)*-z', (n) => `https://e.com/${repeated('-', n)}`],
    ['several **', '**/a/**/a/**/a/**/b', (n) => `https://e.com/${repeated('a/', n)}.x/b`],
    ['** and stars', '**/*a*a*/**/*a*b*/**/c', (n) => `https://e.com/${repeated('aa/', n - (n % 3))}.x/c`],
  ])('of dashes or slashes costs a glob with %s time in proportion to its length', (_name, glob, url) => {
    const matches = createGlobMatcher(parse(glob));
    const short = url(4_096);
    const long = url(65_536);
    const cpuMs = (text: string, times: number): number => {
      const start = process.cpuUsage();
      for (let i = 0; i < times; i += 1) matches(text);
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1_000 / times;
    };
    expect(matches(short)).toBe(false);
    cpuMs(short, 20);
    // 16 times the length: quadratic growth would be 256 times. The half millisecond is what the clock cannot tell.
    expect(Math.min(cpuMs(long, 2), cpuMs(long, 2))).toBeLessThan(80 * (cpuMs(short, 20) + 0.5));
  });
});

describe('a segment whose expression is not understood', () => {
  it.each([/^(?=a)b*c*$/, /^a{2}$/, /^(a)\1$/, /^a|b$/, /a*b*$/, /^(?<name>a)$/, /^\bx$/])(
    'is refused and never run: %s',
    (expression) => {
      expect(() => createSegmentTest(expression)).toThrow(/bounded time/);
    },
  );

  it('is not what minimatch writes for a **', () => {
    expect(parse('**').set).toEqual([[GLOBSTAR]]);
  });
});
