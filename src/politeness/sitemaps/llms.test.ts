import { expect, it } from 'vitest';
import { LIMITS } from '../../limits.js';
import { isLlmsTxt, readLlmsTxt } from './llms.js';

const FILE = `# Orcas Inc.

> Boats and tours.

## Docs
- [Prices](/prices.md): what a tour costs
- [Routes](https://sea.example/routes#north) - where we go
* [Mail](mailto:a@sea.example)
Prose with a [link](/in-prose) is not a list.
1. [Prices again](https://sea.example/prices.md)

## Optional
# [About us](/about)
Source: https://sea.example/full/page
`;

it('reads the pages of an llms.txt with their titles, and the sources of an llms-full.txt', () => {
  expect(readLlmsTxt(FILE, 'https://sea.example/llms.txt')).toEqual([
    { url: 'https://sea.example/prices.md', title: 'Prices', description: 'what a tour costs' },
    { url: 'https://sea.example/routes', title: 'Routes', description: 'where we go' },
    { url: 'https://sea.example/about', title: 'About us' },
    { url: 'https://sea.example/full/page' },
  ]);
});

it('stays within memory where its own address is long and its list names short ones', () => {
  const base = `https://sea.example/${'deep'.repeat(2_000)}/`;
  const lines = Array.from({ length: 9_000 }, (_, at) => `- [a](${at}): ${'w'.repeat(1_200)}`);
  const pages = readLlmsTxt(lines.join('\n'), `${base}llms.txt`);
  expect(pages[0]!.url).toBe(`${base}0`);
  const characters = pages.reduce((sum, { url }) => sum + url.length, 0);
  expect(characters).toBeLessThanOrEqual(LIMITS.llmsCharacters.max);
  expect(characters + base.length).toBeGreaterThan(LIMITS.llmsCharacters.max - 10);
  // A list that is little longer than its links repeats its address less often.
  const short = readLlmsTxt(lines.map((line) => line.slice(0, 12)).join('\n'), `${base}llms.txt`);
  expect(short.length * base.length).toBeLessThan(1_000_000 + LIMITS.baseRepeats.max * 9_000 * 13);
});

it('leaves out what is too long to be a key', () => {
  const pages = readLlmsTxt('- [a](/b)\n- [c](d)', `https://sea.example/${'deep'.repeat(2_100)}/llms.txt`);
  expect(pages.map(({ url }) => url)).toEqual(['https://sea.example/b']);
});

it('takes no page for such a file', () => {
  expect(isLlmsTxt(FILE, 'text/plain')).toBe(true);
  expect(isLlmsTxt(FILE, 'text/html; charset=utf-8')).toBe(false);
  expect(isLlmsTxt('\n <!doctype html><p>Not found', '')).toBe(false);
});
