import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { trapLinks } from '../../testing/simweb/pages/traps.js';
import { createBudgets } from '../budgets.js';
import { createTrapRules, type TrapOptions } from './traps.js';

/** Any code units, halves of pairs included; built from bytes, which fast-check generates quickly. */
const anyText = (maxLength: number) =>
  fc
    .tuple(fc.uint8Array({ maxLength }), fc.constantFrom('latin1' as const, 'utf16le' as const))
    .map(([bytes, encoding]) => Buffer.from(bytes).toString(encoding));

const IN_2026 = { now: () => Date.UTC(2026, 4, 6) };
const trapOf = (url: string, options: TrapOptions = {}, depth?: number) =>
  createTrapRules({ ...IN_2026, ...options })(url, depth);
const SITE = 'https://example.com';

describe('a link is refused for', () => {
  it.each<[string, string, TrapOptions?, number?]>([
    ['TRAP_LINK_DEPTH', '/', { maxLinkDepth: 3 }, 4],
    ['TRAP_URL_LENGTH', '/longer-than-twenty', { maxUrlLength: 20 }],
    ['TRAP_PATH_DEPTH', `/${Array.from({ length: 21 }, (_, i) => `s${i}`).join('/')}`],
    ['TRAP_REPEATED_SEGMENTS', '/a/b/a/b/a/b'],
    ['TRAP_REPEATED_SEGMENTS', '/x/a/b/c/a/b/c/a/b/c/y'],
    ['TRAP_REPEATED_SEGMENTS', '/a/a/a/a'],
    ['TRAP_REPEATED_SEGMENTS', '/a/1/a/2/a/3/a/4'],
    ['TRAP_REPEATED_SEGMENTS', '/a//b//c//d//'],
    ['TRAP_QUERY_PARAMETERS', `/?${Array.from({ length: 21 }, (_, i) => `p${i}=1`).join('&')}`],
    ['TRAP_SESSION_ID', '/a;jsessionid=1A530637289A03B07199A44E8D531427', { refuseSessionIds: true }],
    ['TRAP_SESSION_ID', '/a?x=1&PHPSESSID=r2t5uvjq435r4q7ib3vtdjq120', { refuseSessionIds: true }],
    ['TRAP_SESSION_ID', '/a?sid=8f3a2c1d', { refuseSessionIds: true }],
    ['TRAP_SESSION_ID', '/(S(lit3py55t21z5v55vlm25s55))/a.aspx', { refuseSessionIds: true }],
    ['TRAP_CALENDAR', '/calendar/2099/13'],
    ['TRAP_CALENDAR', '/calendar/2026/13'],
    ['TRAP_CALENDAR', '/news/2031/01'],
    ['TRAP_CALENDAR', '/events/2031'],
    ['TRAP_CALENDAR', '/events/2031-04-05'],
    ['TRAP_CALENDAR', '/event-calendar/1999/5'],
    ['TRAP_CALENDAR', '/x?from_date=2040-01-01'],
    ['TRAP_CALENDAR', '/x?date=20400101&y=2'],
    ['TRAP_CALENDAR', '/x?month=3&year=2040'],
  ])('%s: %s', (reason, path, options, depth) => {
    expect(trapOf(SITE + path, options, depth)).toBe(reason);
  });
});

describe('a link is let through', () => {
  it.each([
    '',
    '/',
    '?a=1',
    '/#/a/b/a/b/a/b',
    '/tiles/0/0/0',
    '/en/docs/en/docs',
    '/2026/05/06/news',
    '/2028/12/plans',
    '/history/1850/05',
    '/archive/1999/12',
    '/item/2600/10',
    '/rooms/2099',
    '/calendar/2024/12/24',
    '/a?sid=12345',
    '/a?date=tomorrow&year=all',
    '/a;jsessionid=1A530637289A03B07199A44E8D531427',
  ])('%j', (path) => {
    expect(trapOf(SITE + path)).toBeUndefined();
  });

  it('although it has a parameter named like a session, with a plain value', () => {
    for (const query of ['sid=12345', 's=summer', 'session=spring', 's=abcdefgh', 'side=8f3a2c1d']) {
      expect(trapOf(`${SITE}/?${query}`, { refuseSessionIds: true })).toBeUndefined();
    }
  });
});

describe('query variants', () => {
  it('are counted by path; known ones stay allowed', () => {
    const rules = createTrapRules({ maxQueryVariants: 3 });
    const ask = (path: string) => rules(`${SITE}${path}`);
    expect(['/a?1', '/a?2', '/a?2', '/a?3', '/a?4', '/a?1', '/a?5#x'].map(ask)).toEqual([
      ...[undefined, undefined, undefined, undefined],
      ...['TRAP_QUERY_VARIANTS', undefined, 'TRAP_QUERY_VARIANTS'],
    ]);
    expect(ask('/b?4')).toBeUndefined();
    expect(rules('https://other.example/a?4')).toBeUndefined();
  });

  it('of paths in use are remembered when those of others are forgotten', () => {
    const rules = createTrapRules({ maxQueryVariants: 2, maxRemembered: 10 });
    for (let i = 0; i < 1_000; i++) {
      const expected = i < 2 ? undefined : 'TRAP_QUERY_VARIANTS';
      expect(rules(`${SITE}/trap?${i}`)).toBe(expected);
      expect(rules(`${SITE}/page-${i}?a`)).toBeUndefined();
    }
  });
});

describe('the traps of the synthetic web', () => {
  /** Follows all links but those into `except`; tells how many pages there are and why others are not. */
  function walk(start: string, except: string | undefined, refusal: (url: string) => string | undefined) {
    const refused = new Set<string>();
    const seen = new Set([start]);
    for (const path of seen) {
      const [bare = '', query = ''] = path.split('?');
      for (const link of trapLinks(7, 0, bare, query)) {
        if (seen.has(link) || (except && link.startsWith(except))) continue;
        const reason = refusal(SITE + link);
        if (reason === undefined) seen.add(link);
        else refused.add(reason);
      }
    }
    return { pages: seen.size, refused: [...refused].sort() };
  }
  const rules = () => createTrapRules({ ...IN_2026, refuseSessionIds: true, maxQueryVariants: 50 });

  it('end by their URLs: calendar, session ids, queries', () => {
    const { pages, refused } = walk('/trap/calendar/2026/1', '/trap/deep', rules());
    expect(refused).toEqual(['TRAP_CALENDAR', 'TRAP_QUERY_VARIANTS', 'TRAP_SESSION_ID']);
    // 13 years of 12 months with 3 days each, 51 searches, one page of sessions.
    expect(pages).toBe(13 * 12 * 4 + 51 + 1);
  });

  it('end by a budget where no URL gives them away: words in any order', () => {
    const trap = rules();
    const budgets = createBudgets({ maxPerHost: 500 });
    const { pages, refused } = walk('/trap/deep/more', undefined, (url) => trap(url) ?? budgets.take(url));
    expect([pages, refused]).toEqual([501, ['BUDGET_HOST', 'TRAP_REPEATED_SEGMENTS']]);
  });
});

it('answers for any text', () => {
  const rules = createTrapRules({ refuseSessionIds: true });
  const word = fc.constantFrom(
    '/',
    '?',
    '&',
    '=',
    '#',
    ';',
    'a',
    'calendar',
    '2099',
    '13',
    'sid=',
    'date',
    '2030-01',
    '%41',
  );
  const anyUrl = fc.oneof(
    anyText(60),
    fc.array(word, { maxLength: 60 }).map((words) => `${SITE}${words.join('')}`),
  );
  fc.assert(
    fc.property(anyUrl, (url) => {
      expect(rules(url) ?? 'TRAP_').toMatch(/^TRAP_/);
    }),
  );
});

it('refuses URLs over 2,000 characters', () => {
  const prefix = `${SITE}/`;
  const ask = (length: number) => trapOf(prefix + 'x'.repeat(length - prefix.length));
  expect([ask(2_000), ask(2_001)]).toEqual([undefined, 'TRAP_URL_LENGTH']);
});

it('names every option that is wrong', () => {
  expect(() => createTrapRules({ maxPathDepth: 0, maxUrlLenght: 3 } as never)).toThrow(/maxPathDepth.*maxUrlLength/s);
});
