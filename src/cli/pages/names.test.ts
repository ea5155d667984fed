import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPageNames } from './names.js';

describe('the file name of a page', () => {
  it.each([
    ['https://example.com/', 'example.com/index.md'],
    ['https://example.com/docs/', 'example.com/docs/index.md'],
    ['https://example.com/docs/a', 'example.com/docs/a.md'],
    ['https://example.com/docs/a.html', 'example.com/docs/a.html.md'],
    ['http://127.0.0.1:8080/a?page=2&x=1', '127.0.0.1_8080/a@page=2,x=1.md'],
    ['https://example.com/stra%C3%9Fe', 'example.com/straße.md'],
    ['https://example.com/a.md/b', 'example.com/a.md_/b.md'],
    ['https://index.md/', 'index.md_/index.md'],
    ['https://example.com/%2e%2e%2f%2e%2e%2fetc/passwd', 'example.com/__.._etc/passwd.md'],
    ['https://example.com/.hidden', 'example.com/_hidden.md'],
  ])('of %s is %s', (url, name) => {
    expect(createPageNames('md')(url)).toBe(name);
  });

  it('is given once, and keeps apart what looks alike', () => {
    const nameOf = createPageNames('md');
    const urls = ['https://a.test/x', 'http://a.test/x', 'https://a.test/X', 'https://a.test/x', 'https://a.test/x'];
    const names = urls.map(nameOf);
    expect(names[0]).toBe('a.test/x.md');
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(urls.length);
  });

  it('has a hash when too many are known to compare it with', () => {
    const nameOf = createPageNames('md', 1);
    expect([nameOf('https://a.test/x'), nameOf('https://a.test/y')]).toEqual([
      'a.test/x.md',
      expect.stringMatching(/^a\.test\/y-[0-9a-f]{8}\.md$/),
    ]);
  });

  it('stays within its folder, whatever the URL', () => {
    fc.assert(
      fc.property(fc.oneof(fc.webUrl({ withQueryParameters: true }), fc.string()), fc.string(), (url, more) => {
        const name = createPageNames('md')(`${url}/${more}`);
        const parts = name.split('/');
        expect(path.normalize(name)).toBe(name);
        expect(path.isAbsolute(name)).toBe(false);
        for (const part of parts) expect(part).toMatch(/^[^.\\/\0][^\\/\0]{0,254}$/);
        expect(parts.length).toBeLessThanOrEqual(16);
      }),
      { numRuns: 50 },
    );
  });
});
