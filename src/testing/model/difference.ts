// Where a backend and the model differ: one error for all of them, in words that name the request or the number.

export class ModelDifference extends Error {
  override readonly name = 'ModelDifference';
}

export function differs(message: string): never {
  throw new ModelDifference(message);
}

/** Compares plain data; the message shows both sides. */
export function mustEqual(what: string, actual: unknown, expected: unknown): void {
  const [got, wanted] = [stable(actual), stable(expected)];
  if (got !== wanted) differs(`${what}: the backend says ${got}, the model ${wanted}`);
}

function stable(value: unknown): string {
  return (
    JSON.stringify(value, (_key, inner: unknown) =>
      inner !== null && typeof inner === 'object' && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
        : inner,
    ) ?? 'undefined'
  );
}

/** Notes of callers: a store's own ones, on pages that ended their worker, are not modelled. */
export function withoutFates(notes: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(notes).filter(([name]) => !name.startsWith('fate/')));
}
