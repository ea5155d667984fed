// Pages that ask for far more than they hold: spans of cells, one wide row, a long base, blocks without number.
import { describe, expect, it } from 'vitest';
import { extractContent, extractTables, toMarkdown } from '../crawl/page/extraction.js';
import { LIMITS, limitsReached } from '../limits.js';

const URL = 'https://example.com/';

describe('a page that asks for more than it holds', () => {
  it('has spans of cells in proportion to its cells, and loses no text', () => {
    const page = `<table>${'<tr><td colspan=1000>word'.repeat(5_000)}</table>`;
    const reached = limitsReached('tablePlaces');
    const markdown = toMarkdown(page, { url: URL }).raw;
    expect(markdown.match(/word/g)).toHaveLength(5_000);
    expect(markdown.length).toBeLessThan(4 * page.length);
    expect(limitsReached('tablePlaces')).toBeGreaterThan(reached);
    // What people write is as it was.
    const honest = '<table><tr><th>A<th colspan=2>B<tr><td rowspan=2>1<td>2<td>3<tr><td>4<td>5</table>';
    expect(extractTables(honest)[0]!.rows).toEqual([
      ['1', '2', '3'],
      ['', '4', '5'],
    ]);
  });

  it('has rows as wide as the table while that is in proportion', () => {
    const page = `<table><tr>${'<td>x'.repeat(200)}${'<tr><td>y'.repeat(20_000)}</table>`;
    const [table] = extractTables(page);
    const places = table!.rows.reduce((sum, row) => sum + row.length, 0);
    expect(table!.rows).toHaveLength(20_001);
    expect(table!.rows[1]).toHaveLength(200);
    // It would be four million.
    expect(places).toBeLessThan(30 * 20_000);
  });

  it('repeats a long base only as often as it can pay for', () => {
    const base = `<base href="/${'b'.repeat(2_000)}/">`;
    const few = toMarkdown(`${base}<p>${'<a href=y>z</a> '.repeat(100)}`, { url: URL }).raw;
    expect(few).toContain(`${'b'.repeat(2_000)}/y)`);
    const page = `${base}<p>${'<a href=y>z</a> '.repeat(50_000)}<a href="https://example.com/whole">w</a>`;
    const many = toMarkdown(page, { url: URL }).raw;
    expect(many.length).toBeLessThan(2 * page.length);
    expect(many).toContain('(https://example.com/whole)');
  });

  it('is all content where it has more blocks than can be compared', () => {
    const reached = limitsReached('contentBlocks');
    const page = `<nav>menu</nav>${'<p>a'.repeat(LIMITS.contentBlocks.max + 10)}`;
    const { confidence, text } = extractContent(page, { url: URL });
    expect([confidence, limitsReached('contentBlocks')]).toEqual([0, reached + 1]);
    expect(text.length).toBeGreaterThan(2 * LIMITS.contentBlocks.max);
  });
});
