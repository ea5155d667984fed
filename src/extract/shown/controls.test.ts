// Labels and controls that software writes beside a text: they are in the whole page, not in its content.
import { describe, expect, it } from 'vitest';
import { viewPage } from '../../crawl/page/extraction.js';
import { FIRST_NODE, STRIDE } from '../page/segment.js';

/** The texts of a page's blocks, without what is marked as no text. */
function texts(html: string): string[] {
  const view = viewPage(html);
  const { blocks, count, hidden } = view.segments;
  return Array.from({ length: count }, (_, b) => b)
    .filter((b) => hidden[blocks[b * STRIDE + FIRST_NODE]!] === 0)
    .map((b) => view.blockText(b));
}

describe('controls and labels', () => {
  it.each(['visually-hidden', 'visuallyHidden', 'sr-only', 'screen-reader-text', 'rightside'])(
    'are found by the name of their class: %s',
    (name) => {
      expect(texts(`<p>Price <span class="x ${name}">regular price</span>$48</p>`)).toEqual(['Price $48']);
    },
  );

  it('are found by whole names only', () => {
    expect(texts('<p>Price <span class="sr-only-focusable-x">regular</span></p>')).toEqual(['Price regular']);
  });

  it('leaves out versions that rustdoc sets beside a heading, and keeps the heading', () => {
    const html =
      '<section><span class="since rightside">1.0.0</span><h3 class="code-header">Ok(T)</h3></section><p>Success</p>';
    expect(texts(html)).toEqual(['Ok(T)', 'Success']);
  });

  it('leaves out a date for machines beside the one that readers see', () => {
    const html =
      '<p><span>Aug 8, 2006</span> <time class="hide" datetime="2006-08-08T22:13Z">2006-08-08T22:13Z</time></p>';
    expect(texts(html)).toEqual(['Aug 8, 2006']);
    expect(texts('<p>On <time datetime="2006-08-08">8 August</time></p>')).toEqual(['On 8 August']);
  });

  it('leaves out a button in a heading, unless the heading is all button', () => {
    expect(texts('<h2>Usage <button>Copy item path</button></h2>')).toEqual(['Usage']);
    expect(texts('<h2><button>Usage</button></h2>')).toEqual(['Usage']);
  });
});
