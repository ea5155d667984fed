import { describe, expect, it } from 'vitest';
import { cleanHtml, scopedParts } from './clean-page.js';

describe('a cleaned page', () => {
  it('keeps words and structure, and leaves out scripts, styles, comments and classes', () => {
    const html =
      '<html><head><title>T</title></head><body><!-- c --><p class=x onclick=y() title="t">A <b>b</b></p>' +
      '<script>z()</script><svg><a href=/></a></svg>\n \n\n<img src=/i.png alt="javascript: the words"></body></html>';
    expect(cleanHtml(html)).toBe('<p title="t">A <b>b</b></p>\n<img src="/i.png" alt="javascript: the words">');
  });

  it('leaves out addresses that run, however they are spelt', () => {
    const spelt = [
      'javascript:x',
      ' java\tscript:x',
      'JAVA\nSCRIPT:x',
      '\u0001j\ra\tvascript:x',
      'vb\tscript:x',
      'da\nta:x',
    ];
    for (const address of spelt) expect(cleanHtml(`<a href="${address}">a</a>`)).toBe('<a>a</a>');
    expect(cleanHtml('<a href="/javascript:x">a</a>')).toBe('<a href="/javascript:x">a</a>');
  });

  it('is the same page when nothing is there to leave out', () => {
    expect(cleanHtml('<ul><li>a</li><li>b</li></ul>')).toBe('<ul><li>a</li><li>b</li></ul>');
  });
});

describe('a part of a page', () => {
  const html = '<base href="/b/"><nav>n</nav><div id=a><div id=b><p>1</p></div><p>2</p></div><p>3</p>';

  it('is what a selector finds, each element once', () => {
    const base = '<base href="/b/">';
    expect(scopedParts(html, false, { cssSelector: 'div' }).scoped).toBe(
      `${base}<div id="a"><div id="b"><p>1</p></div><p>2</p></div>`,
    );
    expect(scopedParts(html, false, { targetElements: ['p', '#b'] }).scoped).toBe(
      `${base}<div id="b"><p>1</p></div>\n<p>2</p>\n<p>3</p>`,
    );
    expect(scopedParts(html, false, { cssSelector: 'div', targetElements: ['p'] }).scoped).toBe(
      `${base}<p>1</p>\n<p>2</p>`,
    );
  });

  it('is the page without what is excluded', () => {
    expect(scopedParts('<nav>n</nav><p>1</p><nav>m</nav>', false, { excludedTags: ['nav'] }).scoped).toBe('<p>1</p>');
  });
});

it('writes letters as they are, and escapes only what HTML needs', () => {
  expect(cleanHtml('<body><p title="&uuml; &quot;">caf&eacute; 中文 &lt;b&gt; &amp;</p></body>')).toBe(
    '<p title="ü &quot;">café 中文 &lt;b&gt; &amp;</p>',
  );
  expect(scopedParts('<p>ü &lt;</p><i>no</i>', false, { cssSelector: 'p' }).scoped).toBe('<p>ü &lt;</p>');
  expect(scopedParts('<p>ü</p><i>no</i>', false, { excludedTags: ['i'] }).scoped).toContain('<p>ü</p>');
});
