import fc from 'fast-check';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { describe, expect, it } from 'vitest';
import { toMarkdown } from '../../crawl/page/extraction.js';

const md = (html: string): string => toMarkdown(html, { url: 'https://example.com/a/' }).raw;
const render = (markdown: string): string =>
  micromark(markdown, { extensions: [gfm()], htmlExtensions: [gfmHtml()], allowDangerousProtocol: true });
const decode = (html: string): string =>
  html
    .replace(/<[^>]*>/g, '')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, '&');

describe('markdown', () => {
  it('writes headings, paragraphs, emphasis, links and images', () => {
    expect(
      md('<h2>One <em>two</em></h2><p>a <b>bold </b>word, <a href="b?x=1">link</a> <img src=/i.png alt="an [i]">'),
    ).toBe(
      '## One *two*\n\na **bold** word, [link](https://example.com/a/b?x=1) ![an \\[i\\]](https://example.com/i.png)',
    );
  });

  it('ends emphasis and links before a line break', () => {
    expect(md('<p><strong>When?<br></strong>Now</p>')).toBe('**When?**\\\nNow');
    expect(md('<p><a href="/b">See b<br></a><a href="/c">c</a></p>')).toBe(
      '[See b](https://example.com/b)\\\n[c](https://example.com/c)',
    );
    expect(md('<p><em>One</em><strong><br></strong>two</p>')).toBe('*One*\\\ntwo');
  });

  it('nests lists, keeps numbers, and tells adjacent lists apart', () => {
    expect(md('<ol start=3><li>a<ul><li>b<li>c</ul><li>d</ol>')).toBe('3. a\n   - b\n   - c\n4. d');
    expect(md('<ul><li>a</ul><ul><li>b</ul>')).toBe('- a\n\n* b');
    expect(md('<ul><li><p>a</p><p>b</p><li>c</ul>')).toBe('- a\n\n  b\n- c');
  });

  it('writes the lines of code that a reader sees', () => {
    const line = (text: string): string => `<span class="line"><span>${text}</span></span>`;
    const code = '```\nnpm install\ncd project\n```';
    expect(md(`<pre><code>${line('npm install')}${line('cd project')}</code></pre>`)).toBe(code);
    expect(md(`<pre><code>${line('npm install')}\n${line('cd project')}\n</code></pre>`)).toBe(code);
    expect(
      md(
        '<pre><code><span class="boring">fn main() {\n</span>let x = 1;\n<span class="boring">}\n</span></code></pre>',
      ),
    ).toBe('```\nlet x = 1;\n```');
    expect(md('<pre><span class="underline">a</span><span class="underline">b</span></pre>')).toBe('```\nab\n```');
  });

  it('shows a terminal as its script would, and other code as it is written', () => {
    const code = '<pre><code>$ &lt;font color=&quot;#4E9A06&quot;&gt;pip&lt;/font&gt; install\nDone</code></pre>';
    expect(toMarkdown(`<div class="termy">${code}</div>`).raw).toContain('$ pip install\nDone');
    expect(toMarkdown(code).raw).toContain('<font color="#4E9A06">pip</font>');
  });

  it('keeps the parts of a page that React sends after it', () => {
    expect(
      md('<p>a</p><template id="B:0"></template><div hidden id="S:0"><p>b</p></div><div hidden id="s">c</div>'),
    ).toBe('a\n\nb');
  });

  it('writes a heading that holds a picture alone as that picture', () => {
    expect(md('<h2><b><img src="/a.png" alt="A pod"></b></h2><p>Text')).toBe(
      '![A pod](https://example.com/a.png)\n\nText',
    );
    expect(md('<h2><img src="/a.png" alt=""> Pods</h2>')).toBe('## Pods\n\n![](https://example.com/a.png)');
  });

  it('writes a heading without the link to itself', () => {
    expect(md('<h2 id="x"><a href="#x">One</a></h2>')).toBe('## One');
    expect(md('<section id="x"><h2><code><a href="#x">one</a></code></h2></section>')).toBe('## `one`');
    expect(md('<h2><a href="#">One</a></h2>')).toBe('## One');
    expect(md('<h2 id="x"><a href="#y">One</a></h2>')).toBe('## [One](https://example.com/a/#y)');
  });

  it('writes no list where a page only indents or arranges', () => {
    expect(md('<p>a<dl><dd>b<dl><dd>c</dl></dl>')).toBe('a\n\nb\n\nc');
    expect(md('<ul><li><h3>A</h3><p>a</p><li><h3>B</h3><p>b</p></ul>')).toBe('### A\n\na\n\n### B\n\nb');
    expect(md('<dl><h3>Friday</h3><dt>a</dt><dd>b</dd><h3>Thursday</h3><dt>c<dd>d</dl>')).toBe(
      '### Friday\n\n- **a**\n  - b\n\n### Thursday\n\n- **c**\n  - d',
    );
  });

  it('writes tasks, but not the boxes of a form', () => {
    expect(md('<ul><li><input type=checkbox disabled checked> a<li><input type=checkbox disabled> b</ul>')).toBe(
      '- [x] a\n- [ ] b',
    );
    expect(md('<ul><li><input type=checkbox> a</ul>')).toBe('- a');
  });

  it('writes smileys as their words and leaves faces and signs out', () => {
    expect(md('<p>Good <img src="/x/smilies/a.gif" alt=":)" width=15 height=15></p>')).toBe('Good :)');
    expect(
      md(
        '<p><a class="avatar" href="/u"><img src="/u.png" alt="@u"></a> u <img src="/s.gif" width=11 height=9 alt="Post">',
      ),
    ).toBe('u');
  });

  it('names the values of a box in bold, and emphasises no part of a script', () => {
    expect(md('<h3 class="pi-data-label pi-font">Built</h3><div>1841</div>')).toBe('**Built**\n\n1841');
    expect(md('<p>H<sub><i>ij</i></sub> and <cite>[<a href="#b">1</a>]</cite>')).toBe(
      'H_{ij} and \\[[1](https://example.com/a/#b)\\]',
    );
  });

  it('writes definition lists as nested lists', () => {
    expect(md('<dl><dt>Orca<dd>A whale.<dd>Black and white.</dl>')).toBe(
      '- **Orca**\n  - A whale.\n  - Black and white.',
    );
  });

  it('fences code with its language and as many backticks as it needs', () => {
    expect(md('<pre><code class="language-js">let a = `x`;\n\n  b();\n</code></pre>')).toBe(
      '```js\nlet a = `x`;\n\n  b();\n```',
    );
    expect(md('<pre>```\nx\n```</pre>')).toBe('````\n```\nx\n```\n````');
    expect(md('<p>use <code>a`b</code>')).toBe('use ``a`b``');
  });

  it('writes tables of data as pipes, with spans and escaped bars, and layout tables as blocks', () => {
    expect(md('<table><tr><th>a<th>b<tr><td>x|y<td><a href=/u>z</a><tr><td colspan=2>w</table>')).toBe(
      '| a | b |\n| --- | --- |\n| x\\|y | [z](https://example.com/u) |\n| w |  |',
    );
    expect(md('<table><tr><td><h2>T</h2><td>text</table>')).toBe('## T\n\ntext');
  });

  it('keeps formulas as TeX', () => {
    expect(
      md(
        '<p>so <math><semantics><mi>x</mi><annotation encoding="application/x-tex">x_1 \\le 2</annotation></semantics></math>.',
      ),
    ).toBe('so $x_1 \\le 2$.');
    expect(md('<script type="math/tex; mode=display">a^2</script>')).toBe('$$a^2$$');
  });

  it('numbers citations and lists their addresses', () => {
    const { withCitations, references } = toMarkdown('<p><a href=/a>x</a> <a href=/b>y</a> <a href=/a>z</a>', {
      url: 'https://e.com/',
    });
    expect(withCitations).toBe('[x][1] [y][2] [z][1]');
    expect(references).toBe('[1]: https://e.com/a\n[2]: https://e.com/b');
    expect(render(`${withCitations}\n\n${references}`)).toContain('<a href="https://e.com/b">y</a>');
  });

  it('splits links around blocks and drops unsafe addresses', () => {
    expect(md('<a href=/x><h3>T</h3><p>d</p></a>')).toBe(
      '### [T](https://example.com/x)\n\n[d](https://example.com/x)',
    );
    expect(md('<a href="java\nscript:alert(1)">x</a>')).toBe('x');
  });

  it('leaves out what is not shown', () => {
    expect(
      md('<p>a</p><p hidden>b</p><div style="display: none">c</div><noscript>d</noscript><script>e</script>'),
    ).toBe('a');
    expect(md('<h1>Hi</h1><noscript>You need to enable JavaScript to run this app.</noscript>')).toBe('# Hi');
  });

  it('leaves out emphasis that a reader of CommonMark would not see', () => {
    expect(md('<p>a<b>"q"</b>b <b>x</b><b>y</b>')).toBe('a"q"b **xy**');
  });

  it('gives back any text that it was given', () => {
    const chars = fc.constantFrom(...'ab1 .*_`[]<>&#+-=~|\\!()"\'$:/@^{}é“'.split(''));
    const words = fc.array(chars, { minLength: 1, maxLength: 30 }).map((list) => list.join(''));
    const tag = fc.constantFrom('p', 'li', 'h3', 'td', 'b', 'em', 'blockquote', 'code');
    fc.assert(
      fc.property(fc.array(fc.tuple(tag, words), { minLength: 1, maxLength: 4 }), (parts) => {
        const escape = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
        const html = parts
          .map(([name, text]) =>
            name === 'td'
              ? `<table><tr><td>${escape(text)}</td><td>x</td></tr></table>`
              : `<${name}>${escape(text)}</${name}>`,
          )
          .join('\n');
        const back = decode(render(md(html)));
        const squeeze = (text: string): string => text.replace(/\s+/g, '');
        const wanted = parts
          .map(
            ([name, text]) => squeeze(text) + (name === 'td' && squeeze(text) !== '' ? 'x' : name === 'td' ? 'x' : ''),
          )
          .join('');
        expect(squeeze(back)).toBe(wanted);
      }),
      { numRuns: 400 },
    );
  });

  it('escapes hashes at the end of a heading and bars in cells, once each', () => {
    expect(md('<h2>1. Scope</h2>')).toBe('## 1. Scope');
    expect(md('<h1>C# and F##</h1>')).toBe('# C# and F\\##');
    expect(md('<table><tr><td>a|b<td>c\\|d<tr><td>1</table>')).toBe('| a\\|b | c\\\\\\|d |\n| --- | --- |\n| 1 |');
  });

  it('keeps all text of quotes and lists nested beyond any use, in proportion to the page', () => {
    for (const open of ['<blockquote>', '<ul><li>', '<ol><li>', '<dl><dd>']) {
      const page = open.repeat(400) + '<p>word'.repeat(20_000);
      const markdown = md(page);
      expect(markdown.match(/word/g)).toHaveLength(20_000);
      expect(markdown.length).toBeLessThan(5 * page.length);
    }
  });

  it('is the same every time', () => {
    const html = '<h1>a</h1><ul><li>b<li>c</ul><table><tr><td>1<td>2</table>';
    expect(md(html)).toBe(md(html));
  });
});

describe('filters', () => {
  const page = `<nav><ul><li><a href=/>Home</a><li><a href=/b>Blog</a></ul></nav><main><h1>Orcas</h1>
    <p>Orcas eat fish, seals and other whales, and they hunt together in pods of many animals.</p>
    <h2>Diet</h2><p>Salmon is what the resident orcas of the north eat on most days of the year.</p></main>`;

  it('prunes furniture by density', () => {
    const { fit } = toMarkdown(page, { contentFilter: { kind: 'pruning' } });
    expect(fit).toContain('hunt together');
    expect(fit).not.toContain('Blog');
  });

  it('keeps what answers a query, and its heading', () => {
    const { fit } = toMarkdown(page, { contentFilter: { kind: 'bm25', query: 'salmon' } });
    expect(fit).toBe('## Diet\n\nSalmon is what the resident orcas of the north eat on most days of the year.');
  });

  it('looks for the words of a question that tell something: not for "the" in a link', () => {
    const links = `<nav><ul><li><a href=/b>the next part</a><li><a href=/c>more for you</a></ul></nav>${page}`;
    const { fit } = toMarkdown(links, { contentFilter: { kind: 'bm25', query: 'what is the salmon for' } });
    expect(fit).toBe('## Diet\n\nSalmon is what the resident orcas of the north eat on most days of the year.');
    expect(toMarkdown(links, { contentFilter: { kind: 'bm25', query: 'the' } }).fit).toContain('the next part');
  });

  it('refuses options it does not know', () => {
    expect(() => toMarkdown(page, { contentFilter: { kind: 'bm25' } as never })).toThrow(/query/);
    expect(() => toMarkdown(page, { citatons: true } as never)).toThrow(/no option/);
  });
});
