// What `using` and `await using` become where the runtime does not know them (Node 20): the helper that the transform of
// ./typescript-hooks.mjs asks for. Promise: what was taken is given back in reverse, and the first error is the one thrown.
const NONE = {};

export default function usingContext() {
  const taken = [];
  const context = { e: NONE, u: (value) => take(value, false), a: (value) => take(value, true), d: giveBack };

  function take(value, isAwaited) {
    if (value === null || value === undefined) return value;
    const dispose = (isAwaited ? value[Symbol.asyncDispose] : undefined) ?? value[Symbol.dispose];
    if (typeof dispose !== 'function') throw new TypeError('the value cannot be disposed of');
    taken.push({ end: () => dispose.call(value), isAwaited });
    return value;
  }

  function fail(error) {
    if (context.e === NONE) context.e = error;
  }

  function giveBack() {
    while (taken.length > 0) {
      const { end, isAwaited } = taken.pop();
      try {
        const ended = end();
        if (isAwaited) return Promise.resolve(ended).catch(fail).then(giveBack);
      } catch (error) {
        fail(error);
      }
    }
    if (context.e !== NONE) throw context.e;
  }

  return context;
}
