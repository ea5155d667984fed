import { describe, expect, it } from 'vitest';
import { pageOf } from './results.js';
import { visibleHtml } from './visible.js';

describe('what a page shows', () => {
  it('is what its own rules do not hide, also beside rules that cannot be read', () => {
    const rules = '.a, ]bad[, #b, div > i, :hover { display: none } /* x */ .c { visibility: hidden } /* open';
    const html = `<style>${rules}</style><p class=a>1<p id=b>2<div><i>3</i>4</div><p class=c>5<p>6`;
    expect(visibleHtml(html).replace(/<[^>]*>/g, '')).toBe('46');
  });

  // Each took from ten seconds to hours.
  it.each([
    ['comments that never end', `<style>${'/* '.repeat(160_000)}</style><p>x`],
    ['selectors over siblings', `<style>i~b~b~b~b~b~z{display:none}</style>${'<b></b>'.repeat(2_000)}<z>x</z>`],
    ['many elements', '<q>x</q>'.repeat(150_000)],
    ['many comments', `<p>${'<!--x-->'.repeat(150_000)}`],
    ['many hidden elements', `<p>${'<i hidden></i>'.repeat(100_000)}`],
    [
      'hundreds of rules over many elements',
      `<style>${Array.from({ length: 500 }, (_, at) => `.a${at}{display:none}`).join('')}</style>${'<q>x</q>'.repeat(30_000)}`,
    ],
  ])('takes no time to speak of to read: %s', (_what, html) => {
    const before = process.cpuUsage();
    visibleHtml(html);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(4_000);
  });
});

describe('a part of a long text', () => {
  it('never ends within a character', () => {
    const text = 'a\u{1F433}\u{1F433}b';
    for (const max of [1, 2, 3, 4]) {
      let read = '';
      for (let start: number | undefined = 0; start !== undefined;) {
        const { content, next_start_index: next } = pageOf(text, start, max);
        expect(content).not.toMatch(/^[\udc00-\udfff]|[\ud800-\udbff]$/);
        read += content;
        start = next;
      }
      expect(read).toBe(text);
    }
  });
});
