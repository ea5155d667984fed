// Bodies are cached within a bound of bytes, and compressed only for clients that accept it.
import { describe, expect, it } from 'vitest';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { createBodies, negotiate } from './bodies.js';
import type { PageMaker } from './pages.js';

function countingPages(): { pages: Pick<PageMaker, 'html'>; made: string[] } {
  const made: string[] = [];
  const html = (host: number, page: number, version: number): Buffer => {
    made.push(`${host}/${page}/${version}`);
    return Buffer.alloc(1000, 97 + page);
  };
  return { made, pages: { html } };
}

describe('bodies of the synthetic web', () => {
  it('are made once while they fit, and the least recently used goes first', () => {
    const { pages, made } = countingPages();
    const bodies = createBodies(pages, 2500);
    for (const page of [1, 2, 1, 3, 1, 2]) bodies.body(0, page, 0, 'none');
    expect(made).toEqual(['0/1/0', '0/2/0', '0/3/0', '0/2/0']);
    expect(bodies.keptBytes).toBe(2000);
  });

  it('are never served from an older version, nor kept when larger than the cache', () => {
    const { pages, made } = countingPages();
    const bodies = createBodies(pages, 100);
    bodies.body(0, 1, 0, 'none');
    bodies.body(0, 1, 1, 'none');
    expect(made).toEqual(['0/1/0', '0/1/1']);
    expect(bodies.keptBytes).toBe(0);
  });

  it('unpack to the page in each encoding', () => {
    const bodies = createBodies(countingPages().pages, 100_000);
    const plain = bodies.body(0, 1, 0, 'none');
    expect(gunzipSync(bodies.body(0, 1, 0, 'gzip'))).toEqual(plain);
    expect(inflateSync(bodies.body(0, 1, 0, 'deflate'))).toEqual(plain);
    expect(brotliDecompressSync(bodies.body(0, 1, 0, 'br'))).toEqual(plain);
  });

  it.each([
    ['gzip', 'gzip, deflate, br', 'gzip'],
    ['br', 'gzip, deflate, br', 'br'],
    ['br', 'gzip', 'none'],
    ['gzip', '*', 'gzip'],
    ['gzip', 'gzip;q=0, br', 'none'],
    ['gzip', 'br;q=1.0, gzip;q=0.5', 'gzip'],
    ['gzip', 'x-gzip', 'none'],
    ['gzip', undefined, 'none'],
    ['none', 'gzip', 'none'],
  ] as const)('wanting %s from a client that accepts %s gives %s', (wanted, accepted, expected) => {
    expect(negotiate(wanted, accepted)).toBe(expected);
  });
});
