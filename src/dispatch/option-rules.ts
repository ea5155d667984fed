// Checks the options of the concurrency stage once, before anything starts.
// Promise: an unknown or mistyped option is an error that names the option and what was expected.
import { CrawlError } from '../errors.js';

/** What one option accepts. `undefined` always passes: it means "the default". */
export interface OptionRule {
  readonly expected: string;
  accepts(value: unknown): boolean;
}

const rule = (expected: string, accepts: (value: unknown) => boolean): OptionRule => ({ expected, accepts });
const isNumber = (value: unknown): value is number => typeof value === 'number' && !Number.isNaN(value);

export const positiveInteger = rule(
  'a whole number of at least 1',
  (v) => Number.isSafeInteger(v) && (v as number) >= 1,
);
export const positiveNumber = rule('a number above 0', (v) => isNumber(v) && v > 0);
export const finitePositive = rule('a finite number above 0', (v) => isNumber(v) && v > 0 && Number.isFinite(v));
export const notNegative = rule('a finite number of at least 0', (v) => isNumber(v) && v >= 0 && Number.isFinite(v));
export const notNegativeOrNull = rule(
  'a finite number of at least 0, or null',
  (v) => v === null || notNegative.accepts(v),
);
export const ratio = rule('a number between 0 and 1', (v) => isNumber(v) && v >= 0 && v <= 1);
export const positiveRatio = rule('a number above 0 and at most 1', (v) => isNumber(v) && v > 0 && v <= 1);
export const yesOrNo = rule('true or false', (v) => typeof v === 'boolean');
export const callable = rule('a function', (v) => typeof v === 'function');
export const plainObject = rule('an object', (v) => typeof v === 'object' && v !== null && !Array.isArray(v));

/**
 * Throws OPTION_INVALID for the first option that `rules` does not know or whose value it does not accept.
 *
 * @example
 * checkOptions('AutoscaledPool', options, { maxConcurrency: positiveInteger });
 */
export function checkOptions(owner: string, options: unknown, rules: Readonly<Record<string, OptionRule>>): void {
  if (!plainObject.accepts(options)) throw invalid(`${owner}: options must be an object, got ${shown(options)}`);
  for (const [name, value] of Object.entries(options as object)) {
    const known = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (known === undefined) {
      throw invalid(`${owner}: unknown option "${name}"; known options are ${Object.keys(rules).join(', ')}`);
    }
    if (value !== undefined && !known.accepts(value)) {
      throw invalid(`${owner}: option "${name}" must be ${known.expected}, got ${shown(value)}`);
    }
  }
}

export function invalid(message: string): CrawlError {
  return new CrawlError('OPTION_INVALID', message);
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 80));
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}
