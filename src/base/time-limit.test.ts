import { describe, expect, it } from 'vitest';
import { withinTime } from './time-limit.js';

const late = (): Error => new Error('too late');

describe('work within a time', () => {
  it('gives what it returns, and throws what it throws', () => {
    const made = { a: 1 };
    expect(withinTime(10_000, () => made, late)).toBe(made);
    expect(withinTime(10_000, () => withinTime(10_000, () => 2, late), late)).toBe(2);
    const wrong = new RangeError('wrong');
    expect(() =>
      withinTime(
        10_000,
        () => {
          throw wrong;
        },
        late,
      ),
    ).toThrow(wrong);
  });

  it('is broken off when it takes longer, even in a regular expression', () => {
    expect(() => withinTime(100, () => /(?:a+)+$/.test(`${'a'.repeat(50)}b`), late)).toThrow('too late');
    expect(() =>
      withinTime(
        100,
        () => {
          for (;;);
        },
        late,
      ),
    ).toThrow('too late');
    expect(withinTime(10_000, () => 3, late)).toBe(3);
  });
});
