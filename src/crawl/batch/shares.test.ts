// Shares of domains: what the queue is told as URLs come and go.
import { describe, expect, it } from 'vitest';
import { createDomainShares } from './shares.js';

function shares(slots: number) {
  const told: number[] = [];
  return { told, ...createDomainShares(slots, 1000, (turns) => void told.push(turns)) };
}

describe('domain shares', () => {
  it('leave a domain all slots while it is alone, and a tenth less while there are others', () => {
    const { told, pending, ended } = shares(20);
    pending('a');
    pending('a');
    expect(told).toEqual([]);
    pending('b');
    expect(told).toEqual([18]);
    pending('c');
    ended('c');
    expect(told).toEqual([18]);
    ended('b');
    expect(told).toEqual([18, 1000]);
  });

  it.each([
    [1, 1],
    [2, 1],
    [5, 4],
    [100, 90],
  ])('of %i slots give one domain %i when there are others', (slots, most) => {
    const { told, pending } = shares(slots);
    pending('a');
    pending('b');
    expect(told).toEqual([most]);
  });
});
