import { describe, expect, it } from 'vitest';
import { extractContent } from '../../crawl/page/extraction.js';

const PROSE =
  '<p>The harbour keeps a table of its moorings, which the office brings up to date every spring, after the ice is gone.</p>' +
  '<p>A boat that is longer than nine metres may only lie at the bridge, since the other moorings are too weak for it.</p>';
const page = (body: string): string =>
  `<html><head><title>Moorings</title></head><body><main><article><h1>Moorings</h1>${PROSE}${body}${PROSE.replaceAll('harbour', 'port')}</article></main></body></html>`;
const markdownOf = (body: string): string => extractContent(page(body)).markdown;

describe('what stands beside tables and listings', () => {
  it('keeps the caption of a table and of a listing', () => {
    const { markdown } = extractContent(
      page(
        '<figure><table><tr><th>Mooring</th><th>Metres</th></tr><tr><td>Bridge</td><td>12</td></tr></table><figcaption>Lengths by mooring.</figcaption></figure>' +
          '<p>Ask for a mooring as follows, with the length of the boat in metres:</p><figure><pre>reserve --metres 9</pre><figcaption>A request.</figcaption></figure>',
      ),
    );
    expect(markdown).toContain('Lengths by mooring.');
    expect(markdown).toContain('A request.');
  });

  it('leaves out a button beside code', () => {
    const markdown = markdownOf(
      '<p>Ask for a mooring as follows, with the length of the boat in metres:</p><div><div><button aria-label="Copy code"><span>Copy</span></button></div><pre>reserve --metres 9</pre></div>',
    );
    expect(markdown).toContain('```\nreserve --metres 9\n```');
    expect(markdown).not.toContain('Copy');
  });

  it('finds the language around a table that numbers lines, and leaves the numbers out', () => {
    const markdown = markdownOf(
      '<p>Ask for a mooring as follows:</p><div class="language-python highlight"><table class="highlighttable"><tr><td class="linenos"><div><pre>1</pre></div></td><td class="code"><div><pre><code><span class="x-line-number">1</span>reserve(9)</code></pre></div></td></tr></table></div>',
    );
    expect(markdown).toContain('```python\nreserve(9)\n```');
  });

  it('shows what a terminal of MkDocs shows', () => {
    const markdown = markdownOf(
      '<p>Ask for a mooring as follows:</p><div class="termy"><pre>$ reserve &lt;b&gt;9&lt;/b&gt; &amp;apos;north&amp;apos;</pre></div>',
    );
    expect(markdown).toContain("$ reserve 9 'north'");
  });
});
