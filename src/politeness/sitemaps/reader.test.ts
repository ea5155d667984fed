import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSitemapReader, type SitemapEntry } from './reader.js';

/** Any code units, halves of pairs included; built from bytes, which fast-check generates quickly. */
const anyText = (maxLength: number) =>
  fc
    .tuple(fc.uint8Array({ maxLength }), fc.constantFrom('latin1' as const, 'utf16le' as const))
    .map(([bytes, encoding]) => Buffer.from(bytes).toString(encoding));

const BASE = 'https://example.com/feeds/sitemap.xml';

function read(text: string, pieceLength = text.length || 1) {
  const reader = createSitemapReader(BASE);
  const entries: SitemapEntry[] = [];
  for (let at = 0; at < text.length; at += pieceLength) entries.push(...reader.read(text.slice(at, at + pieceLength)));
  entries.push(...reader.read(null));
  return { entries, urls: entries.map(({ url }) => url), format: reader.format, isHopeless: reader.isHopeless };
}

const URLSET = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
  <url>
    <loc> https://example.com/a?x=1&amp;y=2 </loc>
    <lastmod>2024-05-06T07:08:09+00:00</lastmod><changefreq>Weekly</changefreq><priority>0.8</priority>
    <image:image><image:loc>https://example.com/picture.png</image:loc></image:image>
  </url>
  <url><loc><![CDATA[https://example.com/b?x=1&y=2]]></loc><lastmod>last week</lastmod><priority>9</priority></url>
  <url><lastmod>2024-05-06</lastmod></url>
</urlset>`;

describe('XML', () => {
  it('reads the pages of a urlset and what it says of them, and no pictures', () => {
    const { entries, format } = read(URLSET);
    expect(format).toBe('urlset');
    expect(entries).toEqual([
      {
        kind: 'url',
        url: 'https://example.com/a?x=1&y=2',
        lastmod: new Date('2024-05-06T07:08:09Z'),
        changefreq: 'weekly',
        priority: 0.8,
      },
      { kind: 'url', url: 'https://example.com/b?x=1&y=2' },
    ]);
  });

  it('gives the same in whatever pieces the text comes', () => {
    const whole = read(URLSET).entries;
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), (length) => {
        expect(read(URLSET, length).entries).toEqual(whole);
      }),
      { numRuns: 30 },
    );
  });

  it('reads an index, prefixed names and capitals', () => {
    const { entries, format } = read(
      '<s:SitemapIndex><s:sitemap><s:LOC>https://example.com/1.xml.gz</s:LOC></s:sitemap></s:SitemapIndex>',
    );
    expect([format, entries]).toEqual(['index', [{ kind: 'sitemap', url: 'https://example.com/1.xml.gz' }]]);
  });

  it('reads RSS 2.0 and RSS 1.0', () => {
    const rss = `<rss version="2.0"><channel><link>https://example.com/</link><item><title>x</title>
      <atom:link href="https://example.com/other"/><link>../news/1</link>
      <pubDate>Mon, 06 May 2024 07:08:09 GMT</pubDate></item></channel></rss>`;
    expect(read(rss)).toMatchObject({
      format: 'rss',
      entries: [{ url: 'https://example.com/news/1', lastmod: new Date('2024-05-06T07:08:09Z') }],
    });
    expect(read('<rdf:RDF><channel/><item><link>https://example.com/1</link></item></rdf:RDF>').urls).toEqual([
      'https://example.com/1',
    ]);
  });

  it('reads Atom, each entry’s own page only', () => {
    const atom = `<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://example.com/"/><entry>
      <link rel="self" href="https://example.com/self"/><link rel="alternate" href="/1"/><link href="/2"/>
      <updated>2024-05-06</updated></entry></feed>`;
    expect(read(atom)).toMatchObject({ format: 'atom', entries: [{ url: 'https://example.com/1' }] });
    expect(read(atom).entries).toHaveLength(1);
  });

  it('takes a bare & for itself, and goes on after broken markup', () => {
    const text =
      '<urlset><url><loc>https://example.com/?a=1&b=2&copy=3</loc></url><url><loc>https://example.com/2</url></oops>' +
      '<url><loc>https://example.com/3</loc></url>';
    expect(read(text).urls).toEqual([
      'https://example.com/?a=1&b=2&copy=3',
      'https://example.com/2',
      'https://example.com/3',
    ]);
  });

  it('leaves out what is no http(s) URL', () => {
    const urls = [
      'javascript:alert(1)',
      'ftp://example.com/',
      'file:///etc/passwd',
      'http://',
      `https://example.com/${'x'.repeat(70_000)}`,
    ];
    expect(read(`<urlset>${urls.map((url) => `<url><loc>${url}</loc></url>`).join('')}</urlset>`).urls).toEqual([]);
  });

  it('is no sitemap when it is an HTML page', () => {
    expect(read('<!doctype html><html><body><a href="https://example.com/">x</a></body></html>')).toMatchObject({
      entries: [],
      format: undefined,
    });
  });
});

describe('text', () => {
  it('reads one URL per line, whatever the line ends, and passes over the rest', () => {
    const text = '\ufeffhttps://example.com/1\r\n  https://example.com/2  \r# note\n/relative\nhttps://example.com/ü';
    for (const length of [1, 7, 1_000]) {
      expect(read(text, length)).toMatchObject({
        format: 'text',
        urls: ['https://example.com/1', 'https://example.com/2', 'https://example.com/ü'],
      });
    }
  });

  it('holds no more of an endless line than a URL may have', () => {
    expect(read(`https://example.com/${'x'.repeat(200_000)}\nhttps://example.com/1`, 1_000).urls).toEqual([
      'https://example.com/1',
    ]);
  });
});

describe('hostile text', () => {
  it('does not expand the entities of a DOCTYPE', () => {
    const bomb = `<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY a "https://example.com/"><!ENTITY b "&a;&a;&a;&a;">
      <!ENTITY file SYSTEM "file:///etc/passwd">]>
      <urlset><url><loc>&b;</loc></url><url><loc>https://example.com/&file;</loc></url></urlset>`;
    expect(read(bomb).urls.join()).not.toMatch(/passwd|root:|example\.com\/https/);
    expect(read(bomb).urls).toContain('https://example.com/&file;');
  });

  it.each([
    ['tags without end', '<a>'.repeat(50_000)],
    ['attributes without end', `<urlset ${Array.from({ length: 50_000 }, (_, i) => `a${i}=""`).join(' ')}>`],
  ])('gives up on %s', (_, text) => {
    expect(read(text, 4_096)).toMatchObject({ entries: [], isHopeless: true });
  });

  it('gives an answer for any text', () => {
    const piece = fc.oneof(
      anyText(20),
      fc.constantFrom(
        '<urlset>',
        '<url>',
        '<loc>',
        'https://a.example/',
        '</loc>',
        '</url>',
        '<![CDATA[',
        ']]>',
        '<!--',
        '-->',
        '&',
        '&#',
        '<?',
        '\0',
      ),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), fc.integer({ min: 1, max: 40 }), (pieces, length) => {
        for (const { url } of read(pieces.join(''), length).entries) expect(url).toMatch(/^https?:\/\//i);
      }),
      { numRuns: 50 },
    );
  });
});
