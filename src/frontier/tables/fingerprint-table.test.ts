import { describe, expect, it } from 'vitest';
import { fingerprintOf } from '../../request/fingerprint.js';
import { createFingerprintTable } from './fingerprint-table.js';

describe('fingerprint table', () => {
  it('finds everything it was given, through many growths', () => {
    const table = createFingerprintTable();
    const prints = Array.from({ length: 20_000 }, (_, i) => fingerprintOf(`page ${i}`));
    prints.forEach(({ hi, lo }, i) => table.add(hi, lo, i));
    expect(table.size).toBe(20_000);
    expect(prints.every(({ hi, lo }, i) => table.get(hi, lo) === i)).toBe(true);
    const { hi, lo } = fingerprintOf('never added');
    expect(table.get(hi, lo)).toBe(-1);
  });

  it('tells fingerprints apart that share a half', () => {
    const table = createFingerprintTable();
    table.add(1, 7, 10);
    table.add(2, 7, 20);
    table.add(0, 0, 30);
    expect([table.get(1, 7), table.get(2, 7), table.get(0, 0), table.get(3, 7), table.get(7, 1)]).toEqual([
      10, 20, 30, -1, -1,
    ]);
  });

  it('is sized for what is expected and reports its bytes', () => {
    const table = createFingerprintTable(100_000);
    const before = table.bytes;
    for (let i = 0; i < 100_000; i++) table.add(i, Math.imul(i, 2_654_435_761) >>> 0, i);
    expect(table.bytes).toBe(before);
    expect(before).toBeLessThanOrEqual(100_000 * 34);
  });
});
