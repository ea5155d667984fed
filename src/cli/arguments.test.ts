import { InvalidArgumentError } from 'commander';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  byteSize,
  duration,
  headers,
  millisecondRange,
  patterns,
  positiveNumber,
  seedUrl,
  share,
  wholeNumber,
} from './arguments.js';
import { quoted, shown } from './terminal.js';

describe('seedUrl', () => {
  it.each([
    ['example.com', 'https://example.com/'],
    ['example.com:8080/a?b#c', 'https://example.com:8080/a?b#c'],
    ['  HTTP://Example.com ', 'http://example.com/'],
    ['localhost:3000', 'http://localhost:3000/'],
    ['127.0.0.1:3000/x', 'http://127.0.0.1:3000/x'],
    ['[::1]:80/x', 'http://[::1]/x'],
    ['localhost.example.com', 'https://localhost.example.com/'],
    ['bücher.example', 'https://xn--bcher-kva.example/'],
  ])('reads %j as %s', (typed, url) => expect(seedUrl(typed)).toBe(url));

  it.each([
    ['', 'URL_INVALID'],
    ['two words', 'URL_INVALID'],
    ['https://', 'URL_INVALID'],
    ['ftp://example.com', 'URL_SCHEME'],
    ['mailto:me@example.com', 'URL_SCHEME'],
    ['javascript:alert(1)', 'URL_SCHEME'],
    ['file:///etc/passwd', 'URL_SCHEME'],
  ])('refuses %j as %s', (typed, code) => expect(() => seedUrl(typed)).toThrow(expect.objectContaining({ code })));

  it('gives a crawlable URL or a named error, whatever is typed', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.webUrl(), fc.domain()), (typed) => {
        let url: string;
        try {
          url = seedUrl(typed);
        } catch (error) {
          expect((error as { code: string }).code).toMatch(/^URL_(?:INVALID|SCHEME)$/);
          return;
        }
        expect(new URL(url).protocol).toMatch(/^https?:$/);
      }),
    );
  });
});

describe('numbers', () => {
  it('are read exactly or refused', () => {
    expect(wholeNumber(0)('0')).toBe(0);
    expect(positiveNumber('0.5')).toBe(0.5);
    expect(share('1')).toBe(1);
    expect([byteSize('1'), byteSize('500k'), byteSize('1.5 MiB'), byteSize('2GB')]).toEqual([
      1, 512_000, 1_572_864, 2_147_483_648,
    ]);
    expect([duration('90s'), duration('1.5 h'), duration('2w')]).toEqual([90_000, 5_400_000, 1_209_600_000]);
    expect([millisecondRange('20'), millisecondRange('5-40')]).toEqual([20, [5, 40]]);
    const refusals = [
      () => wholeNumber(1)('0'),
      () => wholeNumber(0, 9)('10'),
      () => wholeNumber(0)('1e3'),
      () => wholeNumber(0)('-1'),
      () => positiveNumber('0'),
      () => positiveNumber(''),
      () => positiveNumber('Infinity'),
      () => share('1.1'),
      () => byteSize('0'),
      () => byteSize('10 pages'),
      () => duration('5'),
      () => duration('-1d'),
      () => millisecondRange('40-5'),
    ];
    for (const refusal of refusals) expect(refusal).toThrow(InvalidArgumentError);
  });
});

describe('repeated options', () => {
  it('collect, each checked', () => {
    expect(patterns('/x$/i', ['https://a/**'])).toEqual(['https://a/**', '/x$/i']);
    expect(() => patterns('/[/')).toThrow(InvalidArgumentError);
    expect(headers('X-B:  2 ', headers('x-a: 1'))).toEqual({ 'x-a': '1', 'x-b': '2' });
    for (const bad of ['x', ': y', 'a b: c', 'a: b\r\nc: d', 'a: \u0000']) {
      expect(() => headers(bad)).toThrow(InvalidArgumentError);
    }
  });
});

describe('text for the terminal', () => {
  it('carries no control characters and keeps its length, whatever a page says', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 10, max: 80 }), (text, max) => {
        const safe = shown(text, max);

        expect(safe).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/);
        expect(safe.length).toBeLessThanOrEqual(max);
      }),
    );
    expect(shown('a\u001b[31mb\nc')).toBe('a\\u001b[31mb\\nc');
  });

  it('quotes what a shell would take apart', () => {
    expect([quoted('data/a-b.c'), quoted("it's $HOME")]).toEqual(['data/a-b.c', "'it'\\''s $HOME'"]);
  });
});
