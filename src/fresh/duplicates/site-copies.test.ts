import { describe, expect, it } from 'vitest';
import { createSiteCopies } from './site-copies.js';

describe('the copies of sites', () => {
  it('takes a site for a mirror when nearly all its pages repeat those of an earlier one', () => {
    const copies = createSiteCopies();
    for (let n = 0; n < 30; n++) {
      copies.see(`https://a.example/${n}`, undefined);
      // Whoever is visited first, the site that was found later is the copy.
      if (n % 2 === 0) copies.see(`https://b.example/${n}`, `https://a.example/${n}`);
    }
    expect(copies.isCopy('https://b.example/x')).toBe(false);
    for (let n = 1; n < 30; n += 2) copies.see(`https://b.example/${n}`, `https://a.example/${n}`);
    expect(copies.isCopy('https://b.example/x')).toBe(true);
    expect(copies.isCopy('https://a.example/x')).toBe(false);
    expect(copies.list()).toMatchObject([{ site: 'b.example', of: 'a.example' }]);
  });

  it('does not take a site for a mirror that repeats a part of its pages, or other paths', () => {
    const copies = createSiteCopies();
    for (let n = 0; n < 60; n++) {
      copies.see(`https://a.example/${n}`, undefined);
      copies.see(`https://b.example/${n}`, n % 2 === 0 ? `https://a.example/${n}` : undefined);
      copies.see(`https://c.example/${n}`, 'https://a.example/0');
    }
    expect(copies.list()).toEqual([]);
  });

  it.each([
    ['?print=1', (n: number) => `https://a.example/post/${n}?print=1`],
    ['/print/', (n: number) => `https://a.example/print/post/${n}`],
    ['/amp/', (n: number) => `https://a.example/post/${n}/amp/`],
  ])('learns what marks a version of a page: %s', (mark, version) => {
    const copies = createSiteCopies();
    for (let n = 0; n < 12; n++) {
      const [page, other] = [`https://a.example/post/${n}`, version(n)];
      copies.see(n % 2 ? page : other, undefined);
      copies.see(n % 2 ? other : page, n % 2 ? page : other);
    }
    expect(copies.list()).toEqual([{ site: `a.example ${mark}`, of: 'a.example', pages: 12 }]);
    expect(copies.isCopy(version(99))).toBe(true);
    expect(copies.isCopy('https://a.example/post/99')).toBe(false);
    expect(copies.isCopy(version(99).replace('a.example', 'b.example'))).toBe(false);
  });

  it('does not take a mark for that of a version when pages with it say something else', () => {
    const copies = createSiteCopies();
    for (let n = 0; n < 40; n++) {
      copies.see(`https://a.example/${n}`, undefined);
      copies.see(`https://a.example/${n}?page=2`, n % 3 === 0 ? `https://a.example/${n}` : undefined);
    }
    expect(copies.isCopy('https://a.example/50?page=2')).toBe(false);
  });
});
