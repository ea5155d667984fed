import { describe, expect, it } from 'vitest';
import { viewPage } from '../../crawl/page/extraction.js';
import { leaveAroundArticle } from './one-article.js';

const PROSE = '<p>' + 'The tide turns twice a day and leaves the sand in other shapes. '.repeat(12) + '</p>';
const TEASERS = '<div><h3><a href="/a">Storms ahead</a></h3></div><div><h3><a href="/b">Rain behind</a></h3></div>';

/** The logits of a page's blocks, all 0 before. */
function logits(html: string, listing = 0.9): number[] {
  const { segments } = viewPage(html);
  const all = new Float32Array(segments.count);
  leaveAroundArticle(segments, listing, all);
  return [...all];
}

describe('a page of one article among teasers', () => {
  it('loses what stands around the article', () => {
    expect(logits(`${TEASERS}<article><h1>Tides</h1>${PROSE}</article>${TEASERS}`)).toEqual([-8, -8, 0, 0, -8, -8]);
  });

  it.each([
    ['is no listing', `${TEASERS}<article><h1>Tides</h1>${PROSE}</article>`, 0.4],
    ['has two articles', `<article><h1>Tides</h1>${PROSE}</article><article>${PROSE}</article>`, 0.9],
    ['has its heading elsewhere', `<h1>Tides</h1><article>${PROSE}</article>${TEASERS}`, 0.9],
    ['has a list for an article', `<article><h1>Tides</h1>${TEASERS.repeat(40)}</article>${TEASERS}`, 0.9],
    ['has a short article', `<article><h1>Tides</h1><p>Soon.</p></article>${TEASERS}`, 0.9],
  ])('stays as it is where it %s', (_name, html, listing) => {
    expect(logits(html, listing).every((logit) => logit === 0)).toBe(true);
  });
});
