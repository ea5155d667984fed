// Objects whose properties are worked out when first read and then kept.
// Promise: they look like plain objects: enumerable, in order, readable by JSON.stringify; a property is computed once.

/** Makes an object from functions of the same names. */
export function lazily<T extends object>(readers: { readonly [Name in keyof T]: () => T[Name] }): T {
  const object = {} as T;
  for (const name of Object.keys(readers) as (keyof T & string)[]) {
    Object.defineProperty(object, name, {
      enumerable: true,
      configurable: true,
      get() {
        const value = readers[name]();
        Object.defineProperty(object, name, { enumerable: true, value });
        return value;
      },
    });
  }
  return object;
}
