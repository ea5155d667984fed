import { describe, expect, it } from 'vitest';
import { distribution, seedUrl } from './seeding.js';

describe('seeds', () => {
  it.each([
    ['example.com', 'https://example.com/'],
    ['http://example.com/a#top', 'http://example.com/a#top'],
    ['example.com/path # a comment', 'https://example.com/path'],
    ['127.0.0.1:8080', 'https://127.0.0.1:8080/'],
    ['BÜCHER.example', 'https://xn--bcher-kva.example/'],
  ])('reads %s as %s', (text, url) => {
    expect(seedUrl(text)).toBe(url);
  });

  it.each(['two words', 'ftp://example.com/', 'nodots', 'http://', 'https://user:secret@example.com/', '://', ''])(
    'refuses "%s"',
    (text) => {
      expect(seedUrl(text)).toBeUndefined();
    },
  );

  it('tells how evenly seeds fell', () => {
    expect(distribution([10, 20, 30])).toEqual({ min: 10, max: 30, mean: 20, imbalance: 1.5 });
    expect(distribution([])).toEqual({ min: 0, max: 0, mean: 0, imbalance: 1 });
  });
});
