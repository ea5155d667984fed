// What becomes a line and what is refused.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_ITEM_BYTES, serializeItems } from './items.js';

describe('serializeItems', () => {
  it('makes one line per item, whatever the item holds', () => {
    fc.assert(
      fc.property(fc.array(fc.dictionary(fc.string(), fc.jsonValue())), (items) => {
        const lines = serializeItems(items).split('\n');
        expect(lines.pop()).toBe('');
        expect(lines.map((line) => JSON.parse(line))).toEqual(JSON.parse(JSON.stringify(items)));
      }),
    );
  });

  it('allows exactly the limit, counted in bytes', () => {
    const frame = '{"t":""}'.length;
    const fill = 'ü'.repeat((MAX_ITEM_BYTES - frame) / 2);
    expect(serializeItems({ t: fill }).length).toBe(fill.length + frame + 1);
    expect(() => serializeItems({ t: `${fill}x` })).toThrow(/too large.*9437185 bytes/);
  });

  it('names the item that is wrong', () => {
    expect(() => serializeItems([{}, {}, 3])).toThrow('the dataset item at index 2 must be an object, got a number');
    expect(() => serializeItems('x')).toThrow('a dataset item must be an object, got a string');
  });
});
