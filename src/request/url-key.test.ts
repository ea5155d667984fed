// Keys of URLs are the same whether they are remembered or made anew, however many come between.
import { describe, expect, it } from 'vitest';
import { fingerprintOf } from './fingerprint.js';
import { normalizeUrl } from './url.js';
import { urlKeyOf } from './url-key.js';

describe('urlKeyOf', () => {
  it('tells the unique key and its fingerprint, the first time and after thousands of others', () => {
    const some = Array.from({ length: 50 }, (_, i) => `https://example.com/page/?b=${i}&a=1&utm_source=x#top`);
    const check = (): void => {
      for (const url of some) {
        const uniqueKey = normalizeUrl(url);
        expect(urlKeyOf(url)).toEqual({ uniqueKey, fingerprint: fingerprintOf(uniqueKey) });
      }
    };
    check();
    for (let i = 0; i < 9_000; i++) urlKeyOf(`https://example.com/other/${i}`);
    check();
    for (let i = 0; i < 40_000; i++) urlKeyOf(`https://example.com/more/${i}`);
    check();
  });

  it('does not keep long URLs', () => {
    const long = `https://example.com/${'a'.repeat(5_000)}`;
    expect(urlKeyOf(long)).not.toBe(urlKeyOf(long));
    expect(urlKeyOf('https://example.com/short')).toBe(urlKeyOf('https://example.com/short'));
  });
});
