// What is left out as a section that leads away from the page.
import { describe, expect, it } from 'vitest';
import { viewPage } from '../../crawl/page/extraction.js';
import { leaveRelated } from './related.js';

/** The texts whose logits fall. */
function left(html: string): string[] {
  const view = viewPage(html);
  const logits = new Float32Array(view.segments.count);
  leaveRelated(view.segments, logits);
  return Array.from({ length: view.segments.count }, (_, b) => b)
    .filter((b) => logits[b]! < 0)
    .map((b) => view.blockText(b));
}

const article = `<h1>Title</h1><p>${'Words of the article. '.repeat(40)}</p>`;
const section = (line: string): string =>
  `<section><div><h2>${line}</h2></div><div><h3>Another page</h3><p>Its first words</p></div></section>`;

describe('leaveRelated', () => {
  it('knows a section by its first line, in several languages', () => {
    for (const line of [
      ...[
        'Related articles',
        'You may also like',
        'People who viewed this item also viewed',
        'More from the blog',
        'Read next:',
      ],
      ...['Das könnte Sie auch interessieren', 'À lire aussi', 'Artículos relacionados', 'Lees ook'],
    ])
      expect(left(`${article}${section(line)}<p>After</p>`), line).toEqual([line, 'Another page', 'Its first words']);
  });

  it('leaves other sections alone, and what makes up the page', () => {
    for (const line of ['Related work in the field of soil', 'Recommended', 'What you may like about gardening'])
      expect(left(`${article}${section(line)}`), line).toEqual([]);
    expect(left(`<h1>News</h1>${section('Latest news')}`)).toEqual([]);
  });

  it('takes no more than the element that begins with the line', () => {
    const words = 'Words of the article. '.repeat(40);
    expect(left(`<div><p>${words}</p><p>Related articles</p><p>Kept</p></div>`)).toEqual([]);
    expect(left(`<div><p>${words}</p><div><b>Related articles</b><p>One</p></div><p>Kept</p></div>`)).toEqual([
      'Related articles',
      'One',
    ]);
  });
});
