import { load } from 'cheerio';
import { describe, expect, it } from 'vitest';
import { Request } from '../../request/request.js';
import {
  applySearchParams,
  constructGlobObjectsFromGlobs,
  constructRegExpObjectsFromPseudoUrls,
  createRequestOptions,
  createRequests,
  extractUrlsFromCheerio,
  filterRequestsByPatterns,
  filterUrl,
  PseudoUrl,
  resolveBaseUrlForEnqueueLinksFiltering,
} from './index.js';

describe("Crawlee's functions on links", () => {
  it('make requests of what matches, with the options of the pattern', () => {
    const skipped: string[] = [];
    const patterns = [{ glob: 'http://a.com/**', label: 'G' }, { regexp: /b\.com/ }];
    const urls = ['http://a.com/1', 'http://a.com/2', 'http://b.com/', 'http://c.com/'];
    const made = createRequests(urls, patterns, [{ glob: 'http://a.com/2' }], 'same-hostname', (url) =>
      skipped.push(url),
    );
    expect(made.map(({ url, label }) => [url, label])).toEqual([
      ['http://a.com/1', 'G'],
      ['http://b.com/', undefined],
    ]);
    expect(made[0]!.enqueueStrategy).toBe('same-hostname');
    expect(skipped).toEqual(['http://a.com/2', 'http://c.com/']);
    expect(filterRequestsByPatterns([new Request({ url: 'http://c.com/' })], patterns)).toEqual([]);
    expect(createRequests(urls)).toHaveLength(4);
  });

  it('make options of URLs, absolute and with a label', () => {
    const [one, ...others] = createRequestOptions(['/a', 'http://[', { url: 'http://b.com', userData: { q: 1 } }], {
      baseUrl: 'http://a.com',
      label: 'L',
      userData: { z: 1 },
    });
    expect(one).toEqual({ url: 'http://a.com/a', userData: { z: 1, label: 'L' } });
    expect(others).toEqual([{ url: 'http://b.com/', userData: { q: 1, label: 'L' } }]);
    expect(createRequestOptions(['/a'])).toEqual([]);
  });

  it('read globs and pseudo-URLs', () => {
    expect(constructGlobObjectsFromGlobs([' http://a/* ', '', { glob: 'http://b/', label: 'L' }])).toEqual([
      { glob: 'http://a/*' },
      { glob: 'http://b/', label: 'L' },
    ]);
    const [{ regexp }] = constructRegExpObjectsFromPseudoUrls(['http://a.com/[\\d+]/x?']) as [{ regexp: RegExp }];
    expect(['http://a.com/12/x?', 'http://aXcom/12/x?', 'http://a.com/1'].map((url) => regexp.test(url))).toEqual([
      true,
      false,
      false,
    ]);
    expect(new PseudoUrl('http://a.com/[(a|b)]/').matches('http://A.com/b/')).toBe(true);
    expect(() => new PseudoUrl('http://a.com/[a')).toThrow('does not end');
  });

  it('compare URLs by strategy', () => {
    expect(filterUrl('http://www.a.com', 'http://a.com', 'same-domain')).toEqual({ allowed: true });
    expect(filterUrl('http://www.a.com', 'http://a.com', 'same-hostname').allowed).toBe(false);
    expect(filterUrl('ftp://a.com', 'http://a.com', 'all').reason).toContain('unsupported URL scheme');
    const base = { originalRequestUrl: 'http://a.com/x', finalRequestUrl: 'http://b.com/y' } as const;
    const resolved = (enqueueStrategy: 'all' | 'same-hostname') =>
      resolveBaseUrlForEnqueueLinksFiltering({ ...base, enqueueStrategy });
    expect([resolved('all'), resolved('same-hostname')]).toEqual(['http://b.com', 'http://a.com']);
  });

  it('set search parameters and read the links of a document', () => {
    const url = new URL('http://a.com/?o=1');
    applySearchParams(url, undefined);
    expect(url.search).toBe('?o=1');
    applySearchParams(url, { q: 1, n: null, u: undefined, t: true });
    expect(url.search).toBe('?q=1&n=&t=true');
    const $ = load('<a href="a">1</a><a>2</a><a href="http://b.com/">3</a>');
    expect(extractUrlsFromCheerio($, 'a', 'http://z.com/d/')).toEqual(['http://z.com/d/a', 'http://b.com/']);
    expect(() => extractUrlsFromCheerio($)).toThrow('baseUrl is not set');
  });
});
