// Packed requests: the key can be read without the rest, whatever the rest contains.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyInRecord } from './record.js';
import { Request } from './request.js';

describe('keyInRecord', () => {
  it('finds the key of a record that has one, whatever else it holds', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(9), fc.string(), fc.string(), (index, hop, text, payload) => {
        const request = new Request({
          url: `https://example.com/?q=${encodeURIComponent(text)}&k="k":"1.1"`,
          uniqueKey: `${index}.${hop}`,
          headers: { 'x-text': `"k":"2.2" ${encodeURIComponent(text)}` },
          method: 'POST',
          payload: `${payload}"k":"3.3"`,
        });
        expect(keyInRecord(request.toRecord())).toBe(`${index}.${hop}`);
      }),
    );
  });

  it('is empty for a record that is only a URL', () => {
    expect(keyInRecord(new Request({ url: 'https://example.com/a?"k":"4.4"' }).toRecord())).toBe('');
  });
});
