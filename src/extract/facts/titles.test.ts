import { describe, expect, it } from 'vitest';
import { extractContent } from '../../crawl/page/extraction.js';

describe('titles', () => {
  const titleOf = (title: string, body: string): string | null =>
    extractContent(`<title>${title}</title>${body}<p>Text of the page.</p>`, { url: 'https://port.example/a' }).title;

  it('is not a heading that leads to the first page of the site', () => {
    expect(titleOf('Limits - Overview | Bureau of Waters', '<h2><a href="/">Bureau of Waters</a></h2>')).toBe(
      'Limits - Overview',
    );
    expect(titleOf('Tides: Old Salt', '<h1><a href="/">Old Salt</a></h1><h2>Tides</h2>')).toBe('Tides');
  });

  it('is not a heading beside the text that is a word of it', () => {
    expect(titleOf('How we repaired the archive of the harbour', '<h2>Archive</h2>')).toBe(
      'How we repaired the archive of the harbour',
    );
  });

  it('is both headings of an RFC', () => {
    expect(titleOf('RFC 9990: Tide Queries', '<h1>RFC 9990</h1><h1>Tide Queries</h1>')).toBe('RFC 9990: Tide Queries');
  });
});
