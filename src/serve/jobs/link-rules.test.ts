import { describe, expect, it } from 'vitest';
import { createLinkRule, linkPatterns } from './link-rules.js';

describe('link rules', () => {
  const follows = (rules: object, url: string) => createLinkRule({ url: 'https://example.com/docs', ...rules })(url);

  it('stay on the host and under the path unless told otherwise', () => {
    expect(follows({}, 'https://example.com/docs/a')).toBe(true);
    expect(follows({}, 'https://www.example.com/docs/a')).toBe(true);
    expect(follows({}, 'https://example.com/blog')).toBe(false);
    expect(follows({ crawlEntireDomain: true }, 'https://example.com/blog')).toBe(true);
    expect(follows({}, 'https://sub.example.com/docs')).toBe(false);
    expect(follows({ allowSubdomains: true }, 'https://sub.example.com/x')).toBe(true);
    expect(follows({}, 'https://other.example/docs')).toBe(false);
    expect(follows({ allowExternalLinks: true }, 'https://other.example/x')).toBe(true);
    expect(follows({}, 'mailto:a@example.com')).toBe(false);
  });

  it('match patterns against the path, or the whole URL', () => {
    expect(follows({ includePaths: ['^/docs/a'] }, 'https://example.com/docs/b')).toBe(false);
    expect(follows({ excludePaths: ['/b$'] }, 'https://example.com/docs/b')).toBe(false);
    expect(follows({ includePaths: ['^https://example'], regexOnFullURL: true }, 'https://example.com/docs/b')).toBe(
      true,
    );
  });

  it('refuse patterns that can take long, and what is no pattern', () => {
    for (const slow of ['(.*)\\1', '(?<=a)b', '(?:.{0,40}){40}', '((((((ab)*c)*d)*e)*f)*g)*']) {
      expect(() => linkPatterns([slow]), slow).toThrow(/Write it without/);
    }
    for (const fine of ['^/blog/.*', '^/(news|blog)/[^/]+$', '\\.pdf$', '/docs/v[0-9]+/', '(a+)+$', '^/(?!old/)']) {
      expect(() => linkPatterns([fine]), fine).not.toThrow();
    }
    expect(() => linkPatterns(['('])).toThrow(/valid regular expression/);
    expect(() => linkPatterns(Array.from({ length: 100 }, () => 'a'.repeat(100)))).toThrow(/too large/);
  });
});
