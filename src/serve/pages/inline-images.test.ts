import { describe, expect, it } from 'vitest';
import { withoutInlineImages } from './inline-images.js';

describe('images inside a text', () => {
  it.each([
    ['a ![b](data:image/png;base64,AAAA) c', 'a ![b](<Base64-Image-Removed>) c'],
    ['![](data:image/gif;base64,R0)![x](data:image/png,1)', '![](<Base64-Image-Removed>)![x](<Base64-Image-Removed>)'],
    ['![a](data:image/png,A ![b](data:image/png,B)', '![a](data:image/png,A ![b](<Base64-Image-Removed>)'],
    ['[![a](data:image/png,1)](/page)', '[![a](<Base64-Image-Removed>)](/page)'],
  ])('lose their bytes and keep their words: %s', (markdown, expected) => {
    expect(withoutInlineImages(markdown)).toBe(expected);
  });

  it.each(['![a](https://x.test/a.png)', '![a](data:text/plain,b)', '![a\n](data:image/png,1)', '![a', ''])(
    'and nothing else does: %j',
    (markdown) => {
      expect(withoutInlineImages(markdown)).toBe(markdown);
    },
  );

  it('that never end take linear time', () => {
    // The pattern that was here took minutes over it.
    for (const piece of ['![](data:image/', '![', '![](', '![a](data:image/ ']) {
      const text = piece.repeat(Math.floor(1_000_000 / piece.length));
      expect(withoutInlineImages(text)).toBe(text);
    }
  });
});
