// Schemas to JSON: what to select and the type of each field; CSS, XPath or regular expressions.
// Promise: the whole schema is validated before the page is read; a missing field is its default, or null.
import { CrawlError } from '../../errors.js';
import { limitReached, LIMITS } from '../../limits.js';
import { findProblems, aBoolean, aString, anyOf, aRegExp, check, oneOf, optionError } from '../../option-checks.js';

/** What is made of the text or element a selector finds. */
export type FieldType =
  'text' | 'html' | 'attribute' | 'number' | 'integer' | 'boolean' | 'date' | 'url' | 'exists' | 'object';

/** One field of the result. */
export interface FieldSchema {
  /** Relative to the item; without one the item itself is read. Not used with `regex`. */
  readonly selector?: string | undefined;
  /** `text` by default; `object` when `fields` is given. */
  readonly type?: FieldType | undefined;
  /** The attribute to read; with it the type may be any. */
  readonly attribute?: string | undefined;
  /** Takes the first group (or the whole match) of this in the text. */
  readonly pattern?: string | RegExp | undefined;
  /** A list of all that match, instead of the first. */
  readonly many?: boolean | undefined;
  /** For what is not there. */
  readonly default?: unknown;
  /** Fields of the nested object. */
  readonly fields?: Readonly<Record<string, FieldSchema>> | undefined;
}

/** What to extract from a page. */
export interface ExtractSchema {
  /** What the selectors are: CSS, XPath 1.0, or regular expressions over the text. */
  readonly engine: 'css' | 'xpath' | 'regex';
  /** Selects the items; the result is then a list, one object per item. Without it the page is the one item. */
  readonly items?: string | undefined;
  /** By the name that the field gets in the result. */
  readonly fields: Readonly<Record<string, FieldSchema>>;
}

/** How fields are looked up: one implementation per engine. */
export interface FieldSource<Node> {
  /** Nodes of the page, and those at and below one: what it costs to look through them. */
  readonly size: number;
  sizeOf(node: Node): number;
  select(from: Node, selector: string): readonly Node[];
  /** In one line: all white space is one blank, and none at the ends. */
  text(node: Node): string;
  html(node: Node): string;
  attribute(node: Node, name: string): string | null;
  resolve(reference: string): string | null;
}

const MAX_DEPTH = 10;
const FIELD_SHAPE = {
  selector: aString,
  type: oneOf(['text', 'html', 'attribute', 'number', 'integer', 'boolean', 'date', 'url', 'exists', 'object']),
  attribute: aString,
  pattern: anyOf(aString, aRegExp),
  many: aBoolean,
  default: check('anything', () => true),
  fields: check('an object of fields', (value) => typeof value === 'object' && value !== null),
};
const SCHEMA_SHAPE = {
  engine: oneOf(['css', 'xpath', 'regex']),
  items: aString,
  fields: check('an object of fields', (value) => typeof value === 'object' && value !== null),
};

/** Throws OPTION_INVALID with all that is wrong about a schema. */
export function checkSchema(schema: ExtractSchema): void {
  const problems = findProblems('schema', schema, SCHEMA_SHAPE);
  if (schema.engine === undefined) problems.push('schema needs "engine"');
  if (schema.fields === undefined) problems.push('schema needs "fields"');
  const visit = (fields: unknown, path: string, depth: number): void => {
    if (depth > MAX_DEPTH) return void problems.push(`${path} is nested deeper than ${MAX_DEPTH}`);
    for (const [name, field] of Object.entries((fields ?? {}) as Record<string, FieldSchema>)) {
      problems.push(...findProblems(`${path}.${name}`, field, FIELD_SHAPE));
      if (typeof field?.pattern === 'string') problems.push(...badPattern(field.pattern, `${path}.${name}`));
      if (schema.engine === 'regex' && field?.pattern === undefined && field?.fields === undefined) {
        problems.push(`${path}.${name} needs a "pattern"`);
      }
      if (field?.fields !== undefined) visit(field.fields, `${path}.${name}`, depth + 1);
    }
  };
  visit(schema.fields, 'fields', 0);
  if (problems.length > 0) throw optionError(problems);
}

function badPattern(pattern: string, owner: string): string[] {
  try {
    new RegExp(pattern);
    return [];
  } catch (error) {
    return [`${owner} has a bad pattern: ${(error as Error).message}`];
  }
}

/** What a schema found in a page, by field. */
export type Extracted = Record<string, unknown>;

/** Applies a checked schema: a list of objects with `items`, else one object. */
export function readFields<Node>(
  schema: ExtractSchema,
  source: FieldSource<Node>,
  root: Node,
): Extracted | Extracted[] {
  const reading: Reading<Node> = { source, left: stepsFor(source.size, fieldsIn(schema.fields)) };
  if (schema.items === undefined) return readObject(schema.fields, reading, root);
  const items: Extracted[] = [];
  for (const item of selected(reading, root, schema.items)) {
    if (reading.left <= 0) break;
    items.push(readObject(schema.fields, reading, item));
  }
  return items;
}

/** Items that hold each other are looked through again and again: the work is bounded, beyond it results end. */
interface Reading<Node> {
  readonly source: FieldSource<Node>;
  left: number;
}

function stepsFor(nodes: number, fields: number): number {
  return LIMITS.fieldSteps.max * (fields + 1) * (nodes + FREE_NODES);
}

/** Small pages may be read as if they were this large. */
const FREE_NODES = 200;

function fieldsIn(fields: Readonly<Record<string, FieldSchema>>): number {
  return Object.values(fields).reduce((sum, field) => sum + 1 + fieldsIn(field.fields ?? {}), 0);
}

/** False when the work is over its limit. */
function spend<Node>(reading: Reading<Node>, node: Node): boolean {
  if (reading.left <= 0) return false;
  reading.left -= reading.source.sizeOf(node);
  if (reading.left <= 0) limitReached('fieldSteps');
  return reading.left > 0;
}

function selected<Node>(reading: Reading<Node>, node: Node, selector: string | undefined): readonly Node[] {
  if (selector === undefined) return [node];
  return spend(reading, node) ? reading.source.select(node, selector) : [];
}

function readObject<Node>(
  fields: Readonly<Record<string, FieldSchema>>,
  reading: Reading<Node>,
  node: Node,
): Extracted {
  const result = Object.create(null) as Extracted;
  for (const [name, field] of Object.entries(fields)) result[name] = readField(field, reading, node);
  return { ...result };
}

function readField<Node>(field: FieldSchema, reading: Reading<Node>, node: Node): unknown {
  const nodes = selected(reading, node, field.selector);
  if (field.type === 'exists') return nodes.length > 0;
  if (field.many === true) {
    const values: unknown[] = [];
    for (const one of nodes) {
      if (reading.left <= 0) break;
      if (field.pattern !== undefined && field.fields === undefined) {
        for (const value of allMatches(field, reading, one)) values.push(value);
        continue;
      }
      const value = readValue(field, reading, one);
      if (value !== null) values.push(value);
    }
    return values;
  }
  for (const one of nodes) {
    const value = readValue(field, reading, one);
    if (value !== null) return value;
  }
  return field.default ?? null;
}

function readValue<Node>(field: FieldSchema, reading: Reading<Node>, node: Node): unknown {
  if (field.fields !== undefined) return readObject(field.fields, reading, node);
  const raw = rawValue(field, reading, node);
  if (raw === null) return null;
  return typed(field, field.pattern === undefined ? raw : firstMatch(field, raw), reading.source);
}

function rawValue<Node>(field: FieldSchema, reading: Reading<Node>, node: Node): string | null {
  const { source } = reading;
  if (field.attribute !== undefined) return source.attribute(node, field.attribute);
  if (field.type === 'attribute')
    throw new CrawlError('OPTION_INVALID', 'a field of type "attribute" needs "attribute"');
  if (!spend(reading, node)) return null;
  if (field.type === 'html') return source.html(node);
  return source.text(node);
}

/** A copy of each field's pattern that finds all: made once, since a page may have a million places to look at. */
const patterns = new WeakMap<FieldSchema, RegExp>();

function patternOf(field: FieldSchema): RegExp {
  let pattern = patterns.get(field);
  if (pattern === undefined) {
    const { source, flags } = new RegExp(field.pattern!);
    pattern = new RegExp(source, flags.includes('g') ? flags : `${flags}g`);
    patterns.set(field, pattern);
  }
  pattern.lastIndex = 0;
  return pattern;
}

function firstMatch(field: FieldSchema, text: string): string | null {
  const match = patternOf(field).exec(text);
  return match === null ? null : (match[1] ?? match[0]);
}

function allMatches<Node>(field: FieldSchema, reading: Reading<Node>, node: Node): unknown[] {
  const raw = rawValue(field, reading, node);
  if (raw === null) return [];
  const found: unknown[] = [];
  for (const match of raw.matchAll(patternOf(field))) {
    const value = typed(field, match[1] ?? match[0], reading.source);
    if (value !== null) found.push(value);
    if (found.length >= LIMITS.fieldMatches.max) {
      limitReached('fieldMatches');
      break;
    }
  }
  return found;
}

function typed<Node>(field: FieldSchema, value: string | null, source: FieldSource<Node>): unknown {
  if (value === null) return null;
  switch (field.type) {
    case 'number':
    case 'integer': {
      const number = parseNumber(value);
      return number === null ? null : field.type === 'integer' ? Math.trunc(number) : number;
    }
    case 'boolean':
      return !/^(?:|0|no|false|off|none|null)$/i.test(value.trim());
    case 'date': {
      const time = Date.parse(value);
      return Number.isNaN(time) ? null : new Date(time).toISOString();
    }
    case 'url':
      return source.resolve(value);
    case 'text':
    case 'attribute':
    case undefined:
      return value === '' && field.attribute === undefined ? null : value;
    case 'html':
    case 'exists':
    case 'object':
      return value;
    default:
      return field.type satisfies never;
  }
}

/** Where the last digit ends: separators after it belong to the sentence. */
function endOfDigits(text: string): number {
  let end = text.length;
  while (end > 0 && (text[end - 1] === '.' || text[end - 1] === ',')) end--;
  return end;
}

/** The first number in a text: `1,234.50`, `1.234,50`, `-3`, `€ 12`. The last separator followed by one or two digits is the decimal. */
export function parseNumber(text: string): number | null {
  const match = /[-−+]?\d[\d.,'’\s\u00a0\u202f]*/.exec(text);
  if (match === null) return null;
  let digits = match[0].replace(/[\s\u00a0\u202f'’]/g, '').replace('−', '-');
  digits = digits.slice(0, endOfDigits(digits));
  const lastDot = digits.lastIndexOf('.');
  const lastComma = digits.lastIndexOf(',');
  const decimal = lastDot > lastComma ? '.' : ',';
  const other = decimal === '.' ? ',' : '.';
  digits = digits.replaceAll(other, '');
  const pieces = digits.split(decimal);
  // `1,234` and `1.234.567` have groups of thousands; `1,5` and `1.25` have decimals.
  const isGroup =
    pieces.length > 2 || (pieces.length === 2 && decimal === ',' && pieces[1]!.length === 3 && lastDot < 0);
  const number = Number(isGroup ? pieces.join('') : pieces.join('.'));
  return Number.isFinite(number) ? number : null;
}
