// What is left out because the page itself sets it aside.
import { describe, expect, it } from 'vitest';
import { viewPage } from '../../crawl/page/extraction.js';
import { leaveSetAside } from './set-aside.js';

/** The texts whose logits fall. */
function left(html: string): string[] {
  const view = viewPage(html);
  const logits = new Float32Array(view.segments.count).fill(1);
  leaveSetAside(view.segments, logits);
  return Array.from({ length: view.segments.count }, (_, b) => b)
    .filter((b) => logits[b]! < 0)
    .map((b) => view.blockText(b));
}

const text = `<p>${'Words of the page. '.repeat(20)}</p>`;

describe('leaveSetAside', () => {
  it('knows footers, what search engines shall not quote, frames of embedded posts and notes to browsers', () => {
    const marks = [
      'data-nosnippet',
      'class="nocontent"',
      'class="robots-nocontent"',
      'class="mw-pt-languages"',
      'class="language-name"',
      'class="notice metadata" id="spoiler"',
      'class="form-fail"',
      'class="toolbar-sorter"',
      'class="sorter-label"',
    ];
    for (const tag of ['footer', ...marks.map((mark) => `div ${mark}`)])
      expect(left(`${text}<${tag}><p>Imprint</p></${tag.split(' ')[0]}><p>After</p>`), tag).toEqual(['Imprint']);
    expect(left(`${text}<noscript><p>Please enable JavaScript to go on</p></noscript>`)).toEqual([
      'Please enable JavaScript to go on',
    ]);
    // On a page rendered in a browser, however short, the note is not for its reader.
    const note = '<noscript>You need to enable JavaScript to run this app.</noscript>';
    expect(left(`<h1>Hi</h1>${note}`)).toEqual(['You need to enable JavaScript to run this app.']);
    expect(left(note)).toEqual([]);
    expect(left(`${text}<noscript><p>The text of the page</p></noscript>`)).toEqual([]);
    const frame = '<blockquote class="instagram-media"><div>View this post on Instagram</div></blockquote>';
    expect(left(text + frame)).toEqual(['View this post on Instagram']);
  });

  it('takes a page that sets aside most of itself as one that sets aside nothing', () => {
    expect(left(`<main data-nosnippet>${text}</main><p>Imprint</p>`)).toEqual([]);
  });

  it('asks for the marks themselves', () => {
    expect(left(`${text}<div class="social-media" data-snippet><p>A photograph</p></div>`)).toEqual([]);
  });
});
