import { expect, it } from 'vitest';
import { ranked } from './rank.js';

it('ranks links by the words of URL, title and anchor, and leaves out the others', () => {
  const links = [
    { url: 'https://a.example/about' },
    { url: 'https://a.example/x', title: 'All about our prices' },
    { url: 'https://a.example/prices' },
    { url: 'https://a.example/y' },
  ];
  const anchors = new Map([['https://a.example/y', 'see the pricing']]);
  expect(ranked(links, 'prices', anchors).map(({ url }) => new URL(url).pathname)).toEqual(['/prices', '/x']);
  expect(ranked(links, 'pricing', anchors).map(({ url }) => new URL(url).pathname)).toEqual(['/y']);
  expect(ranked(links, '  ', anchors)).toHaveLength(4);
});
