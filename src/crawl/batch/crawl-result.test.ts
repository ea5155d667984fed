import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { CrawlResult, type ResultParts } from './crawl-result.js';

const resultOf = (html: string): CrawlResult =>
  new CrawlResult({
    url: 'https://example.com/',
    capture: {
      loadedUrl: 'https://example.com/',
      statusCode: 200,
      headers: { 'content-type': 'text/html' },
      body: Buffer.from(html),
      timings: { headersMs: 1, totalMs: 2 },
    },
    engine: 'http',
    failure: undefined,
    redirectChain: [],
    cacheStatus: 'miss',
    fetchedAt: '2026-01-01T00:00:00.000Z',
    config: {},
    dispatch: {},
  } as unknown as ResultParts);

describe('a result that is printed', () => {
  it('shows what became of its URL', () => {
    const shown = inspect(resultOf('<title>One</title><p>A text.'));
    expect(shown).toMatch(/^CrawlResult \{/);
    for (const part of ["'https://example.com/'", 'statusCode: 200', "title: 'One'"]) expect(shown).toContain(part);
  });

  it('has markdown that shows its text, clipped', () => {
    expect(inspect(resultOf('<p>A text.').markdown)).toBe(resultOf('<p>A text.').markdown.raw);
    const long = inspect(resultOf(`<p>${'word '.repeat(2_000)}`).markdown);
    expect(long).toMatch(/… \(\d+ characters\)$/);
    expect(long.length).toBeLessThan(2_100);
  });
});
