// Checks an options object against a declared shape, before anything starts.
// Promise: one error names every option that is unknown, mistyped or gone, and what to write instead.
import { CrawlError } from './errors.js';
import { hideLogins } from './request/login.js';
import { isProxyUrl, PROXY_PROTOCOLS } from './request/proxy-url.js';
import { parseUrl } from './request/url.js';

/** What one option accepts. */
export interface Check {
  readonly expected: string;
  /** Values may hold a password: messages leave them out. */
  readonly isSecret?: boolean;
  accepts(value: unknown): boolean;
}

/** An option of Crawlee that is known here and changes nothing: named in a warning once per process. */
export interface WithoutEffect {
  readonly withoutEffect: string;
}

/** An option that is refused with advice: its replacement, or where it belongs. */
export interface Refused {
  readonly refused: string;
}

export type ShapeEntry = Check | WithoutEffect | Refused;
export type Shape = Readonly<Record<string, ShapeEntry>>;

/** A shape with a check for every option of `Options`, and any number of other entries. */
export type ShapeOf<Options> = { readonly [Name in keyof Required<Options>]: Check } & Shape;

export const check = (expected: string, accepts: (value: unknown) => boolean): Check => ({ expected, accepts });

const isNumber = (value: unknown): value is number => typeof value === 'number' && !Number.isNaN(value);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const aBoolean = check('true or false', (value) => typeof value === 'boolean');
export const aFunction = check('a function', (value) => typeof value === 'function');
export const anObject = check('an object', isObject);
export const aString = check('a string', (value) => typeof value === 'string');
export const aFilledString = check('a non-empty string', (value) => typeof value === 'string' && value.trim() !== '');
export const aRegExp = check('a RegExp', (value) => value instanceof RegExp);

/** A whole number; `orInfinity` when no limit is a sensible value too. */
export function aWholeNumber(range: { from: number; to?: number; orInfinity?: boolean }): Check {
  const { from, to = Number.MAX_SAFE_INTEGER, orInfinity = false } = range;
  const upTo = range.to === undefined ? '' : ` to ${to}`;
  return check(`a whole number from ${from}${upTo}${orInfinity ? ', or Infinity' : ''}`, (value) => {
    if (orInfinity && value === Infinity) return true;
    return Number.isSafeInteger(value) && (value as number) >= from && (value as number) <= to;
  });
}

/** A number, fractions allowed; give exactly one of `from` (included) and `above` (excluded). */
export function aNumber(range: ({ from: number } | { above: number }) & { to?: number; orInfinity?: boolean }): Check {
  const low = 'from' in range ? `from ${range.from}` : `above ${range.above}`;
  const high = range.to === undefined ? '' : ` to ${range.to}`;
  return check(`a number ${low}${high}${range.orInfinity ? ', or Infinity' : ''}`, (value) => {
    if (!isNumber(value) || (value === Infinity && !range.orInfinity)) return false;
    if (range.to !== undefined && value > range.to) return false;
    return 'from' in range ? value >= range.from : value > range.above;
  });
}

export function oneOf(values: readonly (string | number | boolean)[]): Check {
  return check(`one of ${values.map((value) => JSON.stringify(value)).join(', ')}`, (value) =>
    values.includes(value as string),
  );
}

export function arrayOf(item: Check): Check {
  return check(`an array, each item ${item.expected}`, (value) => Array.isArray(value) && value.every(item.accepts));
}

export function anyOf(...checks: readonly Check[]): Check {
  return check(checks.map(({ expected }) => expected).join(' or '), (value) =>
    checks.some(({ accepts }) => accepts(value)),
  );
}

/** An object (a class instance, usually) that has these methods. */
export function objectWith(description: string, methods: readonly string[]): Check {
  return check(
    `${description} (an object with ${methods.map((method) => `${method}()`).join(', ')})`,
    (value) =>
      value !== null &&
      (typeof value === 'object' || typeof value === 'function') &&
      methods.every((method) => typeof (value as Record<string, unknown>)[method] === 'function'),
  );
}

/** A value of a header. */
export const aHeaderLine = check('one line of printable ASCII', (value) => {
  return typeof value === 'string' && /^[\x20-\x7e]+$/.test(value) && value.trim() !== '';
});

export const withoutEffect = (reason: string): WithoutEffect => ({ withoutEffect: reason });
export const refused = (advice: string): Refused => ({ refused: advice });
export const replacedBy = (name: string): Refused => refused(`was replaced by ${name} (see docs/from-crawlee.md)`);

const SIZE_UNITS: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

/** Bytes of a text such as `500k`, `10MB` or `2G` (powers of 1,024); undefined when it is none. */
export function parseByteSize(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined;
  const [, digits, unit] = /^(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?$/i.exec(text.trim()) ?? [];
  const bytes = Math.round(Number(digits) * (SIZE_UNITS[unit?.toLowerCase() ?? ''] ?? NaN));
  return Number.isSafeInteger(bytes) && bytes >= 1 ? bytes : undefined;
}

/** Where warnings go: the crawl layer passes its log. */
export type Warn = (message: string) => void;

/** A proxy that can be spoken to, with user and password in its URL. */
export const aProxyUrl: Check = {
  ...check(`an ${PROXY_PROTOCOLS} URL`, (value) => {
    const url = typeof value === 'string' ? parseUrl(value) : undefined;
    return url !== undefined && isProxyUrl(url);
  }),
  isSecret: true,
};

/**
 * Throws OPTION_INVALID with all that is wrong about `given`, or returns. `undefined` stands for the default.
 *
 * @example
 * checkOptions('CheerioCrawler', options, { maxConcurrency: aWholeNumber({ from: 1 }), handlePageFunction: replacedBy('requestHandler') });
 */
export function checkOptions(owner: string, given: unknown, shape: Shape, warn: Warn = processWarning): void {
  const problems = findProblems(owner, given, shape, warn);
  if (problems.length > 0) throw optionError(problems);
}

/** What is wrong about `given`, one sentence each, for callers that add findings of their own. */
export function findProblems(owner: string, given: unknown, shape: Shape, warn: Warn = processWarning): string[] {
  if (given === undefined) return [];
  if (!isObject(given)) return [`${owner} options must be an object, got ${shown(given)}`];
  const problems: string[] = [];
  for (const name of Object.keys(given)) {
    const value = given[name];
    if (value === undefined) continue;
    const entry = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (entry === undefined) problems.push(unknownOption(owner, name, shape));
    else if ('refused' in entry) problems.push(`${owner} option "${name}" ${entry.refused}`);
    else if ('withoutEffect' in entry)
      warnOnce(
        name,
        `${owner} option "${name}" has no effect: ${entry.withoutEffect} (see docs/from-crawlee.md)`,
        warn,
      );
    else if (!entry.accepts(value)) {
      const got = entry.isSecret ? '' : `, got ${shown(value)}`;
      problems.push(`${owner} option "${name}" must be ${entry.expected}${got}`);
    }
  }
  return problems;
}

/** One OPTION_INVALID for all findings. */
export function optionError(problems: readonly string[]): CrawlError {
  return new CrawlError('OPTION_INVALID', problems.join('; '));
}

// Bounded by the number of option names in shapes, plus names given inside `experiments`.
const warned = new Set<string>();
const MAX_WARNED = 1_000;

/** Warns about `name` the first time it is seen in this process. */
export function warnOnce(name: string, message: string, warn: Warn = processWarning): void {
  if (warned.has(name) || warned.size >= MAX_WARNED) return;
  warned.add(name);
  warn(message);
}

function processWarning(message: string): void {
  process.emitWarning(message, { type: 'OrcrawlWarning' });
}

function unknownOption(owner: string, name: string, shape: Shape): string {
  const nearest = nearestName(name, acceptedNames(shape));
  const hint = nearest === undefined ? '' : `, did you mean "${nearest}"?`;
  return `${owner} has no option ${JSON.stringify(name.slice(0, 80))}${hint}`;
}

function acceptedNames(shape: Shape): string[] {
  return Object.keys(shape).filter((name) => 'accepts' in (shape[name] as ShapeEntry));
}

/** The known name that a typing mistake most likely meant, or undefined when none is close. */
export function nearestName(given: string, known: readonly string[]): string | undefined {
  const wanted = given.toLowerCase();
  let nearest: string | undefined;
  // A third of the letters may differ, so that "retries" finds nothing but "maxRequestRetry" finds "maxRequestRetries".
  // Of a very short name one letter: "foo" is not a mistyped "log".
  let best = Math.max(wanted.length < 4 ? 1 : 2, Math.floor(wanted.length / 3)) + 1;
  for (const name of known) {
    if (Math.abs(name.length - wanted.length) >= best) continue;
    const distance = editDistance(wanted, name.toLowerCase());
    if (distance < best) [best, nearest] = [distance, name];
  }
  return nearest;
}

/** Letters to insert, drop or change to turn one text into the other. Callers bound the lengths. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const change = (row[j - 1] as number) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[to.length] as number;
}

/** A value as an error message shows it: short, without passwords of URLs, and never the content of an object. */
export function shown(value: unknown): string {
  if (typeof value === 'string') {
    const text = hideLogins(value);
    return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
  }
  if (value === null || value === undefined || typeof value === 'number' || typeof value === 'boolean') {
    return String(value);
  }
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return shownArray(value);
  if (typeof value !== 'object') return `a ${typeof value}`;
  const name = (Object.getPrototypeOf(value) as object | null)?.constructor?.name;
  return name === undefined || name === 'Object' ? 'an object' : `an instance of ${name}`;
}

function shownArray(value: readonly unknown[]): string {
  const simple = value.length <= 5 && value.every((item) => item === null || typeof item !== 'object');
  return simple ? `[${value.map(shown).join(', ')}]` : `an array of ${value.length}`;
}
