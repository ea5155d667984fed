// Which pictures are part of the chosen content.
import { describe, expect, it } from 'vitest';
import { extractContent } from '../../crawl/page/extraction.js';

const prose = `<p>${'A sentence of the article about lanterns at sea. '.repeat(12)}</p>`;
const page = (pictures: string): string =>
  `<title>Lanterns</title><main><article><h1>Lanterns</h1>${prose}${pictures}${prose}</article></main>`;
const pictures = (html: string): string[] =>
  [...extractContent(page(html), { url: 'https://example.com/a' }).markdown.matchAll(/!\[[^\]]*\]\(([^)]*)\)/g)].map(
    ([, url]) => url!,
  );

describe('pictures of the content', () => {
  it('come once each, also where a copy for browsers without scripts stands beside one that loads late', () => {
    const late = '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" data-src="/ship.jpg" alt="A ship">';
    expect(pictures(`<figure>${late}<noscript><img src="/ship.jpg" alt="A ship"></noscript></figure>`)).toEqual([
      'https://example.com/ship.jpg',
    ]);
    expect(
      pictures('<p><img src="/a.png" alt="a"></p><p><img src="/b.png" alt="b"><img src="/a.png" alt="a"></p>'),
    ).toEqual([...['https://example.com/a.png', 'https://example.com/b.png']]);
  });

  it('are no signs that a page sets before its lines', () => {
    const line = '<p><img src="/tick.svg" alt="Checkmark"> One of the many features that this lantern has</p>';
    expect(pictures(line.repeat(4))).toEqual([]);
    expect(pictures(line)).toEqual(['https://example.com/tick.svg']);
  });
});
