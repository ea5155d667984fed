import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSortedTable } from './sorted-table.js';

describe('sorted table', () => {
  it('agrees with a sorted list after any puts and removals', () => {
    const key = fc.tuple(fc.nat(6), fc.nat(200));
    const step = fc.tuple(fc.constantFrom('put', 'put', 'put', 'remove'), key, fc.nat(255));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 900, size: 'max' }), fc.nat(6), fc.nat(200), (steps, major, minor) => {
        const table = createSortedTable();
        const model = new Map<string, [number, number, number]>();
        for (const [kind, [a, b], value] of steps) {
          if (kind === 'put') {
            table.put(a, b, Buffer.from([value]));
            model.set(`${a}/${b}`, [a, b, value]);
          } else {
            table.remove(a, b);
            model.delete(`${a}/${b}`);
          }
        }
        const sorted = [...model.values()].sort((x, y) => x[0] - y[0] || x[1] - y[1]);
        const seen: [number, number, number][] = [];
        table.scan(major, minor, 4, (a, b, row) => void seen.push([a, b, row[0]!]));
        expect(seen).toEqual(sorted.filter(([a, b]) => a <= 4 && (a > major || (a === major && b >= minor))));
        for (const [a, b, value] of sorted) expect(table.get(a, b)?.[0]).toBe(value);
        expect(table.get(7, 0)).toBeUndefined();
      }),
      { numRuns: 60 },
    );
  });

  it('keeps its own copy of a value', () => {
    const table = createSortedTable();
    const value = Buffer.from('first');
    table.put(1, 1, value);
    value.write('other');
    expect(table.get(1, 1)?.toString()).toBe('first');
  });

  it('ends a scan when told', () => {
    const table = createSortedTable();
    for (let i = 0; i < 1_000; i++) table.put(0, i, Buffer.from([1]));
    let visits = 0;
    table.scan(0, 10, 0, () => ++visits < 5);
    expect(visits).toBe(5);
  });
});
