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

  it('are no signs or adverts of a site above and below the text', () => {
    const around = (link: string): string =>
      `<title>Lanterns</title><body><div>${link}<article><h1>Lanterns</h1>${prose}${prose}</article></div></body>`;
    const found = (link: string): number =>
      extractContent(around(link), { url: 'https://example.com/a' }).markdown.match(/!\[/g)?.length ?? 0;
    expect(found('<p><a href="/"><img src="/sign.png" alt="Example News"></a></p>')).toBe(0);
    expect(found('<p><a href="https://shop.example"><img src="/sale.jpg"></a></p>')).toBe(0);
    expect(found('<p><a href="/lamp"><img src="/lamp.jpg" alt="A lamp"></a></p>')).toBe(1);
    const words = 'A lamp of brass that hangs above a table';
    expect(found(`<p><a href="https://shop.example/"><img src="/lamp.jpg" alt="${words}"></a></p>`)).toBe(1);
  });

  it('are not what opens over a word, what holds a cell open, or an advert whose address was never filled in', () => {
    const bubble =
      '<p>Ask <span><a href="/ada">Ada</a><span class="rollover-block"><img src="/ada.jpg"><a href="/more">More</a></span></span> about it, she knows.</p>';
    expect(pictures(bubble)).toEqual([]);
    expect(pictures('<p><img src="/theme/clear.gif"> <img src="/spacer.gif?x=1"> A line of text</p>')).toEqual([]);
    const adverts = ['[timestamp]', '%%CACHEBUSTER%%', '{{ id }}', '${id}'];
    expect(pictures(adverts.map((place) => `<p><img src="https://ads.example/b?t=${place}"></p>`).join(''))).toEqual(
      [],
    );
    expect(pictures('<p><img src="/clear.gif.png"><img src="/a.png?t=[1]"></p>')).toHaveLength(2);
  });

  it('leave line breaks where they stand, also within an element of their own', () => {
    const text = '<p><em>A lantern is a lamp.</em><strong><br></strong><span>It hangs on a ship.</span></p>';
    expect(extractContent(page(text)).markdown).toContain('*A lantern is a lamp.*\\\nIt hangs on a ship.');
  });
});
