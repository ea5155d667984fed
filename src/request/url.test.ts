// URLs: the fast paths must give what the URL parser and Crawlee's rules give, on any input.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CrawlError } from '../errors.js';
import { checkHttpUrl, domainOf, hostOf, isHostTooLong, MAX_URL_LENGTH, normalizeUrl, parseHttpUrl } from './url.js';
import { parseUrl, registrableDomain } from './url.js';

/** The unique key by the rules alone, step by step, with the platform's parser. */
function keyByTheRules(text: string, keepFragment: boolean): string {
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    return text;
  }
  const pairs = [...url.searchParams].filter(([name]) => !name.startsWith('utm_'));
  const query = new URLSearchParams(pairs);
  query.sort();
  const search = query.size > 0 ? `?${query.toString()}` : '';
  const path = url.pathname.replace(/\/$/, '');
  return `${url.protocol}//${url.host}${path}${search}${keepFragment ? url.hash : ''}`;
}

const pick = (...items: string[]) => fc.constantFrom(...items);
const join = (parts: fc.Arbitrary<string>[]) => fc.tuple(...parts).map((texts) => texts.join(''));

const scheme = pick(
  'https://',
  'http://',
  'HTTP://',
  'https:/',
  'https:',
  'http:///',
  ' https://',
  'ftp://',
  'https:\\\\',
);
const userinfo = pick('', '', '', '', 'user@', 'user:p%40w@', '@', ':@');
const label = fc.oneof(
  pick(
    'a',
    'www',
    'example',
    'EXAMPLE',
    'co',
    'uk',
    'com',
    '-a',
    'a-',
    'a--b',
    'a_b',
    'xn--bcher-kva',
    'xn--',
    'bücher',
  ),
  pick(
    '127',
    '1',
    '0',
    '0x7f',
    '017',
    '0xg',
    '4294967295',
    '256',
    '',
    'ß',
    '%61',
    'a%2eb',
    'xn--a',
    'İ',
    '．',
    'a\u00adb',
  ),
  fc.string({ unit: fc.constantFrom(...'abcxyz019-'), maxLength: 12 }),
);
const host = fc.oneof(
  fc.array(label, { minLength: 1, maxLength: 5 }).map((labels) => labels.join('.')),
  pick(
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[0:0:0::1]',
    '[::1',
    'localhost',
    'a..b',
    '.',
    '..',
    'a.',
    'a.b..',
    '127.0.0.1.',
  ),
);
const port = pick('', '', '', ':', ':80', ':443', ':8080', ':0080', ':99999', ':x', ':0', ':65535', ':65536', ':8080x');
const segment = fc.oneof(
  pick(
    'a',
    'A',
    '.',
    '..',
    '...',
    '.a',
    'a.',
    '%2e',
    '%2E%2e',
    '%41',
    '%7e',
    '%',
    '%zz',
    'é',
    '',
    'a b',
    'a\tb',
    '\\',
    "it's",
  ),
  pick('|', '`', '{}', '"', '<', ';x=1', 'a,b', '@', ':', '~', '!$&*+=', '\u0000', '\ud800', '日本'),
);
const path = fc.array(segment, { maxLength: 5 }).map((segments) => segments.map((part) => `/${part}`).join(''));
const parameter = pick(
  'a=1',
  'b=2',
  'a',
  '=x',
  '',
  'utm_source=x',
  'utm_=1',
  'UTM_a=1',
  'utm=1',
  'a=b+c',
  'z=%20',
  'é=ü',
  'a=1;b=2',
  '%75tm_a=1',
);
const query = fc.oneof(
  pick('', '', '?'),
  fc.array(parameter, { minLength: 1, maxLength: 4 }).map((all) => `?${all.join('&')}`),
);
const fragment = pick('', '', '#', '#top', '#/route?x=1', '#é');
const adversarial = join([scheme, userinfo, host, port, path, query, fragment, pick('', '', ' ', '\n', '/')]);
const anyUrl = fc.oneof(
  { weight: 6, arbitrary: adversarial },
  fc.webUrl({ withFragments: true, withQueryParameters: true }),
  fc.string(),
);

describe('a host longer than any name', () => {
  it('makes no URL, on the fast paths too', () => {
    const fits = `http://${'a'.repeat(255)}/page`;
    const long = `http://${'a'.repeat(256)}/page`;
    expect(parseUrl(fits)?.pathname).toBe('/page');
    expect(parseUrl(long)).toBeUndefined();
    expect(isHostTooLong(fits)).toBe(false);
    expect(isHostTooLong(long)).toBe(true);
    expect(isHostTooLong(`http://a.example/${'a'.repeat(300)}`)).toBe(false);
    expect(() => checkHttpUrl(fits)).not.toThrow();
    expect(() => checkHttpUrl(long)).toThrow(CrawlError);
    expect(() => checkHttpUrl(`https://${'a'.repeat(256)}:8080/`)).toThrow(CrawlError);
  });
});

describe('normalizeUrl', () => {
  it('equals the rules applied by the URL parser, on adversarial and arbitrary text', () => {
    fc.assert(
      fc.property(anyUrl, fc.boolean(), (text, keepFragment) => {
        expect(normalizeUrl(text, keepFragment)).toBe(keyByTheRules(text, keepFragment));
      }),
      { numRuns: 3_000 },
    );
  });

  it('equals the rules on plain URLs, which never reach the parser', () => {
    const plain = join([
      pick('https://', 'http://'),
      fc
        .array(fc.string({ unit: fc.constantFrom(...'abz09-.'), minLength: 1, maxLength: 80 }), {
          minLength: 1,
          maxLength: 4,
        })
        .map((all) => all.join('.')),
      fc.oneof(
        { weight: 3, arbitrary: fc.constant('') },
        fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 6 }).map((digits) => `:${digits}`),
      ),
      fc
        .array(fc.string({ unit: fc.constantFrom(..."aZ0-_~/.!$&'()*+,;=:@"), maxLength: 20 }), { maxLength: 4 })
        .map((all) => all.map((part) => `/${part}`).join('')),
    ]);
    fc.assert(
      fc.property(plain, (text) => {
        expect(normalizeUrl(text)).toBe(keyByTheRules(text, false));
      }),
      { numRuns: 3_000 },
    );
  });

  it('equals the rules on IPv4 addresses of any spelling, with any port', () => {
    const number = fc.oneof(
      fc.integer({ min: 0, max: 300 }).map(String),
      pick('00', '01', '0x1', '256', '65535', '1e1', '', 'a'),
    );
    const address = fc.array(number, { minLength: 1, maxLength: 5 }).map((all) => all.join('.'));
    const text = join([pick('http://', 'https://'), address, port, path]);
    fc.assert(
      fc.property(text, (url) => {
        expect(normalizeUrl(url)).toBe(keyByTheRules(url, false));
      }),
      { numRuns: 5_000 },
    );
    for (const url of ['http://127.0.0.1:8080/a', 'https://1.2.3.4/b?c'])
      expect(normalizeUrl(url)).toBe(keyByTheRules(url, false));
  });

  it('equals the rules on queries of any spelling', () => {
    const piece = pick(
      ...[...'abzA09-._~!$()*+,;:@/?=&%#\'" <|é'],
      ...[
        '%20',
        '%2B',
        '%26',
        '%3d',
        '%3D',
        '%41',
        '%7e',
        '%C3%A9',
        '%e9',
        '%00',
        '%2',
        '%zz',
        'utm_',
        '%75tm_',
        '&a=1',
        '&b',
        '&&',
        '==',
        '[]',
        '&a=0',
      ],
    );
    const plain = join([
      pick('https://example.com', 'http://a.b/c/', 'https://a.b/c.d/%41', 'https://a.b/%2e/'),
      fc.array(piece, { maxLength: 12 }).map((all) => `?${all.join('')}`),
    ]);
    fc.assert(
      fc.property(plain, fc.boolean(), (text, keepFragment) => {
        expect(normalizeUrl(text, keepFragment)).toBe(keyByTheRules(text, keepFragment));
      }),
      { numRuns: 10_000 },
    );
  });

  it('gives a key that is its own key', () => {
    fc.assert(
      fc.property(adversarial, (text) => {
        // The second of two trailing slashes would be dropped by a second application, as in Crawlee.
        fc.pre(/^\s*https?:/i.test(text) && parseUrl(text)?.pathname.endsWith('//') === false);
        const key = normalizeUrl(text);
        expect(normalizeUrl(key)).toBe(key);
      }),
      { numRuns: 500 },
    );
  });
});

describe('domainOf', () => {
  it('equals the registrable domain of the parsed host for every valid URL', () => {
    fc.assert(
      fc.property(anyUrl, (text) => {
        const url = parseUrl(text);
        fc.pre(url !== undefined && /^https?:$/.test(url.protocol));
        expect(domainOf(text)).toBe(registrableDomain((url as URL).hostname));
      }),
      { numRuns: 3_000 },
    );
  });

  it.each([
    ['https://www.example.com/a', 'example.com'],
    ['https://a.b.example.co.uk/', 'example.co.uk'],
    ['https://foo.github.io/', 'github.io'],
    ['http://127.0.0.1:8080/', '127.0.0.1'],
    ['http://2130706433/', '127.0.0.1'],
    ['http://[::1]:8080/', '[::1]'],
    ['http://localhost/', 'localhost'],
    ['https://co.uk/', 'co.uk'],
    ['https://WWW.Example.COM/', 'example.com'],
    ['https://user@www.example.com:8443/', 'example.com'],
    ['http:///www.example.com/', 'example.com'],
    ['not a url', ''],
  ])('of %s is %s', (url, domain) => {
    expect(domainOf(url)).toBe(domain);
  });

  it('keeps answering right when more hosts pass than its cache holds', () => {
    for (let host = 0; host < 25_000; host++) registrableDomain(`h${host}.example.com`);
    expect(registrableDomain('h1.example.com')).toBe('example.com');
  });
});

describe('hostOf', () => {
  it('is the host in canonical spelling without port, or nothing', () => {
    expect(hostOf('https://EXAMPLE.com:8080/')).toBe('example.com');
    expect(hostOf('example.com')).toBe('');
  });
});

describe('parseUrl', () => {
  it('still reads hosts with letters of Latin-1 after many thousand calls', () => {
    // Node 20's own URL.canParse begins to refuse these once it is optimised.
    for (let call = 0; call < 30_000; call++) {
      if (parseUrl('https://b\u00fccher.example/')?.host !== 'xn--bcher-kva.example')
        expect.unreachable(`call ${call}`);
    }
  });

  it('answers with nothing where the constructor throws, also relative to a base', () => {
    expect(parseUrl('https://\u00c3\u00a8.example/')).toBeUndefined();
    expect(parseUrl('a/b')).toBeUndefined();
    expect(parseUrl('a/b', 'https://example.com/c/d')?.href).toBe('https://example.com/c/a/b');
    expect(parseUrl('//', 'https://example.com/')).toBeUndefined();
    expect(parseUrl('a', 'not a base')).toBeUndefined();
  });
});

describe('parseHttpUrl', () => {
  it('returns a URL or an error with a code, whatever the text', () => {
    fc.assert(
      fc.property(anyUrl, (text) => {
        try {
          expect(parseHttpUrl(text).protocol).toMatch(/^https?:$/);
        } catch (error) {
          expect(error).toBeInstanceOf(CrawlError);
          expect((error as CrawlError).code).toMatch(/^URL_(INVALID|SCHEME)$/);
          expect((error as CrawlError).message.length).toBeLessThan(400);
        }
      }),
    );
  });

  it('throws exactly when checkHttpUrl throws, and the same', () => {
    const messageOf = (check: (text: string) => unknown, text: string): string | undefined => {
      try {
        check(text);
        return undefined;
      } catch (error) {
        return (error as CrawlError).message;
      }
    };
    fc.assert(
      fc.property(anyUrl, (text) => {
        expect(messageOf(checkHttpUrl, text)).toBe(messageOf(parseHttpUrl, text));
      }),
      { numRuns: 3_000 },
    );
    expect(() => checkHttpUrl(`https://example.com/${'a'.repeat(MAX_URL_LENGTH)}`)).toThrow(/too long/);
  });

  it('refuses a URL that is longer than any server takes', () => {
    expect(() => parseHttpUrl(`https://example.com/${'a'.repeat(MAX_URL_LENGTH)}`)).toThrow(/too long/);
  });
});
