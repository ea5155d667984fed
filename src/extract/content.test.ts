import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { extractContent } from '../crawl/page/extraction.js';

const paragraph = (k: number): string =>
  `<p>Paragraph ${k} tells of orcas, which hunt in pods along the coast, and of the people who have followed them for ` +
  `years with boats, notebooks and patience. They write down what they see, and nothing else.</p>`;
const ARTICLE = `<!doctype html><html lang="en-GB"><head><title>How orcas hunt | Sea News</title>
<meta property="og:site_name" content="Sea News"><meta name="author" content="Ada Marsh"><meta name="description" content="A day at sea.">
<meta property="article:published_time" content="2024-05-06T07:08:09Z"><meta property="og:type" content="article">
<style>p { color: red }</style><script>var tracker = 1;</script></head><body>
<header><nav><ul><li><a href="/">Home</a><li><a href="/sport">Sport</a><li><a href="/weather">Weather</a></ul></nav></header>
<main><article><h1>How orcas hunt</h1>${paragraph(1)}${paragraph(2)}
<figure><img src="/orca.jpg" alt="An orca" onerror="alert(1)"><figcaption>An orca off the coast.</figcaption></figure>
<h2>In the north</h2>${paragraph(3)}<p onclick="steal()">A <a href="javascript:alert(1)">bad</a> and a <a href="/good">good</a> link, and
then a sentence that goes on for a while so that it is long enough to be read.</p>${paragraph(4)}</article>
<aside class="related"><h3>Related articles</h3><ul><li><a href="/1">Seals in trouble</a><li><a href="/2">Ten best beaches</a></ul></aside></main>
<div class="cookie-banner">We use cookies to improve your experience. <button>Accept all</button></div>
<footer><p>© 2024 Sea News. All rights reserved.</p><a href="/privacy">Privacy policy</a></footer></body></html>`;

describe('extractContent', () => {
  const content = extractContent(ARTICLE, { url: 'https://sea.example/news/how-orcas-hunt' });

  it('keeps the text of an article and leaves its furniture', () => {
    for (const k of [1, 2, 3, 4]) expect(content.text).toContain(`Paragraph ${k} tells`);
    for (const word of ['Weather', 'Related', 'Seals', 'cookies', 'rights reserved', 'tracker'])
      expect(content.text).not.toContain(word);
    expect(content.kind).toBe('article');
    expect(content.confidence).toBeGreaterThan(0.7);
  });

  it('writes a line per block', () => {
    expect(content.text.split('\n')).toContain('In the north');
  });

  it('finds what the page says about itself', () => {
    expect(content).toMatchObject({
      title: 'How orcas hunt',
      byline: 'Ada Marsh',
      publishedAt: '2024-05-06T07:08:09.000Z',
      siteName: 'Sea News',
      description: 'A day at sea.',
      language: 'en-GB',
    });
  });

  it('gives HTML without scripts, handlers and unsafe addresses', () => {
    expect(content.html).toContain('<a href="https://sea.example/good">good</a>');
    expect(content.html).not.toMatch(/script|onclick|onerror|style/i);
    expect(content.html).toContain('<h2>In the north</h2>');
  });

  it('says the same in markdown, and lists the pictures', () => {
    expect(content.markdown).toContain('## In the north');
    expect(content.markdown).toContain('[good](https://sea.example/good)');
    expect(content.images).toMatchObject([{ url: 'https://sea.example/orca.jpg', alt: 'An orca' }]);
  });

  it('looks like a plain object', () => {
    expect(Object.keys(content)).toContain('markdown');
    expect(JSON.parse(JSON.stringify(content)).title).toBe('How orcas hunt');
  });

  it('reads bytes in the encoding that they declare', () => {
    const bytes = Buffer.from('<meta charset=windows-1252><title>Caf\u00e9</title><p>x', 'latin1');
    expect(extractContent(bytes).title).toBe('Café');
  });

  it('keeps all of a page that has nothing but content', () => {
    const page = '<title>Orcas</title><h1>Orcas</h1><p>They hunt.</p><h2>Where</h2><p>In the north.</p>';
    expect(extractContent(page).text).toBe('Orcas\nThey hunt.\nWhere\nIn the north.');
  });

  it('keeps code whose lines are blocks in one piece, a line per line', () => {
    const page = '<h1>Code</h1><pre><code><div>let a = 1;</div><div>  if (a) {</div><div>  }</div></code>end</pre>';
    const { text, markdown } = extractContent(page);
    expect(text).toBe('Code\nlet a = 1;\n  if (a) {\n  }\nend');
    expect(markdown).toBe('# Code\n\n```\nlet a = 1;\n  if (a) {\n  }\nend\n```');
  });

  it('keeps words apart in a `pre` around whole parts of a page', () => {
    const page = `<pre><h2>Orcas</h2><p>One</p><p>two</p>${'<p>They hunt in pods, as everyone knows.</p>'.repeat(3)}</pre>`;
    expect(extractContent(page).text.split(/\s+/)).toEqual(expect.arrayContaining(['Orcas', 'One', 'two', 'They']));
  });

  it('calls a page by its own title, whatever its site adds to it', () => {
    const titleOf = (title: string, head = '', body = ''): string | null =>
      extractContent(`<title>${title}</title>${head}<p>Some text.</p>${body}`, { url: 'https://www.sea-news.co.uk/a' })
        .title;
    expect(titleOf('Orcas | Sea News')).toBe('Orcas');
    expect(titleOf('Sea News - Orcas - a portrait')).toBe('Orcas - a portrait');
    expect(titleOf('Orcas » The Sea', '<meta property="og:site_name" content="The Sea">')).toBe('Orcas');
    expect(titleOf('Orcas | Something', '', '<h1>Orcas</h1>')).toBe('Orcas');
    expect(titleOf('Orcas | seals')).toBe('Orcas | seals');
    expect(titleOf('Sea News')).toBe('Sea News');
  });

  it('finds nothing on an empty page and does not mind', () => {
    expect(extractContent('')).toMatchObject({
      text: '',
      html: '',
      markdown: '',
      title: null,
      confidence: 0,
      images: [],
    });
  });

  it('refuses an option that it does not know', () => {
    expect(() => extractContent('x', { uri: 'https://e.com' } as never)).toThrow(/did you mean "url"/);
  });

  it('takes any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        const found = extractContent(bytes, { url: 'https://e.com/' });
        return typeof found.text === 'string' && typeof found.html === 'string' && typeof found.markdown === 'string';
      }),
      { numRuns: 200 },
    );
  });

  it('never lets a script, handler or script address into the HTML, whatever the markup', () => {
    const piece = fc.constantFrom(
      '<p onclick=x>',
      '<script>',
      '</script>',
      '<a href="javascript:x">',
      '<a href=" java&#10;script:x">',
      '<img src=x onerror=y>',
      '<svg onload=x>',
      '<iframe src=x>',
      '<style>',
      '</style>',
      '<b>',
      '</b>',
      'words of text that are long enough to be read by people.',
      '<!--',
      '-->',
      '<math>',
      '<textarea>',
      '<xmp>',
      '</xmp>',
      '"',
      "'",
      '>',
      '<',
      '<template>',
      '<noscript>',
      '</noscript>',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const { html } = extractContent(pieces.join(''), { url: 'https://e.com/' });
        expect(html).not.toMatch(/<(?:script|style|iframe|svg|object|embed)|<[^>]*\son\w+\s*=|javascript:[^<]*">/i);
      }),
      { numRuns: 300 },
    );
  });

  it('takes time in proportion to the page', { timeout: 120_000 }, () => {
    const units = [
      '<div>',
      '<p>word ',
      '<a href=x>',
      '<table><tr><td>',
      '<ul><li>a',
      '<b>a</b>',
      '<dl><dt>a<dd>',
      '< ',
      '<div class=cookie-banner><h1>a</h1>',
      '<blockquote class=post-body>one two three four five',
      '<pre><span class=line>a',
      '<div class=comments><p>one two',
      '<div><p>Related articles',
      '<noscript>',
      '<footer>a',
      `<div><p>${'word '.repeat(21)}</p><b>b</b>`,
      '<div><p>one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen</p>',
      '<div class=post><i class=author>ada 2024-01-01</i><div class=postbody>a</div>',
    ];
    const cpu = (html: string): number => {
      const start = process.cpuUsage();
      const found = extractContent(html, { url: 'https://e.com/' });
      void (found.text.length + found.markdown.length + found.html.length);
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1000;
    };
    for (const unit of units) {
      const small = Math.max(20, Math.min(cpu(unit.repeat(800)), cpu(unit.repeat(800))));
      // Ten times the page may take thirty times as long before it counts as more than linear.
      expect(cpu(unit.repeat(8_000)), unit).toBeLessThan(small * 30);
    }
  });

  it('takes no author from the names of the whole page', () => {
    const text = '<p>They hunt in pods along the coast, year after year, and teach it to their young.</p>'.repeat(5);
    const page = `<body class="single-author"><a href="#content">Skip to content</a><h1>Orcas</h1>${text}</body>`;
    expect(extractContent(page).byline).toBeNull();
  });

  it('takes the heading that the title begins with, where a manual has one above it', () => {
    const text = '<p>They hunt in pods along the coast, year after year, and teach it to their young.</p>'.repeat(5);
    const page = `<title>Quick Start — Orca 2.0 Documentation</title><div><h1>Orca 2.0 Documentation</h1></div>
      <main><h1>Quick Start</h1>${text}</main>`;
    expect(extractContent(page).title).toBe('Quick Start');
  });

  it('leaves the logo above a text out, and keeps the picture before it', () => {
    const text = '<p>They hunt in pods along the coast, year after year, and teach it to their young.</p>'.repeat(5);
    const logo = '<div><div><a href="/"><img src="/logo.png" alt="Orca"></a></div></div>';
    const page = `<body>${logo}<main><div><img src="/pod.jpg" alt="A pod"></div>${text}</main>${logo}</body>`;
    const { markdown } = extractContent(page);
    expect(markdown).not.toContain('logo.png');
    expect(markdown).toContain('pod.jpg');
  });

  it.each(['March 9, 2017 13', ', 9. März 2017', 'on 2017-03-09', '| 9/3/2017'])(
    'takes the name of an author without the day after it: %s',
    (day) => {
      const text = '<p>They hunt in pods along the coast, year after year, and teach it to their young.</p>'.repeat(5);
      const page = `<h1>Orcas</h1><div class="author">By Ada Marsh ${day}</div>${text}`;
      expect(extractContent(page).byline).toBe('Ada Marsh');
    },
  );
});
