// The shortcut of link resolution proven against the platform's URL parser.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReferenceReader } from '../tokens/entities.js';
import { createLinkResolver } from './link-urls.js';
import { ValueDecoder } from '../tokens/values.js';

const values = new ValueDecoder(new ReferenceReader());

function resolve(attribute: string, base: string): string | null {
  const bytes = Buffer.from(attribute);
  return createLinkResolver(base, values).resolve(bytes, 0, bytes.length);
}

function expected(reference: string, base: string): string | null {
  // Not URL.canParse: on Node 20 it denies `http:é` with a base, which the parser accepts.
  try {
    return new URL(reference, base).href;
  } catch {
    return null;
  }
}

const BASES = [
  'https://example.com/dir/page?x=1#f',
  'http://example.com',
  'https://user:pw@example.com:8443/a/b/',
  'https://example.com/a//b/../c?x=/y/z#/q/',
  'mailto:someone@example.com',
  'file:///tmp/a/b',
];

describe('createLinkResolver', () => {
  it('agrees with the URL parser on references made of telling pieces', () => {
    const piece = fc.constantFrom(
      ...[
        'http:',
        'https:',
        'HTTP:',
        'http',
        '//',
        '/',
        'example.com',
        'EXAMPLE.com',
        '1.2.3.4',
        '0x7f.1',
        'xn--a',
        'a--b',
      ],
      ...[
        'xn--mnchen-3ya.de',
        'münchen',
        ':80',
        ':443',
        '@',
        '.',
        '..',
        '/.',
        '%2e',
        '%2E%2e',
        '%zz',
        '?',
        '#',
        '\\',
        ' ',
        '\t',
      ],
      ...[
        '\n',
        'a',
        'b.html',
        '&',
        '=',
        "'",
        '"',
        '<',
        '[',
        ']',
        '|',
        '^',
        '`',
        '{',
        '~',
        '*',
        ';',
        ',',
        '_',
        '-',
        'é',
        '日',
        ':',
        '0',
      ],
      ...[
        'javascript:',
        'mw-data:',
        'ws:',
        'file:',
        'tel:',
        'mailto:',
        'data:',
        'ftp://',
        'h',
        '\u007f',
        '1e3',
        'x.',
        '.x',
        'localhost',
        '%41',
        'c:',
        'C|/',
      ],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 7 }), fc.constantFrom(...BASES), (pieces, base) => {
        const reference = pieces.join('');
        expect(resolve(reference.replaceAll('&', '&amp;'), base)).toBe(expected(reference, base));
      }),
      { numRuns: 20_000 },
    );
  });

  it('agrees with the URL parser on addresses and ports of any spelling', () => {
    const number = fc.oneof(
      fc.integer({ min: 0, max: 300 }).map(String),
      fc.constantFrom('', '00', '01', '0x1', '256', 'a', 'a1', '1a'),
    );
    const host = fc.array(number, { minLength: 1, maxLength: 5 }).map((all) => all.join('.'));
    const port = fc.oneof(
      fc.constantFrom('', ':', ':80', ':443', ':0', ':x', ':8080x'),
      fc.integer({ min: 0, max: 70_000 }).map((value) => `:${value}`),
      fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 12 }).map((digits) => `:${digits}`),
    );
    const start = fc.constantFrom('http://', 'https://', '//');
    const end = fc.constantFrom('', '/', '/a/b', '?q', '#f', '/.');
    fc.assert(
      fc.property(fc.tuple(start, host, port, end), fc.constantFrom(...BASES), (parts, base) => {
        expect(resolve(parts.join(''), base)).toBe(expected(parts.join(''), base));
      }),
      { numRuns: 10_000 },
    );
  });

  it('agrees with the URL parser on any printable text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii', maxLength: 40 }), fc.constantFrom(...BASES), (text, base) => {
        expect(resolve(text.replaceAll('&', '&#38;'), base)).toBe(expected(text, base));
      }),
      { numRuns: 5000 },
    );
  });

  it('resolves character references before anything else', () => {
    expect(resolve('?a=1&amp;b=2&#38;c', BASES[0]!)).toBe('https://example.com/dir/page?a=1&b=2&c');
    expect(resolve('&#x68;ttp://x.com&sol;&period;&period;/y', BASES[0]!)).toBe('http://x.com/y');
  });
});
