// Scope: which links a page may lead to, by strategy and by pattern, on ordinary and on adversarial URLs.
import fc from 'fast-check';
import { Minimatch } from 'minimatch';
import { describe, expect, it } from 'vitest';
import { CrawlError } from '../errors.js';
import type { GlobInput, PatternInput, RegExpInput } from './pattern.js';
import { createScope, EnqueueStrategy, staysWithin, type ScopePage, type ScopeRules } from './scope.js';
import { registrableDomain } from './url.js';

const allows = (rules: ScopeRules, page: ScopePage, url: string): boolean =>
  createScope(rules, page).decide(url).allowed;

describe('a strategy', () => {
  it.each<[EnqueueStrategy, string, string, boolean]>([
    ['same-hostname', 'https://a.example.com/x', 'https://a.example.com/y', true],
    ['same-hostname', 'https://a.example.com/x', 'http://a.example.com/y', true],
    ['same-hostname', 'https://a.example.com/x', 'https://b.example.com/', false],
    ['same-hostname', 'https://a.example.com/x', 'https://a.example.com.evil.example/', false],
    ['same-hostname', 'https://a.example.com/x', 'https://a.example.com@evil.example/', false],
    ['same-hostname', 'https://a.example.com/x', 'https://user:pw@a.example.com/', true],
    ['same-hostname', 'https://a.example.com/x', 'https://A.EXAMPLE.com/', true],
    ['same-hostname', 'https://a.example.com:8443/x', 'https://a.example.com:8443/y', true],
    ['same-hostname', 'https://a.example.com:8443/x', 'https://a.example.com/y', false],
    ['same-hostname', 'http://127.0.0.1:8080/', 'http://127.0.0.1:8081/', false],
    ['same-hostname', 'http://[::1]:8080/', 'http://[::1]:8080/a', true],
    ['same-hostname', 'https://a.example.com/x', 'https://a.example.com/.well-known/y', true],
    ['same-domain', 'https://a.example.com/x', 'https://b.c.example.com/', true],
    ['same-domain', 'https://a.example.com/x', 'http://example.com/', true],
    ['same-domain', 'https://example.com/x', 'https://notexample.com/', false],
    ['same-domain', 'https://a.example.co.uk/x', 'https://b.other.co.uk/', false],
    ['same-domain', 'https://a.example.com:81/x', 'https://b.example.com:81/', true],
    ['same-domain', 'https://a.example.com:81/x', 'https://b.example.com/', false],
    ['same-domain', 'http://127.0.0.1/x', 'http://127.0.0.1/y', true],
    ['same-domain', 'http://127.0.0.1/x', 'http://127.0.0.2/y', false],
    ['same-domain', 'http://localhost/x', 'http://a.localhost/y', false],
    ['same-domain', 'https://co.uk/', 'https://example.co.uk/', false],
    ['same-domain', 'https://a.example.com/', 'https://evil.example/.example.com/', false],
    ['same-origin', 'https://a.example.com/x', 'https://a.example.com/y', true],
    ['same-origin', 'https://a.example.com/x', 'http://a.example.com/y', false],
    ['same-origin', 'https://a.example.com/x', 'https://a.example.com:444/y', false],
    ['all', 'https://a.example.com/x', 'http://anything.example:99/', true],
  ])('%s from %s to %s is followed: %s', (strategy, from, to, expected) => {
    expect(allows({ strategy }, { url: from }, to)).toBe(expected);
    expect(staysWithin(strategy, from, to)).toBe(expected);
  });

  it.each([
    'mailto:a@example.com',
    'javascript:void(0)',
    'ftp://example.com/',
    'data:text/html,x',
    'tel:123',
    'file:///etc/passwd',
  ])('never leads to %s', (url) => {
    for (const strategy of Object.values(EnqueueStrategy)) {
      expect(createScope({ strategy }, { url: 'https://example.com/' }).decide(url)).toEqual({
        allowed: false,
        reason: 'scheme',
      });
    }
  });

  it('equals a comparison of parsed URLs', () => {
    const part = fc.constantFrom(
      'example.com',
      'a.example.com',
      'b.a.example.com',
      'xexample.com',
      'example.co.uk',
      'co.uk',
      'localhost',
      '127.0.0.1',
      '[::1]',
      'example.com.',
    );
    const url = fc
      .tuple(
        fc.constantFrom('http', 'https'),
        fc.constantFrom('', 'u@', 'u:p@'),
        part,
        fc.constantFrom('', ':80', ':443', ':8080'),
        fc.constantFrom('', '/', '/a', '?q=/x', '#/.example.com/'),
      )
      .map(([scheme, user, host, port, path]) => `${scheme}://${user}${host}${port}${path}`);
    fc.assert(
      fc.property(fc.constantFrom('same-hostname', 'same-domain', 'same-origin'), url, url, (strategy, from, to) => {
        const [base, target] = [new URL(from), new URL(to)];
        const expected = {
          'same-origin': base.origin === target.origin,
          'same-hostname': base.host === target.host,
          'same-domain':
            base.port === target.port && registrableDomain(base.hostname) === registrableDomain(target.hostname),
        }[strategy];
        expect(staysWithin(strategy, from, target.href)).toBe(expected);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is same-hostname without patterns and all with them', () => {
    expect(createScope().strategy).toBe('same-hostname');
    expect(createScope({ globs: ['https://**'] }).strategy).toBe('all');
    expect(createScope({ regexps: [/x/] }).strategy).toBe('all');
    expect(createScope({ exclude: ['https://**'] }).strategy).toBe('same-hostname');
    expect(createScope({ globs: ['', '  '] }).strategy).toBe('same-hostname');
    expect(createScope({ globs: ['https://**'], strategy: 'same-origin' }).strategy).toBe('same-origin');
  });

  it('must hold together with the patterns when both are given', () => {
    const rules: ScopeRules = { globs: ['**/docs/**'], strategy: 'same-hostname' };
    const scope = createScope(rules, { url: 'https://example.com/' });
    expect(scope.decide('https://example.com/docs/a')).toEqual({ allowed: true });
    expect(scope.decide('https://example.com/blog/a')).toEqual({ allowed: false, reason: 'filters' });
    expect(scope.decide('https://other.example/docs/a')).toEqual({ allowed: false, reason: 'strategy' });
  });

  it('is compared with the URL before redirects, but for a domain that did not change', () => {
    const moved = { url: 'https://old.example/', loadedUrl: 'https://new.example:8443/' };
    expect(allows({ strategy: 'same-hostname' }, moved, 'https://old.example/a')).toBe(true);
    expect(allows({ strategy: 'same-hostname' }, moved, 'https://new.example:8443/a')).toBe(false);
    expect(allows({ strategy: 'same-domain' }, moved, 'https://new.example:8443/a')).toBe(false);
    const subdomain = { url: 'https://example.com/', loadedUrl: 'https://www.example.com:8443/' };
    expect(allows({ strategy: 'same-domain' }, subdomain, 'https://a.example.com:8443/')).toBe(true);
    expect(allows({ strategy: 'same-domain' }, subdomain, 'https://a.example.com/')).toBe(false);
    const address = { url: 'http://127.0.0.1/', loadedUrl: 'http://127.0.0.2/' };
    expect(allows({ strategy: 'same-domain' }, address, 'http://127.0.0.2/')).toBe(false);
  });

  it('is compared with a base URL that the user gives, before anything else', () => {
    const page = {
      baseUrl: 'https://base.example/deep/path',
      url: 'https://a.example/',
      loadedUrl: 'https://b.example/',
    };
    expect(allows({}, page, 'https://base.example/x')).toBe(true);
    expect(allows({}, page, 'https://a.example/x')).toBe(false);
  });

  it('does not restrict what is given without a page', () => {
    expect(allows({}, {}, 'https://example.com/')).toBe(true);
    expect(staysWithin(undefined, 'https://a.example/', 'https://b.example/')).toBe(true);
  });

  it('that does not exist is refused by name', () => {
    expect(() => createScope({ strategy: 'same-planet' as EnqueueStrategy })).toThrow(/same-hostname.*same-planet/);
  });
});

describe('patterns', () => {
  const page = { url: 'https://example.com/' };

  it.each<[GlobInput, string, boolean]>([
    ['https://example.com/docs/**', 'https://example.com/docs/a/b?c=d', true],
    ['https://example.com/docs/*', 'https://example.com/docs/a/b', false],
    ['https://EXAMPLE.com/Docs/*', 'https://example.com/docs/A', true],
    ['http?(s)://*.example.com/**', 'http://www.example.com/x', true],
    ['https://example.com/@(a|b)/*', 'https://example.com/b/1', true],
    ['https://example.com/@(a|b)/*', 'https://example.com/c/1', false],
    ['https://example.com/{a,b}/*', 'https://example.com/a/1', true],
    ['https://example.com/page-[0-9]', 'https://example.com/page-7', true],
    [' https://example.com/a ', 'https://example.com/a', true],
    ['**/*.pdf', 'https://other.example/x/y.PDF', true],
    [{ glob: 'https://example.com/a' }, 'https://example.com/a', true],
  ])('the glob %j and the URL %s: %s', (glob, url, expected) => {
    expect(allows({ globs: [glob] }, page, url)).toBe(expected);
  });

  it('match globs exactly as minimatch does without regard to case', () => {
    const glob = fc.constantFrom(
      'https://example.com/**',
      'https://Example.com:80/a/*',
      'http{s,}://example.com/*',
      'https://*/a/**',
      'https://example.com/a?b',
      '**',
      '!https://example.com/**',
      'https://example.com/',
      'https://example.com/../a',
    );
    const url = fc
      .tuple(
        fc.constantFrom('http', 'https'),
        fc.constantFrom('example.com', 'www.example.com', 'example.com:8080', 'example.org'),
        fc.constantFrom('/', '/a', '/a/b', '/A/.b', '/a?b=c/d', '//a', '/a/../b'),
      )
      .map(([scheme, host, path]) => new URL(`${scheme}://${host}${path}`).href);
    fc.assert(
      fc.property(glob, url, (pattern, text) => {
        expect(allows({ globs: [pattern] }, {}, text)).toBe(new Minimatch(pattern, { nocase: true }).match(text));
      }),
      { numRuns: 1_000 },
    );
  });

  it('pass on the request options of the first that matches', () => {
    const scope = createScope({
      globs: ['https://example.com/plain', { glob: 'https://example.com/d/*', label: 'DETAIL', userData: { a: 1 } }],
      regexps: [
        { regexp: /\/d\//, label: 'LATER' },
        { regexp: /json$/, method: 'POST', payload: '{}' },
      ],
    });
    expect(scope.decide('https://example.com/plain')).toEqual({ allowed: true });
    expect(scope.decide('https://example.com/d/1')).toEqual({
      allowed: true,
      options: { label: 'DETAIL', userData: { a: 1 } },
    });
    expect(scope.decide('https://example.com/e/json')).toEqual({
      allowed: true,
      options: { method: 'POST', payload: '{}' },
    });
  });

  it('are overruled by exclude, globs and regular expressions alike', () => {
    const exclude: PatternInput[] = ['**/*.pdf', /logout/i, { glob: '**/private/**' }, { regexp: /\?print$/ }];
    const scope = createScope({ regexps: [/example/], exclude }, page);
    for (const url of [
      'https://example.com/a.PDF',
      'https://example.com/LogOut',
      'https://example.com/private/x',
      'https://example.com/a?print',
    ]) {
      expect(scope.decide(url)).toEqual({ allowed: false, reason: 'filters' });
    }
    expect(scope.decide('https://example.com/a')).toEqual({ allowed: true });
  });

  it('with the global or sticky flag test every URL from its start', () => {
    const scope = createScope({ regexps: [/example/g] });
    const answers = [1, 2, 3, 4].map(() => scope.decide('https://example.com/').allowed);
    expect(answers).toEqual([true, true, true, true]);
    expect(allows({ regexps: [/https:/y] }, {}, 'https://example.com/')).toBe(true);
    expect(allows({ regexps: [/example/y] }, {}, 'https://example.com/')).toBe(false);
  });

  it.each<[string, ScopeRules, RegExp]>([
    ['a RegExp among the globs', { globs: [/x/ as unknown as GlobInput] }, /globs\[0\].*"regexps"/],
    ['a glob among the regular expressions', { regexps: ['x' as unknown as RegExpInput] }, /regexps\[0\].*"globs"/],
    ['a number', { exclude: ['a', 7 as unknown as PatternInput] }, /exclude\[1\]/],
    ['an object without pattern', { globs: [{ label: 'A' } as unknown as GlobInput] }, /globs\[0\]/],
    ['a regexp that is a string', { exclude: [{ regexp: 'x' } as unknown as PatternInput] }, /exclude\[0\]/],
    ['a glob without array', { globs: 'https://x/**' as unknown as GlobInput[] }, /"globs" must be an array/],
    ['a glob beyond all measure', { globs: [`https://${'a'.repeat(70_000)}`] }, /globs\[0\]/],
  ])('refuse %s by name', (_, rules, message) => {
    expect(() => createScope(rules)).toThrow(message);
    expect(() => createScope(rules)).toThrow(CrawlError);
  });
});
