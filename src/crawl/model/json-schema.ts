// Whether a value fits a JSON Schema: the keywords that describe data, read without running anything of the schema.
// Promise: linear in the size of value and schema, bounded in depth; keywords that are not known are ignored.

type Schema = Readonly<Record<string, unknown>> | boolean;

const MAX_DEPTH = 64;
const MAX_PROBLEMS = 10;
/** Alternatives multiply: this many checks are enough for any answer. */
const MAX_STEPS = 200_000;

/** What does not fit, as `path: reason`; empty when everything does. */
export function schemaProblems(value: unknown, schema: Schema): string[] {
  const problems: string[] = [];
  let steps = 0;

  function visit(at: string, one: unknown, rule: unknown, depth: number, found: string[]): void {
    if (rule === true || rule === undefined || typeof rule !== 'object' || rule === null) {
      if (rule === false) found.push(`${at}: nothing is allowed here`);
      return;
    }
    if (depth > MAX_DEPTH || ++steps > MAX_STEPS || found.length >= MAX_PROBLEMS) return;
    const keys = rule as Record<string, unknown>;
    const target = typeof keys.$ref === 'string' ? referred(schema, keys.$ref) : undefined;
    if (target !== undefined) visit(at, one, target, depth + 1, found);
    if (keys.nullable === true && one === null) return;
    checkType(at, one, keys, found);
    if (Array.isArray(keys.enum) && !keys.enum.some((option) => same(option, one)))
      found.push(`${at}: not one of the allowed values`);
    if ('const' in keys && !same(keys.const, one)) found.push(`${at}: not the required value`);
    checkAlternatives(at, one, keys, depth, found);
    if (typeof one === 'string') checkLength(at, [...one].length, keys, 'minLength', 'maxLength', found);
    if (typeof one === 'number') checkNumber(at, one, keys, found);
    if (Array.isArray(one)) checkArray(at, one, keys, depth, found);
    else if (typeof one === 'object' && one !== null)
      checkObject(at, one as Record<string, unknown>, keys, depth, found);
  }

  function checkAlternatives(
    at: string,
    one: unknown,
    keys: Record<string, unknown>,
    depth: number,
    found: string[],
  ): void {
    for (const rule of listOf(keys.allOf)) visit(at, one, rule, depth + 1, found);
    const fits = (rule: unknown): boolean => {
      const own: string[] = [];
      visit(at, one, rule, depth + 1, own);
      return own.length === 0;
    };
    if (Array.isArray(keys.anyOf) && !keys.anyOf.some(fits)) found.push(`${at}: fits none of anyOf`);
    if (Array.isArray(keys.oneOf) && keys.oneOf.filter(fits).length !== 1)
      found.push(`${at}: does not fit exactly one of oneOf`);
    if (keys.not !== undefined && fits(keys.not)) found.push(`${at}: fits what is excluded by "not"`);
  }

  function checkArray(
    at: string,
    list: unknown[],
    keys: Record<string, unknown>,
    depth: number,
    found: string[],
  ): void {
    checkLength(at, list.length, keys, 'minItems', 'maxItems', found);
    const first = listOf(keys.prefixItems);
    list.forEach((item, index) => visit(`${at}[${index}]`, item, first[index] ?? keys.items, depth + 1, found));
  }

  function checkObject(
    at: string,
    object: Record<string, unknown>,
    keys: Record<string, unknown>,
    depth: number,
    found: string[],
  ): void {
    const properties = (keys.properties ?? {}) as Record<string, unknown>;
    for (const name of listOf(keys.required)) {
      if (!Object.hasOwn(object, String(name))) found.push(`${at}.${String(name)}: missing`);
    }
    for (const [name, item] of Object.entries(object)) {
      const rule = Object.hasOwn(properties, name) ? properties[name] : keys.additionalProperties;
      visit(`${at}.${name.slice(0, 100)}`, item, rule, depth + 1, found);
    }
  }

  visit('$', value, schema, 0, problems);
  return problems.slice(0, MAX_PROBLEMS);
}

function checkType(at: string, one: unknown, { type }: Record<string, unknown>, found: string[]): void {
  const types = typeof type === 'string' ? [type] : listOf(type);
  if (types.length > 0 && !types.some((name) => isOfType(one, name))) {
    found.push(
      `${at}: expected ${types.join(' or ')}, got ${one === null ? 'null' : Array.isArray(one) ? 'array' : typeof one}`,
    );
  }
}

function isOfType(one: unknown, name: unknown): boolean {
  switch (name) {
    case 'null':
      return one === null;
    case 'array':
      return Array.isArray(one);
    case 'object':
      return typeof one === 'object' && one !== null && !Array.isArray(one);
    case 'integer':
      return Number.isInteger(one);
    default:
      return typeof one === name;
  }
}

function checkLength(
  at: string,
  length: number,
  keys: Record<string, unknown>,
  least: string,
  most: string,
  found: string[],
): void {
  if (typeof keys[least] === 'number' && length < keys[least])
    found.push(`${at}: shorter than ${least} ${keys[least]}`);
  if (typeof keys[most] === 'number' && length > keys[most]) found.push(`${at}: longer than ${most} ${keys[most]}`);
}

function checkNumber(at: string, one: number, keys: Record<string, unknown>, found: string[]): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = keys;
  const isLow =
    (typeof minimum === 'number' && one < minimum) || (typeof exclusiveMinimum === 'number' && one <= exclusiveMinimum);
  const isHigh =
    (typeof maximum === 'number' && one > maximum) || (typeof exclusiveMaximum === 'number' && one >= exclusiveMaximum);
  if (isLow || isHigh) found.push(`${at}: ${one} is too ${isLow ? 'low' : 'high'}`);
}

/** Only within the schema itself: `#/$defs/name`. */
function referred(schema: Schema, ref: string): unknown {
  if (!ref.startsWith('#')) return undefined;
  let found: unknown = schema;
  for (const part of ref.slice(1).split('/').filter(Boolean)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const same = (one: unknown, other: unknown): boolean => one === other || JSON.stringify(one) === JSON.stringify(other);
