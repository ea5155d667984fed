import { expect, it } from 'vitest';
import { viewPage } from '../../crawl/page/extraction.js';
import { keepChapterTitle, keepLead, leaveLastHeadings } from './edges.js';

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

const LEAD = '<p>A table arranges data in rows and columns, as this page shows.</p>';

it('keeps the lead between the title of a manual and its text, but not notes of one line', () => {
  const { segments } = viewPage(`<h1>Tables</h1><p>Widely available</p>${LEAD}<ul><li>Menu</li></ul>${TEXT}`);
  const chosenFor = (logit: number): number[] => {
    const chosen = new Uint8Array([0, 0, 0, 0, 1]);
    keepLead(segments, new Float32Array(segments.count).fill(logit), chosen);
    return [...chosen];
  };
  expect(chosenFor(-2)).toEqual([0, 0, 1, 0, 1]);
  expect(chosenFor(-5)).toEqual([0, 0, 0, 0, 1]);
});

/** Which blocks are left of a page that was chosen whole. */
function leftOf(html: string): number[] {
  const { segments } = viewPage(html);
  const chosen = new Uint8Array(segments.count).fill(1);
  leaveLastHeadings(segments, chosen);
  return [...chosen];
}

it('leaves out headings at the end that nothing follows', () => {
  expect(leftOf(`<h1>Tides</h1>${TEXT}<h2>Key partners</h2>`)).toEqual([1, 1, 0]);
  expect(leftOf(`<h2>High water</h2>${TEXT}<h2>Our partners</h2><h3>In the north</h3>`)).toEqual([1, 1, 0, 0]);
});

it('keeps titles of a list, questions and names at the end', () => {
  expect(leftOf(`${TEXT}<h3>Ebb and flow</h3><h3>Spring tides</h3>`)).toEqual([1, 1, 1]);
  expect(leftOf(`${TEXT}<h3>What is a tide?</h3>`)).toEqual([1, 1]);
  expect(leftOf(`${TEXT}<h2>Tides</h2>`)).toEqual([1, 1]);
});
