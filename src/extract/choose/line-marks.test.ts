// Lines that lead away, call to the reader or credit a picture, and what they weigh on a page that is an article.
import { describe, expect, it } from 'vitest';
import { viewPage } from '../../crawl/page/extraction.js';
import { weighArticleParts } from './article-parts.js';
import { CALLS, CUT_OFF, lineMarks } from './line-marks.js';

const view = (text: string) => viewPage(`<p>${text}</p>`).segments;
const weighed = (text: string, share = 1): number => {
  const segments = view(text);
  const logits = new Float32Array(segments.count).fill(1);
  weighArticleParts(segments, share, logits);
  return logits[0]!;
};

describe('lineMarks', () => {
  it('tells calls and texts that are cut off', () => {
    expect(lineMarks(view('Never miss a thing by signing up to our newsletter today'), 0) & CALLS).not.toBe(0);
    expect(lineMarks(view('Whales were seen again off the coast and …'), 0) & CUT_OFF).not.toBe(0);
    expect(lineMarks(view('Whales were seen again off the coast.'), 0) & (CALLS | CUT_OFF | 15)).toBe(0);
    expect(lineMarks(view(`newsletter ${'word '.repeat(90)}…`), 0) & (CALLS | CUT_OFF)).toBe(0);
  });
});

describe('weighArticleParts', () => {
  it.each([
    'Read more: Looted art',
    'Auch interessant:',
    'À lire aussi : les orques',
    'VEA TAMBIÉN: Las orcas',
    'Czytaj też: Orki wróciły',
    'Foto: Ada Marsh',
    'Abonnieren Sie unseren Newsletter',
    'Tell your friends, and follow us on Mastodon for more of this',
  ])('lowers a notice in an article: %s', (text) => {
    expect(weighed(text)).toBeLessThan(0);
    expect(weighed(text, 0)).toBe(1);
  });

  it('leaves a sentence as it is', () => {
    expect(weighed('The orcas came back in spring, and their calves with them.')).toBe(1);
    expect(weighed(`Read more often, she said, ${'and then she read another book '.repeat(4)}.`)).toBe(1);
  });
});
