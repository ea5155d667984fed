// Which columns a table of items has, and their types: one look at every item before the first row is written.
// Promise: a type holds every value that was looked at, without loss; memory grows with the columns, which are limited.
import { CrawlError } from '../../errors.js';
import { limitReached, LIMITS } from '../../limits.js';
import type { Dictionary } from '../../request/request.js';

/** The type of single values; `json` takes whatever has no other type. */
export type CellType = 'boolean' | 'integer' | 'number' | 'time' | 'text' | 'json';

/** A column of a table. */
export interface Column {
  readonly name: string;
  readonly type: CellType;
  /** Each cell is a list of such values. */
  readonly isList: boolean;
}

export interface ColumnSurvey {
  look(items: readonly Dictionary[]): void;
  /** In the order in which they were met. */
  columns(): Column[];
}

// What was met in a column, as bits. Lists of values have the same bits, eight places higher.
const BOOLEAN = 1;
const INTEGER = 2;
const NUMBER = 4;
const TIME = 8;
const TEXT = 16;
const OTHER = 32;
const LIST_SHIFT = 8;
const EMPTY_LIST = 1 << 16;
const SINGLE_BITS = (1 << LIST_SHIFT) - 1;

export function createColumnSurvey(): ColumnSurvey {
  const met = new Map<string, number>();
  return {
    look(items) {
      for (const item of items) {
        for (const name of Object.keys(item)) {
          const before = met.get(name);
          const value = item[name];
          const bits = (before ?? 0) | bitsOf(value, before ?? 0);
          if (bits === before) continue;
          if (before === undefined && met.size >= LIMITS.parquetColumns.max) throw tooWide();
          met.set(name, bits);
        }
      }
    },
    columns: () => [...met].map(([name, bits]) => ({ name, ...typeOf(bits) })),
  };
}

function bitsOf(value: unknown, known: number): number {
  if (value === null || value === undefined) return 0;
  if (!Array.isArray(value)) return scalarBits(value, known);
  let bits = EMPTY_LIST;
  const knownInLists = known >> LIST_SHIFT;
  for (const element of value) {
    if (element !== null) bits |= scalarBits(element, knownInLists) << LIST_SHIFT;
  }
  return bits;
}

function scalarBits(value: unknown, known: number): number {
  if (typeof value === 'boolean') return BOOLEAN;
  if (typeof value === 'number') return Number.isSafeInteger(value) && !Object.is(value, -0) ? INTEGER : NUMBER;
  if (typeof value !== 'string') return OTHER;
  // One text that is not a time is enough: the others need no look.
  return (known & TEXT) === 0 && !Number.isNaN(timeOf(value)) ? TIME : TEXT;
}

/** The milliseconds of a time as `Date.toJSON` writes it; NaN for any other text, so that the time tells the text. */
export function timeOf(text: string): number {
  if (text.length !== 24 || !TIME_SHAPE.test(text)) return NaN;
  const ms = Date.parse(text);
  // The parser takes the 31st of any month; the first 28 days need no look.
  return text.charCodeAt(8) < 0x32 || new Date(ms).toISOString() === text ? ms : NaN;
}

const TIME_SHAPE = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):\d\d:\d\d\.\d{3}Z$/;

function typeOf(bits: number): Pick<Column, 'type' | 'isList'> {
  const single = bits & SINGLE_BITS;
  const listed = (bits & ~EMPTY_LIST) >> LIST_SHIFT;
  const hasLists = (bits & EMPTY_LIST) !== 0;
  if (hasLists && single !== 0) return { type: 'json', isList: false };
  const type = scalarType(hasLists ? listed : single);
  return type === 'json' ? { type, isList: false } : { type, isList: hasLists };
}

function scalarType(bits: number): CellType {
  switch (bits) {
    case BOOLEAN:
      return 'boolean';
    case INTEGER:
      return 'integer';
    case NUMBER:
    case NUMBER | INTEGER:
      return 'number';
    case TIME:
      return 'time';
    // Nothing but nulls is text: a type that every reader has.
    case 0:
    case TEXT:
    case TEXT | TIME:
      return 'text';
    default:
      return 'json';
  }
}

function tooWide(): CrawlError {
  const { max } = LIMITS.parquetColumns;
  limitReached('parquetColumns');
  return new CrawlError(
    'TABLE_TOO_WIDE',
    `the items have more than ${max} different fields: choose some with fields (--fields), or put names that are data ` +
      `into a list`,
  );
}
