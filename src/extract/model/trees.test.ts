import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluate, evaluateRows, toKeys } from './trees.js';

describe('the evaluation of trees', () => {
  it('orders floats by their keys, but for the last bit', () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true }), fc.float({ noNaN: true }), (a, b) => {
        const [x, y] = toKeys(Float32Array.of(a, b)) as unknown as [number, number];
        // Below the normal numbers the last bit is worth more of the number.
        const close = Math.abs(a - b) <= Math.abs(a) * 2 ** -22 + 2 ** -148;
        expect(close || Math.sign(x - y) === Math.sign(a - b) || (a === 0 && b === 0)).toBe(true);
      }),
    );
  });

  it('adds up the answers to the questions of every tree', () => {
    const none = Number.POSITIVE_INFINITY;
    const trees = {
      base: 0.5,
      count: 2,
      depth: 2,
      features: Uint16Array.of(0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0),
      thresholds: toKeys(Float32Array.of(0, 10, none, none, none, none, -1, 3, none, none, none, none)),
      leaves: Float32Array.of(1, 2, 4, 8, 16, 32, 64, 128),
    };
    // Rows (5, 20) and (-5, -2): both questions yes, both no.
    const keys = toKeys(Float32Array.of(5, -5, 20, -2));
    expect([...evaluate(trees, keys, 2)]).toEqual([0.5 + 8 + 128, 0.5 + 1 + 16]);
    expect([...evaluateRows(trees, keys, 2, Int32Array.of(1))]).toEqual([0, 0.5 + 1 + 16]);
    expect(() => evaluateRows({ ...trees, depth: 5 }, keys, 2, Int32Array.of(1))).toThrow(RangeError);
  });
});
