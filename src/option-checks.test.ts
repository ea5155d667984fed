// Option checks: what a wrong option says, and that it says everything at once.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CrawlError } from './errors.js';
import * as checks from './option-checks.js';

const SHAPE = {
  maxConcurrency: checks.aWholeNumber({ from: 1 }),
  maxRequestRetries: checks.aWholeNumber({ from: 0, orInfinity: true }),
  delaySecs: checks.aNumber({ from: 0 }),
  handler: checks.aFunction,
  codes: checks.arrayOf(checks.aWholeNumber({ from: 100, to: 599 })),
  mode: checks.oneOf(['fast', 'slow']),
  either: checks.anyOf(checks.aBoolean, checks.aFilledString),
  queue: checks.objectWith('a queue', ['add', 'take']),
  oldName: checks.replacedBy('"handler"'),
  elsewhere: checks.refused('belongs to another crawler'),
  proxy: checks.aProxyUrl,
};

function problemsOf(given: unknown): string {
  try {
    checks.checkOptions('TestCrawler', given, SHAPE);
    return '';
  } catch (error) {
    expect((error as CrawlError).code).toBe('OPTION_INVALID');
    return (error as CrawlError).message;
  }
}

describe('checkOptions', () => {
  it.each<[unknown, string]>([
    [{ proxy: 'user:secret@host:80' }, 'TestCrawler option "proxy" must be an http, https, socks5 or socks5h URL'],
    [
      { mode: 'ftp://user:secret@host/a' },
      'TestCrawler option "mode" must be one of "fast", "slow", got "ftp://host/a"',
    ],
    [{ maxConcurrency: 'ten' }, 'TestCrawler option "maxConcurrency" must be a whole number from 1, got "ten"'],
    [{ maxConcurrency: 0 }, 'TestCrawler option "maxConcurrency" must be a whole number from 1, got 0'],
    [{ maxConcurrency: 1.5 }, 'TestCrawler option "maxConcurrency" must be a whole number from 1, got 1.5'],
    [{ maxConcurrency: Infinity }, 'TestCrawler option "maxConcurrency" must be a whole number from 1, got Infinity'],
    [{ maxConcurrency: null }, 'TestCrawler option "maxConcurrency" must be a whole number from 1, got null'],
    [{ delaySecs: NaN }, 'TestCrawler option "delaySecs" must be a number from 0, got NaN'],
    [{ handler: {} }, 'TestCrawler option "handler" must be a function, got an object'],
    [{ handler: new Map() }, 'TestCrawler option "handler" must be a function, got an instance of Map'],
    [
      { codes: [200, 'x'] },
      'TestCrawler option "codes" must be an array, each item a whole number from 100 to 599, got [200, "x"]',
    ],
    [{ mode: 'quick' }, 'TestCrawler option "mode" must be one of "fast", "slow", got "quick"'],
    [{ either: '' }, 'TestCrawler option "either" must be true or false or a non-empty string, got ""'],
    [{ queue: { add: 1 } }, 'TestCrawler option "queue" must be a queue (an object with add(), take()), got an object'],
    [{ oldName: 1 }, 'TestCrawler option "oldName" was replaced by "handler" (see docs/from-crawlee.md)'],
    [{ elsewhere: 1 }, 'TestCrawler option "elsewhere" belongs to another crawler'],
    [{ maxConcurency: 5 }, 'TestCrawler has no option "maxConcurency", did you mean "maxConcurrency"?'],
    [{ MAXCONCURRENCY: 5 }, 'TestCrawler has no option "MAXCONCURRENCY", did you mean "maxConcurrency"?'],
    [{ zebra: 5 }, 'TestCrawler has no option "zebra"'],
    [{ oldNam: 5 }, 'TestCrawler has no option "oldNam"'],
    [7, 'TestCrawler options must be an object, got 7'],
    [null, 'TestCrawler options must be an object, got null'],
    [[], 'TestCrawler options must be an object, got []'],
  ])('of %j says: %s', (given, message) => {
    expect(problemsOf(given)).toBe(message);
  });

  it('reports all problems together', () => {
    const message = problemsOf({ maxConcurrency: 'ten', handlr: () => {}, mode: 1 });
    expect(message).toContain('maxConcurrency');
    expect(message).toContain('did you mean "handler"');
    expect(message).toContain('mode');
  });

  it.each([
    [undefined],
    [{}],
    [
      {
        maxConcurrency: 1,
        maxRequestRetries: Infinity,
        delaySecs: 0.5,
        handler() {},
        codes: [],
        mode: 'slow',
        either: false,
      },
    ],
    [{ maxConcurrency: undefined, unknown: undefined }],
    [{ queue: { add() {}, take() {} } }],
  ])('accepts %j', (given) => {
    expect(problemsOf(given)).toBe('');
  });

  it('treats names of Object.prototype as unknown options', () => {
    expect(problemsOf({ constructor: 1 })).toBe('TestCrawler has no option "constructor"');
    expect(problemsOf(JSON.parse('{"__proto__": 1}'))).toBe('TestCrawler has no option "__proto__"');
  });

  it('warns of an option without effect once per process, by name', () => {
    const warnings: string[] = [];
    const shape = { idleOption: checks.withoutEffect('nothing reads it') };
    for (const owner of ['A', 'A', 'B'])
      checks.checkOptions(owner, { idleOption: 1 }, shape, (text) => warnings.push(text));
    expect(warnings).toEqual(['A option "idleOption" has no effect: nothing reads it (see docs/from-crawlee.md)']);
  });

  it('answers any input with nothing or a short OPTION_INVALID', () => {
    fc.assert(
      fc.property(
        fc.anything({ maxDepth: 2, withBigInt: true, withNullPrototype: true, withSparseArray: true }),
        fc.string(),
        (value, name) => {
          for (const given of [value, { [name]: value }, { maxConcurrency: value, queue: value, codes: value }]) {
            expect(problemsOf(given).length).toBeLessThan(2_000);
          }
        },
      ),
    );
  });

  it('does not take long over a name without end', () => {
    expect(problemsOf({ ['x'.repeat(1_000_000)]: 1 }).length).toBeLessThan(200);
  });
});

describe('nearestName', () => {
  const known = ['maxRequestRetries', 'maxConcurrency', 'log'];
  it.each([
    ['maxRequestRetry', 'maxRequestRetries'],
    ['maxRequestsRetries', 'maxRequestRetries'],
    ['lo', 'log'],
    ['foo', undefined],
    ['retries', undefined],
    ['', undefined],
  ])('of %j is %j', (given, expected) => {
    expect(checks.nearestName(given, known)).toBe(expected);
  });
});
