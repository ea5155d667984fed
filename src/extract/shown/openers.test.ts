import { describe, expect, it } from 'vitest';
import { viewPage } from '../../crawl/page/extraction.js';
import { keepOpeners } from './openers.js';
import { leaveSlideNumbers } from './slide-numbers.js';

const ANSWER = '<p>The harbour is open from the first of April until the ice comes.</p>';

/** Which blocks are chosen of a page of which only paragraphs were. */
function chosenOf(html: string, logit = -3): number[] {
  const { segments } = viewPage(html);
  const chosen = new Uint8Array(segments.count);
  for (let b = 0; b < segments.count; b++) chosen[b] = /<p/.test(html) && b % 2 === 1 ? 1 : 0;
  keepOpeners(segments, new Float32Array(segments.count).fill(logit), chosen);
  return [...chosen];
}

describe('buttons that open a text', () => {
  it('keeps a question above its answer', () => {
    expect(chosenOf(`<div><button>When is the harbour open?</button></div><div>${ANSWER}</div>`)).toEqual([1, 1]);
  });

  it('keeps a title that names the element it opens', () => {
    const html = `<div><button data-bs-target="#open">Opening times</button></div><div id="open">${ANSWER}</div>`;
    expect(chosenOf(html)).toEqual([1, 1]);
    expect(chosenOf(html.replace('data-bs-target="#open"', 'aria-controls="open"'))).toEqual([1, 1]);
  });

  it('takes no other button, no question that is none, and nothing that a rule left out', () => {
    expect(chosenOf(`<div><button>Copy the text</button></div>${ANSWER}`)).toEqual([0, 1]);
    expect(chosenOf(`<div>When is the harbour open?</div>${ANSWER}`)).toEqual([0, 1]);
    expect(chosenOf(`<div><button>When is the harbour open?</button></div>${ANSWER}`, -9)).toEqual([0, 1]);
  });
});

describe('numbers of slides', () => {
  const left = (html: string): number[] => {
    const { segments } = viewPage(html);
    const chosen = new Uint8Array(segments.count).fill(1);
    leaveSlideNumbers(segments, chosen);
    return [...chosen];
  };
  const slide = (number: string): string => `<div><div>${number}</div>${ANSWER}</div>`;

  it('leaves them out where all are there', () => {
    expect(left(['1/3', '2 / 3', '3 of 3'].map(slide).join(''))).toEqual([0, 1, 0, 1, 0, 1]);
  });

  it('keeps fractions, scores and some of the numbers', () => {
    expect(left(['1/2', '2/3', '3/3'].map(slide).join(''))).toEqual([1, 1, 1, 1, 1, 1]);
    expect(left(['1/4', '2/4', '3/4'].map(slide).join(''))).toEqual([1, 1, 1, 1, 1, 1]);
  });
});
