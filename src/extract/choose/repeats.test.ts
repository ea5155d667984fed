// What is left out as said before on the same page.
import { describe, expect, it } from 'vitest';
import { viewPage } from '../../crawl/page/extraction.js';
import { leaveRepeats } from './repeats.js';

/** The texts that stay when all were chosen. */
function kept(html: string): string[] {
  const view = viewPage(html);
  const chosen = new Uint8Array(view.segments.count).fill(1);
  leaveRepeats(view.segments, chosen);
  return Array.from({ length: view.segments.count }, (_, b) => b)
    .filter((b) => chosen[b] === 1)
    .map((b) => view.blockText(b));
}

const long =
  'The first paragraph of the text says what the page is about, in more than twenty words, as first paragraphs tend to do.';

describe('leaveRepeats', () => {
  it('gives a text once that a page holds for wide and for narrow screens', () => {
    const text = `<h2>Heading</h2><p>${long}</p><p>Short end.</p>`;
    expect(kept(`<div class="wide">${text}</div><div class="narrow">${text}</div><p>Last</p>`)).toEqual([
      ...['Heading', long, 'Short end.'],
      'Last',
    ]);
  });

  it('leaves out a part for narrow screens whose texts wide ones show elsewhere, however short', () => {
    const head = '<h1>Lantern</h1><p>$48</p>';
    for (const narrow of ['px-5 md:hidden', 'd-md-none', 'visible-xs', 'mobile-only'])
      expect(
        kept(`<div class="${narrow}"><div>${head}</div></div><aside>${head}<p>In stock</p></aside>`),
        narrow,
      ).toEqual([...['Lantern', '$48', 'In stock']]);
    // All of it, or nothing: another text makes it a part of its own.
    expect(kept(`<div class="md:hidden">${head}<p>Call us</p></div><aside>${head}</aside>`)).toHaveLength(5);
    // Shown again on the widest.
    expect(kept(`<div class="md:hidden xl:block">${head}</div><aside>${head}</aside>`)).toHaveLength(4);
  });

  it('keeps refrains, code, tables and short lines', () => {
    expect(kept(`<div><p>${long}</p><p>Verse</p><p>${long}</p></div>`)).toHaveLength(3);
    expect(kept(`<div><pre>${long}</pre></div><div><pre>${long}</pre></div>`)).toHaveLength(2);
    expect(kept(`<table><tr><td>${long}</table><table><tr><td>${long}</table>`)).toHaveLength(2);
    expect(kept('<div><p>Add to cart</p></div><div><p>Add to cart</p></div>')).toHaveLength(2);
  });
});
