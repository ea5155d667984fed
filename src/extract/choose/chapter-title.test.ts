import { expect, it } from 'vitest';
import { viewPage } from '../../crawl/page/extraction.js';
import { keepChapterTitle } from './chapter-title.js';

const TITLE = '<div class="header"><h2 class="chapter-title">Chapter 6: Tides</h2></div>';
const TEXT = '<p>The tide turns twice a day.</p>';

/** Which blocks are chosen of a page whose last one was. */
function chosenOf(html: string): number[] {
  const { segments } = viewPage(html);
  const chosen = new Uint8Array(segments.count);
  chosen[segments.count - 1] = 1;
  keepChapterTitle(segments, chosen);
  return [...chosen];
}

it('keeps the title of a chapter that stands in the header of the page', () => {
  expect(chosenOf(`${TITLE}<ul><li>Menu</li></ul>${TEXT}`)).toEqual([1, 0, 1]);
});

it('keeps none of several, none that is no heading, and none of another name', () => {
  expect(chosenOf(TITLE + TITLE + TEXT)).toEqual([0, 0, 1]);
  expect(chosenOf(`<p class="chapter-title">Tides</p>${TEXT}`)).toEqual([0, 1]);
  expect(chosenOf(`<h2 class="title">Tides</h2>${TEXT}`)).toEqual([0, 1]);
});
