// The difference of two sets of extracted fields: which fields changed, from what to what.
// Promise: each value is looked at once; what is nested deeper than a handler would write is compared as a whole.

/** A field's value before and now; null where it was missing. */
export interface FieldChange {
  /** At the last visit; undefined when the field is new. */
  readonly previous: unknown;
  /** Now; undefined when the field is gone. */
  readonly current: unknown;
}

const MAX_DEPTH = 32;

/**
 * The fields that differ, by path: `price`, `seller.name`. A list is one value.
 *
 * @example
 * fieldDiff({ price: 3, name: 'a' }, { price: 4, name: 'a' }) // { price: { previous: 3, current: 4 } }
 */
export function fieldDiff(before: unknown, now: unknown): Record<string, FieldChange> {
  const changes: Record<string, FieldChange> = {};
  compare(before, now, '', 0, changes);
  return changes;
}

function compare(
  before: unknown,
  now: unknown,
  path: string,
  depth: number,
  changes: Record<string, FieldChange>,
): void {
  if (depth === 0 || (isRecord(before) && isRecord(now) && depth < MAX_DEPTH)) {
    const [one, other] = [recordOf(before), recordOf(now)];
    for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
      compare(one[name], other[name], path === '' ? name : `${path}.${name}`, depth + 1, changes);
    }
  } else if (JSON.stringify(before) !== JSON.stringify(now)) {
    // A page may name a field `__proto__`.
    Object.defineProperty(changes, path, {
      value: { previous: before ?? null, current: now ?? null },
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : value === undefined || value === null ? {} : { value };
}
