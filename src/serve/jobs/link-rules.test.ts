import { describe, expect, it } from 'vitest';
import { createLinkRule, safePattern } from './link-rules.js';

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

  it('refuse patterns that can take long', () => {
    for (const slow of ['(a+)+$', '(a|aa)*b', '((a*))*', '(.*)\\1', '(?=a)b', '(a{1,9})+', '.*.*.*.*.*x', '(x+x+)+y']) {
      expect(() => safePattern(slow), slow).toThrow();
    }
    for (const fine of ['^/blog/.*', '^/(news|blog)/[^/]+$', '\\.pdf$', '/docs/v[0-9]+/', '(?:a|b)c', '[(+]*']) {
      expect(() => safePattern(fine), fine).not.toThrow();
    }
    expect(() => safePattern('(')).toThrow(/valid regular expression/);
  });
});
