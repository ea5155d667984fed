import { describe, expect, it } from 'vitest';
import { cookiesFrom, joinedCookies, parseCookieFile } from './cookie-file.js';

const NETSCAPE = `# Netscape HTTP Cookie File
.example.com\tTRUE\t/\tFALSE\t4102444800\tall\t1
#HttpOnly_www.example.com\tFALSE\t/app\tTRUE\t0\tsecret\ta b\r

other.example\tFALSE\t/\tFALSE\t0\tempty\t
`;

describe('a cookie file', () => {
  it('is read in Netscape form, with cookies that scripts may not see', () => {
    expect(parseCookieFile(NETSCAPE)).toMatchObject([
      { name: 'all', value: '1', domain: '.example.com', secure: false, httpOnly: false, expires: 4_102_444_800 },
      {
        name: 'secret',
        value: 'a b',
        domain: 'www.example.com',
        path: '/app',
        secure: true,
        httpOnly: true,
        expires: -1,
      },
      { name: 'empty', value: '', domain: 'other.example' },
    ]);
  });

  it('is read as JSON: lists of browsers and extensions, and the state that Playwright writes', () => {
    const list = [
      { name: 'a', value: '1', domain: 'example.com', hostOnly: true, expirationDate: 5, sameSite: 'no_restriction' },
      { name: 'b', value: '2', domain: 'example.com', hostOnly: false },
      { name: 'c', value: '3', url: 'https://example.com/x' },
    ];
    const expected = [
      { domain: 'example.com', expires: 5, sameSite: 'None' },
      { domain: '.example.com', expires: -1 },
      { domain: 'example.com' },
    ];
    expect(parseCookieFile(JSON.stringify(list))).toMatchObject(expected);
    expect(parseCookieFile(`\uFEFF${JSON.stringify({ cookies: list, origins: [] })}`)).toMatchObject(expected);
  });

  it.each([
    ['name=value', /line 1 is not a cookie/],
    ['# c\na\tb\tc', /line 2/],
    ['{"a":1}', /neither a list/],
    ['[{"name":"a"}]', /cookie 1 needs/],
    ['[null]', /cookie 1 needs/],
    ['[', /not valid JSON/],
  ])('is refused by its place: %j', (text, message) => {
    expect(() => parseCookieFile(text)).toThrow(message);
  });

  it.each([
    ['sid=secret; own=secret', '"sid …"'],
    ['secretsecretsecret', '"…"'],
    ['=secret', '" …"'],
    ['example.com\tFALSE\tsecret', '"example.com …"'],
  ])('that is a header or a token instead shows none of its values: %j', (text, shown) => {
    expect(() => parseCookieFile(text)).toThrow(`line 1 is not a cookie (7 fields with tabs in between): ${shown}`);
  });

  it('of a stranger neither breaks the reader nor the headers that are made of it', () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    const odd = `[{"name":"a","value":"1","domain":"e.com","expires":${deep},"sameSite":${deep}},{"name":"b","value":"2","domain":"e.com","sameSite":"constructor"}]`;
    expect(parseCookieFile(odd)).toMatchObject([{ expires: -1 }, { name: 'b' }]);
    const many = Array.from({ length: 20_000 }, (_, at) => ({ name: `c${at}`, value: 'x', domain: 'e.com' }));
    const bad = [
      { name: 'split', value: 'a\r\nX-Evil: 1', domain: 'e.com' },
      { name: 'n\r\nX-Evil: 1', value: 'a', domain: 'e.com' },
      { name: 'semi', value: 'a; other=1', domain: 'e.com' },
      { name: 'long', value: 'x'.repeat(100_000), domain: 'e.com' },
      { name: 'host', value: '1', domain: 'e.com/\r\n' },
      { name: 'com', value: '1', domain: '.com' },
    ];
    const jar = cookiesFrom(parseCookieFile(JSON.stringify([...many, ...bad])));
    const header = jar.header('https://e.com/');
    expect(header).not.toMatch(/[\r\n]|X-Evil|other=1/);
    expect(header.length).toBeLessThan(10_000);
    expect(jar.header('https://other.com/')).toBe('');
  });

  it('tells no secret when it is refused', () => {
    expect(() => parseCookieFile('session=very-secret-value')).toThrow(/^(?!.*secret).*$/s);
    expect(() => parseCookieFile('[{"name":"a","value":secret-value,"domain":"a.example"}]')).toThrow(
      /^(?!.*secret).*not valid JSON.*$/s,
    );
  });

  it('gives each cookie to its own domain only', () => {
    const jar = cookiesFrom(parseCookieFile(NETSCAPE));
    expect(jar.header('https://www.example.com/app/x')).toBe('secret=a b; all=1');
    expect(jar.header('http://www.example.com/app/x')).toBe('all=1');
    expect(jar.header('https://example.com/app')).toBe('all=1');
    expect(jar.header('https://elsewhere.test/')).toBe('');
  });

  it('is joined with what the server set: the later value counts', () => {
    expect(joinedCookies('a=1; b=2', 'b=3')).toBe('a=1; b=3');
    expect(joinedCookies('', 'b=3')).toBe('b=3');
    expect(joinedCookies('a=1', '')).toBe('a=1');
  });
});
