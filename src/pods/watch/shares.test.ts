import { describe, expect, it } from 'vitest';
import { createShares, sharesOf } from './shares.js';

describe('the shares of a watch', () => {
  it('follow what the pods know, and are the whole together', () => {
    const shares = sharesOf(new Map([[0, 899], [1, 98]]), 3); // prettier-ignore
    expect(shares).toEqual([0.9, 0.099, 0.001]);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1);
  });

  it('are equal before anything is known', () => {
    expect(sharesOf(new Map(), 4)).toEqual([0.25, 0.25, 0.25, 0.25]);
  });

  it('count the pods of other machines, too', async () => {
    const board = new Map([[1, 299]]);
    const told: [number, number][] = [];
    const shares = createShares({
      pods: 2,
      ownPods: [0],
      board: {
        tellLoads: async (loads) => loads.forEach((load, pod) => board.set(pod, load)),
        loads: async () => board,
      },
      tell: (pod, part) => void told.push([pod, part]),
    });
    shares.hear(0, 99);
    shares.look();
    await expect.poll(() => told).toEqual([[0, 0.25]]);
    expect(board.get(0)).toBe(99);
  });
});
