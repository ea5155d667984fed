import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  extractFields,
  extractLinks,
  extractMedia,
  extractMetadata,
  extractStructured,
  extractTables,
} from '../../crawl/page/extraction.js';
import { chunkMarkdown } from '../markdown/chunks.js';
import { parseNumber } from '../fields/fields.js';

const SHOP = `<div class="card" data-id="7"><h2>Red <b>boat</b></h2><span class="price">$1,234.50</span><a href="/red">more</a>
  <ul><li>wood</li><li>paint</li></ul><table><tr><td class=k>Length<td class=v>3 m<tr><td class=k>Age<td class=v>2 y</table></div>
<div class="card"><h2>Blue boat</h2><span class="price">sold</span><a href="/blue">more</a></div>`;

describe('schemas', () => {
  const nested = {
    name: { type: 'text', css: 'h2', xpath: './/h2' },
    price: { type: 'number', css: '.price', xpath: './/span[@class="price"]' },
  } as const;

  it.each(['css', 'xpath'] as const)('gives typed fields, lists and nested objects by %s', (engine) => {
    const pick = (css: string, xpath: string): string => (engine === 'css' ? css : xpath);
    const result = extractFields(
      SHOP,
      {
        engine,
        items: pick('.card', '//div[@class="card"]'),
        fields: {
          id: { attribute: 'data-id', type: 'integer' },
          name: { selector: nested.name[engine] },
          price: { selector: nested.price[engine], type: 'number', default: 0 },
          url: { selector: pick('a', './/a'), attribute: 'href', type: 'url' },
          made: { selector: pick('li', './/li'), many: true },
          sold: { selector: nested.price[engine], pattern: 'sold', type: 'boolean', default: false },
          specs: {
            selector: pick('tr', './/tr'),
            many: true,
            fields: {
              key: { selector: pick('.k', 'td[1]') },
              value: { selector: pick('.v', 'td[2]'), type: 'number' },
            },
          },
        },
      },
      { url: 'https://shop.example/list' },
    );
    expect(result).toEqual([
      {
        id: 7,
        name: 'Red boat',
        price: 1234.5,
        url: 'https://shop.example/red',
        made: ['wood', 'paint'],
        sold: false,
        specs: [
          { key: 'Length', value: 3 },
          { key: 'Age', value: 2 },
        ],
      },
      { id: null, name: 'Blue boat', price: 0, url: 'https://shop.example/blue', made: [], sold: true, specs: [] },
    ]);
  });

  it('finds patterns in the text', () => {
    expect(
      extractFields('<p>Mail a@b.example or c@d.example</p>', {
        engine: 'regex',
        fields: { mails: { pattern: /\S+@[\w.]+/, many: true }, first: { pattern: 'Mail (\\w)@' } },
      }),
    ).toEqual({ mails: ['a@b.example', 'c@d.example'], first: 'a' });
  });

  it('names everything that is wrong about a schema', () => {
    expect(() =>
      extractFields('', { engine: 'css', fields: { a: { selektor: 'b' }, c: { pattern: '(' } } } as never),
    ).toThrow(/selektor.*c has a bad pattern/);
    expect(() => extractFields('', { engine: 'xpath', fields: { a: { selector: '//a[' } } })).toThrow(/XPath/);
    expect(() => extractFields('', { engine: 'css', fields: { a: { selector: ':::' } } })).toThrow(/CSS selector/);
  });

  it('follows the documented part of XPath', () => {
    const html =
      '<div id=a><p class="x y">one</p><p>two <i>in</i></p><a href=/1>l</a><p title=t>three</p></div><p>out</p>';
    const find = (selector: string): unknown =>
      extractFields(html, { engine: 'xpath', fields: { v: { selector, many: true } } });
    const cases: [string, string[]][] = [
      ['//p', ['one', 'two in', 'three', 'out']],
      ['/div/p[2]', ['two in']],
      ['//div/p[last()]', ['three']],
      ['//p[@title]', ['three']],
      ['//p[contains(@class, "y")]/following-sibling::p[1]', ['two in']],
      ['//p[starts-with(., "t") and not(@title)]', ['two in']],
      ['//a/@href', ['/1']],
      ['//i/ancestor::div/p[position() < 2]', ['one']],
      ['//i/.. | //a', ['two in', 'l']],
      ['//p/text()', ['one', 'two', 'three', 'out']],
      ['//*[@id="a"]//i', ['in']],
      ['//p[normalize-space() = "out"]', ['out']],
      ['//div[count(p) = 3]/a', ['l']],
    ];
    for (const [selector, wanted] of cases) expect(find(selector), selector).toEqual({ v: wanted });
  });

  it('reads numbers as people write them', () => {
    const cases: [string, number | null][] = [
      ['$1,234.50', 1234.5],
      ['1.234,50 €', 1234.5],
      ['12', 12],
      ['-3.5', -3.5],
      ['1,5', 1.5],
      ['1,234', 1234],
      ["1'000", 1000],
      ['none', null],
    ];
    for (const [text, number] of cases) expect(parseNumber(text), text).toBe(number);
  });
});

describe('tables', () => {
  it('gives rows with headers, spans and a caption, and no layout tables', () => {
    const html = `<table><caption>Boats</caption><thead><tr><th>Name<th>Size</thead><tr><td rowspan=2>Red<td>3<tr><td>4</table>
      <table><tr><td><table><tr><td>a<td>b</table></table>`;
    expect(extractTables(html)).toEqual([
      {
        caption: 'Boats',
        headers: ['Name', 'Size'],
        rows: [
          ['Red', '3'],
          ['', '4'],
        ],
      },
      { caption: null, headers: [], rows: [['a', 'b']] },
    ]);
  });
});

describe('structured data', () => {
  it('reads JSON-LD, microdata and Open Graph', () => {
    const html = `<script type="application/ld+json">{"@type":"Product","name":"Boat"}</script><script type="application/ld+json">{bad</script>
      <meta property="og:title" content="T"><meta property="__proto__" content="x">
      <div itemscope itemtype="https://schema.org/Person"><b itemprop="name">Ada</b>
      <div itemprop="address" itemscope><span itemprop="city">Cork</span></div><a itemprop="url" href="/ada">me</a></div>`;
    const { jsonLd, microdata, openGraph } = extractStructured(html, { url: 'https://e.com/' });
    expect(jsonLd).toEqual([{ '@type': 'Product', name: 'Boat' }]);
    expect({ ...openGraph }).toEqual({ 'og:title': 'T' });
    expect(JSON.parse(JSON.stringify(microdata))).toEqual([
      {
        type: ['https://schema.org/Person'],
        id: null,
        properties: {
          name: ['Ada'],
          address: [{ type: [], id: null, properties: { city: ['Cork'] } }],
          url: ['https://e.com/ada'],
        },
      },
    ]);
  });

  it('reads metadata', () => {
    const html = `<title>T</title><link rel=canonical href=/c><meta name=keywords content="a, b"><meta name=robots content=noindex>`;
    expect(extractMetadata(html, { url: 'https://e.com/x' })).toMatchObject({
      title: 'T',
      canonical: 'https://e.com/c',
      keywords: ['a', 'b'],
      robots: 'noindex',
    });
  });

  it('lists links and media with the heading that they stand under', () => {
    const html = `<h2>Boats</h2><p>A text with <a href="/red" title=t>a red one</a> and <a href="https://other.example/">another</a>.</p>
      <img data-src="/late.png" src="data:image/gif;base64,AA" width=10><video><source src=/v.mp4></video>`;
    const links = extractLinks(html, { url: 'https://e.com/' });
    expect(links.internal).toMatchObject([
      { url: 'https://e.com/red', text: 'a red one', title: 't', heading: 'Boats' },
    ]);
    expect(links.external).toMatchObject([{ url: 'https://other.example/' }]);
    const media = extractMedia(html, { url: 'https://e.com/' });
    expect(media.images).toMatchObject([{ url: 'https://e.com/late.png', width: 10, heading: 'Boats' }]);
    expect(media.videos).toMatchObject([{ url: 'https://e.com/v.mp4' }]);
  });
});

describe('chunks', () => {
  it('cuts along headings, keeps their path, and points into the document', () => {
    const document = '# A\n\nintro\n\n## B\n\nunder b\n\n```\n# no heading\n```\n\n# C\n\nend';
    const chunks = chunkMarkdown(document);
    expect(chunks.map(({ headings }) => headings)).toEqual([['A'], ['A', 'B'], ['C']]);
    for (const { from, to, text } of chunks) expect(document.slice(from, to)).toBe(text);
  });

  it('covers every word, overlaps, and keeps to the size', () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1, maxLength: 400 }),
        fc.constantFrom(0, 20, 50),
        (words, overlapChars) => {
          const document = words
            .map((word, k) => (k % 9 === 8 ? `${word}.\n\n` : `${word} `))
            .join('')
            .trim();
          const chunks = chunkMarkdown(document, { maxChars: 100, overlapChars });
          let reached = 0;
          for (const { from, to } of chunks) {
            expect(to - from).toBeLessThanOrEqual(100);
            expect(document.slice(reached, Math.max(reached, from)).trim()).toBe('');
            reached = Math.max(reached, to);
          }
          expect(document.slice(reached).trim()).toBe('');
        },
      ),
      { numRuns: 100 },
    );
  });

  it('names links in headings by their text, and leaves escaped brackets alone', () => {
    const heading = '# \\[a](b) [c \\[d\\]](e) ![f](g\\)h) \\\\[i](j) \\*';
    expect(chunkMarkdown(heading)[0]!.headings).toEqual(['[a](b) c [d] f \\i']);
  });

  it('gives a chunk the same id wherever it stands, and different ones to repeats', () => {
    const [first] = chunkMarkdown('# A\n\nx');
    const again = chunkMarkdown('# Z\n\ny\n\n# A\n\nx\n\n# A\n\nx');
    expect(again[1]!.id).toBe(first!.id);
    expect(new Set(again.map(({ id }) => id)).size).toBe(again.length);
  });
});
