// What software sets beside a text is not part of it: edit links, anchors, contents, line numbers, trackers.
import { describe, expect, it } from 'vitest';
import { extractContent, toMarkdown } from '../../crawl/page/extraction.js';

const words = 'The waves of the sea are long and short, and both of them count. '.repeat(6);
const page = (inside: string): string => `<h1>Waves</h1><p>${words}</p>${inside}<p>${words}</p>`;

describe('marks beside a text', () => {
  it.each([
    [
      'MediaWiki',
      '<h2>Tides<span class="mw-editsection"><span>[</span><a href="/edit">edit</a><span>]</span></span></h2>',
    ],
    ['Sphinx', '<h2>Tides<a class="headerlink" href="#tides" title="Link to this heading">¶</a></h2>'],
    ['V8', '<h2>Tides <a class="bookmark" href="#tides">#</a></h2>'],
    ['Docusaurus', '<h2>Tides<a href="#tides" class="hash-link" aria-label="Direct link">\u200b</a></h2>'],
    ['a manual page', '<h2>Tides <a href="#top_of_page"><span class="top-link">top</span></a></h2>'],
    ['GitHub', '<h2><a class="anchor" aria-hidden="true" href="#tides"><svg></svg></a>Tides</h2>'],
  ])('leaves the marks of %s out of headings', (_, heading) => {
    const { text, markdown, html } = extractContent(page(`${heading}<p>${words}</p>`));
    expect(text.split('\n')).toContain('Tides');
    expect(markdown).toMatch(/^## Tides$/m);
    expect(html).not.toMatch(/edit|¶|>#</);
    expect(toMarkdown(heading).raw).toBe('## Tides');
  });

  it('keeps links in headings that lead somewhere', () => {
    expect(toMarkdown('<h2><a href="#x">Tides and more</a> <a href="/y">#wave</a></h2>').raw).toBe(
      '## [Tides and more](#x) [#wave](/y)',
    );
  });

  it('leaves the table of contents out unless asked', () => {
    const toc =
      '<div id="toc" class="toc"><h2>Contents</h2><ul><li><a href="#a">Ebb</a></li><li><a href="#b">Flood</a></li></ul></div>';
    const ebb = 'At low water the sand lies bare, and birds come to feed on what the sea has left behind. '.repeat(4);
    const flood = 'When the water rises again, boats float and leave the harbour for the fishing grounds. '.repeat(4);
    const html = page(`${toc}<h2 id="a">Ebb</h2><p>${ebb}</p><h2 id="b">Flood</h2><p>${flood}</p>`);
    expect(extractContent(html).text).not.toContain('Contents');
    expect(extractContent(html).text.match(/Ebb/g)).toHaveLength(1);
    expect(extractContent(html, { contents: true }).text).toContain('Contents');
  });

  it('takes line numbers out of code', () => {
    const code =
      '<pre><code class="language-js"><span class="lineno">1</span>let a;\n<span class="lineno">2</span>let b;</code></pre>';
    expect(extractContent(page(code)).markdown).toContain('```js\nlet a;\nlet b;\n```');
    expect(extractContent(page(code)).text).toContain('let a;\nlet b;');
  });

  it('leaves dots that count visits and signs without a word out of the images', () => {
    const images =
      '<p>See <img src="/wave.png" alt="a wave"> <img src="https://www.facebook.com/tr?id=1" width="1" height="1"> <img src="/i.svg" width="16" height="16"> <img src="https://www.facebook.com/tr?id=2"> it.</p>';
    const { markdown, images: list } = extractContent(page(images), { url: 'https://a.example/' });
    expect(list.map(({ url }) => url)).toEqual(['https://a.example/wave.png']);
    expect(markdown.match(/!\[/g)).toHaveLength(1);
  });

  it('takes no request to a reader for an author', () => {
    expect(
      extractContent(page('<div class="profile-author">Edit Your Profile</div><div class="author">Ada Marsh</div>'))
        .byline,
    ).toBe('Ada Marsh');
  });

  it('takes the name of an author alone, and none that a script never filled in', () => {
    const bylineOf = (text: string): string | null =>
      extractContent(page(`<div class="profile">Hello {{firstName}}!</div><div class="author">${text}</div>`)).byline;
    expect(bylineOf('von Ada Marsh')).toBe('Ada Marsh');
    expect(bylineOf('Par : Ada Marsh')).toBe('Ada Marsh');
    expect(bylineOf('von der Marsh')).toBe('von der Marsh');
    expect(bylineOf('Von Marsh')).toBe('Von Marsh');
  });
});

describe('parts that some readers want', () => {
  const html = `<html><head><title>How orcas hunt</title></head><body><nav><a href="/">Home</a></nav><article><h1>How orcas hunt</h1>
<p class="byline">By <span class="author">Ada Marsh</span>, <time datetime="2024-05-06">6 May 2024</time></p><p>${words}</p>
<figure><img src="/o.jpg" alt="o"><figcaption>An orca off the coast.</figcaption></figure><p>${words.replace(/waves/g, 'winds')}</p></article>
<section id="comments"><h3>3 comments</h3><p>${'What a lovely text this is, thank you so much for all of it. '.repeat(4)}</p></section></body></html>`;
  it.each([
    ['title', 'How orcas hunt'],
    ['byline', 'Ada Marsh'],
    ['captions', 'An orca off the coast.'],
    ['comments', 'What a lovely text'],
  ])('%s are kept or left out, in text and markdown alike', (name, text) => {
    const kept = extractContent(html, { [name]: true });
    const left = extractContent(html, { [name]: false });
    for (const form of [kept.text, kept.markdown]) expect(form).toContain(text);
    for (const form of [left.text, left.markdown]) expect(form).not.toContain(text);
    for (const { text: all } of [kept, left]) expect(all).toContain('The winds of the sea');
  });

  it('favor moves what is kept in one direction', () => {
    const lengths = (['precision', 'balanced', 'recall'] as const).map(
      (favor) => extractContent(html, { favor }).text.length,
    );
    expect(lengths).toEqual([...lengths].sort((a, b) => a - b));
  });
});

describe('bubbles over a word', () => {
  const read = (html: string): string => extractContent(`<main><p>${html}</p></main>`, {}).markdown;

  it('are no part of the sentence', () => {
    expect(
      read(
        'Rep. <span><a href="/ada">Ada Marsh</a><span class="rollover-block">Other news of Ada</span></span> spoke.',
      ),
    ).not.toContain('Other news');
    expect(read('A <span>pod<span role="tooltip" class="tooltip">a family</span></span> of orcas.')).not.toContain(
      'family',
    );
  });

  it('are text where nothing stands before them', () => {
    expect(read('<span class="tooltip-text">Only this</span> is here to read.')).toContain('Only this');
  });
});
