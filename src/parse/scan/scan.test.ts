// What scanPage promises, rule by rule; whole corpora are compared with a tree in test/conformance.
import { describe, expect, it } from 'vitest';
import { scanPage } from './scan.js';

const url = 'https://example.com/dir/page?x=1';
const scan = (html: string, images = false) => scanPage(Buffer.from(html), { url, images });
const urls = (html: string): string[] => scan(html).links.map((link) => link.url);

describe('links', () => {
  it('reports element, absolute URL, text and rel in document order', () => {
    const { links } = scan(
      '<link rel=stylesheet href=s.css><a href="/x" rel="nofollow ugc"> A <b>bold</b>\n link </a><iframe src=//h.com/f></iframe>' +
        '<map><area href=#m alt="The &amp; map"></map><form action="?q">x</form><img src=i.png alt=pic>',
    );
    expect(links).toEqual([
      { element: 'link', url: 'https://example.com/dir/s.css', text: '', rel: 'stylesheet' },
      { element: 'a', url: 'https://example.com/x', text: 'A bold link', rel: 'nofollow ugc' },
      { element: 'iframe', url: 'https://h.com/f', text: '', rel: '' },
      { element: 'area', url: 'https://example.com/dir/page?x=1#m', text: 'The & map', rel: '' },
      { element: 'form', url: 'https://example.com/dir/page?q', text: '', rel: '' },
    ]);
  });

  it('reports images only when asked, under the name img', () => {
    expect(scan('<img src=a><image src=b alt=B>', true).links).toEqual([
      { element: 'img', url: 'https://example.com/dir/a', text: '', rel: '' },
      { element: 'img', url: 'https://example.com/dir/b', text: 'B', rel: '' },
    ]);
    expect(urls('<img src=a>')).toEqual([]);
  });

  it('resolves every link against the first base with an href, wherever it stands', () => {
    expect(urls('<a href=1>x</a><base target=_top><base href="/b/"><base href="/c/"><a href=2>y</a>')).toEqual([
      'https://example.com/b/1',
      'https://example.com/b/2',
    ]);
  });

  it('ends where the URLs of a page would fill the memory, long before what pages write out', () => {
    const html = '<a href=1>x</a>'.repeat(5_000);
    const at = (length: number) => scanPage(Buffer.from(html), { url: `https://example.com/${'a'.repeat(length)}/` });
    expect(at(1_000).links).toHaveLength(5_000);
    const { links } = at(60_000);
    expect(links.length).toBeGreaterThan(100);
    expect(links.length).toBeLessThan(150);
    expect(urls(`<a href="https://example.com/${'b'.repeat(2_000)}">x</a>`.repeat(6_000))).toHaveLength(6_000);
  });

  it('falls back to the page when the base is no URL to resolve against', () => {
    for (const base of ['http://[', 'data:text/html,x', 'javascript:1', 'x'.repeat(5000)]) {
      expect(urls(`<base href="${base}"><a href=1>x</a>`)).toEqual(['https://example.com/dir/1']);
    }
  });

  it('leaves out references that no URL can be made of and elements without one', () => {
    expect(urls('<a href="http://[">x</a><a name=y>y</a><form>f</form><a href>z</a>')).toEqual([url]);
  });

  it.each([
    ['noscript', '<noscript><a href=x>x</a></noscript>'],
    ['template', '<template><a href=x>x</a><template></template><a href=y>y</a></template>'],
    ['comments', '<!-- <a href=x>x</a> --><!--><a href=kept>k</a>'],
    ['SVG', '<svg><a href=x>x</a><g><a href=y>y</a></g></svg>'],
    ['MathML', '<math><a href=x>x</a></math>'],
    ['script, style and their like', '<script><a href=x></script><style><a href=x></style><xmp><a href=x></xmp>'],
    ['textarea and title', '<title><a href=x></title><textarea><a href=x></textarea>'],
    [
      'iframe, noembed, noframes',
      '<iframe><a href=x></iframe><noembed><a href=x></noembed><noframes><a href=x></noframes>',
    ],
    ['a CDATA section in SVG', '<svg><![CDATA[<a href=x>]]></svg>'],
    ['a script hidden in a script', '<script><!--<script></script><a href=x></a>--></script>'],
    ['plaintext', '<plaintext><a href=x>'],
    ['a tag cut off by the end', '<a href="x'],
    ['a frameset page', '<frameset><a href=x></frameset>'],
  ])('finds none in %s', (_where, html) => {
    expect(urls(html).filter((found) => !found.endsWith('/kept'))).toEqual([]);
  });

  it('finds HTML links where HTML resumes inside or after SVG', () => {
    expect(urls('<svg><foreignObject><a href=in>x</a></foreignObject></svg><a href=after>y</a>')).toEqual([
      'https://example.com/dir/in',
      'https://example.com/dir/after',
    ]);
    expect(urls('<svg><g><p><a href=out>x</a>')).toEqual(['https://example.com/dir/out']);
    expect(urls('<div><svg><g></div><a href=out>x</a>')).toEqual(['https://example.com/dir/out']);
  });

  it('ignores a form inside a form', () => {
    expect(urls('<form action=1><form action=2></form><form action=3></form>')).toEqual([
      'https://example.com/dir/1',
      'https://example.com/dir/3',
    ]);
  });

  it('reads attributes as the standard does: unquoted, single-quoted, repeated, references', () => {
    expect(urls(`<A HREF=a/>x</A><a href='b'href=c>x</a><a/href = "d?x=1&amp;y=2&copy=3&lt;">x</a>`)).toEqual([
      'https://example.com/dir/a/',
      'https://example.com/dir/b',
      'https://example.com/dir/d?x=1&y=2&copy=3%3C',
    ]);
  });

  it('ends a link text at the next link, at its cell and at its end tag', () => {
    const texts = (html: string): string[] => scan(html).links.map((link) => link.text);
    expect(texts('<a href=1>one<a href=2>two</a>rest')).toEqual(['one', 'two']);
    expect(texts('<table><td><a href=1>one<td>other</table>rest')).toEqual(['one']);
    expect(texts('<div><a href=1>one</div>two</a>three')).toEqual(['one two']);
  });
});

describe('text', () => {
  it('keeps blocks apart and collapses white space', () => {
    expect(scan('<h1> Head </h1><p>one\n two</p><div>a</div><div>b<br>c<br><br>d</div>e').text).toBe(
      'Head\n\none two\n\na\nb\nc\n\nd\ne',
    );
    expect(scan('<table><tr><td>1<td>2<tr><td>3</table>').text).toBe('1\t2\n3');
    expect(scan('a<b>b</b><i>c</i> d').text).toBe('abc d');
  });

  it('keeps the white space of preformatted text', () => {
    expect(scan('<p>x<pre>\n a\n\tb\n</pre>y   z').text).toBe('x\n\n a\n\tb\n\ny z');
  });

  it('resolves character references and drops NULs', () => {
    expect(scan('&lt;b&gt; &notit; &notin; &#x41;&#66 &#128; &#xD800; &#0; &amp a\0b &nosuch; &').text).toBe(
      '<b> ¬it; ∉ AB € \ufffd \ufffd & ab &nosuch; &',
    );
  });

  it('takes what looks like markup but is none as text', () => {
    expect(scan('1 < 2 <3 </ <').text).toBe('1 < 2 <3');
    expect(scan('a <').text).toBe('a <');
    expect(scan('a</>b<!x>c<?y>d</ e>f').text).toBe('abcdf');
  });

  it('leaves out the title, scripts, styles and what SVG does not show', () => {
    expect(
      scan('<title>t</title><script>s</script><style>s</style>a<svg><title>n</title><text>shown</text></svg>').text,
    ).toBe('ashown');
  });
});

describe('metadata', () => {
  it('reads title, canonical, robots, description, language, Open Graph, JSON-LD and charset', () => {
    const page = scan(
      '<html lang="de-AT"><head><title> A\n&amp; B </title><title>second</title><link rel="Alternate CANONICAL" href="/c">' +
        '<meta name=ROBOTS content=noindex><meta name=robots content="nofollow"><meta name=description content=" Über\n x ">' +
        '<meta property="og:title" content="T"><meta property="og:title" content="other"><meta name="og:type" content=article>' +
        '<meta property="__proto__" content=x><script type="application/LD+json; x">{"@type":"Thing"}</script>' +
        '<script type="application/ld+json">{broken</script>',
    );
    expect(page).toMatchObject({
      title: 'A & B',
      canonical: 'https://example.com/c',
      robots: 'noindex, nofollow',
      description: 'Über x',
      language: 'de-AT',
      jsonLd: [{ '@type': 'Thing' }],
      charset: 'utf-8',
    });
    expect({ ...page.openGraph }).toEqual({ 'og:title': 'T', 'og:type': 'article' });
  });

  it('has empty answers for an empty page', () => {
    expect(JSON.parse(JSON.stringify(scan('')))).toEqual({
      title: '',
      text: '',
      links: [],
      canonical: null,
      robots: null,
      description: null,
      language: null,
      openGraph: {},
      jsonLd: [],
      charset: 'utf-8',
    });
  });

  it('takes no title from SVG or a template, and the rest of the page from an unclosed one', () => {
    expect(scan('<svg><title>s</title></svg><template><title>t</title></template><title>real</title>').title).toBe(
      'real',
    );
    expect(scan('<title>a<p>b').title).toBe('a<p>b');
  });

  it('repairs half surrogate pairs that JSON escapes', () => {
    expect(
      scan('<script type=application/ld+json>["\\ud800x", {"\\udc00": "\\ud83d\\ude00"}]</script>').jsonLd,
    ).toEqual([['\ufffdx', { '\ufffd': '😀' }]]);
  });

  it('keeps earlier results intact when another page is scanned before they are read', () => {
    const first = scan('<title>one</title><a href=1>first</a> text');
    const second = scan('<title>two</title><a href=2>second</a> other text');
    expect([second.title, first.title, first.text, first.links[0]?.text]).toEqual([
      'two',
      'one',
      'first text',
      'first',
    ]);
  });

  it('resolves absolute links even when the page has no usable URL', () => {
    const { links } = scanPage(Buffer.from('<a href=rel>x</a><a href=http://h.com>y</a>'), { url: 'not a url' });
    expect(links.map((link) => link.url)).toEqual(['http://h.com/']);
  });
});

describe('encodings', () => {
  it.each([
    ['windows-1252', [0x80, 0x93, 0xe9], '€“é'],
    ['shift_jis', [0x93, 0xfa, 0x96, 0x7b], '日本'],
    ['gb18030', [0xd6, 0xd0, 0x81, 0x30, 0x81, 0x30], '中\u0080'],
    ['gbk', [0xd6, 0xd0, 0xb9, 0xfa], '中国'],
    ['big5', [0xa4, 0xa4], '中'],
    ['euc-kr', [0xb0, 0xa1, 0x8c, 0x63], '가똠'],
    ['euc-jp', [0xc6, 0xfc], '日'],
    ['iso-2022-jp', [0x1b, 0x24, 0x42, 0x46, 0x7c, 0x1b, 0x28, 0x42], '日'],
    ['koi8-r', [0xf0], 'П'],
    ['iso-8859-16', [0xa4, 0xaa], '€Ș'],
  ])('reads a %s page', (name, bytes, expected) => {
    const page = scanPage(Buffer.concat([Buffer.from('<title>'), Buffer.from(bytes), Buffer.from('</title>')]), {
      url,
      contentType: `text/html; charset=${name}`,
    });
    expect([page.charset, page.title]).toEqual([name, expected]);
  });

  it('reads UTF-16 with a BOM', () => {
    const body = Buffer.from('\ufeff<title>ü</title><a href=x>日</a>', 'utf16le');
    const page = scanPage(body, { url, contentType: 'text/html; charset=utf-8' });
    expect([page.charset, page.title, page.links[0]?.text]).toEqual(['utf-16le', 'ü', '日']);
  });

  it('replaces what is not UTF-8 in a page that says it is', () => {
    const page = scanPage(Buffer.from([0x61, 0xff, 0x62]), { url, contentType: 'text/html; charset=utf-8' });
    expect(page.text).toBe('a\ufffdb');
  });
});
