// Lazily computed properties that look like plain ones: own and enumerable, so they spread, compare and become JSON.
// Getters written in an object literal are new functions each time, which gives every object a hidden class of its own
// that outlives it until the next full collection, and the page's bytes with it; shared functions avoid that.

/** Property descriptors to define on each object: one getter function per property, shared by all objects. */
export function ownGetters<Self, Properties>(readers: {
  readonly [Name in keyof Properties]: (self: Self) => Properties[Name];
}): PropertyDescriptorMap {
  const descriptors: PropertyDescriptorMap = {};
  for (const name of Object.keys(readers) as (keyof Properties & string)[]) {
    const read = readers[name];
    descriptors[name] = {
      enumerable: true,
      get(this: Self) {
        return read(this);
      },
    };
  }
  return descriptors;
}
